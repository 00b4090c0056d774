"""Verdicts of measurement, on observations whose answer is plain."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.reconstruct.conftest import claim
from tests.reconstruct.conftest import tiny as tiny
from virtperf.verdicts.from_runs import judge

RATIO = claim(
    "b-half",
    "kind: ratio, of: 'throughput[system=b, guests=3]', to: 'throughput[guests=3]', value: 0.5, half_width: 0.005",
)
ORDER = claim("b-below-a", "kind: ordering, order: ['throughput[system=b, guests=3]', 'throughput[guests=3]']")
TEXT = pd.DataFrame({"claim": ["b-half", "b-below-a"], "text_verdict": ["independent", "independent"]})


def observations(
    b: list[float], provenance: str = "measured", a: tuple[float, ...] = (400.0, 402.0, 398.0)
) -> pd.DataFrame:
    rows = [
        {"run_id": f"{system}{i}", "provenance": provenance, "replicate": i, "system": system, "guests": 3,
         "quantity": "throughput", "value": value, "se": 1.0, "relative": value / 4, "relative_se": 0.25}
        for system, values in (("a", a), ("b", b))
        for i, value in enumerate(values)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def verdicts(tiny, frame):
    study, claims = tiny("claims:\n" + RATIO + ORDER)
    return judge(study, claims, TEXT, frame, level=0.95, seed=1).set_index("claim")


def test_data_that_agree_reproduce(tiny):
    found = verdicts(tiny, observations([200.0, 200.5, 199.5]))
    assert list(found["measured_verdict"]) == ["reproduced", "reproduced"]
    assert found.loc["b-half", "estimate"] == pytest.approx(0.5)
    assert found.loc["b-half", "estimate_low"] < 0.5 < found.loc["b-half", "estimate_high"]


def test_data_that_disagree_refute_the_number_but_not_the_direction(tiny):
    found = verdicts(tiny, observations([300.0, 301.0, 299.0]))
    assert list(found["measured_verdict"]) == ["refuted", "reproduced"]


def test_noisy_data_leave_it_undecided(tiny):
    assert verdicts(tiny, observations([120.0, 280.0, 200.0])).loc["b-half", "measured_verdict"] == "undecided"


@pytest.mark.parametrize("provenance", ["reconstructed", "example"])
def test_only_measured_runs_decide(tiny, provenance):
    found = verdicts(tiny, observations([200.0, 200.5, 199.5], provenance))
    assert set(found["measured_verdict"]) == {"no measurement"}
    assert np.isfinite(found.loc["b-half", "reconstructed_estimate"]) == (provenance == "reconstructed")


def test_the_same_seed_gives_the_same_numbers(tiny):
    frame = observations([200.0, 202.0, 199.0])
    pd.testing.assert_frame_equal(verdicts(tiny, frame), verdicts(tiny, frame))


def test_one_of_two_conditions_can_refute_but_not_reproduce(tiny):
    both = claim("below-100", "kind: range, of: throughput, high: 100, for_each: {guests: [3], system: [a, b]}")
    study, claims = tiny("claims:\n" + both)
    text = pd.DataFrame({"claim": ["below-100"], "text_verdict": ["independent"]})
    frame = observations([90.0, 90.1, 89.9])
    only_b = frame[frame["system"] == "b"].assign(relative=[99.0, 99.1, 98.9])
    for values, verdict in (([99.0, 99.1, 98.9], "undecided"), ([120.0, 120.1, 119.9], "refuted")):
        found = judge(study, claims, text, only_b.assign(relative=values), level=0.95, seed=1).iloc[0]
        assert found["measured_verdict"] == verdict
        assert "1 of its 2 conditions" in found["reason"]
