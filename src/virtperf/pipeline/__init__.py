"""Running DVC so that it recovers: one run at a time, broken lock files repaired, errors shown."""
