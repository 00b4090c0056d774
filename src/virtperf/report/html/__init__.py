"""Notebooks executed, and executed notebooks as self-contained HTML pages."""
