"""`vmstat`."""
