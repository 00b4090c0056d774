"""Coverage of 95 % intervals, as a small seeded check.

Acceptance band: with true coverage 0.95 the number of hits in n simulations is binomial(n, 0.95). Its share has a
standard error of sqrt(0.95 * 0.05 / n): 0.0109 for n = 400, 0.0069 for n = 1000. The bands are 0.95 +- 3.3 standard
errors (a tail of about 0.001): 0.914 to 0.986 and 0.927 to 0.973. Nonlinear intervals are only approximate at small n;
the same band applies.

test_calibrate tests acceptance of the truth on more data sets, without searching interval limits. Here few data sets
suffice: in each, the interval has to contain the truth if and only if it is accepted.
"""

import math

import numpy as np

from tests.cases import each_case
from tools.validation.curves import inside, throughput
from tools.validation.lines import place_pvalue
from virtperf.models.profile import ProfileConstraint
from virtperf.models.segmented import fit_segmented
from virtperf.models.two_means import ratio_of_means, ratio_of_pairs
from virtperf.models.usl import fit_usl

DATA_SETS = 100
"""For models whose interval limits are searched."""
P_ERROR = 3 * math.sqrt(0.05 * 0.95 / 1999)
"""Three standard errors of a simulated p-value near 0.05."""


def assert_covers(hits, n, level=0.95):
    se = math.sqrt(level * (1 - level) / n)
    assert abs(hits / n - level) <= 3.3 * se, f"{hits} of {n} = {hits / n:.3f}"


def test_peak_load_of_the_scalability_law():
    """Grid and noise like the SPEC SDM91 measurements, whose noise SD is 83."""
    rng = np.random.default_rng(9)
    load = np.array([1, 18, 36, 72, 108, 144, 216.0])
    theta = np.array([0.0277, 1.04e-4, 90.0])
    peak = math.sqrt((1 - theta[0]) / theta[1])
    at_peak = ProfileConstraint((0, 0, 1), math.nan, (1, 0, 0))
    curve = throughput(load, theta)
    hits = 0
    for _ in range(DATA_SETS):
        # A load of one gives 90 per hour, which noise of SD 83 could make negative; values are clipped at 1.
        fit = fit_usl(load, np.maximum(curve + 60 * rng.standard_normal(7), 1.0))
        _, accepted = inside(fit, {"peak": (at_peak, 1 / peak**2)})["peak"]
        assert (peak in fit.peak_load()) == accepted
        hits += accepted
    assert_covers(hits, DATA_SETS)


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
    """The p-value of the true breakpoint and the limits are simulated with different random numbers."""
    rng = np.random.default_rng(12)
    x = np.arange(1.0, 13)
    curve = 20 - 1.5 * np.maximum(x - 6.3, 0) + (0.4 * x if form == "free" else 0)
    hits = differ = 0
    for seed in range(DATA_SETS):
        fit = fit_segmented(x, curve + 0.5 * rng.standard_normal(12), form=form)
        inside_limits = 6.3 in fit.breakpoint()
        hits += inside_limits
        p = place_pvalue(fit, 6.3, seed=seed)
        differ += inside_limits != (p > 0.05) and abs(p - 0.05) > P_ERROR
    assert_covers(hits, DATA_SETS)
    assert differ == 0
