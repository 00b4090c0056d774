"""Logs of HdrHistogram."""
