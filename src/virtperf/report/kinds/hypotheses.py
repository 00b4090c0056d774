"""Hypotheses of a measured study: statement, origin, verdict of its runs."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

import pandas as pd

from virtperf.core.numbers import (
    NO_BREAK,
    PROSE_SIGNIFICANT,
    even_interval,
    join_words,
    plural,
    pretty,
    with_interval,
)
from virtperf.core.verdicts import Verdict
from virtperf.report.axis_words import tick_label
from virtperf.report.claim_words import claim_in_words, measured_verdict
from virtperf.report.frames import StudyData
from virtperf.report.kinds import Context, ExhibitKind, note, register
from virtperf.report.other_readings import READING_NAMES, collapsed_table, measured_changes
from virtperf.report.records import Grid, Listing, Numbers, Paragraph, Record, Span, Words
from virtperf.report.wording import OF_MANY, trace_key
from virtperf.study.claims import Claim

COLUMNS = [
    "claim",
    "measured_verdict",
    "estimate",
    "estimate_low",
    "estimate_high",
    "runs_needed",
    "detectable",
    "detectable_unit",
    "reason",
]
DECIDED_VERDICTS = (Verdict.HOLDS_HERE, Verdict.FAILS_HERE)
_ORDER: dict[str, int] = {
    word: k for k, word in enumerate((Verdict.HOLDS_HERE, Verdict.FAILS_HERE, Verdict.UNDECIDED))
}
"""Order of the verdicts in the list."""
MEASURED_AT = ": measured "
"""Between the compared conditions and the estimate in a stored reason."""
PER_CENT = f"{NO_BREAK}%"
MAX_SHOWN_PERCENT = 1000.0
MAX_LINKED = 4


def record(context: Context) -> Record:
    """Build a list of the verdicts with their numbers, and a table with one row a hypothesis: wording,
    origin, reading and note, verdict with its reason, smallest detectable difference; above it the
    number of verdicts expected to be wrong by chance.
    """
    data = context.data
    if not data.paper_claims:
        return register(context, "hypotheses", note("The study states no hypothesis."))
    results = [{"claim": claim.id, **data.result(claim.id)} for claim in data.paper_claims]
    rows = tuple(
        (
            _hypothesis_cell(claim),
            (
                Span(text=measured_verdict(result), style="verdict"),
                " ",
                *_reason(data, claim, result),
            ),
            _detectable_cell(result),
        )
        for claim, result in zip(data.paper_claims, results, strict=True)
    )
    columns = ("Hypothesis", "Verdict and result of the runs", "Smallest detectable difference")
    ids = tuple(f"claim-{claim.id}" for claim in data.paper_claims)
    grid = Grid(label="Hypotheses", columns=columns, rows=rows, ids=ids, stacks=True)
    short = sorted(
        data.paper_claims,
        key=lambda claim: _ORDER.get(measured_verdict(data.result(claim.id)), len(_ORDER)),
    )
    numbers = Numbers.of(
        pd.DataFrame(results).reindex(columns=COLUMNS), f"{data.study.id}-hypotheses"
    )
    claims = (claim.id for claim in data.paper_claims)
    error_note = Paragraph(words=_error_note(results, context.level), style="small")
    sentences = {claim.id: claim.says for claim in data.paper_claims}
    rows_read: dict[Words, Sequence[Words]] = {
        sentences[name]: [(Span(text=cells[r], style="verdict"),) for r in READING_NAMES]
        for name, cells in measured_changes(data).items()
        if name in sentences
    }
    counted = f"{len(rows_read)} of {plural(len(sentences), 'verdict')}"
    otherwise = collapsed_table(data, counted, "Hypothesis", rows_read)
    return register(
        context,
        "hypotheses",
        Listing(items=tuple(_in_short(data, claim) for claim in short)),
        error_note,
        grid,
        *otherwise,
        shows=_counted([measured_verdict(result) for result in results]),
        claims=claims,
        numbers=(numbers,),
    )


def _counted(verdicts: Sequence[str]) -> str:
    """How many hypotheses have which verdict, in the order of the list."""
    counts = Counter(sorted(verdicts, key=lambda word: _ORDER.get(word, len(_ORDER))))
    parts = [
        f"{n} {'are' if n > 1 else 'is'} {word}"
        if word == Verdict.UNDECIDED
        else f"{n} {OF_MANY.get(word, word) if n > 1 else word}"
        for word, n in counts.items()
    ]
    return f"Of {plural(len(verdicts), 'hypothesis', 'hypotheses')}, {join_words(parts)}."


def _in_short(data: StudyData, claim: Claim) -> Words:
    """Verdict and wording of a hypothesis, then the estimate; what it allows if that is not decided."""
    result, words = data.result(claim.id), claim_in_words(claim, data)
    verdict = Span(text=words.measured_verdict, style="verdict")
    says = f" {claim.says.rstrip('.')}. "
    if share := _smaller_in_percent(claim, words.measured_verdict, words.reason):
        return (verdict, says, Span(text=f"{share}.", style="small"))
    text = words.measured
    beside, number = compared(claim, words.measured_verdict, words.reason)
    if not text and not number:
        return (verdict, says.rstrip())
    if beside and not (text and claim.is_order):  # of one pair, its number has the direction
        text = text or number
        text = f"{text[:-1]}; {beside})" if text.endswith(")") else f"{text} ({beside})"
    low, high = (float(result.get(f"allowed_{end}", math.nan)) for end in ("low", "high"))
    if words.measured_verdict == Verdict.UNDECIDED and not math.isnan(low):
        text += f"; the hypothesis allows {even_interval(low, high, claim.unit_suffix(data.study))}"
    return (verdict, says, Span(text=f"{text}.", style="small"))


def compared(claim: Claim, verdict: str, reason: str) -> tuple[str, str]:
    """The conditions that a stored reason compares, and their number with its interval; "" without."""
    where, labelled, rest = reason.partition(MEASURED_AT)
    found = _NUMBER.match(rest)
    beside = f"{_against(where)}{_of_several(claim, verdict)}" if labelled else ""
    return beside, f"{found['value']} ({found['limits']})" if found else ""


def _of_several(claim: Claim, verdict: str) -> str:
    """Which one of several comparisons has the number of a verdict; "" of one."""
    if (n := len(claim.instances)) <= 1:
        return ""
    which = "clearest" if verdict == Verdict.FAILS_HERE else "least certain"
    return f"; {which} of {n} comparisons"


def _smaller_in_percent(claim: Claim, verdict: str, reason: str) -> str:
    """Estimate of an order in which a part of the larger side is compared ("less than a tenth"): the
    smaller side in % of the larger one, and what is allowed; "" for all others, whose stored ratio of the
    larger side to the smaller one fits their sentence.
    """
    where, _, rest = reason.partition(MEASURED_AT)
    pair, limit = _NUMBER.match(rest), _MORE_THAN.search(rest)
    sides = where.split(" to ")
    if not claim.is_order or not pair or not limit or len(sides) != 2:
        return ""
    least = _number(limit["limit"])
    first, _, last = pair["limits"].partition(" to ")
    if least <= 1 or not last:
        return ""
    value, low, high = (100 / _number(text) for text in (pair["value"], last, first))
    percent = with_interval(value, low, high, PER_CENT)
    beside = f"{_against(' to '.join(reversed(sides)))}{_of_several(claim, verdict)}"
    return f"{percent} ({beside}; the hypothesis allows less than {pretty(100 / least)}{PER_CENT})"


def _number(text: str) -> float:
    """A number of a stored reason."""
    return float(text.replace(",", ""))


_MORE_THAN = re.compile(r"allows more than (?P<limit>[\d.,]*\d)")
_NUMBER = re.compile(r"(?P<value>\S+(?: %)?) \([\d.]+ % CI (?P<limits>[^,]+(?:,\d{3}[^,]*)*)")
"""The estimate at the beginning of a stored reason, after `MEASURED_AT`."""


def _against(where: str) -> str:
    """Compared conditions of a stored reason, ``8, swap a to 8, swap b``, with what both share
    first: ``8: swap a against swap b``.
    """
    sides = [side.split(", ") for side in where.split(" to ")]
    if len(sides) != 2:
        return where
    shared = [word for word in sides[0] if word in sides[1]]
    left, right = (", ".join(word for word in side if word not in shared) for side in sides)
    if not left or not right:
        return where
    return f"{', '.join(shared)}{': ' if shared else ''}{left} against {right}"


def _reason(data: StudyData, claim: Claim, result: Mapping[str, object]) -> tuple[str | Span, ...]:
    """The reason of a verdict with links to the compared values: to each of a few, else to their
    figure.
    """
    reason = str(result.get("reason") or "")
    if not reason:
        return ()
    study, claim_quantities = data.study, claim.quantities
    for exhibit in map(study.exhibit, claim.exhibits):
        shown = [point for point in study.points(exhibit) if point[2] in claim_quantities]
        if not shown:
            continue
        if len(shown) > MAX_LINKED:
            link = f"trace:{study.id}/{exhibit.id}"
            return (reason, Span(text="Trace of values", style="small", link=link))
        links: list[str | Span] = []
        for series, level, _ in shown:
            text = f"{series.label}, {tick_label(study.factors[series.over], level)}"
            link = f"trace:{trace_key(study.id, exhibit.id, series.label, level)}"
            links += ["; " if links else ". Values: ", Span(text=text, link=link)]
        return (reason, *links)
    return (reason,)


def _error_note(results: Sequence[Mapping[str, object]], level: float) -> str:
    """Explain the expected number of false verdicts, and the last column."""
    decided = sum(measured_verdict(result) in DECIDED_VERDICTS for result in results)
    share = 100 * (1 - level)
    are_decided = "is decided" if decided == 1 else "are decided"
    return (
        f"Each verdict has an error probability of at most {pretty(share)} % if the number of runs was "
        f"decided before them: then at most {pretty((1 - level) * len(results))} wrong decisions are "
        f"expected for {plural(len(results), 'hypothesis', 'hypotheses')}. {decided} {are_decided}. Runs "
        "added for an undecided hypothesis make such errors somewhat more likely. The last column "
        "is the smallest difference from the limits of the hypothesis that such runs detect with a "
        "power of 80 %."
    )


def _detectable_cell(result: Mapping[str, object]) -> str:
    least, unit = result.get("detectable"), str(result.get("detectable_unit") or "")
    if not isinstance(least, float) or not math.isfinite(least):
        return ""
    if unit.startswith("%") and least > MAX_SHOWN_PERCENT:
        return f"more than {pretty(MAX_SHOWN_PERCENT)} {unit}"
    return f"{pretty(least, PROSE_SIGNIFICANT)} {unit}".rstrip()


def _hypothesis_cell(claim: Claim) -> Words:
    words: list[str | Span] = [claim.says]
    if claim.origin is not None:
        # our wording, as in the claim's own row, and no quotation of the paper
        origin_text = f"Repeats a claim of {claim.origin.study}: {claim.repeats}"
        link = f"claim:{claim.origin.study}/{claim.origin.claim}"
        words.append(Span(text=origin_text, style="small", link=link))
    if claim.reading:
        words.append(Span(text=f"Correspondence: {claim.reading}", style="small"))
    if claim.note:
        words.append(Span(text=f"Note: {claim.note}", style="small"))
    return tuple(words)


KIND = ExhibitKind("hypotheses", record)
