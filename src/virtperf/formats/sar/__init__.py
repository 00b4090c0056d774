"""`sar` as text."""
