"""One colour a system throughout a study: positions in the palette by the label of a series."""

from __future__ import annotations

from collections import Counter, defaultdict

from virtperf.exhibits.palette import SERIES
from virtperf.study.definition import Study


def colours(study: Study) -> dict[str, int]:
    """Of every label of a study's figures, by order of first appearance; ``colour:`` of study.yaml names another label.

    Labels of one figure have different colours, as long as there are enough. Of those that are left the one is taken
    that fewest labels have.
    """
    figures = [[(s["label"], s.get("colour") or s["label"]) for s in e.spec.get("series", ())] for e in study.exhibits]
    beside: dict[str, set[str]] = defaultdict(set)
    for figure in figures:
        for _, system in figure:
            beside[system] |= {other for _, other in figure} - {system}
    found: dict[str, int] = {}
    for system in dict.fromkeys(system for figure in figures for _, system in figure):
        taken, used = {found.get(other) for other in beside[system]}, Counter(found.values())
        found[system] = min(range(len(SERIES)), key=lambda k: (k in taken, used[k], k))
    return {label: found[system] for figure in figures for label, system in figure}
