"""Every model that can be fitted to a table of columns: one entry a model, and what is reported of each."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from virtperf.errors import ModelError
from virtperf.models.checks import Array
from virtperf.models.result import Estimate

CURVE, SAMPLES, CROSSING = "curve", "samples", "crossing"
"""What a model takes: one set of rows with x and y; two sets of replicates of y; two sets of rows with x and y."""


@dataclass(frozen=True)
class Model:
    """How a model is called.

    Attributes
    ----------
    title : str
    takes : str
        `CURVE`, `SAMPLES` or `CROSSING`.
    function : str
        ``module.function`` within `virtperf.models`; imported when it is called, since statsmodels takes a second.
    settings : mapping
        Keyword arguments that make the function this model.
    quantities : mapping of str to callable
        Derived quantities of a curve: (fit, alpha) to `Estimate`.
    tests : mapping of str to callable
        Tests of a curve: fit to `FTest` or `BreakTest`, or to None where the rows are not of the kind that it takes.
    crossing : str
        For `CROSSING`: the function that takes two fits.
    margin : bool
        Whether the model needs a margin that is declared beforehand.
    """

    title: str
    takes: str
    function: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    quantities: Mapping[str, Callable[[Any, float], Estimate]] = field(default_factory=dict)
    tests: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    crossing: str = ""
    margin: bool = False


_LAW = {
    "asymptote": lambda fit, alpha: fit.asymptote(alpha),
    "efficiency_at_largest_load": lambda fit, alpha: fit.efficiency(float(fit.x.max()), alpha),
}
_PEAK = {
    "peak_load": lambda fit, alpha: fit.peak_load(alpha),
    "peak_throughput": lambda fit, alpha: fit.peak_throughput(alpha),
}
_FIT = {"lack_of_fit": lambda fit: fit.lack_of_fit() if len(np.unique(fit.x)) < fit.nobs else None}
_LINE = {"linearity": lambda fit: fit.linearity_test(), **_FIT}
_BREAK = {"break": lambda fit: fit.break_test(), **_FIT}

CATALOG: Mapping[str, Model] = {
    "scalability": Model("The smallest of linear scaling, Amdahl's law and the USL that the rows ask for", CURVE,
                         "usl.compare_usl", {}, _PEAK | _LAW, _FIT),
    "usl": Model("Universal Scalability Law", CURVE, "usl.fit_usl", {"kind": "usl"}, _PEAK | _LAW, _FIT),
    "amdahl": Model("Amdahl's law", CURVE, "usl.fit_usl", {"kind": "amdahl"}, _LAW, _FIT),
    "linear-scaling": Model("Linear scaling through the origin", CURVE, "usl.fit_usl", {"kind": "linear"}, {}, _FIT),
    "line": Model("Straight line", CURVE, "linear.fit_line", {}, {}, _LINE),
    "line-robust": Model("Straight line, intervals robust against unequal variances (HC3)", CURVE, "linear.fit_line",
                         {"cov_type": "HC3"}, {}, _LINE),
    "parabola": Model("Parabola", CURVE, "linear.fit_polynomial", {"degree": 2}, {}, _FIT),
    "segmented": Model("Two straight pieces", CURVE, "segmented.fit_segmented", {"form": "free"}, {}, _BREAK),
    "plateau-decline": Model("A plateau, then a slope", CURVE, "segmented.fit_segmented", {"form": "plateau-decline"},
                             {}, _BREAK),
    "rise-plateau": Model("A slope, then a plateau", CURVE, "segmented.fit_segmented", {"form": "rise-plateau"}, {},
                          _BREAK),
    "ratio": Model("Ratio of two means (Fieller's interval)", SAMPLES, "ratio.ratio_of_means"),
    "log-ratio": Model("Ratio of two positive means (interval on the log scale)", SAMPLES, "ratio.ratio_of_means",
                       {"method": "log"}),
    "equivalence": Model("Whether two means differ by less than a margin", SAMPLES, "equivalence.tost_difference",
                         margin=True),
    "equivalence-ratio": Model("Whether the ratio of two means lies within a factor", SAMPLES, "equivalence.tost_ratio",
                               margin=True),
    "line-crossing": Model("Where two straight lines cross", CROSSING, "linear.fit_line",
                           crossing="crossover.line_crossover"),
    "usl-crossing": Model("Where two scalability curves cross", CROSSING, "usl.fit_usl", {"kind": "usl"},
                          crossing="crossover.usl_crossover"),
}  # fmt: skip
"""All models by the name under which the command line knows them."""


@dataclass(frozen=True)
class Sample:
    """The rows of one group; `x` is None where the model takes replicates only."""

    label: str
    y: Array
    x: Array | None = None
    weights: Array | None = None


@dataclass(frozen=True)
class Report:
    """What a model found.

    Attributes
    ----------
    groups : tuple of str
        The samples that it was fitted to, in order.
    rows : int
    formula : str
    parameters, quantities : dict of str to Estimate
    errors : dict of str to float
        Standard errors of parameters, NaN on a bound.
    tests : dict of str to dict
        statistic, pvalue, and for F tests df_num, df_denom and the null hypothesis in words.
    measures : dict of str to float
        Residual degrees of freedom, residual standard deviation, AICc.
    verdict : str
        Of an equivalence test or a crossing, or which of several curves it is; "" for other models.
    warnings : tuple of str
    """

    groups: tuple[str, ...]
    rows: int
    formula: str
    parameters: dict[str, Estimate] = field(default_factory=dict)
    errors: dict[str, float] = field(default_factory=dict)
    quantities: dict[str, Estimate] = field(default_factory=dict)
    tests: dict[str, dict[str, Any]] = field(default_factory=dict)
    measures: dict[str, float] = field(default_factory=dict)
    verdict: str = ""
    warnings: tuple[str, ...] = ()


def run(
    name: str, samples: Sequence[Sample], *, alpha: float, margin: float | None = None, paired: bool = False
) -> Report:
    """Fit a model of `CATALOG`.

    Parameters
    ----------
    samples : sequence of Sample
        One for a curve, two for the others; of a ratio the first is the numerator.
    alpha : float
        One minus the confidence level; the size of each one-sided test of an equivalence.
    margin : float, optional
        Of an equivalence: a difference m stands for -m to m, a ratio m above 1 for 1/m to m.
    paired : bool
        Rows of the two samples of replicates belong together.

    Raises
    ------
    ModelError
        No such model; another number of samples; a margin that is missing or has no place; whatever the model refuses.
    """
    if name not in CATALOG:
        raise ModelError(f"there is no model {name!r}", expected=f"one of {', '.join(CATALOG)}")
    model = CATALOG[name]
    needed = 1 if model.takes == CURVE else 2
    if len(samples) != needed:
        found = ", ".join(s.label for s in samples)
        raise ModelError(f"{name} takes {needed} group(s) of rows", found=f"{len(samples)}: {found}")
    if (margin is not None) != model.margin:
        raise ModelError(f"{name} {'needs' if model.margin else 'takes no'} margin")
    if paired and model.takes != SAMPLES:
        raise ModelError(f"{name} has no pairs")
    if model.takes == CURVE:
        return _curve(model, samples[0], alpha)
    if model.takes == SAMPLES:
        return _samples(model, samples[0], samples[1], alpha, margin, paired)
    return _crossing(model, samples[0], samples[1], alpha)


def _function(path: str) -> Callable[..., Any]:
    module, _, name = path.partition(".")
    return getattr(importlib.import_module(f"virtperf.models.{module}"), name)


def _curve(model: Model, sample: Sample, alpha: float) -> Report:
    fit = _function(model.function)(sample.x, sample.y, weights=sample.weights, **model.settings)
    tests: dict[str, Any] = {}
    verdict = ""
    if hasattr(fit, "preferred"):
        tests = {f"{kind}_against_smaller": _test(test) for kind, test in fit.tests.items()}
        fit = fit.preferred(alpha)
        verdict = fit.kind
    warnings = list(fit.warnings)
    quantities = _possible(model.quantities, warnings, fit, alpha)
    tests |= {name: _test(test) for name, test in _possible(model.tests, warnings, fit).items() if test is not None}
    return Report(
        (sample.label,) if sample.label else (), fit.nobs, fit.model,
        {name: fit.estimate(name, alpha) for name in fit.param_names},
        {name: float(se) for name, se in zip(fit.param_names, fit.bse, strict=True)},
        quantities, tests,
        {"df_resid": fit.df_resid, "residual_sd": math.sqrt(fit.scale), "aicc": fit.aicc}, verdict, tuple(warnings),
    )  # fmt: skip


def _possible(makers: Mapping[str, Callable[..., Any]], warnings: list[str], *given: Any) -> dict[str, Any]:
    """What can be had of a fit; the reason why something can't goes to `warnings`."""
    made = {}
    for name, make in makers.items():
        try:
            made[name] = make(*given)
        except ModelError as err:
            warnings.append(f"no {name}: {err}")
    return made


