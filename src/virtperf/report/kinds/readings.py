"""Which conclusions depend on how words that stand for a number ("nearly", "half") are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

import pandas as pd

from virtperf.core.params import Reading
from virtperf.report.data import StudyData
from virtperf.report.kinds import Context, Kind, note, register
from virtperf.report.kinds.contradictions import linked
from virtperf.report.records import Block, Folded, Grid, Numbers, Paragraph, Record, Span, Words
from virtperf.report.wording import exhibit_name, interval, joined, plural
from virtperf.study.claims import Claim
from virtperf.study.readings import Readings, readings_beside

FIRST = 10  # rows of a table that are shown at once
MAX_ROWS = 100  # rows of a table; the download has all
READINGS: tuple[Reading, ...] = get_args(Reading)
_HOW = {"strict": "strictly", "default": "by default", "lenient": "leniently"}
_FILE = Span(text="data/readings.yaml", style="code")


def record(context: Context) -> Record:
    """Verdicts and ranges that change with the reading, how many do not, and the words with their
    limits.
    """
    data = context.data
    worded = [c for c in data.paper_claims if c.word]
    if not worded:
        return register(context, "readings", note("No claim has a word that stands for a number."))
    if data.claim_results.empty:
        return register(
            context, "readings", note("What other readings would change is not computed yet.")
        )
    found = data.readings
    in_force = data.claims.reading if data.claims else READINGS[1]
    changes = {kind: _changes(found, kind, in_force) for kind in ("verdict", "range")}
    says = {c.id: c for c in data.paper_claims}
    titles = tuple(r.capitalize() + (" (here)" if r == in_force else "") for r in READINGS)
    blocks: list[Block] = [
        Paragraph(words=_lead(data, len(worded), in_force, changes)),
        *_tables(
            "verdict", ("The paper says", *titles), list(_verdict_rows(changes["verdict"], says))
        ),
        *_tables(
            "range", ("The text alone allows", *titles), list(_range_rows(data, changes["range"]))
        ),
        Folded(summary="How the words are read", blocks=(_words(data, worded),)),
    ]
    numbers = Numbers.of(found, f"{data.study.id}-readings")
    claims = (c for c in says if c in changes["verdict"])
    return register(context, "readings", *blocks, claims=claims, numbers=(numbers,))


def _changes(found: pd.DataFrame, kind: str, in_force: Reading) -> dict[str, dict[str, Any]]:
    """By claim or quantity: what it is under each reading that is not as in force, and under the
    one in force.
    """
    changes: dict[str, dict[str, Any]] = {}
    for row in found[found["kind"] == kind].to_dict("records"):
        here, there = (
            row[f"verdict{read}"] if kind == "verdict" else (row[f"low{read}"], row[f"high{read}"])
            for read in ("", "_read")
        )
        changes.setdefault(row["name"], {}).update({in_force: here, row["reading"]: there})
    return changes


def _lead(
    data: StudyData,
    worded: int,
    in_force: Reading,
    changes: Mapping[str, Mapping[str, Mapping[str, Any]]],
) -> Words:
    others = [r for r in READINGS if r != in_force]
    counts = {
        r: [sum(r in cells for cells in changes[kind].values()) for kind in ("verdict", "range")]
        for r in others
    }
    said = joined(
        f"read {_HOW[r]}, {plural(verdicts, 'verdict')} and {plural(ranges, 'range')} differ"
        for r, (verdicts, ranges) in counts.items()
    )
    points = data.points["quantity"].nunique()
    same = len(data.paper_claims) - len(changes["verdict"]), points - len(changes["range"])
    return (
        f"{plural(worded, 'claim has', 'claims have')} a word that stands for a number. ",
        _FILE,
        f" says what each allows, the same in all studies; here they are read {_HOW[in_force]}. "
        f"By the text alone, {said}. ",
        f"{plural(same[0], 'verdict')} of {len(data.paper_claims)} and {plural(same[1], 'range')} of {points} are the "
        "same under every reading, or nearly so (within 5 % of the range's width).",
    )


def _verdict_rows(
    changes: Mapping[str, Mapping[str, Any]], says: Mapping[str, Claim]
) -> Iterator[tuple[Words, ...]]:
    order = {name: k for k, name in enumerate(says)}
    for name in sorted(
        changes, key=lambda n: ("contradicted" not in changes[n].values(), order.get(n, len(order)))
    ):
        cells = changes[name]
        in_force = next(iter(cells.values()))
        yield (
            linked(says.get(name), name),
            *((Span(text=cells.get(r, in_force), style="verdict"),) for r in READINGS),
        )


def _range_rows(
    data: StudyData, changes: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[Words, ...]]:
    places = data.points.drop_duplicates("quantity").set_index("quantity")["exhibit"]
    for name, cells in changes.items():
        if name not in places.index:  # of an older state of the study
            continue
        in_force = next(iter(cells.values()))
        exhibit = Span(text=exhibit_name(str(places[name])), link=f"exhibit:{places[name]}")
        point = (exhibit, f": {data.study.show(data.study.quantity(name))}")
        yield point, *(interval(*cells.get(r, in_force)) for r in READINGS)


def _tables(what: str, columns: tuple[str, ...], rows: Sequence[tuple[Words, ...]]) -> list[Block]:
    """The first rows at once, the others behind a click, no more than `MAX_ROWS` in all."""
    if not rows:
        return []
    label = f"{what.capitalize()}s that change"
    shown = Grid(label=label, columns=columns, rows=tuple(rows[:FIRST]), stacks=True)
    if len(rows) <= FIRST:
        return [shown]
    rest: list[Block] = [
        Grid(label=f"{label}: more", columns=columns, rows=tuple(rows[FIRST:MAX_ROWS]), stacks=True)
    ]
    if len(rows) > MAX_ROWS:
        rest.append(note(f"The download has {plural(len(rows) - MAX_ROWS, f'more {what}')}."))
    return [
        shown,
        Folded(
            summary=f"Show {plural(min(len(rows), MAX_ROWS) - FIRST, f'more {what}')}",
            blocks=tuple(rest),
        ),
    ]


def _words(data: StudyData, worded: Sequence[Claim]) -> Grid:
    """The words that the study's claims name, with their limits under every reading."""
    under = [readings_beside(data.study.folder, reading) for reading in READINGS]
    alike: dict[
        str, list[str]
    ] = {}  # the names of a word by its reason, which each word has one of
    for name in sorted({c.word for c in worded}):
        alike.setdefault(under[0][name].why, []).append(name)
    rows: list[tuple[Words, ...]] = []
    for why, names in alike.items():
        cells = [_limits(each, names[0]) for each in under]
        rows.append((", ".join(names), *cells, why, str(sum(c.word in names for c in worded))))
    columns = ("Word", *(r.capitalize() for r in READINGS), "Why", "Claims")
    return Grid(label="Words", columns=columns, rows=tuple(rows), numeric=(5,), stacks=True)


def _limits(readings: Readings, name: str) -> str:
    word, (low, high) = readings[name], readings.limits(name)
    if (low, high) == (1.0, float("inf")) and word.of == "reference":
        return "the direction only"
    scale = word.number or 1.0
    of = (
        ""
        if word.number
        else " × the number"
        if word.of == "number"
        else " × what it is compared with"
    )
    return interval(scale * low if low else -float("inf"), scale * high) + of


KIND = Kind("readings", record)
