"""Earlier runs of a study: durations, machine state at a block's start, comparability."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from rawperf.core.errors import RawperfError
from rawperf.core.model import Level
from rawperf.core.yamlio import SafeLoader
from virtperf.core.numbers import join_names
from virtperf.measure.identity import (
    HASHED,
    committed_versions,
    hashed_settings,
    settings_hash,
)
from virtperf.measure.plan import PlannedRun, load_definition
from virtperf.runs.ingest.folder import RUN_FILE, RunFolder, reported_elsewhere, run_folders
from virtperf.study.definition import Study
from virtperf.study.run_groups import (
    MAX_LISTED_RUNS,
    MEASURE_SETTINGS,
    FactDifference,
    experiment_of,
    fact_differences,
)


@dataclass
class EarlierRuns:
    """The runs of a study in `folder`, from their run.yaml; unreadable ones are skipped.

    `measure_file` defines the new runs.
    """

    study: Study
    folder: Path
    measure_file: Path

    @cached_property
    def _entries(self) -> dict[str, dict[str, Any]]:
        entries = (self._entry(folder) for folder in run_folders(self.folder, reported_elsewhere))
        return {entry["run_id"]: entry for entry in entries if entry}

    def _entry(self, folder: RunFolder) -> dict[str, Any]:
        try:
            text = (folder.read(RUN_FILE) or b"").decode()
            entry = yaml.load(text, Loader=SafeLoader)  # noqa: S506 - a safe loader
            factors = self.study.filled(entry["factors"])
            return {**entry, "run_id": folder.name, "factors": factors}
        except (RawperfError, OSError, ValueError, TypeError, LookupError, yaml.YAMLError):
            return {}

    @property
    def protocols(self) -> list[Mapping[str, Any]]:
        """The recorded protocols of the runs."""
        protocols = (entry.get("protocol") for entry in self._entries.values())
        return [protocol for protocol in protocols if isinstance(protocol, Mapping)]

    def add(self, run_id: str) -> None:
        """Add a run that was just measured."""
        if entry := self._entry(RunFolder(self.folder / run_id)):
            self._entries[run_id] = entry

    def wall_s(self, run: PlannedRun) -> float | None:
        """Mean wall time of runs of this condition with the same settings, waiting included.

        None if there are none.
        """
        settings = settings_hash(run.experiment)
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
                words, remedy = difference.words, difference.remedy
                if difference.what == MEASURE_SETTINGS:
                    words = self._settings_words(difference, runs)
                    remedy = f"undo the change, or {remedy}"
                raise RawperfError(
                    f"new runs would not be comparable with existing ones: {words}",
                    file=self.measure_file,
                    remedy=remedy,
                )

    def _settings_words(self, difference: FactDifference, runs: Sequence[PlannedRun]) -> str:
        """Which settings of an experiment changed since its earlier runs, if git has those."""
        new = {run.run_id: run.experiment for run in runs}
        experiment = next(new[r] for ids in difference.runs.values() for r in ids if r in new)
        now = hashed_settings(experiment)
        earlier = [
            (recorded, [run_id for run_id in run_ids if run_id not in new])
            for recorded, run_ids in difference.runs.items()
            if recorded != settings_hash(experiment)
        ]
        recorded, run_ids = next((r, ids) for r, ids in earlier if ids)
        then = self._committed_settings(experiment.name, recorded)
        return (
            f"the settings of experiment {experiment.name} in {self.measure_file.name} are not "
            f"those of {join_names(run_ids, most=MAX_LISTED_RUNS)}"
            + (
                "; git has no version with the earlier settings"
                if then is None
                else f": {'; '.join(_changes(then, now))}"
            )
        )

    def _committed_settings(self, name: str, recorded: str) -> dict[str, Any] | None:
        """Settings of an experiment with this hash, from the versions of measure.yaml in git."""
        with TemporaryDirectory() as folder:
            version = Path(folder, self.measure_file.name)
            for text in committed_versions(self.measure_file):
                version.write_text(text, encoding="utf-8")
                try:
                    definition = load_definition(version, self.study)
                except RawperfError:
                    continue  # the study has changed too
                for experiment in definition.experiments:
                    if experiment.name == name and settings_hash(experiment) == recorded:
                        return hashed_settings(experiment)
        return None


def _changes(then: Mapping[str, Any], now: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Changed settings with both values; of lists of commands the name only."""
    for name in HASHED if not above else now:
        before, after = then.get(name), now.get(name)
        if before == after:
            continue
        if isinstance(before, dict) and isinstance(after, dict):
            yield from _changes(before, after, f"{name}/")
        elif isinstance(after, list):
            yield f"{above}{name}"
        else:
            was, is_now = ("not set" if v is None else str(v) for v in (before, after))
            yield f"{above}{name} was {was}, is {is_now}"


def _comparable(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a run that can be compared before the next one is made.

    A machine known only from a run's own commands can't be.
    """
    if entry.get("disturbance"):
        return dict(entry)
    return {**entry, "machine": {}, "tools": {}}
