"""Exhibits: a study with its results, frames for analysts, the kinds of figures and tables, and the
words for them.
"""
