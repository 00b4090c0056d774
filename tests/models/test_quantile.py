"""Quantile regression, and ratios over sessions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

from rawperf.core.errors import ModelError
from virtperf.models import quantile_regression


def test_engel_data_have_the_published_coefficients():
    """Koenker's data of 235 households: R's `quantreg` prints 81.48225 and 0.5601806."""
    engel = sm.datasets.engel.load_pandas().data
    found = quantile_regression("foodexp ~ income", engel)
    assert found["Intercept"].value == pytest.approx(81.48225, rel=1e-4)
    assert found["income"].value == pytest.approx(0.5601806, rel=1e-4)
    tail = quantile_regression("foodexp ~ income", engel, share=0.95)
    assert tail["income"].value == pytest.approx(0.7090685, rel=1e-3)
    assert found["income"].low < 0.56 < found["income"].high


def requests(rng, runs=6, n=60):
    """Times that grow with guests; the slope differs from run to run."""
    frames = []
    for run in range(runs):
        guests = np.tile([1.0, 2.0, 4.0, 8.0], n // 4)
        time = 10 + (1 + 0.2 * rng.standard_normal()) * guests + rng.exponential(size=n)
        frames.append(pd.DataFrame({"run_id": f"r{run}", "guests": guests, "time": time}))
    return pd.concat(frames, ignore_index=True)


def test_over_runs_a_coefficient_is_the_mean_of_the_runs_with_student_t():
    frame = requests(np.random.default_rng(5))
    each = [
        quantile_regression("time ~ guests", rows, share=0.9)["guests"].value
        for _, rows in frame.groupby("run_id")
    ]
    found = quantile_regression("time ~ guests", frame, share=0.9, over="run_id")["guests"]
    half = stats.t(5).ppf(0.975) * np.std(each, ddof=1) / np.sqrt(6)
    assert (found.value, found.low, found.high) == pytest.approx(
        (np.mean(each), np.mean(each) - half, np.mean(each) + half)
    )
    together = quantile_regression("time ~ guests", frame, share=0.9)["guests"]
    assert together.high - together.low < half, "rows of a run are not independent"
    assert "set over='run_id'" in together.warnings[0]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"share": 1.0}, "share of a quantile is out of range"),
        ({"over": "run_id"}, "too few levels of run_id"),
        ({"formula": "time ~ guests + twice"}, "do not determine all coefficients"),
    ],
)
def test_what_cannot_be_estimated_is_refused(options, problem):
    frame = requests(np.random.default_rng(6), runs=2)
    frame["twice"] = 2 * frame["guests"]
    with pytest.raises(ModelError, match=problem):
        quantile_regression(**{"formula": "time ~ guests", "frame": frame, **options})
