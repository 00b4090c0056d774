"""Simulated run folders are what the tools would have written, and carry the truth that they were made from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from virtperf.claims import load_claims
from virtperf.formats import get_format, sniff
from virtperf.params import load_parameters
from virtperf.reconstruct.feasible import centres, solve
from virtperf.reconstruct.plan import load_raw, plan_runs
from virtperf.reconstruct.raw import write_run
from virtperf.study import load_study

ROOT = Path(__file__).resolve().parents[2]
STUDY = "zvm-xen-2009"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """One run of each monitor, written: plan, raw conventions, folder."""
    study = load_study(ROOT / "data" / "published" / STUDY)
    raw = load_raw(study)
    centre = centres(solve(study, load_claims(study)))
    plans = {plan.run_id: plan for plan in plan_runs(study, raw, centre, 1)}
    parameters = load_parameters(ROOT / "params.yaml")
    folder = tmp_path_factory.mktemp("runs")
    for run_id in ("scaling-xen-9-r1", "memory-zvm-7168-r1"):
        write_run(STUDY, plans[run_id], raw, parameters, folder / run_id)
    return plans, raw, folder


def reading(folder: Path, name: str):
    path = next(folder.rglob(name))
    return sniff(path.read_bytes(), file=name).read(path.read_bytes(), file=name)


def values(found, field: str, entity_kind: str | None = None):
    records = found.records
    keep = records["field"] == field
    if entity_kind is not None:
        keep &= records["entity_kind"] == entity_kind
    return records[keep]


def test_every_planned_condition_has_a_run(made):
    plans, _, _ = made
    # 5 + 4 scaling, 7 memory sizes, 3 + 2 encryption, 2 x 5 software levels, 2 web servers
    assert len(plans) == 33
    assert sum(len(plan.guests) for plan in plans.values() if plan.levels["guests"] == 9) % 9 == 0


def test_files_are_recognised_by_content_as_the_format_that_run_yaml_names(made):
    _, _, folder = made
    for run in folder.iterdir():
        entries = yaml.safe_load((run / "run.yaml").read_text())["files"]
        named = {str(p.relative_to(run)) for p in run.rglob("*") if p.is_file()} - {"run.yaml"}
        assert {entry["path"] for entry in entries} == named
        for entry in entries:
            data = (run / entry["path"]).read_bytes()
            assert sniff(data, file=entry["path"]).name == entry["format"]
            again = get_format(entry["format"]).read(data)
            assert not again.warnings, (entry["path"], again.warnings)


def test_xentop_carries_the_truth_in_percent_of_one_processor(made):
    plans, _, folder = made
    cpu = values(reading(folder / "scaling-xen-9-r1", "xentop.txt"), "CPU(%)")
    total = cpu.groupby("t")["value"].sum()
    assert len(total) == 9  # ten iterations show nine intervals
    truth = plans["scaling-xen-9-r1"].truth["cpu_utilization"] * 8
    assert total.mean() == pytest.approx(truth, rel=0.02)
    assert total.max() <= 800


def test_the_listing_carries_the_published_memory(made):
    plans, _, folder = made
    found = reading(folder / "memory-zvm-7168-r1", "perfkit.txt")
    pages = values(found, "R>2GB", "guest").groupby("t")["value"].sum()
    assert pages.to_numpy() / 256 == pytest.approx(plans["memory-zvm-7168-r1"].truth["resident_memory"], abs=0.01)
    assert plans["memory-zvm-7168-r1"].truth["resident_memory"] == pytest.approx(6831, abs=0.5)  # Table 9
    assert len(pages) == 10


def test_driver_logs_obey_the_closed_loop(made):
    plans, raw, folder = made
    plan = plans["scaling-xen-9-r1"]
    for driver in plan.drivers:
        found = reading(folder / "scaling-xen-9-r1" / "drivers" / driver, "console.log")
        x, r = (values(found, f)["value"].to_numpy()[30:] for f in ("pg elem/s", "resp avg"))
        assert np.mean(x * r) == pytest.approx(raw["driver"]["clients"], rel=0.02)


def test_the_same_seed_writes_the_same_bytes(made, tmp_path):
    plans, raw, folder = made
    write_run(STUDY, plans["scaling-xen-9-r1"], raw, load_parameters(ROOT / "params.yaml"), tmp_path / "again")
    for path in (folder / "scaling-xen-9-r1").rglob("*"):
        if path.is_file():
            assert (
                path.read_bytes() == (tmp_path / "again" / path.relative_to(folder / "scaling-xen-9-r1")).read_bytes()
            )
