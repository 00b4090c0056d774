import warnings

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import optimize

from tests.cases import each_case
from tools.validation.curves import throughput
from virtperf.models.irls import Family, solve
from virtperf.models.noise import NOISES as POWERS
from virtperf.models.usl import fit_usl
from virtperf.models.usl_result import FREE_PARAMETERS, coefficients, design_columns

LOAD = np.array([1, 2, 4, 8, 12, 16, 24, 32.0])
TRUTHS = {
    "peak inside": (0.04, 0.0015, 50.0),
    "beta often on its bound": (0.05, 0.0, 50.0),
    "both on their bounds": (0.0, 0.0, 50.0),
    "alpha near 1": (0.97, 0.0005, 10.0),
}
NOISES = {
    "constant": sm.families.Gaussian,
    "counts": sm.families.Poisson,
    "proportional": sm.families.Gamma,
}


def refit_many(kind, load, y, *, noise, weights=1.0, **options):
    w = np.broadcast_to(weights, y.shape)
    found = solve(
        Family(POWERS[noise]),
        design_columns(load),
        y,
        w,
        free=np.array(FREE_PARAMETERS[kind]),
        **options,
    )
    return coefficients(found.b), found.converged


def resamples(truth, size, noise=0.05, seed=1):
    curve = throughput(LOAD, np.array(truth))
    return curve + noise * curve.mean() * np.random.default_rng(seed).standard_normal(
        (size, len(LOAD))
    )


@each_case("noise", NOISES)
def test_coefficients_equal_statsmodels(noise):
    y = resamples(TRUTHS["peak inside"], 5, noise=0.02)
    found, converged = refit_many("usl", LOAD, y, noise=noise, bounded=False, tolerance=1e-10)
    assert converged.all()
    design = np.column_stack((1 / LOAD, (LOAD - 1) / LOAD, LOAD - 1))
    for row, theta in zip(y, found, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a non-canonical link
            family = NOISES[noise](sm.families.links.InversePower(), check_link=False)
            b = (
                sm.GLM(row, design, family=family)
                .fit(start_params=np.linalg.lstsq(design, 1 / row)[0], tol=1e-12)
                .params
            )
        assert theta == pytest.approx([b[1] / b[0], b[2] / b[0], 1 / b[0]], rel=1e-6)


@each_case("noise", NOISES)
@each_case("truth", TRUTHS.values())
@each_case("kind", ["usl", "amdahl", "linear"])
def test_batched_fits_equal_single_fits(truth, kind, noise):
    y = np.abs(resamples(truth, 30)) + 1.0
    found, converged = refit_many(kind, LOAD, y, noise=noise)
    assert converged.all()
    for row, theta in zip(y[::3], found[::3], strict=True):  # a single fit takes 10 ms
        alone = fit_usl(LOAD, row, kind=kind, noise=noise)
        assert theta == pytest.approx(coefficients(alone.b), rel=1e-4, abs=1e-7)


@each_case("truth", TRUTHS.values())
def test_bounded_fit_equals_another_optimiser(truth):
    """scipy's least squares under the same bounds, from the fitted curve and from distant starts."""
    for row in np.abs(resamples(truth, 15)) + 1.0:
        fit = fit_usl(LOAD, row, noise="constant")

        def gap(theta, row=row):
            return throughput(LOAD, theta) - row

        for start in (fit.theta + 1e-4, np.array([0.1, 1e-3, row[0]])):
            other = optimize.least_squares(
                gap, np.clip(start, 1e-9, [1, 1, 1e9]), bounds=([0, 0, 0], [1, np.inf, np.inf])
            )
            assert fit.rss <= 2 * other.cost * (1 + 1e-9)


@each_case("power", [0, 1, 2])
def test_constrained_optimum_equals_another_optimiser(power):
    y = resamples(TRUTHS["peak inside"], 3, noise=0.02)
    row, target = design_columns(np.array([48.0]))[0], 1 / 400
    family = Family(power)
    rows, targets = np.tile(row, (len(y), 1)), np.full(len(y), target)
    found = solve(
        family,
        design_columns(LOAD),
        y,
        np.ones_like(y),
        free=np.ones(3, dtype=bool),
        row=rows,
        target=targets,
    )
    assert found.b @ row == pytest.approx(target, rel=1e-10)
    size = np.abs(found.b).max(axis=0) + 1e-6
    for data, b, deviance in zip(y, found.b, found.deviance, strict=True):

        def worse(u, data=data, deviance=deviance):
            eta = design_columns(LOAD) @ (u * size)
            return family.deviance(data[:, None], np.ones((8, 1)), eta[:, None])[0] / deviance

        other = optimize.minimize(
            worse,
            b / size + 1e-3,
            method="SLSQP",
            bounds=[(0, None)] * 3,
            options={"ftol": 1e-14, "maxiter": 500},
            constraints={"type": "eq", "fun": lambda u: u * size @ row / target - 1},
        )
        assert other.fun == pytest.approx(1, abs=1e-6)


def test_integer_weights_repeat_or_drop_rows():
    y = resamples(TRUTHS["peak inside"], 5, noise=0.02)
    weights = np.array([1, 1, 2, 0, 1, 3, 1, 1.0])
    found, _ = refit_many("usl", LOAD, y, noise="proportional", weights=weights)
    times = weights.astype(int)
    for row, theta in zip(y, found, strict=True):
        repeated = fit_usl(np.repeat(LOAD, times), np.repeat(row, times))
        assert theta == pytest.approx(coefficients(repeated.b), rel=1e-5)
    one_each, _ = refit_many("usl", LOAD, y, noise="proportional", weights=np.tile(weights, (5, 1)))
    assert np.array_equal(one_each, found)


def test_exact_curves_are_recovered():
    thetas = np.array([[0.02, 0.001, 80.0], [0.3, 0.02, 5.0], [0.0, 0.004, 1000.0]])
    y = np.array([throughput(LOAD, t) for t in thetas])
    for noise in NOISES:
        found, converged = refit_many("usl", LOAD, y, noise=noise)
        assert converged.all()
        assert found == pytest.approx(thetas, rel=1e-6, abs=1e-9)


def test_result_does_not_depend_on_the_other_rows_of_the_batch():
    y = resamples(TRUTHS["beta often on its bound"], 40)
    together, _ = refit_many("usl", LOAD, y, noise="constant")
    apart = np.vstack([refit_many("usl", LOAD, row[None, :], noise="constant")[0] for row in y])
    assert together == pytest.approx(apart, rel=1e-9, abs=1e-12)


def test_infeasible_constraint_has_no_deviance():
    y = resamples(TRUTHS["peak inside"], 1)
    found = solve(
        Family(2),
        design_columns(LOAD),
        y,
        np.ones_like(y),
        free=np.ones(3, dtype=bool),
        row=np.ones((len(y), 3)),
        target=np.full(len(y), -1.0),
    )
    assert found.deviance[0] == np.inf
