"""A study's stored results, read once for all exhibits; a stage that has not run yet leaves empty
tables.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rawperf.core.errors import VirtperfError
from rawperf.core.near import did_you_mean
from virtperf.core import stage_tables
from virtperf.core.mean import Mean
from virtperf.core.provenance import Provenance
from virtperf.core.schema import TableSchema
from virtperf.study.claims import Claim, Claims
from virtperf.study.conditions import Means, means_by_quantity, rows_by_quantity, scale_of
from virtperf.study.definition import Study, load_study
from virtperf.study.hypotheses import claims_of
from virtperf.study.quantities import Quantity
from virtperf.study.samples import DEFAULT_LEVEL, StudySamples, samples_by_quantity


@dataclass(frozen=True, eq=False)
class StudyData:
    """Everything that exhibits draw from: the tables of the stages as `core.stage_tables` declares
    them, empty where a stage has not run (`claim_results` is `CLAIMS`).

    `claims` is None where the study has no `claims.yaml` yet; `contradictions` and `index` are
    `contradictions.json` and the samples' `index.json`, perhaps empty; `missing` has the files that
    were not there, relative to the data folder.
    """

    study: Study
    claims: Claims | None
    points: pd.DataFrame
    ranges: pd.DataFrame
    claim_results: pd.DataFrame
    contradictions: dict[str, Any]
    readings: pd.DataFrame
    series: pd.DataFrame
    observations: pd.DataFrame
    means: pd.DataFrame
    lineage: pd.DataFrame
    timelines: pd.DataFrame
    distributions: pd.DataFrame
    thumbnails: pd.DataFrame
    audits: pd.DataFrame
    index: dict[str, Any]
    verdicts: pd.DataFrame
    verdicts_elsewhere: pd.DataFrame
    verdicts_read: pd.DataFrame
    missing: tuple[str, ...]

    def result(self, claim_id: str) -> dict[str, Any]:
        """What the stages found out about a claim: its rows of claims.parquet and verdicts.parquet
        as one dict.
        """
        return dict(self._results.get(claim_id, {}))

    @property
    def paper_claims(self) -> tuple[Claim, ...]:
        """Claims of the paper, without our assumptions."""
        return tuple(claim for claim in self.claims or () if not claim.assumed)

    def claims_about(self, exhibit_id: str) -> tuple[str, ...]:
        """Ids of the claims that speak of an exhibit."""
        return tuple(claim.id for claim in self.claims.about(exhibit_id)) if self.claims else ()

    def mean(self, quantity: Quantity, provenance: str, scale: str = "") -> Mean | None:
        """The mean over the runs of one provenance at a quantity's levels; None where none of them
        observed it.

        `scale` is "own", "relative", or "" for that of figures and claims: relative where there are
            reference points.
        """
        return self._means.get(
            (quantity, str(provenance), scale or scale_of(self.study, quantity.name))
        )

    def samples(self, provenance: Provenance) -> StudySamples:
        """The runs of each quantity, measured or made up, and ratios between them."""
        return self._samples[provenance]

    @cached_property
    def _samples(self) -> dict[Provenance, StudySamples]:
        level = float(self.means["level"].iloc[0]) if len(self.means) else DEFAULT_LEVEL
        return {
            kind: samples_by_quantity(self.study, self.observations, kind, level)
            for kind in (Provenance.MEASURED, Provenance.EXAMPLE)
        }

    @cached_property
    def observed(self) -> dict[Quantity, NDArray[np.intp]]:
        """Rows of `observations` by quantity; those at levels that the study no longer has belong
        to none.
        """
        found: dict[Quantity, list[int]] = {}
        for row, quantity in rows_by_quantity(self.study, self.observations):
            found.setdefault(quantity, []).append(row)
        return {quantity: np.array(rows, dtype=np.intp) for quantity, rows in found.items()}

    @cached_property
    def _means(self) -> Means:
        return means_by_quantity(self.study, self.means)

    @cached_property
    def _results(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        for frame in (self.verdicts, self.claim_results):
            for row in frame.to_dict("records"):
                found.setdefault(str(row["claim"]), {}).update({str(k): v for k, v in row.items()})
        return found


def load(
    study_id: str, data: Path, *, examples: bool = False, with_claims: bool = True
) -> StudyData:
    """Read a study's files below the data folder.

    Of runs the measured ones; with `examples` the made-up example runs too, and verdicts by them
    where nothing was measured. Claims, whose file takes longest to read, are left out without
    `with_claims`. A `VirtperfError` names the known studies where this one is unknown,
    and the stage to run again where a file can't be read or has other columns than it should.
    """
    folders = {
        p.parent.name: p.parent
        for root in ("measured", "published")
        for p in (data / root).glob("*/study.yaml")
    }
    if study_id not in folders:
        known = sorted(folders)
        raise VirtperfError(
            f"there is no study {study_id!r}",
            file=data / "published" / study_id,
            expected=f"one of {', '.join(known) or 'none'}",
            remedy=did_you_mean(study_id, known),
        )
    study = load_study(folders[study_id])
    missing: list[str] = []

    def there(stage: str, file: str) -> Path | None:
        path = data / stage / study_id / file
        if path.is_file():
            return path
        if study.kind == "measured" and stage == "reconstructed":
            return None  # it has no text to reconstruct from
        missing.append(f"{stage}/{study_id}/{file}")
        return None

    def frame(stage: str, table: TableSchema) -> pd.DataFrame:
        path, factors = there(stage, table.file), tuple(study.factors)
        return table.frame((), factors) if path is None else table.read(path, factors)

    def of_runs(table: TableSchema) -> pd.DataFrame:
        found = frame("runs", table)
        own = (
            found["provenance"].map(chosen) if "provenance" in found else found["run_id"].isin(read)
        )
        return found[own.astype(bool)].reset_index(drop=True)

    def chosen(kind: str) -> bool:
        return examples or kind != Provenance.EXAMPLE

    def mapping(stage: str, file: str) -> dict[str, Any]:
        path = there(stage, file)
        try:
            return {} if path is None else json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as err:
            raise VirtperfError(
                "it can't be read as JSON",
                file=f"{stage}/{study_id}/{file}",
                found=str(err),
                remedy="run the stage that writes it again.",
            ) from err

    claimed = there(
        study.folder.parent.name, "hypotheses.yaml" if study.kind == "measured" else "claims.yaml"
    )
    contradictions = mapping("reconstructed", "contradictions.json")
    reading = contradictions.get(
        "reading", "default"
    )  # under which the stage made the other tables
    index = mapping("samples", "index.json")
    if index:
        index["runs"] = [run for run in index["runs"] if chosen(run["provenance"])]
        index["quarantined"] = [run for run in index["quarantined"] if chosen(run["root"])]
        index["excluded"] = [run for run in index.get("excluded", ()) if chosen(run["provenance"])]
    read = {run["run_id"] for run in index.get("runs", ())}
    measured = any(run["provenance"] == Provenance.MEASURED for run in index.get("runs", ()))
    judged = stage_tables.VERDICTS
    if examples and not measured:
        judged = stage_tables.EXAMPLE_VERDICTS
    return StudyData(
        study=study,
        claims=claims_of(study, reading=reading) if claimed and with_claims else None,
        points=frame("reconstructed", stage_tables.POINTS),
        ranges=frame("reconstructed", stage_tables.RANGES),
        claim_results=frame("reconstructed", stage_tables.CLAIMS),
        contradictions=contradictions,
        readings=frame("reconstructed", stage_tables.READINGS),
        series=of_runs(stage_tables.SERIES),
        observations=of_runs(stage_tables.OBSERVATIONS),
        means=of_runs(stage_tables.MEANS),
        lineage=of_runs(stage_tables.LINEAGE),
        timelines=of_runs(stage_tables.TIMELINES),
        distributions=of_runs(stage_tables.DISTRIBUTIONS),
        thumbnails=of_runs(stage_tables.THUMBNAILS),
        audits=of_runs(stage_tables.AUDITS),
        index=index,
        verdicts=frame("verdicts", judged),
        verdicts_elsewhere=frame("verdicts", stage_tables.VERDICTS_ELSEWHERE),
        verdicts_read=frame("verdicts", stage_tables.VERDICTS_READ),
        missing=tuple(missing),
    )
