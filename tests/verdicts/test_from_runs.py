"""Verdicts of measurement, on observations whose answer is plain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from tests.reconstruct.conftest import claim
from tests.reconstruct.conftest import tiny as tiny
from virtperf.core.mean import over_runs
from virtperf.core.stage_tables import MEANS
from virtperf.verdicts.from_runs import judge

RATIO = claim(
    "b-half",
    "kind: ratio, of: 'throughput[system=b, guests=3]', to: 'throughput[guests=3]', value: 0.5, half_width: 0.005",
)
ORDER = claim("b-below-a", "kind: ordering, order: ['throughput[system=b, guests=3]', 'throughput[guests=3]']")
TEXT = pd.DataFrame({"claim": ["b-half", "b-below-a"], "text_verdict": ["independent", "independent"]})


def means(
    b: Sequence[float], provenance: str = "measured", a: Sequence[float] = (400.0, 402.0, 398.0), df: float = 9.0
) -> pd.DataFrame:
    """The table of means of two systems' runs, with a standard error of 1 within each run."""
    rows = []
    for system, values in (("a", a), ("b", b)):
        for scale, of_own in (("own", 1.0), ("relative", 0.25)):
            k = len(values)
            found = over_runs([of_own * v for v in values], [of_own] * k, [df] * k, level=0.95)
            rows.append({
                "quantity": "throughput", "system": system, "guests": 3, "provenance": provenance, "scale": scale,
                "value": found.value, "se": found.se, "df": found.df, "low": found.low, "high": found.high,
                "level": found.level, "n": found.n, "method": found.method, "runs": [f"{system}{i}" for i in range(k)],
            })  # fmt: skip
    return MEANS.frame(rows, ("system", "guests"))


def verdicts(tiny, frame):
    study, claims = tiny("claims:\n" + RATIO + ORDER)
    return judge(study, claims, TEXT, frame, level=0.95, seed=1).set_index("claim")


def test_data_that_agree_reproduce(tiny):
    found = verdicts(tiny, means([200.0, 200.5, 199.5]))
    assert list(found["measured_verdict"]) == ["reproduced", "reproduced"]
    assert found.loc["b-half", "estimate"] == pytest.approx(0.5)
    assert found.loc["b-half", "estimate_low"] < 0.5 < found.loc["b-half", "estimate_high"]


def test_data_that_disagree_refute_the_number_but_not_the_direction(tiny):
    found = verdicts(tiny, means([300.0, 301.0, 299.0]))
    assert list(found["measured_verdict"]) == ["refuted", "reproduced"]


def test_noisy_data_leave_it_undecided(tiny):
    assert verdicts(tiny, means([120.0, 280.0, 200.0])).loc["b-half", "measured_verdict"] == "undecided"


@pytest.mark.parametrize("provenance", ["simulated", "example"])
def test_only_measured_runs_decide(tiny, provenance):
    found = verdicts(tiny, means([200.0, 200.5, 199.5], provenance))
    assert set(found["measured_verdict"]) == {"no measurement"}
    assert np.isfinite(found.loc["b-half", "simulated_estimate"]) == (provenance == "simulated")


def test_the_same_seed_gives_the_same_numbers(tiny):
    frame = means([200.0, 202.0, 199.0])
    pd.testing.assert_frame_equal(verdicts(tiny, frame), verdicts(tiny, frame))


def test_one_of_two_conditions_can_refute_but_not_reproduce(tiny):
    both = claim("below-100", "kind: range, of: throughput, high: 100, for_each: {guests: [3], system: [a, b]}")
    study, claims = tiny("claims:\n" + both)
    text = pd.DataFrame({"claim": ["below-100"], "text_verdict": ["independent"]})
    for value, verdict in ((99.0, "undecided"), (120.0, "refuted")):
        frame = means([4 * value, 4 * value + 0.4, 4 * value - 0.4])
        found = judge(study, claims, text, frame[frame["system"] == "b"], level=0.95, seed=1).iloc[0]
        assert found["measured_verdict"] == verdict
        assert "1 of its 2 conditions" in found["reason"]


def test_one_run_is_judged_by_its_own_degrees_of_freedom(tiny):
    few, many = (verdicts(tiny, means([200.0], a=[400.0], df=df)).loc["b-half"] for df in (2.0, 60.0))
    widths = [row["estimate_high"] - row["estimate_low"] for row in (few, many)]
    # a ratio of 0.5 whose error is sqrt(1 + 0.25) / 400 has, with many degrees of freedom, about the normal interval
    assert widths[1] == pytest.approx(2 * 1.96 * np.sqrt(1.25) / 400, rel=0.1)
    assert widths[0] > 1.5 * widths[1]


def test_a_mean_without_an_error_counts_as_exact(tiny):
    frame = means([200.0], a=[400.0]).assign(se=np.nan, df=np.nan)
    found = verdicts(tiny, frame).loc["b-half"]
    assert found[["estimate", "estimate_low", "estimate_high"]].tolist() == [0.5, 0.5, 0.5]


def test_a_relative_claim_without_a_reference_run_is_not_measured(tiny):
    study, claims = tiny("claims:\n" + claim("below-100", "kind: range, of: 'throughput[guests=3]', high: 100"))
    text = pd.DataFrame({"claim": ["below-100"], "text_verdict": ["independent"]})
    frame = means([200.0])
    found = judge(study, claims, text, frame[frame["scale"] == "own"], level=0.95, seed=1).iloc[0]
    assert found["measured_verdict"] == "no measurement"
