"""A model of the catalogue fitted to rows, and what is reported of it in one form for all."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from virtperf.core.errors import ModelError
from virtperf.models.catalog import CATALOG, CROSSING, CURVE, FACTORS, SAMPLES, TREATMENT, Model
from virtperf.models.checks import Array
from virtperf.models.result import Estimate


@dataclass(frozen=True)
class Sample:
    """The rows of one group.

    Attributes
    ----------
    label : str
        The group.
    y, x, weights : ndarray, shape (n,)
        x is None where the model takes none.
    factors : mapping of str to sequence
        Levels of each row by factor, for models that take them all at once.
    name : str
        What y is.
    """

    label: str
    y: Array
    x: Array | None = None
    weights: Array | None = None
    factors: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    name: str = "y"


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
    name: str, samples: Sequence[Sample], *, alpha: float, margin: float | None = None, paired: bool = False,
    levels: tuple[Any, Any] | None = None,
) -> Report:  # fmt: skip
    """Fit a model of `CATALOG`.

    Parameters
    ----------
    samples : sequence of Sample
        Two for `SAMPLES` and `CROSSING` (of a ratio the first is the numerator), else one.
    alpha : float
        One minus the confidence level; the size of each one-sided test of an equivalence.
    margin : float, optional
        Of an equivalence: a difference m stands for -m to m, a ratio m above 1 for 1/m to m.
    paired : bool
        Rows of the two samples of replicates belong together.
    levels : (of, to), optional
        The two levels of a treatment, where it has more than two.

    Raises
    ------
    ModelError
        No such model; another number of samples; a margin that is missing or has no place; whatever the model refuses.
    """
    if name not in CATALOG:
        raise ModelError(f"there is no model {name!r}", expected=f"one of {', '.join(CATALOG)}")
    model = CATALOG[name]
    needed = 2 if model.takes in (SAMPLES, CROSSING) else 1
    if len(samples) != needed:
        found = ", ".join(s.label for s in samples)
        raise ModelError(f"{name} takes {needed} group(s) of rows", found=f"{len(samples)}: {found}")
    if (margin is not None) != model.margin:
        raise ModelError(f"{name} {'needs' if model.margin else 'takes no'} margin")
    if paired and model.takes != SAMPLES:
        raise ModelError(f"{name} has no pairs")
    if model.takes == CURVE:
        return _curve(model, samples[0], alpha)
    if model.takes == FACTORS:
        return _factorial(model, samples[0], alpha)
    if model.takes == TREATMENT:
        return _treatment(model, samples[0], alpha, levels)
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


def _factorial(model: Model, sample: Sample, alpha: float) -> Report:
    names = list(sample.factors)
    fit = _function(model.function)(_frame(sample), sample.name, names, **model.settings)
    quantities = {f"omega_squared_of_{term}": fit.effect_size(term, alpha) for term in fit.terms}
    for row in fit.means(alpha).to_dict("records"):
        at = ", ".join(f"{name}={row[name]}" for name in names)
        quantities[f"mean_at_{at}"] = Estimate(row["fitted"], row["low"], row["high"], 1 - alpha, "t")
    measures = {"df_resid": fit.df_resid, "residual_sd": math.sqrt(fit.scale), "rsquared": fit.rsquared}
    tests = {term: _test(fit.test(term)) for term in fit.terms}
    return Report((), fit.nobs, model.title, {}, {}, quantities, tests, measures, "", tuple(fit.warnings))


def _treatment(model: Model, sample: Sample, alpha: float, levels: tuple[Any, Any] | None) -> Report:
    if len(sample.factors) != 2:
        raise ModelError("a treatment and a group are needed", found=f"{len(sample.factors)} column(s)")
    turned = {} if levels is None else {"levels": levels[::-1]}  # the module compares from one level to another
    found = _function(model.function)(
        _frame(sample), sample.name, *sample.factors, alpha, **turned, **model.settings
    )  # fmt: skip
    name = "ratio" if model.settings.get("log") else "difference"
    groups = () if levels is None else tuple(map(str, levels))
    return Report(groups, len(sample.y), model.title, {}, {}, {name: found}, warnings=found.warnings)


def _frame(sample: Sample) -> pd.DataFrame:
    return pd.DataFrame({**sample.factors, sample.name: sample.y})
