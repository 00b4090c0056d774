"""`netstat -s` and its relatives."""
