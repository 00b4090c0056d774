"""Do 95 % intervals contain the truth about 95 % of the time? A small seeded check, not a certificate.

Acceptance band: with true coverage 0.95 the number of hits in n simulations is binomial(n, 0.95). Its share has a
standard error of sqrt(0.95 * 0.05 / n): 0.0109 for n = 400, 0.0069 for n = 1000. The bands are 0.95 +- 3.3 standard errors
(a tail of about 0.001): 0.914 to 0.986 and 0.927 to 0.973. The nonlinear intervals hold only approximately at small n;
the same band is asked of them.
"""

import math

import numpy as np

from tests.cases import each_case
from validation.curves import throughput
from virtperf.models.ratio import ratio_of_means, ratio_of_pairs
from virtperf.models.segmented import fit_segmented
from virtperf.models.usl import fit_usl


def assert_covers(hits, n, level=0.95):
    se = math.sqrt(level * (1 - level) / n)
    assert abs(hits / n - level) <= 3.3 * se, f"{hits} of {n} = {hits / n:.3f}"


def test_peak_load_of_the_scalability_law():
    """Grid and noise like those of the SPEC SDM91 measurements; the noise SD is 83 there."""
    rng = np.random.default_rng(9)
    load = np.array([1, 18, 36, 72, 108, 144, 216.0])
    theta = np.array([0.0277, 1.04e-4, 90.0])
    peak = math.sqrt((1 - theta[0]) / theta[1])
    curve = throughput(load, theta)
    # A load of one gives 90 per hour: noise of SD 83 could make it negative, so it is cut at 1.
    hits = sum(
        peak in fit_usl(load, np.maximum(curve + 60 * rng.standard_normal(7), 1.0)).peak_load()
        for _ in range(400)
    )
    assert_covers(hits, 400)


@each_case("paired", [False, True])
def test_ratio_of_means(paired):
    rng = np.random.default_rng(10)
    hits = 0
    for _ in range(1000):
        shared = rng.standard_normal(5) if paired else 0.0
        a, b = (
            100 + 4 * shared + 4 * rng.standard_normal(5),
            80 + 3 * shared + 4 * rng.standard_normal(5),
        )
        hits += 1.25 in (ratio_of_pairs(a, b) if paired else ratio_of_means(a, b))
    assert_covers(hits, 1000)


@each_case("form", ["free", "plateau-decline"])
def test_breakpoint(form):
    rng = np.random.default_rng(12)
    x = np.arange(1.0, 13)
    curve = 20 - 1.5 * np.maximum(x - 6.3, 0) + (0.4 * x if form == "free" else 0)
    hits = sum(
        6.3 in fit_segmented(x, curve + 0.5 * rng.standard_normal(12), form=form).breakpoint()
        for _ in range(400)
    )
    assert_covers(hits, 400)
