import math

import numpy as np
import pytest
from scipy import stats

from rawperf.core.errors import ModelError, ParameterError
from tests.cases import each_case
from virtperf.core.contrasts import independent_log_ratio
from virtperf.models.power import (
    detectable_effect,
    power,
    power_table,
    relative_spread,
    runs_needed,
)
from virtperf.verdicts.regions import Comparison, Decision, decide


def simulated(n, cv, effect, decide):
    """Share of simulated experiments whose interval of the log ratio gives a verdict."""
    rng = np.random.default_rng(4)
    sd = math.sqrt(math.log1p(cv * cv))
    a = math.log1p(effect) + sd * rng.standard_normal((40_000, n))
    b = sd * rng.standard_normal((40_000, n))
    d = a.mean(axis=1) - b.mean(axis=1)
    u, v = a.var(axis=1, ddof=1), b.var(axis=1, ddof=1)
    df = (n - 1) * (u + v) ** 2 / (u**2 + v**2)
    return float(np.mean(decide(d, np.sqrt((u + v) / n), df)))


@each_case("n", [3, 8])
def test_power_equals_simulated_share(n):
    def interval(d, se, df, alpha):
        half = stats.t.ppf(1 - alpha / 2, df) * se
        return d - half, d + half

    def differs(d, se, df):
        low, high = interval(d, se, df, 0.05)
        return (low > 0) | (high < 0)

    def equivalent(d, se, df):
        low, high = interval(d, se, df, 0.10)
        return (low > -math.log(1.05)) & (high < math.log(1.05))

    # 40,000 experiments: a standard error of at most 0.0025
    assert power(n, cv=0.03, effect=0.05) == pytest.approx(
        simulated(n, 0.03, 0.05, differs), abs=0.01
    )
    found = power(n, cv=0.02, question="equivalence", effect=0.01, margin=0.05)
    assert found == pytest.approx(simulated(n, 0.02, 0.01, equivalent), abs=0.01)


@each_case(
    ("n", "effect", "low", "high"),
    [(2, 0.5, 0, 1.1), (3, 0.3, 0, 1.1), (4, 0.0, 0.85, 1.2), (8, 0.1, 1.02, 1.2)],
)
def test_power_of_a_claim_equals_simulated_verdicts(n, effect, low, high):
    rng = np.random.default_rng(4)
    decided = 0
    for _ in range(2000):
        runs = [size * (1 + 0.06 * rng.standard_normal(n)) for size in (1 + effect, 1.0)]
        ratio = Comparison(independent_log_ratio(*runs), low, high, (n, n))
        decided += decide([ratio], 0.95, whole=True) is not Decision.UNDECIDED
    # a standard error of at most 0.011
    assert power(n, cv=0.06, question="claim", effect=effect, low=low, high=high) == pytest.approx(
        decided / 2000, abs=0.03
    )


def test_number_of_runs_is_minimal():
    for question in (
        {"effect": 0.05},
        {"question": "equivalence", "effect": 0.0, "margin": 0.03},
        {"question": "claim", "effect": 0.1, "low": 1.05, "high": 1.3},
    ):
        n = runs_needed(target=0.9, cv=0.04, **question)
        below, at = power_table([n - 1, n], cv=0.04, **question)["power"]
        assert below < 0.9 <= at
    assert runs_needed(cv=0.5, effect=0.001) is None
    assert runs_needed(cv=0.001, effect=0.5) == 2


def test_detectable_effect_is_the_smallest_for_this_number_of_runs():
    effect = detectable_effect(6, cv=0.03)
    assert power(6, cv=0.03, effect=effect) == pytest.approx(0.8)
    assert power(6, cv=0.03, effect=1 / (1 + effect) - 1) == pytest.approx(0.8)
    assert runs_needed(cv=0.03, effect=1.001 * effect) == 6
    assert runs_needed(cv=0.03, effect=0.999 * effect) == 7
    assert detectable_effect(2, cv=100.0) is None
    with pytest.raises(ModelError, match="at least 2 runs"):
        detectable_effect(1, cv=0.03)


def test_pilot_spread_is_pooled_over_conditions():
    cv, df = relative_spread([99, 101], [52, 48, 50])
    assert df == 3
    assert cv == pytest.approx(math.sqrt((2 * 0.01**2 + 2 * 0.04**2) / 3))


def test_invalid_questions_are_rejected():
    for message, options in (
        ("coefficient of variation", {"cv": 0.0}),
        ("unknown question", {"cv": 0.1, "question": "why"}),
        ("needs a margin", {"cv": 0.1, "question": "equivalence"}),
        ("above -1", {"cv": 0.1, "effect": -1.0}),
        ("allows no ratio", {"cv": 0.1, "question": "claim", "low": 2.0, "high": 1.0}),
        ("allows no ratio", {"cv": 0.1, "question": "claim", "high": math.nan}),
        ("allows no ratio", {"cv": 0.1, "question": "claim", "low": math.nan}),
        (r"\(cv\) is not positive and finite", {"cv": math.nan}),
        (r"\(cv\) is out of range", {"cv": 1e300}),
        (r"\(cv\) is out of range", {"cv": 1e-300}),
        ("above -1", {"cv": 0.1, "effect": math.nan}),
        ("above -1", {"cv": 0.1, "effect": math.inf}),
        ("an effect of 0", {"cv": 0.1, "effect": 0.0}),
        ("the interval is infinite", {"cv": 0.1, "question": "claim", "low": 1.0, "alpha": 1e-17}),
        ("needs a margin.*nan", {"cv": 0.1, "question": "equivalence", "margin": math.nan}),
        ("needs a margin.*inf", {"cv": 0.1, "question": "equivalence", "margin": math.inf}),
    ):
        with pytest.raises((ModelError, ParameterError), match=message):
            power(5, **options)
    with pytest.raises(ModelError, match="at least 2 runs"):
        power(1, cv=0.1)
    with pytest.raises(ModelError, match="there are no replicated pilot runs"):
        relative_spread([1.0])
