"""Raw formats that are declared, not programmed: columns, key-value lines, matched lines, JSON,
YAML, XML.
"""
