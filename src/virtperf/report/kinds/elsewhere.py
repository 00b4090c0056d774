"""Verdicts on the paper's claims, or a measured study's hypotheses, by runs at other levels of one
factor, such as other machines or sessions: one row a claim, one column a level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from virtperf.core.numbers import interval, plural
from virtperf.core.verdicts import AGREED, EXCLUDED, Verdict
from virtperf.report.claim_words import (
    claim_in_words,
    estimate_unit,
    estimate_words,
    measured_verdict,
)
from virtperf.report.kinds import Context, ExhibitKind, note, register
from virtperf.report.records import Grid, Numbers, Paragraph, Record, Span, Words
from virtperf.study.claims import Claim
from virtperf.study.conditions import MIN_UNITS
from virtperf.study.definition import Study
from virtperf.study.parts import EVERY, Factor

NUMBERS = ("estimate", "estimate_low", "estimate_high")
LIMITS = ("allowed_low", "allowed_high")


def record(context: Context) -> Record:
    """Build a table of verdicts, the claims' own level first; claims without a verdict at any other
    level are left out and counted.
    """
    data, study = context.data, context.study
    measured = study.kind == "measured"
    factor = study.factors.get(study.judged_over)
    verdicts = data.verdicts_by_level
    if factor is None or verdicts.empty:
        return register(context, "elsewhere", note("The study has runs at one level only."))
    by_level: dict[tuple[Any, Any], dict[Any, Any]] = {
        (row["claim"], row["level"]): row for row in verdicts.to_dict("records")
    }
    judged = verdicts[verdicts["measured_verdict"] != Verdict.NO_MEASUREMENT]
    known = set(judged["level"])
    others = [level for level in factor.levels if level not in (factor.default, EVERY)]
    if study.pooled_factor:
        levels = [level for level in (*others, EVERY) if level in known]
    else:
        levels = [factor.default or "", *others, *([EVERY] if EVERY in known else [])]
    by_claim: list[list[str]] = []
    unitless: list[bool] = []  # by claim, as `by_claim`
    rows: list[tuple[Words, ...]] = []
    table = []
    left_out = 0
    for claim in data.paper_claims:
        results = [by_level.get((claim.id, level), {}) for level in levels]
        elsewhere = results if study.pooled_factor else results[1:]
        if all(measured_verdict(result) == Verdict.NO_MEASUREMENT for result in elsewhere):
            left_out += 1
            continue
        by_claim.append([measured_verdict(result) for result in results])
        unitless.append(claim.unit_cancels)
        texts = (claim.says,) if measured else (claim.says, claim_in_words(claim, data).printed)
        rows.append((*texts, *(_cell(claim, study, r, limits=not measured) for r in results)))
        for level, result in zip(levels, results, strict=True):
            numbers = {name: result.get(name) for name in ("measured_verdict", *NUMBERS, *LIMITS)}
            table.append({"claim": claim.id, factor.name: level, **numbers})
    heads = ("Hypothesis",) if measured else ("Claim", "Printed")
    grid = Grid(
        label=f"Verdicts by {factor.label}",
        columns=(
            *heads,
            *(factor.place(EVERY) if level == EVERY else factor.show(level) for level in levels),
        ),
        rows=tuple(rows),
        stacks=True,
    )
    word, what = ("hypothesis", "Hypotheses") if measured else ("claim", "Claims")
    without = "runs" if study.pooled_factor else "a run at another level"
    words = _about(study, factor)
    if left_out:
        words += f" {what} without {without} are left out ({left_out})."
    words += (
        f" Intervals of {what.lower()} with several comparisons are simultaneous. An empty cell has no runs. "
        "Undecided are also cells without runs for some of the comparisons, unless the others refute the statement."
    )
    if EVERY in levels:
        words += (
            f" The last column takes each {factor.label} as one block: its interval is that of the spread between "
            f"what each {factor.label} has, and it is about another {factor.label} of the same kind."
        )
    return register(
        context,
        "elsewhere",
        grid,
        Paragraph(words=words, style="small"),
        title=(
            _same_everywhere(
                [v[: -1 if EVERY in levels else None] for v in by_claim], factor, word, what
            )
            if measured
            else _held_elsewhere(by_claim, unitless, levels, factor)
        ),
        numbers=(Numbers.of(pd.DataFrame(table), f"{study.id}-elsewhere"),),
    )


def _held_elsewhere(
    verdicts: list[list[str]], unitless: list[bool], levels: Sequence[Any], factor: Factor
) -> str:
    """How many of the claims that hold at the first level hold at each other one, of those decided
    there: orders and ratios apart from other numbers, which may differ there. Of which ones most hold,
    and of which ones most do not, comes first.
    """
    parts: list[str] = []
    places: list[str] = []
    for without_unit, what in ((True, "orders and ratios"), (False, "absolute numbers")):
        held = [
            of_claim
            for of_claim, cancels in zip(verdicts, unitless, strict=True)
            if of_claim[0] in AGREED and cancels == without_unit
        ]
        counted = []
        for k, level in list(enumerate(levels))[1:]:
            words = [of_claim[k] for of_claim in held]
            agreed = sum(word in AGREED for word in words)
            decided = agreed + sum(word in EXCLUDED for word in words)
            if level != EVERY and decided:
                counted.append((agreed, decided, factor.show(level)))
        if not counted:
            continue
        named = places == [where for *_, where in counted]  # in the same order as before
        places = [where for *_, where in counted]
        numbers = ", ".join(
            f"{agreed} of {decided}{'' if named else f' on {where}'}"
            for agreed, decided, where in counted
        )
        if all(2 * agreed > decided for agreed, decided, _ in counted):
            parts.append(f"most {what} hold elsewhere ({numbers})")
        elif all(2 * agreed < decided for agreed, decided, _ in counted):
            verb = "" if parts else " hold elsewhere"
            parts.append(f"most {what} do not{verb} ({numbers} do)")
        else:
            parts.append(f"of {what} hold {numbers}")
    if not parts:
        return f"Of the claims that hold on {factor.show(levels[0])}, none is decided elsewhere"
    held_words = "; ".join(parts)
    return held_words[0].upper() + held_words[1:]


def _same_everywhere(verdicts: list[list[str]], factor: Factor, word: str, words: str) -> str:
    """How many statements hold at one level and fail at another, and how many have one verdict."""
    known = [{word for word in of_claim if word != Verdict.NO_MEASUREMENT} for of_claim in verdicts]
    opposed = sum(
        not found.isdisjoint(AGREED) and not found.isdisjoint(EXCLUDED) for found in known
    )
    same = sum(len(found) == 1 for found in known)
    undecided = sum(found == {Verdict.UNDECIDED} for found in known)
    both = f"{plural(opposed, word, words.lower()) if opposed else f'No {word}'} "
    both += f"{'hold' if opposed > 1 else 'holds'} on one {factor.label} and "
    both += f"{'fail' if opposed > 1 else 'fails'} on another"
    open_ones = f" ({same - undecided} decided, {undecided} undecided)" if undecided else ""
    return (
        f"{both}; {same} of {len(known)} have the same verdict on every {factor.label}{open_ones}"
    )


def _about(study: Study, factor: Factor) -> str:
    """What the table adds to the verdicts of the other sections."""
    if study.pooled_factor:
        return (
            f"Elsewhere on this page, hypotheses are judged over every {factor.label}, if there are at least "
            f"{MIN_UNITS}. This table also judges them by the runs of each {factor.label} alone."
        )
    default_level = factor.show(factor.default or "")
    return (
        f"The paper's claims are about {default_level}. This table also judges them by the runs of each other "
        f"{factor.label}; a different absolute number there does not contradict the paper. Cells "
        "have the limits by which they are judged, including the tolerance for numbers of another laboratory."
    )


def _cell(claim: Claim, study: Study, result: dict[Any, Any], *, limits: bool) -> Words:
    """Cell with the verdict, its number with the interval if there is one, and the limits that it was
    judged by.
    """
    word = measured_verdict(result)
    if word == Verdict.NO_MEASUREMENT:
        return ""
    parts: list[str | Span] = [Span(text=word, style="verdict")]
    if number := estimate_words(claim, study, result):
        allows = ""
        if limits:
            least, most = (float(result.get(name, math.nan)) for name in LIMITS)
            allows = f"; allowed: {interval(least, most, estimate_unit(claim, study, result))}"
        parts.append(Span(text=f"{number}{allows}", style="small"))
    return tuple(parts)


KIND = ExhibitKind("elsewhere", record)
