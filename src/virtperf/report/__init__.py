"""Exhibits: loaded studies with their results, tidy frames, kinds of figures and tables, display
text.
"""
