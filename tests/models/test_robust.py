import numpy as np
import pytest
import statsmodels.api as sm

from rawperf.core.errors import ModelError
from virtperf.models.straight_line import fit_robust_line

X = np.arange(1.0, 11)
Y = 3 + 2 * X + 0.1 * np.array([1, -1, 2, -2, 1, -1, 0.5, 0.2, -0.7, 0.4])


def test_robust_line_equals_statsmodels_rlm():
    fit = fit_robust_line(X, Y)
    other = sm.RLM(Y, sm.add_constant(X), M=sm.robust.norms.HuberT()).fit()
    assert fit.theta == pytest.approx(other.params, rel=1e-10)
    assert fit.bse.to_numpy() == pytest.approx(other.bse, rel=1e-10)
    assert fit.results.summary() is not None
    assert fit.warnings == ()


def test_outlier_is_reported_and_has_little_influence():
    y = Y.copy()
    y[6] += 30
    fit = fit_robust_line(X, y)
    assert fit.slope().value == pytest.approx(2, abs=0.05)
    assert fit.warnings[0].startswith("row 7 (x = 7, y = 47.05) is an outlier")
    assert len(fit.y) == 10


def test_invalid_input_is_rejected():
    with pytest.raises(ModelError, match="3 rows are too few to detect outliers"):
        fit_robust_line([1, 2, 3], [1, 2, 4])
    with pytest.raises(ModelError, match="on one line exactly"):
        fit_robust_line(X, 2 * X)
