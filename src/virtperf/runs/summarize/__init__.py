"""Samples reduced to steady-state means with intervals, to the study's quantities, and to
audits.
"""
