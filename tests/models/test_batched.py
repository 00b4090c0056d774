import numpy as np
import pytest
from scipy import optimize
from virtperf.models.batched import refit_many

from virtperf.models.usl import fit_usl, throughput

LOAD = np.array([1, 2, 4, 8, 12, 16, 24, 32.0])
TRUTHS = {
    "peak inside": (0.04, 0.0015, 50.0),
    "beta often on its bound": (0.05, 0.0, 50.0),
    "both on their bounds": (0.0, 0.0, 50.0),
    "alpha near 1": (0.97, 0.0005, 10.0),
}


def resamples(truth, size, noise=0.05, seed=1):
    curve = throughput(LOAD, np.array(truth))
    return curve + noise * curve.mean() * np.random.default_rng(seed).standard_normal((size, len(LOAD)))


@pytest.mark.parametrize("truth", TRUTHS.values(), ids=TRUTHS)
@pytest.mark.parametrize("kind", ["usl", "amdahl", "linear"])
def test_each_row_is_fitted_as_if_alone(truth, kind):
    y = np.abs(resamples(truth, 60)) + 1.0
    found = refit_many(kind, LOAD, y, np.array(truth))
    assert found.converged.all()
    for row, theta, rss in zip(y, found.coefficients, found.rss, strict=True):
        alone = fit_usl(LOAD, row, kind=kind)
        assert rss == pytest.approx(alone.rss, rel=1e-10)
        assert theta == pytest.approx(alone.coefficients, rel=1e-4, abs=1e-7)


def test_a_loop_over_curve_fit_finds_the_same():
    y = resamples(TRUTHS["peak inside"], 50, noise=0.01)
    start = np.array(TRUTHS["peak inside"])
    found = refit_many("usl", LOAD, y, start, bounded=False)
    for row, theta in zip(y, found.coefficients, strict=True):
        other, _ = optimize.curve_fit(
            lambda n, *t: throughput(n, np.array(t)), LOAD, row, start, xtol=1e-13, ftol=1e-13
        )
        assert theta == pytest.approx(other, rel=1e-5, abs=1e-9)


def test_weights_repeat_and_leave_out_rows():
    y = resamples(TRUTHS["peak inside"], 5, noise=0.02)
    weights = np.array([1, 1, 2, 0, 1, 3, 1, 1.0])
    found = refit_many("usl", LOAD, y, np.array(TRUTHS["peak inside"]), weights=weights)
    times = weights.astype(int)
    for row, theta in zip(y, found.coefficients, strict=True):
        repeated = fit_usl(np.repeat(LOAD, times), np.repeat(row, times))
        assert theta == pytest.approx(repeated.coefficients, rel=1e-5)
    one_each = refit_many("usl", LOAD, y, np.array(TRUTHS["peak inside"]), weights=np.tile(weights, (5, 1)))
    assert np.array_equal(one_each.coefficients, found.coefficients)


def test_exact_curves_are_recovered_from_afar():
    thetas = np.array([[0.02, 0.001, 80.0], [0.3, 0.02, 5.0], [0.0, 0.004, 1000.0]])
    y = np.array([throughput(LOAD, t) for t in thetas])
    found = refit_many("usl", LOAD, y, thetas * [1, 1, 0.5] + [0.1, 0.01, 0.0])
    assert found.converged.all()
    assert found.coefficients == pytest.approx(thetas, rel=1e-6, abs=1e-9)


def test_the_result_does_not_depend_on_the_company():
    y = resamples(TRUTHS["beta often on its bound"], 40)
    start = np.array(TRUTHS["beta often on its bound"])
    together = refit_many("usl", LOAD, y, start).coefficients
    apart = np.vstack([refit_many("usl", LOAD, row[None, :], start).coefficients for row in y])
    assert together == pytest.approx(apart, rel=1e-9, abs=1e-12)
