"""Summaries of samples: steady-state means with intervals, quantities, and audits."""
