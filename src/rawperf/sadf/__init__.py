"""`sadf -j`."""
