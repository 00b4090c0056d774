"""Means over the runs of each condition: made once, for verdicts, figures and estimates alike."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from virtperf.core.mean import Mean, over_runs
from virtperf.core.provenance import Origin, Provenance
from virtperf.core.stage_tables import MEANS
from virtperf.study.definition import Study
from virtperf.study.quantities import Quantity

OWN, RELATIVE = "own", "relative"
"""The scales of means: the unit in which runs observe a quantity, and that of its reference points."""

_COLUMNS = {OWN: ("value", "se", "df"), RELATIVE: ("relative", "relative_se", "relative_df")}
_FACTS = ("value", "se", "df", "low", "high", "level", "n", "method")

Means = dict[tuple[Quantity, str, str], Mean]
"""Means by quantity, provenance and scale."""


def condition_means(study: Study, observations: pd.DataFrame, level: float) -> pd.DataFrame:
    """The table `MEANS`: `core.mean.over_runs` of the observations of each condition, on each scale that they have.

    Parameters
    ----------
    observations : DataFrame
        The table `OBSERVATIONS`; rows without a value take no part.
    level : float
        Confidence level of the intervals.
    """
    conditions: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in observations.to_dict("records"):
        key = (row["quantity"], *(row[factor] for factor in study.factors), row["provenance"])
        conditions.setdefault(key, []).append({str(name): value for name, value in row.items()})
    rows = []
    for (quantity, *levels, provenance), found in conditions.items():
        head = {"quantity": quantity, **dict(zip(study.factors, levels, strict=True)), "provenance": provenance}
        for scale in (OWN, RELATIVE):
            mean = _mean(found, scale, level)
            if mean is not None:
                facts = {name: getattr(mean, name) for name in _FACTS}
                runs = [row["run_id"] for row in found if math.isfinite(row[_COLUMNS[scale][0]])]
                rows.append({**head, "scale": scale, **facts, "runs": sorted(runs)})
    return MEANS.frame(rows, tuple(study.factors))


def _mean(rows: list[dict[str, Any]], scale: str, level: float) -> Mean | None:
    value, se, df = _COLUMNS[scale]
    known = [row for row in rows if math.isfinite(row[value])]
    if not known:
        return None
    method = f"{known[0]['method']} of one run"
    if len(known) == 1 and scale == OWN:  # with the interval that its method gave it, which a median has of its own
        value, se, df, low, high = (known[0][name] for name in ("value", "se", "df", "low", "high"))
        return Mean(value, se, df, low, high, level, 1, method)
    return over_runs(*([row[name] for row in known] for name in (value, se, df)), level=level, method=method)


def means_by_quantity(study: Study, means: pd.DataFrame) -> Means:
    """The rows of the table `MEANS` as means with their origin."""
    rows = means.to_dict("records")
    found: Means = {}
    for position, quantity in rows_by_quantity(study, means):
        row = rows[position]
        origin = Origin(Provenance(row["provenance"]), study.id, tuple(row["runs"]))
        found[quantity, row["provenance"], row["scale"]] = Mean(**{f: row[f] for f in _FACTS}, origin=origin)
    return found


def rows_by_quantity(study: Study, table: pd.DataFrame) -> Iterator[tuple[int, Quantity]]:
    """Position and quantity of every row of a table with quantity and factors; rows at unknown levels are left out.

    A study that lost a level keeps the stored results of its other levels in use.
    """
    factors = list(study.factors)
    known: dict[tuple[Any, ...], Quantity | None] = {}
    for position, key in enumerate(zip(*(table[name].tolist() for name in ("quantity", *factors)), strict=True)):
        if key not in known:
            try:
                known[key] = study.quantity_at(key[0], dict(zip(factors, key[1:], strict=True)))
            except ValueError:
                known[key] = None
        quantity = known[key]
        if quantity is not None:
            yield position, quantity


def scale_of(study: Study, name: str) -> str:
    """The scale on which figures and claims speak of a quantity: relative where it has reference points."""
    return RELATIVE if study.quantities[name].references else OWN
