"""Claims judged."""
