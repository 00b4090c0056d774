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
from virtperf.models.catalog import (
    CATALOG,
    CURVE,
    FACTORS,
    FAMILIES,
    MEANS,
    SAMPLES,
    SERIES,
    Model,
    Options,
    Sample,
)  # fmt: skip
from virtperf.models.result import Estimate


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
        Of an equivalence test, or which of several curves it is; "" for other models.
    warnings : tuple of str
    table : list of dict
        Predictions, segments, families: rows of equal columns.
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
    table: list[dict[str, Any]] = field(default_factory=list)


FEW = 15
"""Rows below which the small-sample term of AICc outweighs the fit."""


def run(name: str, samples: Sequence[Sample], options: Options) -> Report:
    """Fit a model of `CATALOG`.

    Parameters
    ----------
    samples : sequence of Sample
        Two for `SAMPLES` (of a ratio the first is the numerator), several for `MEANS`, else one.

    Raises
    ------
    ModelError
        No such model; another number of samples; an option that is missing or has no place; whatever the model refuses.
    """
    if name not in CATALOG:
        raise ModelError(f"there is no model {name!r}", expected=f"one of {', '.join(CATALOG)}")
    model = CATALOG[name]
    needed = 2 if model.takes == SAMPLES else 1
    if len(samples) != needed and model.takes != MEANS:
        found = ", ".join(s.label for s in samples)
        raise ModelError(f"{name} takes {needed} group(s) of rows", found=f"{len(samples)}: {found}")
    if (options.margin is not None) != model.margin:
        raise ModelError(f"{name} {'needs' if model.margin else 'takes no'} margin")
    if options.paired and model.takes != SAMPLES:
        raise ModelError(f"{name} has no pairs")
    if options.at and model.takes != CURVE:
        raise ModelError(f"{name} is no curve, so it predicts nothing")
    if options.processors is not None and name != "cost":
        raise ModelError(f"{name} knows nothing of processors", remedy="fit the cost of a transaction (model cost)")
    if options.asked and model.takes != CURVE:
        raise ModelError(f"{name} is no curve: it has no {_words(options.asked[0][0])}")
    return _HOW[model.takes](model, samples, options)


def _function(path: str) -> Callable[..., Any]:
    module, _, name = path.partition(".")
    return getattr(importlib.import_module(f"virtperf.models.{module}"), name)


def _given(model: Model, sample: Sample, options: Options) -> dict[str, Any]:
    """How the noise is taken: weights of one's own, or as asked."""
    if sample.weights is not None:
        if not model.weighted:
            raise ModelError("the model takes no weights", remedy="leave them out")
        return {"weights": sample.weights, **({"noise": "constant"} if model.noise else {})}
    return {"noise": options.noise} if model.noise else {}


def _curve(model: Model, samples: Sequence[Sample], options: Options) -> Report:
    sample, alpha = samples[0], options.alpha
    fit = _function(model.function)(sample.x, sample.y, **_given(model, sample, options), **model.settings)
    tests: dict[str, Any] = {}
    verdict = ""
    if hasattr(fit, "preferred"):
        tests = {f"{kind}_against_smaller": _test(test) for kind, test in fit.tests.items()}
        fit = fit.preferred(alpha)
        verdict = fit.kind
    warnings = list(fit.warnings)
    quantities = _possible(model.quantities, warnings, fit, alpha)
    if options.processors is not None:
        makers = {f"capacity_at_{x:g}": lambda f, a, x=x: f.capacity(x, options.processors, a) for x in options.at}
        quantities |= _possible(makers, warnings, fit, alpha)
    for method, given in options.asked:
        if not hasattr(fit, method):
            raise ModelError(
                f"{model.title.lower()}: there is no {_words(method)}",
                remedy="ask a scaling law (usl, amdahl) for a load, two pieces (segmented, plateau-decline) for a loss",
            )
        label = "_".join([method, *(f"{v:g}" for v in given)])
        make = {label: lambda f, a, m=method, g=given: getattr(f, m)(*g, alpha=a)}
        quantities |= _possible(make, warnings, fit, alpha)
    tests |= {name: _test(test) for name, test in _possible(model.tests, warnings, fit).items() if test is not None}
    predictions = _predictions(fit, options, warnings)
    return Report(
        (sample.label,) if sample.label else (), fit.nobs, fit.model,
        {name: fit.estimate(name, alpha) for name in fit.param_names},
        {name: float(se) for name, se in zip(fit.param_names, fit.bse, strict=True)},
        quantities, tests,
        {"df_resid": fit.df_resid, "residual_sd": math.sqrt(fit.scale), "aicc": fit.aicc}, verdict, tuple(warnings),
        predictions,
    )  # fmt: skip


def _words(method: str) -> str:
    return method.replace("_", " ")


