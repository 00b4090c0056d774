"""Published and certified results, one file per fit in tests/reference.

Each file has ``source, authority, x, y, expected, rtol`` and the ``model`` (with ``options``) that must reproduce it;
a ``reason`` explains a large tolerance. A failure prints the matching digits, -log10(|found - expected| / |expected|),
like NIST's scores.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import special

from virtperf.models.segmented import fit_segmented
from virtperf.models.straight_line import fit_line
from virtperf.models.usl import fit_scaling, fit_usl

FOLDER = Path(__file__).resolve().parent.parent / "reference"
FILES = sorted(FOLDER.glob("*.json"))


def limits(estimate):
    return [estimate.low, estimate.high]


def matching_digits(found, expected):
    """-log10(|found - expected| / |expected|) of each element; the error is absolute for an expected zero."""
    found, expected = (
        np.atleast_1d(np.asarray(found, float)),
        np.atleast_1d(np.asarray(expected, float)),
    )
    error = np.abs(found - expected) / np.where(expected == 0, 1.0, np.abs(expected))
    return -np.log10(np.maximum(error, 1e-300))


def required_digits(case, quantity):
    rtol = case["rtol"]
    return -math.log10(rtol.get(quantity, rtol["default"]))


def llf(fit):
    """The normal log-likelihood of an unweighted fit, as R's logLik."""
    return -fit.nobs / 2 * (math.log(2 * math.pi * fit.rss / fit.nobs) + 1)


def aic(fit):
    return 2 * (len(fit.theta) + 1) - 2 * llf(fit)


def common(fit):
    return {
        "params": lambda: fit.theta,
        "bse": lambda: fit.bse.to_numpy(),
        "rss": lambda: fit.rss,
        "sd": lambda: math.sqrt(fit.scale),
        "df_resid": lambda: fit.df_resid,
        "llf": lambda: llf(fit),
        "aic": lambda: aic(fit),
        "resid": lambda: fit.resid,
    }


def bands(fit, points):
    """Values, standard errors, and limits of the delta method."""
    tag = "_at_" + "_".join(f"{p:g}" for p in points)
    t = special.stdtrit(fit.df_resid, 0.975)
    found = {f"mean{tag}": lambda: fit.predict(points)}
    for kind in ("mean", "observation"):
        for column, sign in (("low", -t), ("high", t)):
            found[f"{kind}_{column}{tag}"] = lambda k=kind, s=sign: (
                lambda table: table["value"] + s * table["se"]
            )(fit.predict(points, interval=k))
        found[f"{kind}_se{tag}"] = lambda k=kind: fit.predict(points, interval=k)["se"]
    return found


DERIVED = {
    "peak_load": lambda alpha, beta, gamma: math.sqrt((1 - alpha) / beta),
    "peak_throughput": lambda alpha, beta, gamma: (
        gamma / (alpha - beta + 2 * math.sqrt(beta * (1 - alpha)))
    ),
    "asymptote": lambda alpha, beta, gamma: gamma / alpha,
}


def delta_se(fit, name):
    """Standard error of a derived quantity by the delta method, with numerical derivatives."""

    def value(theta):
        return DERIVED[name](**{"beta": 0.0, **dict(zip(fit.param_names, theta, strict=True))})

    steps = np.diag(1e-6 * np.abs(fit.theta))
    gradient = np.array(
        [(value(fit.theta + s) - value(fit.theta - s)) / (2 * s.sum()) for s in steps]
    )
    return math.sqrt(gradient @ fit.covariance @ gradient)


