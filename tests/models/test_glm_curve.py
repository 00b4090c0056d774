"""Curves fitted as generalized linear models: statsmodels results, predictions, warnings."""

import math
import warnings

import numpy as np
import pytest
import statsmodels.api as sm

from rawperf.core.errors import ModelError
from tests.cases import each_case
from tools.validation.coverage import LEVELS
from tools.validation.curves import inside, throughput
from virtperf.models.usl import fit_usl

LOAD = np.array([1, 18, 36, 72, 108, 144, 216.0])
RATE = np.array([64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2])
CPUS = np.array([1, 4, 8, 12, 16, 20, 24, 28, 32, 48, 64.0])
RAYS = np.array([20, 78, 130, 170, 190, 200, 210, 230, 260, 280, 310.0])
SIX = np.repeat([1, 2, 4, 8, 16, 32.0], 2)


def covers(fit, question, value):
    """Whether the 95 % profile interval contains a value, as calibration computes it."""
    return inside(fit, {"": (question, value)})[""][LEVELS.index(0.95)]


def noisy(theta, noise=0.02, seed=3, load=SIX):
    mean = throughput(load, np.array(theta))
    return mean * (1 + noise * np.random.default_rng(seed).standard_normal(len(load)))


@each_case(
    ("noise", "family"), [("constant", sm.families.Gaussian), ("proportional", sm.families.Gamma)]
)
def test_results_equal_a_hand_written_statsmodels_glm(noise, family):
    fit = fit_usl(LOAD, RATE, noise=noise)
    design = np.column_stack((1 / LOAD, (LOAD - 1) / LOAD, LOAD - 1))
    start = np.linalg.lstsq(design, 1 / RATE)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a non-canonical link
        own = sm.GLM(RATE, design, family=family(sm.families.links.InversePower())).fit(
            start_params=start, tol=1e-12
        )
    assert fit.results.params == pytest.approx(own.params, rel=1e-7)
    assert fit.results.bse == pytest.approx(own.bse, rel=1e-7)
    assert fit.theta == pytest.approx(
        [own.params[1] / own.params[0], own.params[2] / own.params[0], 1 / own.params[0]]
    )
    assert fit.scale == pytest.approx(own.scale, rel=1e-7)
    assert fit.deviance == pytest.approx(own.deviance, rel=1e-9)
    se = own.get_prediction(design).se_mean
    assert fit.predict(LOAD, interval="mean")["se"].to_numpy() == pytest.approx(se, rel=1e-6)
    assert list(fit.results.model.exog_names) == ["1/N", "(N - 1)/N", "N - 1"]
    assert fit.summary() == fit_usl(LOAD, RATE, noise=noise).summary()


def test_coefficient_on_its_bound_has_no_column():
    fit = fit_usl(CPUS, RAYS, noise="constant")
    assert fit.at_bound == (False, True, False)
    assert list(fit.results.model.exog_names) == ["1/N", "(N - 1)/N"]
    assert any("beta is on its bound 0" in w for w in fit.warnings)
    band = fit.predict([64, 256], interval="mean")
    narrow = fit_usl(CPUS, RAYS, kind="amdahl", noise="constant").predict(
        [64, 256], interval="mean"
    )
    assert band["low"][1] < narrow["low"][1] - 50  # the bound of beta is kept


def test_coefficient_close_to_its_bound_is_reported():
    fit = fit_usl(CPUS, RAYS)
    assert not any(fit.at_bound)
    assert fit.estimate("beta").low == 0
    assert any("the data are compatible with beta = 0" in w for w in fit.warnings)


