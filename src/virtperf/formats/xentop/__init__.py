"""`xentop -b`."""
