"""Readers of the text output of sysstat's tools, and of sar's binary files."""
