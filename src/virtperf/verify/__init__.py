"""Replays compared with what is stored: every number, every drawing."""
