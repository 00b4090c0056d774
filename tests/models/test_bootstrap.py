import math

import numpy as np
import pytest

from virtperf.core.errors import ModelError
from virtperf.models.bootstrap import KINDS, QUANTITIES, bootstrap_usl
from virtperf.models.usl import fit_usl, throughput

LOAD = np.array([1, 18, 36, 72, 108, 144, 216.0])
RATE = np.array([64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2])
CPUS = np.array([1, 4, 8, 12, 16, 20, 24, 28, 32, 48, 64.0])
RAYS = np.array([20, 78, 130, 170, 190, 200, 210, 230, 260, 280, 310.0])


def replicated(noise, seed=3):
    load = np.repeat([1, 2, 4, 8, 16, 32.0], 12)
    curve = throughput(load, np.array([0.05, 0.002, 100.0]))
    return fit_usl(load, curve * (1 + noise * np.random.default_rng(seed).standard_normal(72)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_small_noise_gives_the_delta_interval(kind, method):
    """Where the curve is nearly linear in its parameters, all intervals agree, up to what resampling adds or lacks."""
    fit = replicated(0.002)
    found = bootstrap_usl(fit, 4000, 1, kind=kind)
    for quantity in ("peak_load", "peak_throughput", "asymptote"):
        e, d = found.estimate(quantity, method=method), getattr(fit, quantity)(method="delta")
        assert e.value == pytest.approx(d.value, rel=1e-9)
        assert (e.high - e.low) / (d.high - d.low) == pytest.approx(1, abs=0.3)


def test_parametric_intervals_are_as_wide_as_profile_intervals():
    fit = fit_usl(LOAD, RATE)
    found = bootstrap_usl(fit, 4000, 1)
    for quantity in ("alpha", "beta", "gamma"):
        e, p = found.estimate(quantity), fit.estimate(quantity)
        assert (e.high - e.low) / (p.high - p.low) == pytest.approx(1, abs=0.1)


def test_a_peak_that_is_not_there_is_infinite():
    found = bootstrap_usl(fit_usl(CPUS, RAYS, noise="constant"), 2000, 1)
    e = found.estimate("peak_load")
    assert e.value == e.high == math.inf
    assert 50 < e.low < 100  # the profile interval begins at 90
    assert "have no finite peak load" in e.warnings[0]
    assert np.isinf(found.values("peak_load")).mean() == pytest.approx(0.5, abs=0.05)
    assert found.estimate("peak_throughput").high < math.inf
    assert found.estimate("peak_load", method="bca").high == math.inf


def test_values_follow_from_the_coefficients():
    fit = replicated(0.02)
    found = bootstrap_usl(fit, 50, 1)
    a, b, g = found.coefficients.T
    assert found.values("peak_load") == pytest.approx(np.sqrt((1 - a) / b))
    assert found.values("asymptote") == pytest.approx(g / a)
    assert found.values("efficiency", load=8) == pytest.approx(1 / (1 + 7 * (a + 8 * b)))
    for value, theta in zip(found.values("peak_throughput"), found.coefficients, strict=True):
        loads = np.linspace(1, 60, 4000)
        assert value == pytest.approx(throughput(loads, theta).max(), rel=1e-5)


def test_the_estimates_are_the_fits_own():
    fit = replicated(0.02)
    found = bootstrap_usl(fit, 100, 1)
    for quantity in QUANTITIES:
        e = found.estimate(quantity, load=8)
        own = {
            "efficiency": lambda: fit.efficiency(8).value,
            "peak_load": lambda: fit.peak_load().value,
            "peak_throughput": lambda: fit.peak_throughput().value,
            "asymptote": lambda: fit.asymptote().value,
        }.get(quantity, lambda name=quantity: float(fit.params[fit.index(name)]))
        assert e.value == pytest.approx(own(), rel=1e-9)
        assert e.low <= e.value <= e.high


def test_case_resampling_sees_unequal_variances():
    """With noise at the largest load only, gamma (a matter of small loads) is known almost exactly."""
    load = np.repeat([1, 2, 4, 8, 16, 32.0], 4)
    curve = throughput(load, np.array([0.05, 0.002, 100.0]))
    rng = np.random.default_rng(5)
    fit = fit_usl(load, curve + np.where(load == 32, 20.0, 0.01) * rng.standard_normal(24))
    widths = {}
    for kind in ("case", "parametric"):
        e = bootstrap_usl(fit, 1000, 1, kind=kind).estimate("gamma")
        widths[kind] = e.high - e.low
    assert widths["case"] < widths["parametric"] / 2


def test_same_seed_same_numbers():
    fit = replicated(0.02)
    one, two, other = (bootstrap_usl(fit, 100, s, kind="residual") for s in (7, 7, 8))
    assert np.array_equal(one.coefficients, two.coefficients)
    assert not np.array_equal(one.coefficients, other.coefficients)


def test_bad_input():
    fit = fit_usl(LOAD, RATE)
    with pytest.raises(ModelError, match="as many points as parameters"):
        bootstrap_usl(fit_usl([1, 8, 32], [10, 60, 90]))
    with pytest.raises(ModelError, match="unknown bootstrap"):
        bootstrap_usl(fit, kind="wild")
    with pytest.raises(ModelError, match="too few replicates"):
        bootstrap_usl(fit, 5)
    found = bootstrap_usl(fit, 20)
    with pytest.raises(ModelError, match="efficiency needs a load"):
        found.estimate("efficiency")
    with pytest.raises(ModelError, match="amdahl scaling has no peak"):
        bootstrap_usl(fit_usl(CPUS, RAYS, kind="amdahl"), 20).estimate("peak_load")
