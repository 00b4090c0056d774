"""A toy study whose runs are simulated: two systems, drivers that share a load, guests that share the processors."""

from __future__ import annotations

from pathlib import Path

from virtperf.core.params import ReconstructParameters
from virtperf.simulate.file import Raw
from virtperf.simulate.load import load_raw
from virtperf.simulate.plan import RunPlan, plan_runs
from virtperf.simulate.signals import Run
from virtperf.study.definition import Study, load_study

STUDY = """\
study: toy
title: A toy
bibliography: {}
claims_in_ledger: 0
factors:
  system: {levels: [a, b], default: a}
  guests: {levels: [1, 2, 4], default: 2}
quantities:
  throughput:
    label: Throughput
    unit: "% of reference"
    references: [{at: {system: a, guests: 2}, value: 100}]
    observed: {from: [{metric: page_element_throughput, entity_kind: driver}], combine: sum, relative: true}
  load:
    label: Load
    unit: "%"
    observed: {from: [{metric: cpu_user, entity_kind: guest}], combine: sum}
exhibits: []
runs:
  - {name: "{system}-{guests}", over: {system: [a, b], guests: [1, 2, 4]}}
"""

RAW = """\
conventions:
  unit_s: {value: 2.0, unit: 1/s, why: not stated anywhere}
blocks:
  - run: {start: 2011-03-01T09:00:00, duration_s: 100, warmup_s: 20, window_s: [20, 100], clients: 2 * guests}
    times:
      ticks: {from: 10, to: duration, step: 10}
      half: {from: 50, to: 100, step: 50}
    entities:
      drivers: [{name: "d{n}", count: guests, weight: 1}]
      guests: [{name: "g{n}", count: guests, weight: 2}, {name: "h{n}", count: 1, from: 7, weight: 1}]
    signals:
      duration: 100
      level: throughput * unit_s / guests
      rate: {times: ticks, of: drivers, is: level * exp(sample_cv * normal())}
    files:
      - path: "{name}/console.log"
        each: drivers
        format: iwl-console
        clock: sample
        entry: {start_s: 10, interval_s: duration / 10}
        records:
          - {report: status, kind: driver, times: ticks, fields: {clients: 2, "clients max": 2, rd: 0, wr: 0,
             pg: floor(cumsum(rate * step)), web err: 0, resp avg: 2 / rate, pg elem/s: rate}}
"""

LEVELS = {("a", 1): 60.0, ("a", 2): 100.0, ("a", 4): 150.0, ("b", 1): 50.0, ("b", 2): 70.0}


def toy(folder: Path, raw: str = RAW, **parameters: float) -> tuple[Study, Raw, dict[str, RunPlan]]:
    """The study in a folder, its raw.yaml loaded, and its plans by run id; b with 4 guests has no throughput."""
    place = folder / "toy"
    place.mkdir(parents=True, exist_ok=True)
    (place / "study.yaml").write_text(STUDY)
    (place / "raw.yaml").write_text(raw)
    study = load_study(place)
    loaded = load_raw(study, ReconstructParameters(**parameters))
    centre = {
        study.quantity_at("throughput", {"system": system, "guests": guests}): value
        for (system, guests), value in LEVELS.items()
    }
    plans = plan_runs(study, loaded.borrow, centre, 1)
    return study, loaded, {plan.run_id: plan for plan in plans}


def toy_run(
    folder: Path, run_id: str = "a-2-r1", raw: str = RAW, seed: int = 1, **parameters: float
) -> Run:
    """One run, ready to be asked for its signals."""
    _, loaded, plans = toy(folder, raw, **parameters)
    return Run(loaded, plans[run_id], seed)


def with_signal(*lines: str, raw: str = RAW) -> str:
    """raw.yaml with further signals, one a line."""
    return raw.replace(
        "    signals:\n", "    signals:\n" + "".join(f"      {line}\n" for line in lines)
    )
