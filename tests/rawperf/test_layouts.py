"""A changed layout is refused, warned of or read rightly, in every format; what is not stands in a list with its reason.

A few mutants of each kind are judged here; ``python -m tests.rawperf.layouts`` judges all of them.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.rawperf.layouts import KNOWN, Score, Verdict, is_known, score
from tests.rawperf.seeds import FORMATS, SEEDS

PER_KIND = 1
"""Mutants of each kind of change and file."""


@pytest.fixture(scope="module")
def scores() -> dict[str, Score]:
    return {name: score(name, SEEDS[name], PER_KIND) for name in FORMATS}


def test_no_value_stands_under_a_wrong_name(scores: dict[str, Score]) -> None:
    found = [
        f"{name}: {place}\n{reason}"
        for name, result in scores.items()
        for verdict, kind, place, reason in result.failures
        if verdict == Verdict.WRONG and not is_known(name, kind, verdict)
    ]
    assert not found, "\n".join(found)


def test_at_most_one_mutant_of_a_hundred_loses_a_value_silently(scores: dict[str, Score]) -> None:
    counts = sum((result.counts for result in scores.values()), Counter[Verdict]())
    lost = [
        f"{name}: {place}\n{reason}"
        for name, result in scores.items()
        for verdict, kind, place, reason in result.failures
        if verdict == Verdict.LOST and not is_known(name, kind, verdict)
    ]
    assert len(lost) <= 0.01 * counts.total(), "\n".join(lost)
    assert counts[Verdict.LOST] <= 0.015 * counts.total()


def test_mutants_are_of_every_verdict_that_is_right(scores: dict[str, Score]) -> None:
    counts = sum((result.counts for result in scores.values()), Counter[Verdict]())
    for verdict in (Verdict.REFUSED, Verdict.WARNED, Verdict.RIGHT):
        assert counts[verdict] > 0.05 * counts.total()


def test_known_failures_name_formats() -> None:
    assert {entry.format for entry in KNOWN} <= {*FORMATS}
