"""A model of the catalogue fitted to rows, and what is reported of it in one form for all."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import methodcaller
from typing import Any

import numpy as np
import pandas as pd

from rawperf.core.errors import ModelError
from virtperf.models import catalog
from virtperf.models.catalog import CATALOG, CURVE, MEANS, SAMPLES, Model, Options, Sample
from virtperf.models.result import Estimate
from virtperf.models.tost import tost_difference

FEW = 15
"""Rows below which the small-sample term of AICc outweighs the fit."""


@dataclass(frozen=True)
class Report:
    """What a model found.

    Attributes
    ----------
    groups : tuple of str
        The samples that it was fitted to, in order.
    errors : dict of str to float
        Standard errors of parameters, NaN on a bound.
    tests : dict of str to dict
        statistic, pvalue, and for F tests df_num, df_denom and the null hypothesis in words.
    measures : dict of str to float
        Residual degrees of freedom, residual standard deviation, AICc.
    verdict : str
        Of an equivalence test, or which of several curves it is; "" for other models.
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


def run(name: str, samples: Sequence[Sample], options: Options) -> Report:
    """Fit a model of `CATALOG`.

    Parameters
    ----------
    samples : sequence of Sample
        Two for `SAMPLES` (of a ratio the first is the numerator), several for `MEANS`, else one.

    Raises
    ------
    ModelError
        No such model; another number of samples; an option that is missing or has no place;
        whatever the model refuses.
    """
    if name not in CATALOG:
        raise ModelError(f"there is no model {name!r}", expected=f"one of {', '.join(CATALOG)}")
    model = CATALOG[name]
    labels = tuple(s.label for s in samples)
    needed = 2 if model.takes == SAMPLES else 1
    if len(samples) != needed and model.takes != MEANS:
        raise ModelError(
            f"{name} takes {needed} group(s) of rows", found=f"{len(samples)}: {', '.join(labels)}"
        )
    if (options.margin is not None) != model.margin:
        raise ModelError(f"{name} {'needs' if model.margin else 'takes no'} margin")
    if options.paired and model.takes != SAMPLES:
        raise ModelError(f"{name} has no pairs")
    if options.at and model.takes != CURVE:
        raise ModelError(f"{name} is no curve, so it predicts nothing")
    if options.processors is not None and name != "cost":
        raise ModelError(
            f"{name} knows nothing of processors",
            remedy="fit the cost of a transaction (model cost)",
        )
    if options.asked and model.takes != CURVE:
        raise ModelError(f"{name} is no curve: it has no {_words(options.asked[0][0])}")
    found = {"formula": model.title, **_HOW[model.takes](model, options, *samples)}
    return Report(labels if labels != ("",) else (), sum(len(s.y) for s in samples), **found)


def _words(method: str) -> str:
    return method.replace("_", " ")


def _given(model: Model, sample: Sample, options: Options) -> dict[str, Any]:
    """How the noise is taken: weights of one's own, or as asked."""
    if sample.weights is not None:
        if not model.weighted:
            raise ModelError("the model takes no weights", remedy="leave them out")
        return {"weights": sample.weights, **({"noise": "constant"} if model.noise else {})}
    return {"noise": options.noise} if model.noise else {}


def _curve(model: Model, options: Options, sample: Sample) -> dict[str, Any]:
    alpha = options.alpha
    fit = model.function(sample.x, sample.y, **_given(model, sample, options), **model.settings)
    tests: dict[str, Any] = {}
    verdict = ""
    if hasattr(fit, "preferred"):
        tests = {f"{kind}_against_smaller": _test(test) for kind, test in fit.tests.items()}
        fit = fit.preferred(alpha)
        verdict = fit.kind
    makers: dict[str, Callable[[Any], Any]] = {
        n: partial(make, alpha=alpha) for n, make in model.quantities.items()
    }
    if options.processors is not None:
        makers |= {
            f"capacity_at_{x:g}": methodcaller("capacity", x, options.processors, alpha)
            for x in options.at
        }
    for method, given in options.asked:
        if not hasattr(fit, method):
            raise ModelError(
                f"{model.title.lower()}: there is no {_words(method)}",
                remedy="ask a scaling law (usl, amdahl) for a load, two pieces (segmented, plateau-decline) for a loss",
            )
        label = "_".join([method, *(f"{v:g}" for v in given)])
        makers[label] = methodcaller(method, *given, alpha=alpha)
    warnings = list(fit.warnings)
    quantities = _possible(makers, warnings, fit)
    tests |= {
        name: _test(test)
        for name, test in _possible(model.tests, warnings, fit).items()
        if test is not None
    }
    table = _predictions(fit, options, warnings)  # may add warnings
    return {
        "formula": fit.model,
        "parameters": {name: fit.estimate(name, alpha) for name in fit.param_names},
        "errors": dict(zip(fit.param_names, map(float, fit.bse), strict=True)),
        "quantities": quantities,
        "tests": tests,
        "verdict": verdict,
        "table": table,
        "warnings": tuple(warnings),
        "measures": {
            "df_resid": fit.df_resid,
            "residual_sd": math.sqrt(fit.scale),
            "aicc": fit.aicc,
        },
    }