def test_prediction_intervals_grow_outwards_and_extrapolation_is_marked():
    fit = fit_usl(SIX, noisy((0.03, 0.001, 100.0)))
    band = fit.predict([8, 32, 64, 128], interval="mean")
    width = (band["high"] - band["low"]) / band["value"]
    assert width.is_monotonic_increasing
    assert band["extrapolated"].tolist() == [False, False, True, True]
    new = fit.predict([8, 32, 64, 128], interval="observation")
    assert (new["low"] < band["low"]).all() and (new["high"] > band["high"]).all()
    one = fit.throughput_at(64)
    assert (one.low, one.value, one.high) == pytest.approx(
        tuple(band.loc[2, ["low", "value", "high"]]), rel=1e-6
    )
    assert any("extrapolated: the tested loads are 1 to 32" in w for w in one.warnings)
    assert not fit.throughput_at(8).warnings


def test_new_observation_of_unknown_weight_is_rejected():
    fit = fit_usl(SIX, noisy((0.03, 0.001, 100.0)), weights=1 + SIX)
    with pytest.raises(ModelError, match="variance of a new observation is unknown"):
        fit.predict([8], interval="observation")


def test_coverage_of_new_observations():
    """300 data sets, 95 %: the count is binomial with mean 285 and SD 3.8; 270 and 298 are four and three and a half SD."""
    truth, at, hits = np.array([0.03, 0.001, 100.0]), np.array([4.0, 64.0]), np.zeros(2)
    rng = np.random.default_rng(5)
    for seed in range(300):
        band = fit_usl(SIX, noisy(truth, seed=seed)).predict(at, interval="observation")
        new = throughput(at, truth) * (1 + 0.02 * rng.standard_normal(2))
        hits += (band["low"].to_numpy() <= new) & (new <= band["high"].to_numpy())
    assert np.all((hits >= 270) & (hits <= 298))


def test_coverage_of_extrapolated_means():
    """150 data sets from loads up to 16, predicted at 48; same bounds, but conservative near zero by design."""
    truth, load = np.array([0.03, 1e-4, 100.0]), np.repeat([1, 2, 4, 8, 12, 16.0], 2)
    asked = throughput(np.array([48.0]), truth)[0]
    hits = 0
    for seed in range(150):
        fit = fit_usl(load, noisy(truth, seed=seed, load=load))
        hits += covers(fit, fit.throughput_constraint(48.0), 1 / asked)
    assert hits >= 133


def test_calibration_coverage_agrees_with_the_limits():
    fit = fit_usl(LOAD, RATE)
    e = fit.estimate("alpha")
    asked = fit.constraint("alpha")
    assert covers(fit, asked, e.low * 1.001) and covers(fit, asked, e.high * 0.999)
    assert not covers(fit, asked, e.low * 0.999) and not covers(fit, asked, e.high * 1.001)


def test_superlinear_data_and_misfit_give_warnings():
    n = np.arange(1.0, 9)
    growing = 7 * n**1.1 * (1 + 0.01 * (-1) ** n)
    for kind in ("linear", "amdahl", "usl"):
        assert any("superlinear" in w for w in fit_usl(n, growing, kind=kind).warnings)
    bent = np.repeat([1, 2, 4, 8, 16, 32.0], 3)
    wave = 100 * bent / (1 + 0.1 * bent) * np.repeat([1, 1.3, 1, 0.8, 1, 1.2], 3)
    fit = fit_usl(bent, wave * (1 + 0.002 * np.tile([1, -1, 0], 6)))
    assert any("deviates from the means of the replicates" in w for w in fit.warnings)
    assert not any(
        "lack of fit" in w or "superlinear" in w
        for w in fit_usl(SIX, noisy((0.03, 0.001, 100.0))).warnings
    )


def test_exact_fit_and_zero_degrees_of_freedom_give_warnings():
    exact = fit_usl(SIX, throughput(SIX, np.array([0.03, 0.001, 100.0])))
    assert any("zero width" in w for w in exact.warnings)
    e = exact.peak_load()
    assert e.low == e.high and any("zero width" in w for w in e.warnings)
    three = fit_usl([1, 8, 32], [10, 60, 90])
    assert any("no degrees of freedom" in w for w in three.warnings)
    assert three.predict([16], interval="mean")["high"][0] == math.inf
