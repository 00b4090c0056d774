"""What runs say about a study's quantities: its `observed` rules applied, and values relative to reference points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from virtperf.study.definition import QuantityKind, Study
from virtperf.study.quantities import Level
from virtperf.summarize.series import Combined, RunSeries
from virtperf.summarize.steady import Mean

NUMBERS = ("value", "se", "n_eff", "df", "low", "high", "begin_s", "relative", "relative_se")
TEXTS = ("source", "entity_kind", "metric", "stationarity", "note")


def observe(study: Study, run: RunSeries) -> list[dict[str, Any]]:
    """One row a quantity that the study says how to observe; NaN and the reason in `note` where this run can't tell."""
    return [_observe(name, kind, run) for name, kind in study.quantities.items() if kind.observed]


def _observe(name: str, kind: QuantityKind, run: RunSeries) -> dict[str, Any]:
    row: dict[str, Any] = {
        "quantity": name, **dict.fromkeys(NUMBERS, np.nan), **dict.fromkeys(TEXTS, ""), "entities": 0, "n": 0,
    }  # fmt: skip
    rule = kind.observed
    found = next(
        filter(None, (_found(run, s, rule["combine"], rule.get("statistic", "mean")) for s in rule["from"])), None
    )
    if found is None:
        return row | {"note": f"not measured in this run: no {' nor '.join(map(_words, rule['from']))}"}
    mean, flags = found.steady.mean, list(found.steady.flags)
    if "per" in rule:
        per = _found(run, rule["per"], "sum")
        if per is None or not per.steady.mean.mean > 0:
            return row | {"note": f"not measured in this run: no {_words(rule['per'])} to divide by"}
        mean = ratio(mean, per.steady.mean)
        flags += [f"{per.metric}: {flag}" for flag in per.steady.flags]
    scale = float(rule.get("scale", 1))
    low, high = sorted((scale * mean.low, scale * mean.high))
    return row | {
        "value": scale * mean.mean, "se": abs(scale) * mean.se, "n_eff": mean.n_eff, "df": mean.df,
        "low": low, "high": high, "n": mean.n, "begin_s": found.steady.begin_s, "entities": len(found.entities),
        "metric": found.metric, "source": found.source, "entity_kind": found.entity_kind,
        "stationarity": found.steady.stationarity,
        "note": "; ".join(flags),
    }  # fmt: skip


def _found(run: RunSeries, wanted: Mapping[str, str], how: str, statistic: str = "mean") -> Combined | None:
    return run.combined(
        wanted["metric"], wanted["entity_kind"], how, entity=wanted.get("entity", "*"), statistic=statistic
    )


def _words(wanted: Mapping[str, str]) -> str:
    called = f" called {wanted['entity']}" if "entity" in wanted else ""
    return f"{wanted['metric']} of a {wanted['entity_kind']}{called}"


def ratio(of: Mean, to: Mean) -> Mean:
    """One mean divided by another, with the error of the delta method as for independent means."""
    value = of.mean / to.mean
    variances = np.array([(of.se / to.mean) ** 2, (value * to.se / to.mean) ** 2])
    se = float(np.sqrt(variances.sum()))
    # Welch and Satterthwaite
    df = float(variances.sum() ** 2 / (variances**2 / [of.df, to.df]).sum()) if se > 0 else min(of.df, to.df)
    half = float(special.stdtrit(df, (1 + of.level) / 2)) * se
    n, n_eff = min(of.n, to.n), min(of.n_eff, to.n_eff)
    return Mean(value, se, n, n_eff, df, value - half, value + half, of.level, "ratio of means")


def add_relative(study: Study, rows: Sequence[dict[str, Any]], levels: Mapping[str, Mapping[str, Level]]) -> None:
    """Fill `relative` and `relative_se`: 100 % (the reference's value) is the mean of the runs at the reference point.

    A run is compared with runs of its own provenance only. The reference point of a run is the one that shares most
    factor levels with it (`Study.reference_for`). Errors are those within runs, by the delta method; a run that is part
    of its reference shares its error with it, so a single reference run has none.

    Parameters
    ----------
    rows : list of dict
        Rows of `observe`, with run_id and provenance; changed in place.
    levels : mapping
        Factor levels by run id.
    """
    by_point: dict[tuple[str, str, tuple], list[dict[str, Any]]] = {}
    for row in rows:
        at = study.quantity_at(row["quantity"], levels[row["run_id"]]).at
        by_point.setdefault((row["provenance"], row["quantity"], at), []).append(row)
    for (provenance, name, at), group in by_point.items():
        kind = study.quantities[name]
        if not kind.observed.get("relative"):
            continue
        found = study.reference_for(study.quantity_at(name, dict(at)))
        if found is None:
            continue
        point, hundred = found
        reference = [r for r in by_point.get((provenance, name, point.at), []) if np.isfinite(r["value"])]
        for row in group:
            if np.isfinite(row["value"]):
                _relate(row, reference, hundred, study.show(point))


def _relate(row: dict[str, Any], reference: list[dict[str, Any]], hundred: float, where: str) -> None:
    k = len(reference)
    base = sum(r["value"] for r in reference) / k if k else np.nan
    if not k or base == 0:
        problem = "no run" if not k else "nothing was observed"
        note = f"no relative value: {problem} at the reference point, {where}"
        row["note"] = f"{row['note']}; {note}".lstrip("; ")
        return
    row["relative"] = hundred * row["value"] / base
    ratio = row["value"] / base
    # one term for each independent run: the row itself, which may be part of its reference, and the reference's others
    own = 1 - ratio / k if any(r is row for r in reference) else 1.0
    variance = (own * row["se"]) ** 2 + sum((ratio / k * r["se"]) ** 2 for r in reference if r is not row)
    row["relative_se"] = hundred * float(np.sqrt(variance)) / abs(base)


def observation_frame(study: Study, rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """The rows as a table, columns in a fixed order, levels of factors as text."""
    columns = [
        "run_id", "provenance", "replicate", *study.factors, "quantity", "value", "se", "n", "n_eff", "df", "low",
        "high", "begin_s", "relative", "relative_se", "metric", "source", "entity_kind", "entities", "stationarity",
        "note",
    ]  # fmt: skip
    return pd.DataFrame(list(rows), columns=columns)
