"""A study with published raw files: boot times of two monitors, in runs without a clock."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from virtperf.core.schema import TableSchema
from virtperf.core.stage_tables import CLAIMS, OBSERVATIONS, VERDICTS, VERDICTS_BY_LEVEL
from virtperf.runs.ingest.stage import ingest
from virtperf.runs.summarize.stage import summarize
from virtperf.study.claims import load_claims
from virtperf.study.definition import load_study
from virtperf.verdicts.judgement import judge

STUDY = """
study: boots
title: Boots of two monitors
bibliography: {}
n_statements: 4
artifact: {by: the authors, when: February 2020, origin: somewhere, licence: Apache 2.0}
judged_over: machine
factors:
  machine: {levels: [big, small], default: big}
  monitor: {levels: [a, b], default: a}
  size: {levels: [0, 128], default: 0, unit: MiB}
quantities:
  median: {label: Boot time, unit: ms, observed: {from: [{metric: boot, entity_kind: host}], combine: sum, statistic: median}}
  p99: {label: 99th percentile, unit: ms, observed: {from: [{metric: boot, entity_kind: host}], combine: sum, statistic: quantile, share: 0.99}}
  spread: {label: Spread, unit: ms, observed: {from: [{metric: boot, entity_kind: host}], combine: sum, statistic: interquartile}}
  average: {label: Mean, unit: ms, observed: {from: [{metric: boot, entity_kind: host}], combine: sum}}
  slow: {label: Slow, unit: "%", observed: {from: [{metric: boot, entity_kind: host}], combine: sum, statistic: above, limit: {value: 125, unit: ms}}}
  overhead: {label: Overhead, unit: MiB, observed: {from: [{metric: mapping, entity_kind: host}], combine: sum, statistic: sum, less: size}}
inputs:
  - name: boots
    match: {file: "*.dat"}
    reads: lines
    strict: true
    lines: '(?P<us>[0-9]+)'
    time: {numbered: true}
    fields: [{field: us, metric: boot, unit: us}]
    metrics: {boot: {unit: s, definition: Time of one boot of a guest.}}
  - name: mappings
    match: {file: "*.map"}
    reads: lines
    strict: true
    lines: '(?P<kb>[0-9]+) (?P<mode>[-rwx]+)'
    time: {numbered: true}
    fields: [{field: kb, where: {mode: "rw*"}, metric: mapping, unit: KiB}]
    metrics: {mapping: {unit: B, definition: Size of a mapping of a process.}}
exhibits:
  - id: figure-1
    kind: distribution
    title: Boot times
    over: monitor
    log: true
    series:
      - {label: A, quantity: median, levels: [a]}
      - {label: B, quantity: median, levels: [b]}
"""
CLAIMS_TEXT = """
study: boots
claims:
  - {id: a-below-125, kind: range, of: p99, high: 125, says: It boots in less than 125 ms., about: [figure-1], section: "1", ledger: c001, reading: 99 of 100}
  - {id: a-before-b, kind: ordering, order: [median, "median[monitor=b]"], says: A boots before B., about: [figure-1], section: "1", ledger: c002}
  - {id: overhead, kind: value, of: "overhead[size=128]", value: 2, half_width: 0.5, says: It takes 2 MB., about: [text], section: "1", ledger: c003}
not_encoded: [{ledger: c004, reason: an opinion about prices}]
"""


class Boots:
    """The study in a `data` folder, to which runs can be added."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.data, self.metrics = folder / "data", folder / "metrics.yaml"
        self.runs = self.data / "measured" / "boots"
        self.samples, self.made = self.data / "samples" / "boots", self.data / "runs" / "boots"
        published = self.data / "published" / "boots"
        for place in (published, self.runs, self.samples, self.made):
            place.mkdir(parents=True)
        (published / "study.yaml").write_text(STUDY)
        (published / "claims.yaml").write_text(CLAIMS_TEXT)
        shutil.copy(root / "src" / "rawperf" / "metrics.yaml", self.metrics)
        self.study = load_study(published)

    def add(self, name, text, file="boots.dat", lines=None, **factors):
        """A run of one file, at the factors' levels."""
        (self.runs / name).mkdir()
        (self.runs / name / file).write_text(text)
        document = {
            "study": "boots",
            "run": name,
            "provenance": "measured",
            "factors": factors,
            "replicate": 1,
            "start": "2020-02-07T23:20:45",
        }
        if lines is not None:
            document["files"] = [{"path": file, "lines": lines}]
        (self.runs / name / "run.yaml").write_text(yaml.safe_dump(document))

    def read(self) -> dict[str, dict[str, object]]:
        """Read all runs; return rejected ones by name."""
        roots, cache = {"measured": self.runs}, self.data / "cache"
        done = ingest(self.study, roots, self.metrics, self.samples, cache, jobs=1)
        return {refused["run"]: refused for refused in done.quarantined}

    def table(self, declared: TableSchema) -> pd.DataFrame:
        """A table of the runs read."""
        summarize(self.study, self.samples, self.made, level=0.95, jobs=1)
        factors = tuple(self.study.factors) if declared.factors_before else ()
        return declared.read(self.made / declared.file, factors)

    def judged(self, **more) -> pd.DataFrame:
        """The verdicts by claim."""
        claims, runs = load_claims(self.study), self.table(OBSERVATIONS)
        found = judge(self.study, claims, CLAIMS.frame(), runs, level=0.95, **more)
        return found.set_index("claim")

    def store_verdicts(self) -> None:
        """Store the verdicts for reports."""
        folder = self.data / "verdicts" / "boots"
        folder.mkdir(parents=True)
        here = self.judged().reset_index()
        VERDICTS.write(here, folder / VERDICTS.file)
        elsewhere = self.judged(elsewhere=("machine", "small")).reset_index()
        rows = [*here.assign(level="big").to_dict("records")]
        rows += elsewhere.assign(level="small").to_dict("records")
        table = VERDICTS_BY_LEVEL.frame(rows)
        VERDICTS_BY_LEVEL.write(table, folder / VERDICTS_BY_LEVEL.file)


def boots(values: Iterable[float]) -> str:
    """A file of boot times, given in ms."""
    return "".join(f"{round(1000 * v)}\n" for v in values)


def drawn(seed: int = 1, n: int = 1000, centre: float = 110.0) -> np.ndarray:
    """Boot times in ms."""
    return np.round(np.random.default_rng(seed).normal(centre, 4.0, n), 3)