def _predictions(fit: Any, options: Options, warnings: list[str]) -> list[dict[str, Any]]:
    """Mean and, where the fit knows the noise of a new row, the range of one observation."""
    if not options.at:
        return []
    mean = fit.predict(list(options.at), interval="mean", alpha=options.alpha)
    rows = [{"at": x, "value": m.value, "mean_low": m.low, "mean_high": m.high} for x, m in
            zip(options.at, mean.itertuples(), strict=True)]  # fmt: skip
    try:
        one = fit.predict(list(options.at), interval="observation", alpha=options.alpha)
    except ModelError as err:
        warnings.append(f"no range of one observation: {err.problem}")
    else:
        for row, o in zip(rows, one.itertuples(), strict=True):
            row |= {"observation_low": o.low, "observation_high": o.high}
    low, high = float(np.min(fit.x)), float(np.max(fit.x))
    beyond = [f"{x:g}" for x in options.at if not low <= x <= high]
    if beyond:
        warnings.append(
            f"outside of the tested range {low:g} to {high:g}, the curve is taken to go on: {', '.join(beyond)}"
        )
    return rows


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


def _samples(model: Model, samples: Sequence[Sample], options: Options) -> Report:
    first, second = samples
    given = {} if options.margin is None else {"margin": options.margin}
    settings = dict(model.settings)
    if model.noise and (options.noise == "constant" or options.paired):
        settings["method"] = "fieller"
    found = _function(model.function)(
        first.y, second.y, paired=options.paired, alpha=options.alpha, **given, **settings
    )
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


def _factorial(model: Model, samples: Sequence[Sample], options: Options) -> Report:
    sample, alpha = samples[0], options.alpha
    names = list(sample.factors)
    frame = pd.DataFrame({**sample.factors, sample.name: sample.y})
    fit = _function(model.function)(frame, sample.name, names, **model.settings)
    quantities = {}
    for row in fit.means(alpha).to_dict("records"):
        at = ", ".join(f"{name}={row[name]}" for name in names)
        quantities[f"mean_at_{at}"] = Estimate(row["fitted"], row["low"], row["high"], 1 - alpha, "t")
    measures = {"df_resid": fit.df_resid, "residual_sd": math.sqrt(fit.scale)}
    measures |= {f"omega_squared_of_{term}": float(fit.table.loc[term, "omega_sq"]) for term in fit.terms}
    tests = {term: _test(fit.test(term)) for term in fit.terms}
    return Report((), fit.nobs, model.title, {}, {}, quantities, tests, measures, "", tuple(fit.warnings))


def _means(model: Model, samples: Sequence[Sample], options: Options) -> Report:
    found = _function(model.function)(
        {s.label: s.y for s in samples}, reference=options.reference, noise=options.noise, alpha=options.alpha
    )
    sign = "/" if options.noise == "proportional" else "-"
    quantities = {f"{a} {sign} {b}": e for (a, b), e in found.items()}
    rows = sum(len(s.y) for s in samples)
    return Report(tuple(s.label for s in samples), rows, model.title, {}, {}, quantities)


def _families(model: Model, samples: Sequence[Sample], options: Options) -> Report:
    sample = samples[0]
    table = _function(model.function)(sample.x, sample.y, noise=options.noise).to_dict("records")
    best = str(table[0]["family"]) if math.isfinite(table[0]["aicc"]) else ""
    note = () if len(sample.y) >= FEW else (f"with {len(sample.y)} rows AICc prefers families of few parameters",)
    return Report((sample.label,) if sample.label else (), len(sample.y), model.title, verdict=best, warnings=note,
                  table=[{str(k): v for k, v in row.items()} for row in table])  # fmt: skip


def _series(model: Model, samples: Sequence[Sample], options: Options) -> Report:
    sample = samples[0]
    found = _function(model.function)(sample.order, sample.y, alpha=options.alpha)
    quantities = {f"change_at_{c.at}": c.ratio for c in found.changes if c.ratio is not None}
    tests = {f"change_at_{c.at}": {"pvalue": c.pvalue, "null": "the series does not change there"}
             for c in found.changes}  # fmt: skip
    verdict = f"{len(found.changes)} change{'' if len(found.changes) == 1 else 's'}"
    rows = [{str(k): v for k, v in row.items()} for row in found.segments.to_dict("records")]
    return Report((sample.label,) if sample.label else (), len(sample.y), model.title, {}, {}, quantities, tests,
                  verdict=verdict, table=rows)  # fmt: skip


_HOW: Mapping[str, Callable[[Model, Sequence[Sample], Options], Report]] = {
    CURVE: _curve, SAMPLES: _samples, FACTORS: _factorial, MEANS: _means, FAMILIES: _families,
    SERIES: _series,
}  # fmt: skip
