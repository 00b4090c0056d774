"""Invalid rows: each model raises a `ModelError` that names the row and the requirement.

One table of invalid inputs covers all models of arrays. Accepted input must give finite numbers: no estimate is NaN,
and warnings are errors in these tests.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

from rawperf.core.errors import ModelError, ParameterError
from tests.cases import each_case
from tools.validation.curves import throughput
from virtperf.models import (
    difference_of_means,
    fit_line,
    fit_robust_line,
    fit_segmented,
    fit_usl,
    ratio_of_means,
    ratio_of_pairs,
)

LOAD = np.array([1.0, 2, 4, 8, 16, 24, 32])
CURVE = throughput(LOAD, np.array([0.03, 0.002, 10.0])) + 0.03 * np.array(
    [1, -1, 2, -2, 1, -1, 0.5]
)
SCALING = {kind: partial(fit_usl, kind=kind) for kind in ("usl", "amdahl", "linear")}
PIECES = {
    form: partial(fit_segmented, form=form) for form in ("free", "plateau-decline", "rise-plateau")
}
CURVES = {**SCALING, **PIECES, "line": fit_line, "robust line": fit_robust_line}
PARAMETERS = {"usl": 3, "amdahl": 2, "linear": 1, "free": 4, "line": 2, "robust line": 2}
SAMPLES = {
    "ratio": ratio_of_means,
    "fieller": partial(ratio_of_means, method="fieller"),
    "pairs": ratio_of_pairs,
    "difference": difference_of_means,
}
A, B = 100 + np.array([-1.0, 0, 0.5, 1, -0.5]), 101 - np.array([-1.0, 0, 0.5, 1, -0.5])


def damaged(values, value, row=1):
    copy = values.copy()
    copy[row] = value
    return copy


@each_case("value", [math.nan, math.inf, -math.inf])
def test_nonfinite_numbers_are_reported_with_their_row(value):
    for fit in CURVES.values():
        with pytest.raises(ModelError, match=r"in row 2 of 7 is not a finite number"):
            fit(LOAD, damaged(CURVE, value))
        with pytest.raises(ModelError, match=r"in row 2 of 7 is not a finite number"):
            fit(damaged(LOAD, value), CURVE)
    for compare in SAMPLES.values():
        with pytest.raises(ModelError, match=r"in row 2 of 5 is not a finite number"):
            compare(damaged(A, value), B)


@each_case("value", [1e151, -1e308])
def test_numbers_with_overflowing_squares_are_reported_with_their_row(value):
    for fit in CURVES.values():
        with pytest.raises(ModelError, match=r"in row 2 of 7 is too large"):
            fit(LOAD, damaged(CURVE, value))
    for compare in SAMPLES.values():
        with pytest.raises(ModelError, match=r"in row 2 of 5 is too large"):
            compare(damaged(A, value), B)


@each_case("name", CURVES)
def test_prediction_at_nan_is_rejected(name):
    fit = CURVES[name](LOAD, CURVE)
    for x, problem in ((math.nan, "not a finite number"), (math.inf, "not a finite number")):
        with pytest.raises(ParameterError, match=f"new x in row 2 of 2 is {problem}"):
            fit.predict([4, x])
    if name in SCALING:
        with pytest.raises(ParameterError, match="new x in row 2 of 2 is not positive"):
            fit.predict([4, 0])


@each_case("value", [0.0, -3.0])
def test_nonpositive_numbers_are_reported_with_their_row(value):
    for fit in SCALING.values():
        with pytest.raises(ModelError, match=r"load in row 2 of 7 is not positive"):
            fit(damaged(LOAD, value), CURVE)
    for fit in (*SCALING.values(), partial(fit_line, noise="proportional")):
        with pytest.raises(ModelError, match=r"in row 2 of 7 is not positive.*constant"):
            fit(LOAD, damaged(CURVE, value))
    for compare in (SAMPLES["pairs"],):
        with pytest.raises(ModelError, match=r"in row 2 of 5 is not positive"):
            compare(damaged(A, value), B)


def test_negative_throughput_is_rejected_for_all_noise_models():
    for noise in ("constant", "counts"):
        with pytest.raises(ModelError, match=r"throughput in row 2 of 7 is negative"):
            fit_usl(LOAD, damaged(CURVE, -1.0), noise=noise)
    with pytest.raises(ModelError, match=r"y in row 2 of 7 is negative"):
        fit_line(LOAD, damaged(CURVE, -1.0), noise="counts")


@each_case("value", [True, np.True_])
def test_booleans_are_rejected(value):
    for bad in ([1, 2, value, 4], np.array([True, False, True, True])):
        with pytest.raises(ModelError, match="not a number"):
            fit_line([1.0, 2, 3, 4], bad)


@each_case("value", [0.0, -1.0, math.nan])
@each_case("name", [name for name in CURVES if name != "robust line"])
def test_invalid_weight_is_reported_with_its_row(name, value):
    with pytest.raises(ModelError, match=r"weight in row 2 of 7 is not"):
        CURVES[name](LOAD, CURVE, weights=damaged(np.ones(7), value))


@each_case("name", [name for name in CURVES if name != "robust line"])
def test_weights_with_a_noise_model_are_rejected(name):
    with pytest.raises(ParameterError, match="mutually exclusive"):
        CURVES[name](LOAD, CURVE, weights=np.ones(7), noise="constant")


@each_case("name", CURVES)
def test_too_few_rows_and_identical_x_are_rejected(name):
    fit, parameters = CURVES[name], PARAMETERS.get(name, 3)
    if parameters > 1:
        few = slice(0, parameters - 1)
        message = rf"{parameters - 1} rows? can't determine {parameters} parameters"
        with pytest.raises(ModelError, match=message):
            fit(LOAD[few], CURVE[few])
        with pytest.raises(ModelError, match=r"too few distinct values; expected at least \d"):
            fit(np.full(7, 4.0), CURVE)
    with pytest.raises(ModelError, match="is empty"):
        fit(LOAD[:0], CURVE[:0])
    with pytest.raises(ModelError, match=r"has 7 rows but \w+ has 6"):
        fit(LOAD, CURVE[:6])


@each_case("name", SAMPLES)
def test_single_run_is_rejected(name):
    with pytest.raises(ModelError, match="has one value; expected at least two"):
        SAMPLES[name](A[:1], B)
    with pytest.raises(ModelError, match="is empty"):
        SAMPLES[name](A, B[:0])


@each_case("name", CURVES)
def test_accepted_input_gives_finite_numbers(name):
    """Smallest data sets, constant responses and responses of any size give numbers or an error."""
    tried = [(LOAD, np.full(7, 5.0)), (LOAD, CURVE * 1e-12), (LOAD, CURVE * 1e12)]
    tried += [(LOAD[:n], CURVE[:n]) for n in range(1, 7)]
    for x, y in tried:
        try:
            fit = CURVES[name](x, y)
        except ModelError as error:
            assert error.problem
            continue
        found = [fit.estimate(parameter) for parameter in fit.param_names]
        found += [e for e in fit.quantities().values() if e.available]
        for e in found:
            assert not any(map(math.isnan, (e.value, e.low, e.high)))
            assert e.low <= e.value <= e.high
        assert fit.summary().startswith(fit.model)
