"""Running DVC so that it recovers: one run at a time, broken DVC files repaired, progress shown."""
