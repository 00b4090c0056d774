"""Earlier runs of a study: durations, machine state at a block's start, comparability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

import yaml

from rawperf.core.errors import RawperfError
from rawperf.core.model import Level
from virtperf.measure.identity import settings_hash
from virtperf.measure.plan import PlannedRun
from virtperf.runs.ingest.folder import RUN_FILE, run_folders
from virtperf.study.definition import Study
from virtperf.study.run_groups import experiment_of, fact_differences

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass
class EarlierRuns:
    """The runs of a study in `folder`, from their run.yaml; unreadable ones are skipped."""

    study: Study
    folder: Path

    @cached_property
    def _entries(self) -> dict[str, dict[str, Any]]:
        entries = (self._entry(path) for path in run_folders(self.folder))
        return {entry["run_id"]: entry for entry in entries if entry}

    def _entry(self, path: Path) -> dict[str, Any]:
        try:
            text = (path / RUN_FILE).read_text(encoding="utf-8")
            entry = yaml.load(text, Loader=LOADER)  # noqa: S506 - a safe loader
            factors = self.study.filled(entry["factors"])
            return {**entry, "run_id": path.name, "factors": factors}
        except (OSError, ValueError, TypeError, LookupError, yaml.YAMLError):
            return {}

    @property
    def protocols(self) -> list[Mapping[str, Any]]:
        """The recorded protocols of the runs."""
        protocols = (entry.get("protocol") for entry in self._entries.values())
        return [protocol for protocol in protocols if isinstance(protocol, Mapping)]

    def add(self, run_id: str) -> None:
        """Add a run that was just measured."""
        if entry := self._entry(self.folder / run_id):
            self._entries[run_id] = entry

    def wall_s(self, run: PlannedRun) -> float | None:
        """Mean wall time of runs of this condition with the same settings, waiting included.

        None if there are none.
        """
        settings = settings_hash(run)
        took = []
        for entry in self._entries.values():
            protocol = entry.get("protocol") or {}
            if (
                "wall_s" in entry
                and protocol.get("settings") == settings
                and protocol.get("experiment") == run.experiment.name
                and entry["factors"] == run.levels
            ):
                took.append(float(entry["wall_s"]))
        return fmean(took) if took else None

    def first_facts(self, run: PlannedRun, boot: str | None) -> dict[str, Level] | None:
        """Machine facts before the first run of this run's block and boot; None if it is the first.

        Parameters
        ----------
        boot : str, optional
            Boot id as in `protocol` of run.yaml, None if unavailable. The levels of the study's
            `machine_factor`, if any, separate blocks too, since one boot may last for days.
        """
        of_machine = self.study.machine_factor
        block = [
            entry
            for entry in self._entries.values()
            if (entry.get("protocol") or {}).get("experiment") == run.experiment.name
            and entry["protocol"].get("boot") == boot
            and entry.get("replicate") == run.replicate
            and (not of_machine or entry["factors"][of_machine] == run.levels[of_machine])
            and entry.get("machine_state")
        ]
        if not block:
            return None
        first = min(block, key=lambda entry: str(entry.get("start")))
        return {**first["machine"], **first["machine_state"]}

    def refuse_mixture(
        self,
        runs: Sequence[PlannedRun],
        protocols: Mapping[str, Mapping[str, Any]],
        described: Mapping[str, Any],
    ) -> None:
        """Raise `RawperfError` if new runs would not be comparable with the earlier ones.

        Parameters
        ----------
        protocols : mapping
            Protocol of each new run, by its id.
        described : mapping
            Facts common to all new runs: machine, tools, protocol.
        """
        new = [
            {
                "run_id": run.run_id,
                "factors": dict(run.levels),
                "machine": described["machine"],
                "tools": described["tools"],
                "protocol": {**protocols[run.run_id], **described["protocol"]},
            }
            for run in runs
        ]
        names = {entry["run_id"] for entry in new}
        experiments = sorted({run.experiment.name for run in runs})
        old = [
            _comparable(entry)
            for name, entry in self._entries.items()
            if name not in names
            and "excluded" not in entry
            and experiment_of(entry, experiments) in experiments
        ]
        for difference in fact_differences(self.study, [*old, *new]):
            sides = [set(run_ids) for run_ids in difference.runs.values()]
            if any(side & names for side in sides) and any(side - names for side in sides):
                raise RawperfError(
                    f"new runs would not be comparable with existing ones: {difference.words}",
                    file=self.folder / "measure.yaml",
                    remedy=difference.remedy,
                )


def _comparable(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a run that can be compared before the next one is made.

    A machine known only from a run's own commands can't be.
    """
    if entry.get("disturbance"):
        return dict(entry)
    return {**entry, "machine": {}, "tools": {}}
