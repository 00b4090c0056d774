import numpy as np
import pytest
import statsmodels.api as sm

from rawperf.core.errors import ModelError, ParameterError
from tests.cases import each_case
from virtperf.models.straight_line import fit_line

X = np.array([1, 2, 3, 4, 5, 6, 7.0])
Y = np.array([2.1, 3.9, 6.2, 7.8, 10.1, 12.2, 13.7])


@each_case("weights", [None, [1, 2, 3, 4, 3, 2, 1]])
def test_agrees_with_statsmodels(weights):
    fit = fit_line(X, Y, weights=weights)
    other = sm.WLS(Y, sm.add_constant(X), weights=1.0 if weights is None else weights).fit()
    assert fit.theta == pytest.approx(other.params, rel=1e-10)
    assert fit.bse.to_numpy() == pytest.approx(other.bse, rel=1e-10)
    assert fit.conf_int(0.1).to_numpy() == pytest.approx(other.conf_int(0.1), rel=1e-10)
    new = np.array([0.0, 4.5, 20.0])
    frame = other.get_prediction(sm.add_constant(new)).summary_frame(0.05)
    mean = fit.predict(new, interval="mean")
    assert mean[["low", "high"]].to_numpy() == pytest.approx(
        frame[["mean_ci_lower", "mean_ci_upper"]].to_numpy()
    )


def test_curvature_is_reported_only_if_present():
    assert fit_line(X, Y).linearity_test().pvalue > 0.2
    assert fit_line(X, Y + 0.2 * X**2).linearity_test().pvalue < 0.01


def test_lack_of_fit_needs_replicates_and_uses_their_spread():
    with pytest.raises(ModelError, match="7 distinct x in 7 rows allow no lack-of-fit test"):
        fit_line(X, Y).lack_of_fit()
    noise = np.tile([0.1, -0.1], 7)
    bent = fit_line(np.repeat(X, 2), np.repeat((X - 4) ** 2, 2) + noise)
    straight = fit_line(np.repeat(X, 2), np.repeat(3 * X, 2) + noise)
    assert bent.lack_of_fit().pvalue < 1e-6
    assert straight.lack_of_fit().pvalue > 0.9
    assert (bent.lack_of_fit().df_num, bent.lack_of_fit().df_denom) == (5, 7)


@each_case(("shift", "factor"), [(0, 1), (1e6, 1), (-3, 1e-5), (0, 1e7)])
def test_rescaling_x_only_rescales_the_slope(shift, factor):
    """t value and fitted values do not change."""
    one, other = fit_line(X, Y), fit_line(shift + factor * X, Y)
    assert other.theta[1] * factor == pytest.approx(one.theta[1], rel=1e-8)
    assert other.bse.iloc[1] * factor == pytest.approx(one.bse.iloc[1], rel=1e-6)
    assert other.fittedvalues == pytest.approx(one.fittedvalues, rel=1e-8)


def test_two_points_give_a_line_without_standard_errors():
    fit = fit_line([1, 2], [3, 5])
    assert fit.theta == pytest.approx([1, 2])
    assert fit.slope().high == np.inf
    assert "no standard errors" in fit.warnings[0]


def test_invalid_input_is_rejected():
    with pytest.raises(ModelError, match="x has too few distinct values"):
        fit_line([2, 2, 2], [1, 2, 3])
    with pytest.raises(ModelError, match="x has 3 rows but y has 2"):
        fit_line([1, 2, 3], [1, 2])
    with pytest.raises(ModelError, match="y in row 1 of 2"):
        fit_line([1, 2], [np.nan, 2])


@pytest.mark.filterwarnings("ignore:The identity link function does not respect the domain")
def test_proportional_noise_equals_gamma_model_with_identity_link():
    y = np.array([2.1, 3.8, 6.3, 7.7, 10.4, 11.9, 14.5])[: len(X)]
    x = X[: len(y)]
    fit = fit_line(x, y, noise="proportional")
    other = sm.GLM(
        y, sm.add_constant(x), family=sm.families.Gamma(sm.families.links.Identity())
    ).fit(scale="X2")
    assert fit.theta == pytest.approx(other.params, rel=1e-6)
    assert fit.bse.to_numpy() == pytest.approx(other.bse, rel=1e-5)
    assert fit.weights == pytest.approx(fit.fittedvalues**-2.0)


@pytest.mark.filterwarnings("ignore:omni_normtest is not valid with less than 8")
def test_results_equal_statsmodels():
    fit = fit_line(X, Y)
    other = sm.OLS(Y, sm.add_constant(X)).fit()
    assert fit.results.params == pytest.approx(other.params, rel=1e-10)
    assert fit.results.conf_int() == pytest.approx(other.conf_int(), rel=1e-9)
    assert "slope" in str(fit.results.summary())
    new = sm.add_constant(np.array([2.5, 20]))
    frame, ours = other.get_prediction(new).summary_frame(), fit.predict([2.5, 20], "observation")
    assert ours["low"].to_numpy() == pytest.approx(frame["obs_ci_lower"].to_numpy(), rel=1e-9)


def test_new_observation_of_a_weighted_fit_is_rejected():
    fit = fit_line(X, Y, weights=np.linspace(1, 2, len(X)))
    with pytest.raises(ModelError, match="variance of a new observation is unknown"):
        fit.predict([3], "observation")
    with pytest.raises(ParameterError, match="mutually exclusive"):
        fit_line(X, Y, weights=np.ones(len(X)), noise="proportional")


def test_exact_and_constant_data_give_warnings():
    flat = fit_line([1, 2, 3, 4], [5] * 4)
    assert "exact" in flat.warnings[0]
    with pytest.raises(ModelError, match=r"not positive everywhere.*constant noise"):
        fit_line([1, 2, 3, 4, 5], [1, 1e-6, 1e-6, 1e-6, 100], noise="proportional")
