"""Fault-tolerant DVC runs: locking, repair of DVC files, progress events."""