def usl(case):
    fit = fit_usl(case["x"], case["y"], noise="constant", **case.get("options", {}))
    t = special.stdtrit(fit.df_resid, 0.975)

    def amdahl():
        data = case["x"], case["y"]
        return fit_usl(*data, kind="amdahl", noise="constant")

    def chosen():
        return fit_scaling(case["x"], case["y"], noise="constant")

    found = {
        **common(fit),
        **bands(fit, [1, 108, 400]),
        "alpha_se": lambda: fit.bse.iloc[0],
        "covariance_of_alpha": lambda: fit.covariance[0],
        "at_bound": lambda: fit.at_bound,
        "t_low": lambda: fit.theta - t * fit.bse.to_numpy(),
        "t_high": lambda: fit.theta + t * fit.bse.to_numpy(),
        "profile_low": lambda: fit.conf_int()[0].to_numpy(),
        "profile_high": lambda: fit.conf_int()[1].to_numpy(),
        "measured_efficiency": lambda: fit.y / (fit.theta[-1] * fit.x),
        "peak_load_delta": lambda: [
            fit.peak_load().value + s * t * delta_se(fit, "peak_load") for s in (-1, 1)
        ],
        "peak_load_profile": lambda: limits(fit.peak_load()),
        "peak_load_profile_high_is_infinite": lambda: math.isinf(fit.peak_load().high),
        "f_usl": lambda: chosen().comparisons["usl"].statistic,
        "p_usl": lambda: chosen().comparisons["usl"].pvalue,
        "aic_amdahl": lambda: aic(amdahl()),
        "preferred_is_usl": lambda: chosen().kind == "usl",
        "preferred_is_amdahl": lambda: chosen().kind == "amdahl",
    }
    for name in fit.param_names:
        found[f"{name}_profile"] = lambda n=name: limits(fit.estimate(n))
    for name in ("peak_load", "peak_throughput", "asymptote"):
        found[name] = lambda n=name: getattr(fit, n)().value
        found[f"{name}_delta_se"] = lambda n=name: delta_se(fit, n)
    return found


def linear(case):
    fit = fit_line(case["x"], case["y"])
    return {
        **common(fit),
        **bands(fit, [5, 15, 25]),
        "rsquared": lambda: fit.results.rsquared,
        "f_joint_zero_slope": lambda: (fit.theta[1] / fit.bse.iloc[1]) ** 2,
        "f_linearity": lambda: fit.linearity_test().statistic,
        "p_linearity": lambda: fit.linearity_test().pvalue,
        "f_lack_of_fit": lambda: fit.lack_of_fit().statistic,
        "p_lack_of_fit": lambda: fit.lack_of_fit().pvalue,
    }


def segmented(case):
    fit = fit_segmented(case["x"], case["y"], **case.get("options", {}))
    t = special.stdtrit(fit.df_resid, 0.975)
    return {
        **common(fit),
        "breakpoint_t": lambda: [fit.theta[-1] + s * t * fit.bse.iloc[-1] for s in (-1, 1)],
        "breakpoint_profile": lambda: limits(fit.breakpoint(method="profile")),
    }


MODELS = {
    "usl": usl,
    "linear": linear,
    "segmented": segmented,
}


def cases():
    for path in FILES:
        case = json.loads(path.read_text())
        yield pytest.param(case, case["model"], id=path.stem)


@pytest.mark.parametrize(("case", "model"), list(cases()))
def test_reference(case, model):
    found = MODELS[model](case)
    failures = []
    for name, expected in case["expected"].items():
        value = found[name]()
        assert np.shape(value) == np.shape(expected), name
        matching = matching_digits(value, expected)
        wanted = required_digits(case, name)
        if not np.min(matching) >= wanted:
            failures.append(
                f"{name}: {np.round(matching, 1)} digits, {wanted:.1f} wanted: {value} not {expected}"
            )
    assert not failures, f"{case['source']} [{case['authority']}]\n" + "\n".join(failures)


def test_reference_files_are_complete():
    """Every file names its source, and tolerances exist only for expected quantities.

    Certified results match to eight digits, or the file gives the reason; parameters always to seven.
    """
    assert len(FILES) >= 15
    for path in FILES:
        case = json.loads(path.read_text())
        assert set(case) - {"options", "reason"} == {
            "model",
            "source",
            "authority",
            "x",
            "y",
            "expected",
            "rtol",
        }
        assert set(case["rtol"]) - {"default"} <= set(case["expected"]), path.name
        assert case["source"], path.name
        assert case["expected"], path.name
        if case["authority"] == "certified by NIST":
            assert (max(case["rtol"].values()) > 1e-8) == ("reason" in case), path.name
            assert case["rtol"]["default"] <= 1e-7, path.name
