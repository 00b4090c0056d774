"""A repository with a study of busy processes and a configurable measure.yaml."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.forked import Forked
from virtperf.cli import main
from virtperf.measure import harness as harness_module
from virtperf.measure import run as run_module
from virtperf.measure.disturbance import Counters
from virtperf.measure.harness import Harness, MeasureEvent, Outcome
from virtperf.measure.plan import load_definition, plan
from virtperf.runs.ingest.folder import run_folders
from virtperf.study.definition import load_study

STUDY = """\
study: toy
title: Busy processes
bibliography: {}
n_statements: 0
factors:
  guests: {levels: [1, 2, 4]}
  mode: {levels: [plain, "a b; touch x", "$(touch y)"], default: plain}
quantities:
  load:
    label: Load
    unit: "%"
    observed:
      from: [{metric: cpu_user, entity_kind: cpu, entity: all}, {metric: toy_work, entity_kind: driver}]
      combine: sum
inputs:
  - name: toy-work
    match: {text: ['\\Atime,work']}
    reads: csv
    entity: {kind: driver, file: '(?P<name>work.*)[.]csv'}
    fields: [{field: work, metric: toy_work, unit: "%"}]
    metrics: {toy_work: {unit: processors, kind: total, definition: Work that was done.}}
exhibits: []
"""
WORK = """\
import sys, time
seconds, path, *busy = float(sys.argv[1]), *sys.argv[2:]
end = time.monotonic() + seconds
with open(path, "w") as out:
    while busy and time.monotonic() < end:
        sum(range(1000))
    time.sleep(max(0, end - time.monotonic()))
    out.write("time,work\\n1,2\\n")
"""


@dataclass
class Repository:
    """A temporary repository."""

    root: Path

    @property
    def runs(self) -> Path:
        return self.root / "data" / "measured" / "toy"

    @property
    def own(self) -> Path:
        return self.runs / ".measure"

    def write(self, **fields: Any) -> None:
        """Write measure.yaml: one experiment over 1 and 2 guests, two replicates; None removes a field."""
        given: dict[str, Any] = {
            "seed": 7,
            "replicates": 2,
            "window_s": 0.2,
            "workload": [{"run": ["{here}/work", "{seconds}", "work{n}.csv"], "count": "guests"}],
            "experiments": [{"name": "cpu", "over": {"guests": [1, 2]}}],
        }
        given = {name: value for name, value in (given | fields).items() if value is not None}
        (self.runs / "measure.yaml").write_text(yaml.safe_dump(given, sort_keys=False))

    def harness(self) -> Harness:
        study = load_study(self.root / "data" / "published" / "toy")
        return Harness(
            study, load_definition(self.runs / "measure.yaml", study), self.runs, self.root
        )

    def measure(self, **fields: Any) -> tuple[Outcome, list[MeasureEvent], list[str]]:
        """Measure all missing runs; `fields` as in `write`."""
        if fields:
            self.write(**fields)
        made = self.harness()
        runs = [run for run in plan(made.definition, made.study) if not made.present(run)]
        events: list[MeasureEvent] = []
        messages: list[str] = []
        return made.measure(runs, events.append, messages.append), events, messages

    def present(self) -> list[str]:
        return [folder.name for folder in run_folders(self.runs)]

    def described(self, run: str) -> dict[str, Any]:
        (folder,) = (folder for folder in run_folders(self.runs) if folder.name == run)
        return yaml.safe_load(folder.read("run.yaml"))

    def start(self, *options: str, prepare: Callable[[], object] = lambda: None) -> Forked:
        """Start `virtperf measure toy` as a process, with the stubbed machine of `repository`."""
        command = ["--root", str(self.root), "measure", "toy", *options]
        return Forked(lambda: main(command, prog_name="virtperf"), prepare)


@pytest.fixture
def repository(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """The toy repository; machine facts are stubbed, since collecting them takes a second."""
    monkeypatch.setattr(harness_module, "machine", lambda: {"cpu": "some"})
    for changing in (
        "machine_settings",
        "machine_state",
    ):  # independent of the load of the test machine
        monkeypatch.setattr(harness_module, changing, dict)
    made = Repository(tmp_path)
    published = tmp_path / "data" / "published" / "toy"
    for folder in (published, made.runs):
        folder.mkdir(parents=True)
    (published / "study.yaml").write_text(STUDY)
    work = made.runs / "work"
    work.write_text(f"#!{sys.executable}\n{WORK}")
    work.chmod(0o755)
    made.write()
    return made


@pytest.fixture
def busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counters that show ten processors kept busy by other processes, independent of the test machine."""
    real = run_module.counters

    def read(ours: Callable[[], float]) -> Counters:
        now = real(ours)
        return replace(now, busy=now.busy + 10 * now.at, total=now.total + 10 * now.at)

    monkeypatch.setattr(run_module, "counters", read)
