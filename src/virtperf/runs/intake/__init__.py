"""Intake of a folder of raw files as a measured run: described, previewed by the real stages, then
copied.
"""
