"""The claim kind `saturates`: rows, compared numbers and words of a curve that rises, then is flat."""

from __future__ import annotations

import numpy as np
import pytest

from rawperf.core.errors import StudyError
from tests.cases import each_case
from tests.reconstruct.conftest import claim
from tests.reconstruct.conftest import tiny as tiny
from virtperf.core.contrasts import Replicates
from virtperf.report.claim_words import relations
from virtperf.study.study_samples import StudySamples
from virtperf.verdicts.judgement import comparisons
from virtperf.verdicts.regions import by_value

BODY = "kind: saturates, of: 'throughput[system=b]', over: guests, levels: [1, 2, 3, 4], between: [2, 3], margin: 0.05"
RISING = [(1, 2)]
FLAT = [(3, 4)]


@each_case(
    ("curve", "saturates"),
    [
        ((50, 80, 100, 103), True),
        ((50, 80, 100, 96), True),
        ((50, 80, 60, 62), True),  # nothing is said of the step from 2 to 3 guests
        ((50, 80, 100, 110), False),  # still rises
        ((50, 80, 100, 90), False),  # falls
        ((80, 80, 100, 100), False),  # does not rise
    ],
)
def test_rows_and_runs_agree_with_the_curve(tiny, curve, saturates):
    study, claims = tiny("claims:\n" + claim("one", BODY))
    one = claims["one"]
    values = {
        study.quantity(f"throughput[system=b, guests={n}]"): float(v)
        for n, v in enumerate(curve, 1)
    }
    rows = one.rows(study)
    assert all(sum(c * values[q] for q, c in r.terms) <= r.bound + 1e-9 for r in rows) == saturates
    samples = StudySamples({q: Replicates(np.full(2, v), ("",) * 2) for q, v in values.items()})
    compared, total = comparisons(study, one, samples)
    assert len(compared) == total == len(RISING) + len(FLAT)
    assert (by_value(compared) == "agrees") == saturates


def test_words(tiny):
    study, claims = tiny("claims:\n" + claim("one", BODY))
    (words,) = relations(claims["one"], study)
    one, two, three, four = (
        f"Throughput (b, {n} guest{'s' if n > 1 else ''})" for n in range(1, 5)
    )
    assert words == f"{one} < {two}; within 5\u00a0% of {three}: {four}"
    assert claims["one"].printed_number() == "a saturation"


def test_margin_can_be_a_word(tiny):
    _, claims = tiny("claims:\n" + claim("one", BODY.replace("margin: 0.05", "word: flat")))
    assert claims["one"].margin == pytest.approx(0.02)


@each_case(
    ("old", "new", "problem"),
    [
        (", margin: 0.05", "", "saturates needs margin"),
        ("[2, 3]", "[2, 5]", "between: 2 and 5 are not both levels"),
        ("[2, 3]", "[3, 2]", "a level below it and a level above it"),
        ("[2, 3]", "[2, 4]", "a level below it and a level above it"),
        ("[1, 2, 3, 4]", "[4, 3, 2, 1]", "between needs a level below it"),
        ("[1, 2, 3, 4]", "[1, 3, 2, 4]", "levels are not in order"),
        ("margin: 0.05", "margin: 0.05, at: 2", "saturates does not use at"),
    ],
)
def test_mistake_is_reported(tiny, old, new, problem):
    assert BODY.count(old) == 1
    with pytest.raises(StudyError, match=problem):
        tiny("claims:\n" + claim("one", BODY.replace(old, new)))
