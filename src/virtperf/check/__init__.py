"""Whatever people write by hand, checked at once: every problem with its file, line and remedy."""
