"""Verdicts on claims."""
