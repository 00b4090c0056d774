"""Results under alternative readings of words, for exhibits that show them beside the active
reading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from virtperf.core.params import WordReading
from virtperf.report.frames import StudyData
from virtperf.report.records import Block, Folded, Grid, Words

READING_NAMES: tuple[WordReading, ...] = get_args(WordReading)

_COLUMNS = {
    "verdict": ("verdict", "verdict_read"),
    "set aside": ("verdict", "verdict_read"),
    "range": (("low", "high"), ("low_read", "high_read")),
    "derived": (("verdict", "low", "high"), ("verdict_read", "low_read", "high_read")),
}
"""By kind of row of the table `READINGS`: columns of the active and of the alternative value."""


def active_reading(data: StudyData) -> WordReading:
    """The active reading, used for the study's tables."""
    return data.claims.reading if data.claims else READING_NAMES[1]


def reading_headings(data: StudyData) -> tuple[str, ...]:
    """Column headings of a table with one column a reading."""
    return tuple(
        r.capitalize() + (" (here)" if r == active_reading(data) else "") for r in READING_NAMES
    )


def changed_readings(data: StudyData, kind: str) -> dict[tuple[str, str], dict[WordReading, Any]]:
    """Values under every reading by name and label; readings that are not in the table equal the
    active one.
    """
    changes: dict[tuple[str, str], dict[WordReading, Any]] = {}
    table = data.readings
    for row in table[table["kind"] == kind].to_dict("records"):
        here, there = (
            row[names] if isinstance(names, str) else tuple(row[name] for name in names)
            for names in _COLUMNS[kind]
        )
        key = row["name"], row["label"] or ""
        changes.setdefault(key, dict.fromkeys(READING_NAMES, here))[row["reading"]] = there
    return changes


def measured_changes(data: StudyData) -> dict[str, dict[WordReading, str]]:
    """Verdicts of measured runs under every reading, by claim, for claims whose verdict changes."""
    changes: dict[str, dict[WordReading, str]] = {}
    for row in data.verdicts_read.to_dict("records"):
        here = str(row["measured_verdict"])
        cells = changes.setdefault(str(row["claim"]), dict.fromkeys(READING_NAMES, here))
        cells[row["reading"]] = str(row["measured_verdict_read"])
    return changes


def claims_by_number(data: StudyData) -> dict[tuple[str, str], list[str]]:
    """Claims with a word whose reading changes a derived number, by its name and label."""
    claim_ids: dict[tuple[str, str], dict[str, None]] = {}
    table = data.readings
    for row in table[table["kind"] == "derived"].to_dict("records"):
        claim_ids.setdefault((row["name"], row["label"]), {}).update(dict.fromkeys(row["claims"]))
    return {key: list(claims) for key, claims in claim_ids.items()}


def collapsed_table(
    data: StudyData,
    counted: str,
    first: str,
    rows: Mapping[Words, Sequence[Words]],
    last: Sequence[str] = (),
) -> list[Block]:
    """A collapsed table with one column a reading, then `last`, named by what is `counted`; empty without
    rows.
    """
    if not rows:
        return []
    differ = "differs" if len(rows) == 1 else "differ"
    summary = f"With other readings of words, {counted} {differ}"
    grid = Grid(
        label=summary,
        columns=(first, *reading_headings(data), *last),
        rows=tuple((name, *cells) for name, cells in rows.items()),
        stacks=True,
    )
    return [Folded(summary=summary, blocks=(grid,))]
