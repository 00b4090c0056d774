"""A study as people write it: definition, claims, printed tables."""
