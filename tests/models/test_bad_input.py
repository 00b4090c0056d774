"""Rows that no model can take: each is refused with a `ModelError` that names the row and what is needed.

One table of damages over all models of the catalogue. Whatever a model does take must come out as numbers: an estimate
is never NaN, and nothing is only a warning (warnings are errors in these tests).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from rawperf.core.errors import ModelError
from validation.curves import throughput
from virtperf.models import (
    linear,
    ratio,
    tost,
    usl_cost,
)
from virtperf.models.catalog import (
    CATALOG,
    CURVE,
    FACTORS,
    FAMILIES,
    MEANS,
    SAMPLES,
    SERIES,
    Options,
    Sample,
)
from virtperf.models.reports import run
from virtperf.models.segmented import fit_segmented
from virtperf.models.usl import fit_usl

LOAD = np.array([1.0, 2, 4, 8, 16, 24, 32])
NOISE = 0.03 * np.array([1, -1, 2, -2, 1, -1, 0.5])
POSITIVE_X = {"scaling", "usl", "amdahl", "linear-scaling", "cost"}
CURVES = [name for name, model in CATALOG.items() if model.takes == CURVE]
NEEDS_POSITIVE = [
    name for name, m in CATALOG.items() if m.noise and m.takes not in (FACTORS, SERIES)
]
"""Models whose y has to be positive row by row, since the noise is a share of it."""


def good(name: str) -> list[Sample]:
    takes = CATALOG[name].takes
    if takes == SERIES:
        return [
            Sample("", np.repeat([10.0, 12.0], 5) + np.tile(NOISE[:5], 2), order=list("abcdefghij"))
        ]
    if takes in (CURVE, FAMILIES):
        curve = throughput(LOAD, np.array([0.03, 0.002, 10.0])) + NOISE
        return [Sample("a", curve, LOAD)]
    if takes in (SAMPLES, MEANS):
        spread = np.array([-1.0, 0.0, 0.5, 1.0, -0.5])
        return [Sample("a", 100 + spread), Sample("b", 101 - spread)]
    factors = {"system": ["a"] * 9 + ["b"] * 9, "workload": [1, 1, 1, 2, 2, 2, 3, 3, 3] * 2}
    base = np.repeat([10.0, 20, 30, 12, 24, 33], 3) + np.tile([0.1, -0.2, 0.15], 6)
    return [Sample("", base, factors=factors, name="runtime")]


def call(name: str, samples: list[Sample]):
    return run(name, samples, Options(0.05, margin=1.5 if CATALOG[name].margin else None))


def damaged(name: str, column: str, value: float, row: int = 1) -> list[Sample]:
    first, *others = good(name)
    values = getattr(first, column).copy()
    values[row] = value
    return [replace(first, **{column: values}), *others]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", CATALOG)
def test_a_response_that_is_not_finite_is_named_with_its_row(name, value):
    with pytest.raises(ModelError, match=r"in row 2( of \d+)? is not a finite number"):
        call(name, damaged(name, "y", value))


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("name", CURVES)
def test_an_x_that_is_not_finite_is_named_with_its_row(name, value):
    with pytest.raises(ModelError, match=r"in row 2 of 7 is not a finite number"):
        call(name, damaged(name, "x", value))


@pytest.mark.parametrize("value", [0.0, -3.0])
@pytest.mark.parametrize("name", sorted(NEEDS_POSITIVE))
def test_a_response_that_is_not_positive_is_named_with_its_row(name, value):
    with pytest.raises(ModelError, match=r"in row 2( of \d+)? is not positive"):
        call(name, damaged(name, "y", value))


@pytest.mark.parametrize("value", [True, np.True_])
def test_truth_values_are_no_numbers(value):
    for bad in ([1, 2, value, 4], np.array([True, False, True, True])):
        with pytest.raises(ModelError, match="not a number"):
            linear.fit_line(X, bad)


@pytest.mark.parametrize("value", [0.0, -3.0])
@pytest.mark.parametrize("name", sorted(POSITIVE_X))
def test_a_load_that_is_not_positive_is_named_with_its_row(name, value):
    with pytest.raises(ModelError, match=r"load in row 2 of 7 is not positive"):
        call(name, damaged(name, "x", value))


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan])
@pytest.mark.parametrize("name", [name for name in CURVES if CATALOG[name].weighted])
def test_a_weight_that_is_none_is_named_with_its_row(name, value):
    first, *others = good(name)
    w = np.ones(len(first.y))
    w[1] = value
    with pytest.raises(ModelError, match=r"weight in row 2 of 7 is not"):
        call(name, [replace(first, weights=w), *others])


@pytest.mark.parametrize("name", CURVES)
def test_rows_fewer_than_parameters_and_equal_x_are_refused(name):
    first, *others = good(name)
    parameters = {
        "linear-scaling": 1,
        "scaling": 3,
        "usl": 3,
        "cost": 3,
        "parabola": 3,
        "segmented": 4,
        "plateau-decline": 3,
        "rise-plateau": 3,
    }.get(name, 2)
    if parameters > 1:
        few = slice(0, parameters - 1)
        with pytest.raises(
            ModelError, match=rf"{parameters - 1} rows can't determine {parameters} parameters"
        ):
            call(name, [replace(first, y=first.y[few], x=first.x[few]), *others])
        with pytest.raises(
            ModelError, match=r"too few distinct values; expected at least \d; found 1 \(4\)"
        ):
            call(name, [replace(first, x=np.full(7, 4.0)), *others])
    with pytest.raises(ModelError, match="is empty"):
        call(name, [replace(first, y=first.y[:0], x=first.x[:0]), *others])
    with pytest.raises(ModelError, match=r"has 7 rows but \w+ has 6"):
        call(name, [replace(first, y=first.y[:6]), *others])


@pytest.mark.parametrize("name", [n for n, m in CATALOG.items() if m.takes == SAMPLES])
def test_one_run_is_no_sample(name):
    first, second = good(name)
    with pytest.raises(ModelError, match="has one value; expected at least two"):
        call(name, [replace(first, y=first.y[:1]), second])
    with pytest.raises(ModelError, match="is empty"):
        call(name, [first, replace(second, y=second.y[:0])])


@pytest.mark.parametrize("name", ["anova", "anova-additive"])
def test_one_level_or_no_replicate_is_refused(name):
    sample = good(name)[0]
    same = {**sample.factors, "system": ["a"] * 18}
    with pytest.raises(ModelError, match="level"):
        call(name, [replace(sample, factors=same)])
    with pytest.raises(ModelError):
        call(
            name,
            [
                replace(
                    sample, y=sample.y[:1], factors={k: v[:1] for k, v in sample.factors.items()}
                )
            ],
        )


@pytest.mark.parametrize("name", CATALOG)
def test_what_is_taken_comes_out_as_numbers(name):
    """The smallest data sets, equal responses, and responses of any size either give numbers or an error."""
    samples = good(name)
    tried = [[replace(s, y=np.full(len(s.y), 5.0)) for s in samples]]
    tried += [[replace(s, y=s.y * factor) for s in samples] for factor in (1e-12, 1e12)]
    for n in range(1, len(samples[0].y)):
        tried.append(
            [
                replace(
                    s,
                    y=s.y[:n],
                    x=None if s.x is None else s.x[:n],
                    order=s.order[:n],
                    factors={k: v[:n] for k, v in s.factors.items()},
                )
                for s in samples
            ]
        )
    for given in tried:
        try:
            report = call(name, given)
        except ModelError as error:
            assert error.problem
            continue
        for e in (report.parameters | report.quantities).values():
            assert not any(map(math.isnan, (e.value, e.low, e.high)))
            assert e.low <= e.value <= e.high


X, BAD, ZERO = [1.0, 2, 3, 4], [1.0, math.nan, 3, 4], [1.0, 0, 3, 4]
FINITE, POSITIVE = r"in row 2 of 4 is not a finite number", r"in row 2 of 4 is not positive"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: linear.fit_linear(np.column_stack((np.ones(4), BAD)), X, ("a", "b")), r"row 2"),
        (lambda: linear.fit_linear(np.ones((4, 2)), X, ("a", "b")), "a and b|distinct|depend|rank"),
        (lambda: linear.fit_polynomial(X, BAD, 1), FINITE),
        (lambda: usl_cost.fit_usl_cost(X, ZERO), "cost " + POSITIVE),
        (lambda: usl_cost.fit_usl_cost(BAD, X), "load " + FINITE),
        (lambda: usl_cost.fit_usl_cost([1, 2], [1, 2]), "2 rows can't determine 3 parameters"),
        (lambda: usl_cost.fit_usl_cost([2, 2, 2], [1, 2, 3]), "load has too few distinct values"),
        (lambda: ratio.ratio_of_pairs(X, ZERO), "denominator " + POSITIVE),
        (lambda: ratio.ratio_of_pairs(X, X[:3]), "numerator has 4 rows but denominator has 3"),
        (
            lambda: ratio.ratio_of_means(X, X[:3], paired=True),
            "numerator has 4 rows but denominator has 3",
        ),
        (lambda: tost.tost_difference(X, BAD, 1.0), FINITE),
        (lambda: tost.tost_difference(X, X, -1.0), "margin"),
        (lambda: tost.tost_difference(X, X, math.nan), "margin"),
        (lambda: fit_usl(X, X, noise="white"), "unknown kind of noise"),
        (
            lambda: fit_segmented(LOAD, -LOAD, noise="proportional"),
            "y in row 1 of 7 is not positive",
        ),
    ],
)
def test_functions_outside_the_catalogue(function, message):
    with pytest.raises(ModelError, match=message):
        function()
