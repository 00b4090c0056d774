"""USL fits and intervals compared with scipy.optimize.curve_fit on the same data; see
benchmarks/README.md.
"""

import sys
import time
from collections.abc import Callable

import numpy as np
from scipy import optimize, stats

from virtperf.models.irls import Family, solve
from virtperf.models.noise import NOISES
from virtperf.models.usl import fit_usl
from virtperf.models.usl_result import FREE_PARAMETERS, coefficients, design_columns

SEED, FITS, INTERVALS, REPLICATES = 20090101, 200, 10, 1_000
REFITS = 10_000
LOAD = np.array([1, 2, 4, 8, 12, 16, 24, 32.0])
TRUTH = np.array([0.04, 0.0015, 50.0])  # alpha, beta, gamma: a peak at a load of 25
NOISE = 0.02  # standard deviation of the logarithm of throughput
LONGEST = 0.020  # maximum seconds of a profile interval
BOUNDS = ([0, 0, 0], [1, np.inf, np.inf])  # as in fit_usl


def usl(n: np.ndarray, alpha: float, beta: float, gamma: float) -> np.ndarray:
    return gamma * n / (1 + (n - 1) * (alpha + beta * n))


def start(x: np.ndarray) -> tuple[float, float, float]:
    """A starting point as chosen by hand."""
    return 0.1, 1 / LOAD[-1] ** 2, x[0] / LOAD[0]


def scipy_fit(x: np.ndarray) -> np.ndarray:
    return optimize.curve_fit(usl, LOAD, x, start(x), bounds=BOUNDS)[0]


def scipy_unbounded(x: np.ndarray) -> np.ndarray:
    return optimize.curve_fit(usl, LOAD, x, start(x))[0]


def our_fit(x: np.ndarray) -> np.ndarray:
    return fit_usl(LOAD, x, noise="constant").params.to_numpy()


def our_interval(x: np.ndarray) -> np.ndarray:
    estimate = fit_usl(LOAD, x, noise="constant").peak_load()
    return np.array([estimate.low, estimate.high])


def scipy_interval(x: np.ndarray) -> np.ndarray:
    """Profile limits of the peak load with scipy: curve_fit of alpha and gamma at a fixed peak,
    and brentq on the peak.
    """
    alpha, beta, gamma = scipy_fit(x)
    peak = np.sqrt((1 - alpha) / beta)
    rss = np.sum((usl(LOAD, alpha, beta, gamma) - x) ** 2)
    df = len(LOAD) - 3
    threshold = rss * (1 + stats.t.ppf(0.975, df) ** 2 / df)

    def excess(at: float) -> float:
        def curve(n: np.ndarray, a: float, g: float) -> np.ndarray:
            return usl(n, a, (1 - a) / at**2, g)

        best, _ = optimize.curve_fit(curve, LOAD, x, (alpha, gamma), bounds=([0, 0], [1, np.inf]))
        return float(np.sum((curve(LOAD, *best) - x) ** 2)) - threshold

    outside = [peak, peak]
    for side, factor in enumerate((0.8, 1.25)):
        while excess(outside[side]) < 0:
            outside[side] *= factor
    return np.array([optimize.brentq(excess, peak, limit, xtol=1e-6 * peak) for limit in outside])


def interval_time(x: np.ndarray) -> float:
    """Seconds of a profile interval of the peak load without the fit: minimum of `REPLICATES` /
    10.
    """
    fit = fit_usl(LOAD, x, noise="constant")
    best = np.inf
    for _ in range(REPLICATES // 10):
        begin = time.perf_counter()
        fit.peak_load()
        best = min(best, time.perf_counter() - begin)
    return best


def fit_time(x: np.ndarray) -> float:
    """Seconds of a fit: minimum of `FITS`."""
    best = np.inf
    for _ in range(FITS):
        begin = time.perf_counter()
        fit_usl(LOAD, x)
        best = min(best, time.perf_counter() - begin)
    return best


def refits(samples: np.ndarray) -> float:
    """Time of bounded curve_fit per data set over that of our batched fit; checks data sets that
    both fit.
    """
    begin = time.perf_counter()
    family = Family(NOISES["constant"])
    found = coefficients(
        solve(
            family,
            design_columns(LOAD),
            samples,
            np.ones_like(samples),
            free=np.array(FREE_PARAMETERS["usl"]),
        ).b
    )
    spent = (time.perf_counter() - begin) / len(samples)
    begin = time.perf_counter()
    theirs = [scipy_fit(x) for x in samples[:REPLICATES]]
    np.testing.assert_allclose(theirs, found[:REPLICATES], rtol=1e-3, atol=1e-5)
    return (time.perf_counter() - begin) / REPLICATES / spent


Fit = Callable[[np.ndarray], np.ndarray]


def compare(ours: Fit, theirs: Fit, data: list[np.ndarray]) -> float:
    """Ratio of their time to ours, alternating on each data set; AssertionError if results differ."""
    spent = np.zeros(2)
    for x in data:
        found = []
        for k, function in enumerate((ours, theirs)):
            begin = time.perf_counter()
            found.append(function(x))
            spent[k] += time.perf_counter() - begin
        np.testing.assert_allclose(found[1], found[0], rtol=1e-4, atol=1e-8)
    return spent[1] / spent[0]


def main() -> None:
    rng = np.random.default_rng(SEED)
    samples = usl(LOAD, *TRUTH) * np.exp(NOISE * rng.standard_normal((REPLICATES, len(LOAD))))
    one, replicates = samples[0], list(samples)
    print(f"{'what':<50s}{'times':>7s}{'ratio':>8s}")
    for label, ours, theirs, data in (
        ("fit, against bounded curve_fit", our_fit, scipy_fit, [one] * FITS),
        ("fit, against unbounded curve_fit", our_fit, scipy_unbounded, [one] * FITS),
        (
            "fit and interval, against brentq over curve_fit",
            our_interval,
            scipy_interval,
            [one] * INTERVALS,
        ),
        ("fits of replicates, against bounded curve_fit", our_fit, scipy_fit, replicates),
    ):
        print(f"{label:<50s}{len(data):>7d}{compare(ours, theirs, data):>8.2f}", flush=True)
    noise = np.exp(NOISE * rng.standard_normal((REFITS, len(LOAD))))
    print(
        f"{'fits at once, against bounded curve_fit':<50s}{REFITS:>7d}{refits(usl(LOAD, *TRUTH) * noise):>8.2f}"
    )
    print(f"{'fit with proportional noise, milliseconds':<57s}{1000 * fit_time(one):>8.2f}")
    spent = interval_time(one)
    print(f"{'profile interval of the peak load, milliseconds':<57s}{1000 * spent:>8.2f}")
    if spent > LONGEST:
        sys.exit(f"an interval may take {1000 * LONGEST:g} ms")


if __name__ == "__main__":
    main()
