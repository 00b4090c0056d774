"""Derived numbers of measured runs, by the models that a notebook would use."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from virtperf.core.provenance import Provenance
from virtperf.report import frames
from virtperf.report.data import StudyData
from virtperf.study.derived import Derivation

_PARAMETERS = {"contention": "alpha", "coherency": "beta", "plateau": "plateau"}
"""What a fit calls a number that is one of its parameters."""


def estimate(data: StudyData, asked: Derivation, level: float) -> Any:
    """The number with its interval from the measured runs of all its quantities: an Estimate, Mean
    or Missing.

    None where a quantity has no measured run, or the number is one that no model estimates.
    """
    if any(
        data.mean(q, Provenance.MEASURED) is None for part in asked.parts for _, q in part.terms
    ):
        return None  # most studies have none, and the models take a second to load
    kind, alpha = asked.derived.kind, 1 - level
    if kind == "value":
        (coefficient, quantity), *others = asked.parts[0].terms
        mean = data.mean(quantity, Provenance.MEASURED)
        return None if others or mean is None else mean.at(level).scaled(coefficient)
    runs = _runs(data, asked)
    if runs is None:
        return None
    from virtperf import models

    if kind in ("ratio", "percent_change"):
        blocks = data.study.kind == "measured"
        found, _ = ratio(runs, {"x": 0.0}, {"x": 1.0}, alpha, blocks=blocks)
        if kind == "ratio" or not found.available:
            return found
        return replace(
            found, **{name: 100 * (getattr(found, name) - 1) for name in ("value", "low", "high")}
        )
    if kind == "difference":
        return next(
            iter(
                models.differences(
                    "value", runs, of={"x": 0.0}, to={"x": 1.0}, alpha=alpha
                ).values()
            )
        )
    fit: Any
    if kind == "line":
        fit = models.line("value ~ x", runs).only
    elif kind == "usl":
        fit = models.usl("value ~ x", runs).only
    elif kind == "segmented":
        fit = models.segmented("value ~ x", runs, form="plateau-decline").only
    else:
        return None
    if not fit.available:
        return fit
    if asked.gives in _PARAMETERS:
        return fit.estimate(_PARAMETERS[asked.gives], alpha)
    if asked.gives == "capacity":
        return fit.throughput_at(asked.derived.load, alpha)
    return getattr(fit, asked.gives)(alpha)


def ratio(
    runs: pd.DataFrame, of: dict[str, Any], to: dict[str, Any], alpha: float, *, blocks: bool
) -> tuple[Any, pd.DataFrame]:
    """The ratio of the runs at two levels of a column, and the runs that it uses.

    Where replicates are `blocks`, runs made one after another, and both sides have several in
    common, the ratio is that of pairs within them; machines drift between blocks.
    """
    from virtperf import models

    (column,) = of
    sides = [runs.loc[runs[column] == side[column], "replicate"] for side in (of, to)]
    both = set(sides[0]) & set(sides[1])
    if blocks and len(both) > 1 and all(side.is_unique for side in sides):
        kept = runs[runs["replicate"].isin(both)]
        return next(
            iter(models.pairs("value", kept, of=of, to=to, on="replicate", alpha=alpha).values())
        ), kept
    return next(iter(models.ratios("value", runs, of=of, to=to, alpha=alpha).values())), runs


def _runs(data: StudyData, asked: Derivation) -> pd.DataFrame | None:
    """The runs of all parts in one frame, where they stand in the column x; None where a part is a
    sum.
    """
    if any(len(part.terms) > 1 for part in asked.parts):
        return None
    found = []
    for place, part in zip(
        asked.axis or map(float, range(len(asked.parts))), asked.parts, strict=False
    ):
        ((coefficient, quantity),) = part.terms
        runs = frames.condition(data, quantity)
        runs = runs[runs["provenance"] == Provenance.MEASURED]
        found.append(runs.assign(x=place, value=coefficient * runs["value"]))
    return pd.concat(found, ignore_index=True)
