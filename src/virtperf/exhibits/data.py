"""A study's stored results, read once for all exhibits; a stage that has not run yet leaves an empty frame."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from virtperf.core.errors import VirtperfError
from virtperf.study.claims import Claims, load_claims
from virtperf.study.definition import Study, load_study
from virtperf.study.quantities import Level, Quantity, parse_level

POINTS = ("exhibit", "series", "x", "quantity", "low", "high", "centre", "low_bare", "high_bare", "low_by", "high_by")
CLAIMS = ("claim", "kind", "text_verdict", "value", "low", "high", "implied_low", "implied_high", "information",
          "conflicts", "dropped")  # fmt: skip
VERDICTS = ("claim", "text_verdict", "measured_verdict", "estimate", "estimate_low", "estimate_high",
            "reconstructed_estimate", "reconstructed_low", "reconstructed_high", "reason")  # fmt: skip
RUNS = ("run_id", "provenance", "replicate")
OBSERVATIONS = ("run_id", "provenance", "replicate", "quantity", "value", "se", "begin_s", "relative", "relative_se",
                "note")  # fmt: skip
AUDITS = ("run_id", "audit", "value", "expected", "low", "high", "status", "note")
_NUMBERS = frozenset((
    "low", "high", "centre", "low_bare", "high_bare", "value", "implied_low", "implied_high", "information", "se",
    "relative", "relative_se", "expected", "estimate", "estimate_low", "estimate_high", "reconstructed_estimate",
    "reconstructed_low", "reconstructed_high",
))  # fmt: skip


@dataclass(frozen=True, eq=False)
class StudyData:
    """Everything that exhibits draw from.

    Attributes
    ----------
    study, claims
        The hand-written definition; `claims` is None where the study has no `claims.yaml` yet.
    points, claim_results, verdicts, runs, observations, audits : DataFrame
        The files of the stages, with the columns named at the top of this module; empty where a stage has not run.
    contradictions, index : dict
    samples : Path
        The folder of the runs' samples, one Parquet file a run.
    missing : tuple of str
        The files that were not there, relative to the data folder.
    """

    study: Study
    claims: Claims | None
    points: pd.DataFrame
    claim_results: pd.DataFrame
    contradictions: dict[str, Any]
    runs: pd.DataFrame
    observations: pd.DataFrame
    audits: pd.DataFrame
    index: dict[str, Any]
    samples: Path
    verdicts: pd.DataFrame
    missing: tuple[str, ...]

    def result(self, claim_id: str) -> dict[str, Any]:
        """What the stages found out about a claim: the rows of claims.csv and verdicts.csv as one dict."""
        return dict(self._results.get(claim_id, {}))

    @cached_property
    def _results(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        for frame in (self.verdicts, self.claim_results):
            for row in frame.to_dict("records"):
                found.setdefault(str(row["claim"]), {}).update({str(k): v for k, v in row.items()})
        return found

    @cached_property
    def observed(self) -> dict[Quantity, NDArray[np.intp]]:
        """Rows of `observations` by quantity; those at levels that the study no longer has belong to none."""
        table = self.observations
        if table.empty:
            return {}
        factors = [f for f in self.study.factors if f in table.columns]
        groups = table.groupby(["quantity", *factors], sort=True, dropna=False).ngroup().to_numpy()
        order = np.argsort(groups, kind="stable")
        columns = [table[c].to_numpy(dtype=object) for c in ("quantity", *factors)]
        found: dict[Quantity, NDArray[np.intp]] = {}
        for rows in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
            name, *levels = (column[rows[0]] for column in columns)
            if name not in self.study.quantities:
                continue
            try:
                at = {f: as_level(v) for f, v in zip(factors, levels, strict=True)}
                quantity = self.study.quantity_at(str(name), at)
            except ValueError:
                continue
            found[quantity] = np.concatenate((found[quantity], rows)) if quantity in found else rows
        return found


def load(study_id: str, data: Path) -> StudyData:
    """Read a study's files below the data folder.

    Raises
    ------
    VirtperfError
        The study is unknown (naming the known ones), or a file has not the columns that it should.
    """
    folder = data / "published" / study_id
    if not folder.is_dir():
        known = sorted(p.name for p in (data / "published").glob("*") if p.is_dir())
        raise VirtperfError(
            f"there is no study {study_id!r}", file=folder, expected=f"one of {', '.join(known) or 'none'}"
        )
    study = load_study(folder)
    missing: list[str] = []

    def there(*parts: str) -> Path | None:
        path = data.joinpath(*parts)
        if path.is_file():
            return path
        missing.append("/".join(parts))
        return None

    def frame(columns: tuple[str, ...], *parts: str) -> pd.DataFrame:
        return _frame(there(*parts), columns)

    def mapping(*parts: str) -> dict[str, Any]:
        path = there(*parts)
        return {} if path is None else json.loads(path.read_text(encoding="utf-8"))

    return StudyData(
        study=study,
        claims=load_claims(study) if there("published", study_id, "claims.yaml") else None,
        points=frame(POINTS, "reconstructed", study_id, "points.csv"),
        claim_results=frame(CLAIMS, "reconstructed", study_id, "claims.csv"),
        contradictions=mapping("reconstructed", study_id, "contradictions.json"),
        runs=frame(RUNS, "runs", study_id, "runs.parquet"),
        observations=frame(OBSERVATIONS, "runs", study_id, "observations.parquet"),
        audits=frame(AUDITS, "runs", study_id, "audits.parquet"),
        samples=data / "samples" / study_id,
        index=mapping("samples", study_id, "index.json"),
        verdicts=frame(VERDICTS, "verdicts", study_id, "verdicts.csv"),
        missing=tuple(missing),
    )


def _frame(path: Path | None, columns: tuple[str, ...]) -> pd.DataFrame:
    if path is None:
        return pd.DataFrame({c: pd.Series(dtype="float64" if c in _NUMBERS else "object") for c in columns})
    if path.suffix == ".parquet":
        table = pd.read_parquet(path)
    else:
        table = pd.read_csv(path, dtype="object", keep_default_na=False)
    absent = [c for c in columns if c not in table.columns]
    if absent:
        raise VirtperfError(
            f"columns {', '.join(absent)} are missing", file=path.name, expected=", ".join(columns),
            remedy="run the stage that writes this file again.",
        )  # fmt: skip
    for name in table.columns.intersection(sorted(_NUMBERS)):
        table[name] = pd.to_numeric(table[name].replace("", None), errors="coerce").astype("float64")
    return table


def as_level(value: Any) -> Level:
    """A cell of a file as a factor level: 12, ``"12"`` and 12.0 are the same level."""
    level = parse_level(str(value))
    return int(level) if isinstance(level, float) and level.is_integer() else level


def names(cell: Any) -> tuple[str, ...]:
    """The ids in a cell that joins them by semicolons."""
    return tuple(part.strip() for part in str(cell).split(";") if part.strip()) if isinstance(cell, str) else ()
