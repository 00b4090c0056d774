"""Variance components and stopping rules."""

import numpy as np
import pandas as pd
import pytest

from rawperf.core.errors import ModelError
from virtperf import models


def nested(rng: np.random.Generator, sds: tuple[float, ...], unbalanced: bool) -> pd.DataFrame:
    rows = []
    for host in range(4):
        at_host = rng.normal(0, sds[0])
        for boot in range(2 if unbalanced and host == 0 else 3):
            at_boot = at_host + rng.normal(0, sds[1])
            runs = 6 if unbalanced and boot == 0 else 4
            rows += [(host, boot, np.exp(at_boot + rng.normal(0, sds[2]))) for _ in range(runs)]
    return pd.DataFrame(rows, columns=["host", "boot", "value"])


def test_variance_components_of_unbalanced_data_are_unbiased():
    rng, sds = np.random.default_rng(6), (0.3, 0.02, 0.01)
    found = np.mean(
        [
            models.variance_components(
                "value", nested(rng, sds, True), levels=["host", "boot"]
            ).variances[1:]
            for _ in range(300)
        ],
        axis=0,
    )
    assert np.sqrt(found) == pytest.approx(sds[1:], rel=0.06)


def test_balanced_variance_components_equal_anova():
    frame = nested(np.random.default_rng(7), (0.3, 0.02, 0.01), False)
    found = models.variance_components("value", frame, levels=["host", "boot"])
    logs = np.log(frame["value"]).groupby([frame["host"], frame["boot"]])
    within = float(logs.var().mean())
    boots = logs.mean().groupby("host").var().mean() - within / 4
    assert found.levels == ("host", "boot", "within")
    assert found.variances[1:] == pytest.approx((boots, within))


def test_row_without_a_level_is_rejected():
    frame = pd.DataFrame({"host": ["a", "a", "b", None], "value": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(ModelError, match="a row has no host"):
        models.variance_components("value", frame, levels=["host"])


def test_repetitions_reach_the_half_width_at_minimum_cost():
    frame = nested(np.random.default_rng(8), (0.02, 0.02, 0.01), False)
    parts = models.variance_components("value", frame, levels=["host", "boot"])
    costs = {"host": 600.0, "boot": 60.0, "within": 10.0}
    plan = parts.repetitions(costs, half_width=0.03)
    counts = plan["repetitions"].to_dict()
    assert (
        parts.half_width(counts) <= 0.03 < parts.half_width({**counts, "host": counts["host"] - 1})
    )
    with pytest.raises(ModelError, match="boot is nowhere replicated"):
        models.variance_components("value", frame.drop_duplicates("host"), levels=["host", "boot"])


def test_stopping_rule():
    steady = [100, 101, 99.5, 100.2, 100.4, 99.9]
    assert not models.stop_when(steady[:5]).stop
    assert models.stop_when(steady).stop
    wild = [100, 120, 90, 110, 95, 130]
    found = models.stop_when(wild)
    assert not found.stop and "not within" in found.reason
    assert models.stop_when(wild, at_most=6).stop
