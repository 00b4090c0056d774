"""Published and certified results: one file in tests/reference a fit.

Each file has ``source, authority, x, y, expected, rtol`` and the ``model`` (with ``options``) that must reproduce it.
A failure prints the matching digits, -log10(|found - expected| / |expected|), as NIST's scores do.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import special

from virtperf.models.crossover import line_crossover
from virtperf.models.equivalence import tost_difference, tost_ratio
from virtperf.models.linear import fit_line, fit_linear, fit_polynomial
from virtperf.models.nls import Curve, fit_nls
from virtperf.models.segmented import fit_segmented
from virtperf.models.usl import compare_usl, fit_usl

FOLDER = Path(__file__).resolve().parent.parent / "reference"
FILES = sorted(FOLDER.glob("*.json"))


def limits(estimate):
    return [estimate.low, estimate.high]


def common(fit):
    return {
        "params": lambda: fit.params,
        "bse": lambda: fit.bse,
        "rss": lambda: fit.rss,
        "sd": lambda: math.sqrt(fit.scale),
        "df_resid": lambda: fit.df_resid,
        "llf": lambda: fit.llf,
        "aic": lambda: fit.aic,
        "resid": lambda: fit.resid,
    }


def bands(fit, points):
    tag = "_at_" + "_".join(f"{p:g}" for p in points)
    found = {f"mean{tag}": lambda: fit.predict(points)}
    for kind in ("mean", "observation"):
        for column in ("se", "low", "high"):
            found[f"{kind}_{column}{tag}"] = lambda k=kind, c=column: fit.predict(points, interval=k)[c]
    return found


def usl(case):
    options = case.get("options", {})
    fit = fit_usl(case["x"], case["y"], **options)
    bounded = options.get("bounded", True)

    def compared():
        return compare_usl(case["x"], case["y"], bounded=bounded)

    def half_width(name):
        e = getattr(fit, name)(method="delta")
        return (e.high - e.low) / 2 / special.stdtrit(fit.df_resid, 0.975)

    found = {
        **common(fit),
        **bands(fit, [1, 108, 400]),
        "alpha_se": lambda: fit.bse[0],
        "covariance_of_alpha": lambda: fit.cov_params()[0],
        "at_bound": lambda: fit.at_bound,
        "t_low": lambda: fit.conf_int(method="t")[:, 0],
        "t_high": lambda: fit.conf_int(method="t")[:, 1],
        "profile_low": lambda: fit.conf_int()[:, 0],
        "profile_high": lambda: fit.conf_int()[:, 1],
        "measured_efficiency": lambda: fit.y / (fit.params[-1] * fit.x),
        "peak_load_delta": lambda: limits(fit.peak_load(method="delta")),
        "peak_load_profile": lambda: limits(fit.peak_load()),
        "peak_load_profile_high_is_infinite": lambda: math.isinf(fit.peak_load().high),
        "f_usl": lambda: compared().tests["usl"].statistic,
        "p_usl": lambda: compared().tests["usl"].pvalue,
        "aic_amdahl": lambda: compared().fits["amdahl"].aic,
        "preferred_is_usl": lambda: compared().preferred().kind == "usl",
        "preferred_is_amdahl": lambda: compared().preferred().kind == "amdahl",
    }
    for name in fit.param_names:
        found[f"{name}_profile"] = lambda n=name: limits(fit.estimate(n))
    for name in ("peak_load", "peak_throughput", "asymptote"):
        found[name] = lambda n=name: getattr(fit, n)().value
        found[f"{name}_delta_se"] = lambda n=name: half_width(n)
    return found


def _misra1b(x, b):
    return np.column_stack((1 - (1 + b[1] * x / 2) ** -2, b[0] * x * (1 + b[1] * x / 2) ** -3))


def _misra1c(x, b):
    return np.column_stack((1 - (1 + 2 * b[1] * x) ** -0.5, b[0] * x * (1 + 2 * b[1] * x) ** -1.5))


def _mgh09(x, b):
    over, under = x * x + x * b[1], x * x + x * b[2] + b[3]
    return np.column_stack((over / under, b[0] * x / under, -b[0] * over * x / under**2, -b[0] * over / under**2))


def _rat42(x, b):
    e = np.exp(b[1] - b[2] * x)
    by = b[0] * e / (1 + e) ** 2
    return np.column_stack((1 / (1 + e), -by, by * x))


def _rat43(x, b):
    e = np.exp(b[1] - b[2] * x)
    y = b[0] / (1 + e) ** (1 / b[3])
    by = -y / b[3] * e / (1 + e)
    return np.column_stack((y / b[0], by, -by * x, y * np.log1p(e) / b[3] ** 2))


def _saturation(x, b):
    return np.column_stack((-np.expm1(-b[1] * x), b[0] * x * np.exp(-b[1] * x)))


NIST = {
    "Misra1a": (lambda x, b: -b[0] * np.expm1(-b[1] * x), _saturation),
    "BoxBOD": (lambda x, b: -b[0] * np.expm1(-b[1] * x), _saturation),
    "Misra1b": (lambda x, b: b[0] * (1 - (1 + b[1] * x / 2) ** -2), _misra1b),
    "Misra1c": (lambda x, b: b[0] * (1 - (1 + 2 * b[1] * x) ** -0.5), _misra1c),
    "Misra1d": (
        lambda x, b: b[0] * b[1] * x / (1 + b[1] * x),
        lambda x, b: np.column_stack((b[1] * x / (1 + b[1] * x), b[0] * x / (1 + b[1] * x) ** 2)),
    ),
    "DanWood": (
        lambda x, b: b[0] * x ** b[1],
        lambda x, b: np.column_stack((x ** b[1], b[0] * x ** b[1] * np.log(x))),
    ),
    "MGH09": (lambda x, b: b[0] * (x * x + x * b[1]) / (x * x + x * b[2] + b[3]), _mgh09),
    "Rat42": (lambda x, b: b[0] / (1 + np.exp(b[1] - b[2] * x)), _rat42),
    "Rat43": (lambda x, b: b[0] / (1 + np.exp(b[1] - b[2] * x)) ** (1 / b[3]), _rat43),
}


def nist(case, start):
    options = case["options"]
    names = tuple(f"b{i + 1}" for i in range(len(case["expected"]["params"])))
    curve = Curve(options["set"], names, *NIST[options["set"]])
    return common(fit_nls(curve, case["x"], case["y"], [options["starts"][start]]))


def linear(case):
    options = case["options"]
    if "names" in options:
        fit = fit_linear(case["x"], case["y"], options["names"])
    elif options["degree"] == 0:  # a line through the origin
        fit = fit_linear(np.array(case["x"], float)[:, None], case["y"], ["slope"])
    elif options["degree"] == 1:
        fit = fit_line(case["x"], case["y"], cov_type=options.get("cov_type", "nonrobust"))
    else:
        fit = fit_polynomial(case["x"], case["y"], options["degree"])
    return {
        **common(fit),
        **(bands(fit, [5, 15, 25]) if options.get("degree") else {}),
        "rsquared": lambda: fit.rsquared,
        "f_joint_zero_slope": lambda: fit.joint_test(slope=0).statistic,
        "f_linearity": lambda: fit.linearity_test().statistic,
        "p_linearity": lambda: fit.linearity_test().pvalue,
        "f_lack_of_fit": lambda: fit.lack_of_fit().statistic,
        "p_lack_of_fit": lambda: fit.lack_of_fit().pvalue,
    }


def segmented(case):
    fit = fit_segmented(case["x"], case["y"], **case.get("options", {}))
    return {
        **common(fit),
        "breakpoint_t": lambda: limits(fit.breakpoint(method="t")),
        "breakpoint_profile": lambda: limits(fit.breakpoint()),
    }


def crossover(case):
    x, y = np.array(case["x"]), np.array(case["y"])
    left = x < case["options"]["split"]
    lines = fit_line(x[left], y[left]), fit_line(x[~left], y[~left])
    return {
        "value": lambda: line_crossover(*lines).estimate.value,
        "fieller": lambda: limits(line_crossover(*lines).estimate),
        "delta": lambda: limits(line_crossover(*lines, method="delta").estimate),
    }


def tost(case):
    options = dict(case["options"])
    if options.pop("ratio", False):
        found = tost_ratio(case["x"], case["y"], means="geometric", **options)
        value, interval = math.log(found.estimate.value), np.log(limits(found.estimate))
    else:
        found = tost_difference(case["x"], case["y"], **options)
        value, interval = found.estimate.value, limits(found.estimate)
    return {
        "value": lambda: value,
        "pvalue": lambda: found.pvalue,
        "interval": lambda: interval,
        "equivalent": lambda: found.verdict == "equivalent",
    }


MODELS = {
    "usl": usl,
    "nist-start1": lambda case: nist(case, 0),
    "nist-start2": lambda case: nist(case, 1),
    "linear": linear,
    "segmented": segmented,
    "crossover": crossover,
    "tost": tost,
}


def cases():
    for path in FILES:
        case = json.loads(path.read_text())
        models = ("nist-start1", "nist-start2") if case["model"] == "nist" else (case["model"],)
        for model in models:
            yield pytest.param(case, model, id=f"{path.stem}-{model}" if len(models) > 1 else path.stem)


def digits(found, expected):
    """Return the matching digits of each element (for an expected zero: of its absolute error)."""
    found, expected = np.atleast_1d(np.asarray(found, float)), np.atleast_1d(np.asarray(expected, float))
    error = np.abs(found - expected) / np.where(expected == 0, 1.0, np.abs(expected))
    return -np.log10(np.maximum(error, 1e-16))


@pytest.mark.parametrize(("case", "model"), list(cases()))
def test_reference(case, model):
    found = MODELS[model](case)
    rtol = case["rtol"]
    failures = []
    for name, expected in case["expected"].items():
        value = found[name]()
        assert np.shape(value) == np.shape(expected), name
        matching = digits(value, expected)
        wanted = -math.log10(rtol.get(name, rtol["default"]))
        if not np.min(matching) >= wanted:
            failures.append(f"{name}: {np.round(matching, 1)} digits, {wanted:.1f} wanted: {value} not {expected}")
    assert not failures, f"{case['source']} [{case['authority']}]\n" + "\n".join(failures)


def test_reference_files_are_complete():
    """Every file says where its numbers are from, and no tolerance stands for a quantity that is not expected."""
    assert len(FILES) >= 40
    for path in FILES:
        case = json.loads(path.read_text())
        assert set(case) - {"options"} == {"model", "source", "authority", "x", "y", "expected", "rtol"}, path.name
        assert set(case["rtol"]) - {"default"} <= set(case["expected"]), path.name
        assert case["source"], path.name
        assert case["expected"], path.name


def test_digits_count_wrong_values_as_wrong():
    assert digits(1.001, 1.0)[0] == pytest.approx(3.0)
    assert digits([1e-3], [0.0])[0] == pytest.approx(3.0)
    assert not np.min(digits(np.nan, 1.0)) >= 1
