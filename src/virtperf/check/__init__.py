"""Validation of all hand-written files: every problem with its file, line and remedy."""
