"""Notebooks executed, and executed notebooks as self-contained HTML pages."""

import sys

# jsonschema, which nbformat imports, would compile a grammar of URIs for seconds to check formats
# that notebooks do not have; it does without where the module is missing.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
