"""Formats defined by declarations: columns, key-value lines, matched lines, JSON, YAML, XML."""
