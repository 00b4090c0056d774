"""Traces of a study: the lineage of every value, readable without scripts, with the raw lines and
links to the raw files.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from markupsafe import escape

from virtperf.report.html.record import trace_anchor
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.trace import (
    FileLines,
    RawLines,
    RunTrace,
    TableTrace,
    Trace,
    numbered,
    raw_lines,
    table_traces,
)
from virtperf.report.wording import exhibit_name

MAX_LINKS, MIN_LINKS = 1500, 3  # runs named for all values together, and at least for each value

MAX_RAW_BYTES = 300_000  # raw lines of all runs together, with their markup
FILE_BYTES = 300  # markup of a file's lines and of the links to them


def trace_values(facts: StudyFacts, traces: Sequence[Trace]) -> dict[str, Any]:
    """Values of the template: a part a figure with an entry for each plotted value, anchored by its
    key; a part a printed table; and the raw lines of runs, each once.
    """
    most = max(MIN_LINKS, MAX_LINKS // max(1, len(traces)))
    sections: list[tuple[str, str, list[Trace], TableTrace | None]] = []
    for exhibit, entries in groupby(traces, key=lambda t: t.exhibit):
        title = f"{exhibit_name(exhibit, 'figure')}. {facts.data.study.exhibit(exhibit).title}"
        sections.append((exhibit, title, list(entries), None))
    for table in table_traces(facts.data):
        title = f"{exhibit_name(table.exhibit, 'table')}. {table.title}"
        sections.append((table.exhibit, title, [], table))
    claims = {
        c.id: (facts.place.address(f"claim:{c.id}", facts.id), c.says.rstrip("."))
        for c in facts.data.claims or ()
    }
    lines_of = raw_lines(facts.data)
    shown = _shown_lines(traces, most, lines_of)
    numbers = {place: number for number, place in enumerate(sorted(shown), 1)}
    raw = [
        (
            run,
            [
                (numbers[place], place[1], numbered(sorted(shown[place]), lines_of, *place))
                for place in places
            ],
        )
        for run, places in groupby(numbers, key=lambda place: place[0])
    ]

    def raw_number(run: RunTrace, file: FileLines) -> int:
        """Number of the file on the page if its lines are there, else 0."""
        place = run.run, file.path
        here = bool(file.shown) and shown.get(place, set()).issuperset(file.shown)
        return numbers[place] if here else 0

    return {
        "measured": len(facts.data.observations),
        "sections": sections,
        "claims": claims,
        "trace_anchor": trace_anchor,
        "folder": f"../data/measured/{facts.id}{'/examples' if facts.prefix else ''}",
        "archives": defaultdict(
            str, {run["run_id"]: run.get("archive", "") for run in facts.data.index["runs"]}
        ),
        "most": most,
        "raw": raw,
        "raw_left_out": not all(
            raw_number(run, file)
            for trace in traces
            for run in trace.runs
            for file in run.files
            if file.shown
        ),
        "raw_number": raw_number,
    }


def _shown_lines(
    traces: Sequence[Trace], most: int, lines_of: RawLines
) -> dict[tuple[str, str], set[int]]:
    """Choose the lines to show, by run and file, until `MAX_RAW_BYTES`: those of the first run of
    every value, then of the second run, and so on.
    """
    shown: dict[tuple[str, str], set[int]] = {}
    left = MAX_RAW_BYTES
    runs = (run for rank in range(most) for trace in traces for run in trace.runs[rank : rank + 1])
    for run in runs:
        for file in run.files:
            place = run.run, file.path
            new = set(file.shown) - shown.get(place, set())
            texts = (lines_of[run.run][file.path][line] for line in new)
            left -= FILE_BYTES * (place not in shown) + sum(len(escape(t).encode()) for t in texts)
            if left < 0:
                return shown
            if new:
                shown.setdefault(place, set()).update(new)
    return shown
