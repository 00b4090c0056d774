"""Rows pooled as replicates, and columns that contradict the pooling."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from virtperf import models
from virtperf.models.replication import MIN_SHARE, _tests, explaining_column

SIDES = {"of": {"system": "b"}, "to": {"system": "a"}, "check_replicates": True}
LOADS = np.array([1.0, 2, 4, 8, 16, 24])


def curve(load, alpha, beta, gamma):
    return gamma * load / (1 + alpha * (load - 1) + beta * load * (load - 1))


def loads(runs: int = 1, of_a: np.ndarray = LOADS, of_b: np.ndarray = LOADS) -> pd.DataFrame:
    """Two systems at each load, runs that differ by 2 %."""
    rng = np.random.default_rng(1)
    parts = []
    for system, at, law in (("a", of_a, (0.03, 0.003, 10)), ("b", of_b, (0.15, 0.003, 12))):
        guests = np.repeat(at, runs)
        y = curve(guests, *law) * (1 + 0.02 * rng.standard_normal(len(guests)))
        run = np.tile(np.arange(runs), len(at))
        parts.append(pd.DataFrame({"system": system, "guests": guests, "run": run, "rate": y}))
    return pd.concat(parts, ignore_index=True)


def messages(found) -> list[str]:
    return [w for e in found.values() for w in e.warnings if "not replicates" in w]


@pytest.mark.parametrize("function", [models.ratios, models.differences])
def test_pooled_load_is_reported_with_advice(function):
    (warning,) = messages(function("rate", loads(), **SIDES))
    assert "guests explains" in warning
    assert 'on="guests" (--on guests)' in warning
    (warning,) = messages(function("rate", loads(3), **SIDES))
    assert 'by="guests" (--by guests)' in warning
    assert not messages(function("rate", loads(3), by="guests", **SIDES))
    assert not messages(function("rate", loads(3), **{**SIDES, "check_replicates": False}))


def test_different_loads_are_reported():
    (warning,) = messages(models.ratios("rate", loads(3, of_b=LOADS[3:]), **SIDES))
    assert "the groups have different levels of it: compare them at equal guests" in warning
    (warning,) = messages(models.ratios("rate", loads(4, LOADS[:3], LOADS[3:]), **SIDES))
    assert "different levels" in warning


def test_text_loads_are_found():
    words = loads(2).assign(guests=lambda f: f["guests"].map(lambda n: f"{n:g} guests"))
    (warning,) = messages(models.ratios("rate", words, **SIDES))
    assert "guests explains" in warning


def test_f_test_equals_statsmodels():
    import statsmodels.formula.api as smf
    from statsmodels.stats.anova import anova_lm

    frame = loads(2).assign(y=lambda f: np.log(f["rate"]))
    group = (frame["system"] == "b").astype(int).to_numpy()
    level = pd.factorize(frame["guests"], sort=True)[0]
    found = [
        test.of(frame["y"].to_numpy()[None, :]) for test in _tests("guests", group, level, True)
    ]
    small = smf.ols("y ~ system", frame).fit()
    rank = level / 5
    large = (
        smf.ols("y ~ system + C(guests)", frame),
        smf.ols("y ~ system * C(guests)", frame),
        smf.ols("y ~ system * (rank + np.square(rank))", frame.assign(rank=rank)),
    )
    assert len(found) == 3
    for (share, p), model in zip(found, large, strict=True):
        fit = model.fit()
        assert p[0] == pytest.approx(anova_lm(small, fit)["Pr(>F)"].iloc[1], rel=1e-6)
        assert share[0] == pytest.approx(1 - fit.ssr / small.ssr, rel=1e-9)


@pytest.mark.parametrize(
    ("spreads", "runs"),
    [((0.02, 0.02), (6, 6)), ((0.02, 0.2), (10, 4)), ((0.02, 0.2), (4, 4))],
)
def test_false_alarm_rate_for_true_replicates(spreads, runs):
    """At most 2 % of data sets, whatever the spreads: 14 is below the 0.999 quantile of 2 % of 400."""
    rng = np.random.default_rng(2)
    called = 0
    for _ in range(400):
        sides = [
            pd.DataFrame(
                {
                    "rate": np.exp(spread * rng.standard_normal(n)),
                    "run": np.arange(n),
                    "day": [f"day {i % 2}" for i in range(n)],
                    "errors": rng.poisson(1, n),
                }
            )
            for spread, n in zip(spreads, runs, strict=True)
        ]
        found = explaining_column(sides, "rate", ["run", "day", "errors"], log=True)
        called += found is not None
    assert called <= 14


def test_columns_that_explain_little_are_ignored():
    rng = np.random.default_rng(3)
    half = pd.DataFrame({"block": np.repeat(np.arange(4), 25), "id": np.arange(100)})
    sides = [
        half.assign(
            rate=1 + 0.1 * rng.standard_normal(4)[half["block"]] + 0.2 * rng.standard_normal(100),
            tags=[["a"]] * 100,
            none=np.nan,
        )
        for _ in range(2)
    ]
    assert explaining_column(sides, "rate", ["block", "id", "tags", "none"], log=False) is None
    for side in sides:
        side["rate"] += side["block"]
    found = explaining_column(sides, "rate", ["block", "id", "tags", "none"], log=False)
    assert found.name == "block" and found.share > MIN_SHARE


def test_answer_is_deterministic():
    (first,), (second,) = (messages(models.ratios("rate", loads(), **SIDES)) for _ in range(2))
    assert first == second


def test_many_rows_use_little_memory_and_duplicate_column_names_work():
    """Dummy variables of all rows would take 190 MB."""
    rng = np.random.default_rng(4)
    guests = rng.integers(1, 40, 200_000)
    frame = pd.DataFrame({"system": np.tile(["a", "b"], 100_000), "rate": 1.0 * guests})
    frame = pd.concat(
        [frame, pd.Series(guests, name="guests")] + [frame["system"].rename("x")] * 2, axis=1
    )
    tracemalloc.start()
    try:
        (warning,) = messages(models.ratios("rate", frame, **SIDES))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "guests explains" in warning and "p < 1e-12" in warning
    assert peak < 120e6
