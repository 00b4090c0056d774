"""`time` of shells and of GNU."""