def _predictions(fit: Any, options: Options, warnings: list[str]) -> list[dict[str, Any]]:
    """Mean and, where the fit knows the noise of a new row, the range of one observation."""
    if not options.at:
        return []
    mean = fit.predict(list(options.at), interval="mean", alpha=options.alpha)
    table = pd.DataFrame(
        {
            "at": options.at,
            "value": mean["value"],
            "mean_low": mean["low"],
            "mean_high": mean["high"],
        }
    )
    try:
        one = fit.predict(list(options.at), interval="observation", alpha=options.alpha)
    except ModelError as err:
        warnings.append(f"no range of one observation: {err.problem}")
    else:
        table = table.assign(observation_low=one["low"], observation_high=one["high"])
    low, high = float(np.min(fit.x)), float(np.max(fit.x))
    beyond = [f"{x:g}" for x in options.at if not low <= x <= high]
    if beyond:
        warnings.append(
            f"outside of the tested range {low:g} to {high:g}, the curve is taken to go on: {', '.join(beyond)}"
        )
    return _records(table)


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def _possible(
    makers: Mapping[str, Callable[[Any], Any]], warnings: list[str], fit: Any
) -> dict[str, Any]:
    """What can be had of a fit; the reason why something can't goes to `warnings`."""
    made = {}
    for name, make in makers.items():
        try:
            made[name] = make(fit)
        except ModelError as err:
            warnings.append(f"no {name}: {err}")
    return made


def _test(test: Any) -> dict[str, Any]:
    known = ("statistic", "pvalue", "df_num", "df_denom", "null", "n_sim", "seed")
    return {name: getattr(test, name) for name in known if hasattr(test, name)}


def _samples(model: Model, options: Options, first: Sample, second: Sample) -> dict[str, Any]:
    settings = (
        {**model.settings}
        if options.margin is None
        else {**model.settings, "margin": options.margin}
    )
    if model.noise and (options.noise == "constant" or options.paired):
        settings["method"] = "fieller"
    found = model.function(
        first.y, second.y, paired=options.paired, alpha=options.alpha, **settings
    )
    shown = {
        "measures": {"mean_first": float(np.mean(first.y)), "mean_second": float(np.mean(second.y))}
    }
    if not model.margin:
        return {**shown, "quantities": {"ratio": found}, "warnings": found.warnings}
    name = "difference" if model.function is tost_difference else "ratio"
    tests = {"equivalence": {"pvalue": found.pvalue, "null": "the means are not equivalent"}}
    return {
        **shown,
        "quantities": {name: found.estimate},
        "tests": tests,
        "verdict": found.verdict,
        "warnings": found.estimate.warnings,
    }


def _factorial(model: Model, options: Options, sample: Sample) -> dict[str, Any]:
    alpha, names = options.alpha, list(sample.factors)
    frame = pd.DataFrame({**sample.factors, sample.name: sample.y})
    fit = model.function(frame, sample.name, names, **model.settings)
    quantities = {}
    for row in fit.means(alpha).to_dict("records"):
        at = ", ".join(f"{name}={row[name]}" for name in names)
        quantities[f"mean_at_{at}"] = Estimate(
            row["fitted"], row["low"], row["high"], 1 - alpha, "t"
        )
    measures = {"df_resid": fit.df_resid, "residual_sd": math.sqrt(fit.scale)}
    measures |= {
        f"omega_squared_of_{term}": float(fit.table.loc[term, "omega_sq"]) for term in fit.terms
    }
    tests = {term: _test(fit.test(term)) for term in fit.terms}
    return {
        "quantities": quantities,
        "tests": tests,
        "measures": measures,
        "warnings": tuple(fit.warnings),
    }


def _means(model: Model, options: Options, *samples: Sample) -> dict[str, Any]:
    given = {s.label: s.y for s in samples}
    found = model.function(
        given, reference=options.reference, noise=options.noise, alpha=options.alpha
    )
    sign = "/" if options.noise == "proportional" else "-"
    return {"quantities": {f"{a} {sign} {b}": e for (a, b), e in found.items()}}


def _families(model: Model, options: Options, sample: Sample) -> dict[str, Any]:
    table = _records(model.function(sample.x, sample.y, noise=options.noise))
    best = str(table[0]["family"]) if math.isfinite(table[0]["aicc"]) else ""
    note = (
        ()
        if len(sample.y) >= FEW
        else (f"with {len(sample.y)} rows AICc prefers families of few parameters",)
    )
    return {"verdict": best, "warnings": note, "table": table}


def _series(model: Model, options: Options, sample: Sample) -> dict[str, Any]:
    found = model.function(sample.order, sample.y, alpha=options.alpha)
    null = "the series does not change there"
    return {
        "quantities": {f"change_at_{c.at}": c.ratio for c in found.changes if c.ratio is not None},
        "tests": {f"change_at_{c.at}": {"pvalue": c.pvalue, "null": null} for c in found.changes},
        "verdict": f"{len(found.changes)} change{'' if len(found.changes) == 1 else 's'}",
        "table": _records(found.segments),
    }


_HOW: Mapping[str, Callable[..., dict[str, Any]]] = {
    CURVE: _curve,
    SAMPLES: _samples,
    catalog.FACTORS: _factorial,
    MEANS: _means,
    catalog.FAMILIES: _families,
    catalog.SERIES: _series,
}