def _test(test: Any) -> dict[str, Any]:
    known = ("statistic", "pvalue", "df_num", "df_denom", "null", "n_sim", "seed")
    return {name: getattr(test, name) for name in known if hasattr(test, name)}


def _samples(model: Model, first: Sample, second: Sample, alpha: float, margin: float | None, paired: bool) -> Report:
    given = {} if margin is None else {"margin": margin}
    found = _function(model.function)(first.y, second.y, paired=paired, alpha=alpha, **given, **model.settings)
    estimate = getattr(found, "estimate", found)
    means = {"mean_first": float(np.mean(first.y)), "mean_second": float(np.mean(second.y))}
    tests: dict[str, dict[str, Any]] = {}
    if estimate is not found:
        tests["equivalence"] = {"pvalue": found.pvalue, "null": "the means are not equivalent"}
    name = "difference" if model.function.endswith("difference") else "ratio"
    return Report(
        (first.label, second.label), len(first.y) + len(second.y), model.title, {}, {}, {name: estimate}, tests, means,
        getattr(found, "verdict", ""), estimate.warnings,
    )  # fmt: skip


def _crossing(model: Model, first: Sample, second: Sample, alpha: float) -> Report:
    fit = _function(model.function)
    fits = [fit(s.x, s.y, weights=s.weights, **model.settings) for s in (first, second)]
    found = _function(model.crossing)(*fits, alpha=alpha)
    domain = {"domain_low": found.domain[0], "domain_high": found.domain[1]}
    warnings = [f"{s.label}: {w}" for s, f in zip((first, second), fits, strict=True) for w in f.warnings]
    return Report(
        (first.label, second.label), len(first.y) + len(second.y), model.title, {}, {},
        {} if found.estimate is None else {"crossing": found.estimate}, {}, domain, found.status,
        (*warnings, *(found.estimate.warnings if found.estimate else ())),
    )  # fmt: skip
