"""Notebooks executed, and executed notebooks as self-contained HTML pages."""

import virtperf.core.yamlio  # noqa: F401 - before nbformat, from which it keeps a slow import away
