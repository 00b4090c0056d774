"""Independent check of the ranges of papers: from claims.yaml to linear programs without virtperf.

`python -m tests.oracle` compares every plotted point and every exact derived number of all papers
with the tables of data/reconstructed; `python -m tests.oracle STUDY ...` those of some.
"""
