"""Hand-written study files: definition, claims, printed tables."""
