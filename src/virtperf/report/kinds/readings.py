"""Sensitivity of conclusions to the reading of words that stand for a number ("nearly", "half")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from virtperf.core.grouping import grouped
from virtperf.core.numbers import interval, plural
from virtperf.core.verdicts import Verdict
from virtperf.report.frames import StudyData
from virtperf.report.kinds import Context, ExhibitKind, first_items, note, register
from virtperf.report.kinds.contradictions import claim_link
from virtperf.report.other_readings import (
    READING_NAMES,
    active_reading,
    changed_readings,
    measured_changes,
    reading_headings,
)
from virtperf.report.range_words import range_words
from virtperf.report.records import (
    Block,
    Folded,
    Grid,
    Heading,
    Numbers,
    Paragraph,
    Record,
    Span,
    Words,
)
from virtperf.report.wording import exhibit_name, placed_verdict
from virtperf.study.claims import Claim
from virtperf.study.readings import Readings, load_repository_readings

FIRST = 10  # rows of a table that are shown at once
MAX_NAMED = 3  # claims named in the open
MAX_ROWS = 100  # rows of a table; the download has all
_TITLES = {
    "verdict": "Verdicts",
    "range": "Ranges",
    "derived number": "Derived numbers",
    "claim": "Claims set aside",
    "verdict of runs": "Verdicts of measured runs",
}
_ADVERBS = {"strict": "strictly", "default": "by default", "lenient": "leniently"}
_WAYS = {"strict": "more narrowly", "default": "as usual", "lenient": "more widely"}
"""Readings in plain words, for sentences."""
_FILE = Span(text="data/readings.yaml", style="code")


def record(context: Context) -> Record:
    """Build tables of the verdicts, ranges, derived numbers and set-aside claims that change with
    the reading, counts of those that do not, and the words with their limits.
    """
    data = context.data
    worded = [c for c in data.paper_claims if c.word]
    if not worded:
        return register(context, "readings", note("No claim has a word that stands for a number."))
    if data.claim_results.empty:
        return register(
            context, "readings", note("The effects of other readings are not computed yet.")
        )
    changed = {
        kind: changed_readings(data, kind) for kind in ("verdict", "range", "derived", "set aside")
    }
    verdicts = {name: cells for (name, _), cells in changed["verdict"].items()}
    claims_by_id = {c.id: c for c in data.paper_claims}
    columns = reading_headings(data)
    tables = {
        "verdict": ("Claim", _verdict_rows(verdicts, claims_by_id, Verdict.CONTRADICTED)),
        "range": ("Range by the text alone", _range_rows(data, changed["range"])),
        "derived number": (
            "Derived number by the text alone",
            _derived_rows(data, changed["derived"]),
        ),
        "claim": ("Claim, set aside or kept", _set_aside_rows(changed["set aside"], claims_by_id)),
        "verdict of runs": (
            "Claim",
            _verdict_rows(measured_changes(data), claims_by_id, Verdict.REFUTED),
        ),
    }
    blocks: list[Block] = [
        Paragraph(words=_answer(data, verdicts)),
        *(
            (first_items(_changes(data, verdicts, claims_by_id), len(verdicts)),)
            if verdicts
            else ()
        ),
        Heading(text="Words and numbers"),
        Paragraph(words=_summary(data, len(worded), changed)),
        *(
            block
            for what, (first, rows) in tables.items()
            for block in _tables(what, (first, *columns), list(rows))
        ),
        Folded(summary="Limits of the words", blocks=(_words(data, worded),)),
        *_by_hand(data.paper_claims),
    ]
    table = data.readings.assign(claims=data.readings["claims"].map("; ".join))
    numbers = Numbers.of(table, f"{data.study.id}-readings")
    claims = (c for c in claims_by_id if c in verdicts)
    return register(context, "readings", *blocks, claims=claims, numbers=(numbers,))


def _answer(data: StudyData, verdicts: Mapping[str, Mapping[Any, str]]) -> str:
    """How many verdicts change, how many findings rest on them, and why wider words can exclude."""
    count = plural(len(data.paper_claims), "verdict")
    if not verdicts:
        return (
            f"None of the {count} changes if words such as “about” are read more "
            "narrowly or more widely."
        )
    change = "changes" if len(verdicts) == 1 else "change"
    resting = sum(not verdicts.keys().isdisjoint(f.claims) for f in data.study.findings)
    rest = "rests" if resting == 1 else "rest"
    return (
        f"{len(verdicts)} of {count} {change} if all words such as “about” are read more narrowly or "
        f"more widely than here; {resting or 'none'} of {plural(len(data.study.findings), 'finding')} "
        f"{rest} on one of them. Other limits can change which claims are set aside, so wider words "
        "can also exclude a claim."
    )


def _changes(
    data: StudyData, verdicts: Mapping[str, Mapping[Any, str]], claims: Mapping[str, Claim]
) -> Iterator[Words]:
    """Verdicts that change, each with its claim, at most `MAX_NAMED`, those of findings first."""
    here = active_reading(data)

    def shown(name: str, reading: Any) -> Span:
        places = claims[name].n_places if name in claims else 1
        return Span(text=placed_verdict(verdicts[name][reading], places), style="verdict")

    found = {name for finding in data.study.findings for name in finding.claims}
    order = sorted(
        verdicts,
        key=lambda name: (name not in found, Verdict.CONTRADICTED not in verdicts[name].values()),
    )
    for name in order[:MAX_NAMED]:
        others = [r for r in READING_NAMES if verdicts[name][r] != verdicts[name][here]]
        says = claims[name].says if name in claims else name
        said = Span(text=says.rstrip("."), link=f"claim:{name}")
        words: list[str | Span] = [said, ": here ", shown(name, here)]
        for reading in others:
            words += ["; ", shown(name, reading), f" if words are read {_WAYS[reading]}"]
        yield (*words, ".")


def _summary(
    data: StudyData,
    worded: int,
    changed: Mapping[str, Mapping[tuple[str, str], Mapping[Any, Any]]],
) -> Words:
    here = active_reading(data)
    kinds = ("verdict", "range", "derived")
    counts = {
        r: [sum(cells[r] != cells[here] for cells in changed[kind].values()) for kind in kinds]
        for r in READING_NAMES
        if r != here
    }
    counts_text = "; ".join(
        f"read {_ADVERBS[r]}, {plural(verdicts, 'verdict')}, {plural(ranges, 'range')} of plotted "
        f"points and {plural(derived, 'derived number')} differ"
        for r, (verdicts, ranges, derived) in counts.items()
    )
    points = data.points["quantity"].nunique()
    same = len(data.paper_claims) - len(changed["verdict"]), points - len(changed["range"])
    return (
        f"{plural(worded, 'claim has', 'claims have')} a word that stands for a number. ",
        _FILE,
        f" defines its limits for all studies; here they are read {_ADVERBS[here]}. "
        f"By the text alone: {counts_text}. ",
        f"{plural(same[0], 'verdict')} of {len(data.paper_claims)} and {plural(same[1], 'range')} of {points} are the "
        "same under every reading, or nearly so (within 5 % of the range's width).",
    )


def _verdict_rows(
    changed: Mapping[str, Mapping[Any, str]], claims: Mapping[str, Claim], first: str
) -> Iterator[tuple[Words, ...]]:
    """Rows of changed verdicts, those with the verdict `first` under some reading first."""
    order = {name: k for k, name in enumerate(claims)}
    for name in sorted(
        changed, key=lambda n: (first not in changed[n].values(), order.get(n, len(order)))
    ):
        places = claims[name].n_places if name in claims else 1
        shown = (placed_verdict(changed[name][r], places) for r in READING_NAMES)
        cells = ((Span(text=text, style="verdict"),) for text in shown)
        yield claim_link(claims.get(name), name), *cells


def _set_aside_rows(
    changed: Mapping[tuple[str, str], Mapping[Any, str]], claims: Mapping[str, Claim]
) -> Iterator[tuple[Words, ...]]:
    for (name, _), cells in changed.items():
        yield claim_link(claims.get(name), name), *(cells[r] for r in READING_NAMES)


def _derived_rows(
    data: StudyData, changed: Mapping[tuple[str, str], Mapping[Any, tuple[str, float, float]]]
) -> Iterator[tuple[Words, ...]]:
    for derivation in data.derivations if changed else ():
        cells = changed.get((derivation.derived.id, derivation.label))
        if cells is not None:
            bounds = derivation.bounds(data.study)
            yield (
                derivation.label,
                *(
                    levels or range_words((low, high), bounds, searched=False)
                    for levels, low, high in (cells[r] for r in READING_NAMES)
                ),
            )


def _range_rows(
    data: StudyData, changed: Mapping[tuple[str, str], Mapping[Any, tuple[float, float]]]
) -> Iterator[tuple[Words, ...]]:
    places = data.points.drop_duplicates("quantity").set_index("quantity")["exhibit"]
    for (name, _), cells in changed.items():
        if name not in places.index:  # from an earlier version of the study
            continue
        shown = data.study.exhibit(str(places[name]))
        exhibit = Span(text=exhibit_name(shown.id, shown.kind), link=f"exhibit:{shown.id}")
        point = (exhibit, f": {data.study.show(data.study.quantity(name))}")
        yield point, *(interval(*cells[r]) for r in READING_NAMES)


def _tables(what: str, columns: tuple[str, ...], rows: Sequence[tuple[Words, ...]]) -> list[Block]:
    """Table of the first rows and a collapsed one of the rest, at most `MAX_ROWS` in all."""
    if not rows:
        return []
    label = f"{_TITLES[what]} that change"
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
    """Table of the words in the study's claims, with their limits under every reading."""
    under = [load_repository_readings(data.study.folder, reading) for reading in READING_NAMES]
    # synonyms by their reason; each word has one
    alike = grouped((under[0][name].why, name) for name in sorted({c.word for c in worded}))
    rows: list[tuple[Words, ...]] = []
    for why, names in alike.items():
        cells = [_limits(each, names[0]) for each in under]
        rows.append((", ".join(names), *cells, why, str(sum(c.word in names for c in worded))))
    columns = ("Word", *(r.capitalize() for r in READING_NAMES), "Why", "Claims")
    return Grid(label="Words", columns=columns, rows=tuple(rows), numeric=(5,), stacks=True)


def _by_hand(claims: Iterable[Claim]) -> list[Block]:
    """Table of the claims with limits of their own, and the reason for them."""
    rows: list[tuple[Words, ...]] = []
    for claim in claims:
        reason = claim.own_limits or claim.reading or claim.note
        if not claim.limits_by_hand or not reason:
            continue
        limits = claim.limit_words()
        rows.append((claim_link(claim, claim.id), limits, reason))
    if not rows:
        return []
    grid = Grid(
        label="Limits without a common word",
        columns=("Claim", "Limits", "Why"),
        rows=tuple(rows),
        stacks=True,
    )
    summary = f"{plural(len(rows), 'claim has', 'claims have')} limits of their own"
    return [Folded(summary=summary, blocks=(grid,))]


def _limits(readings: Readings, name: str) -> str:
    word, (low, high) = readings[name], readings.limits(name)
    if (low, high) == (1.0, float("inf")) and word.of == "reference":
        return "the direction only"
    scale = word.number or 1.0
    of = "" if word.number else " × the number" if word.of == "number" else " × the compared value"
    return interval(scale * low if low else -float("inf"), scale * high) + of


KIND = ExhibitKind("readings", record)
