"""Execution of notebooks, and executed notebooks as self-contained HTML pages."""

import sys

# Block rfc3987_syntax: jsonschema, imported by nbformat, would compile a URI grammar for seconds to
# check formats that notebooks do not have; without the module it skips the check.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
