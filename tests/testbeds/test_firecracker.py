"""Published data of the Firecracker paper: conversion to runs, and values and verdicts against an independent script."""

from __future__ import annotations

import filecmp
import json
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import virtperf as vp
from tests.measured_runs import unpacked

ROOT = Path(__file__).parents[2]
TESTBED = ROOT / "testbeds" / "firecracker-nsdi-2020"
STUDY = "firecracker-nsdi-2020"
RUNS = unpacked(STUDY)
MACHINES = ("m5d.metal", "rn.haswell", "rn.nehalem")


@pytest.fixture(scope="module")
def recomputed():
    script = [sys.executable, "-S", str(TESTBED / "recompute.py"), str(RUNS)]
    return json.loads(subprocess.run(script, check=True, capture_output=True, text=True).stdout)


@pytest.fixture(scope="module")
def study():
    return vp.load_study(STUDY, ROOT / "data")


def test_script_imports_no_project_code():
    text = (TESTBED / "recompute.py").read_text()
    imported = re.findall(r"^(?:from|import) (\w+)", text, re.M)
    assert not {"virtperf", "rawperf", "numpy", "scipy", "pandas"} & set(imported)


def test_observed_values_equal_recomputed_ones(study, recomputed):
    table = study.data.observations.dropna(subset="value")
    ours = {
        f"{row['quantity']} {row['run_id']}": (row["value"], row["low"], row["high"])
        for row in table.to_dict("records")
        if row["quantity"] not in ("resident", "guest_total")
    }
    assert ours.keys() == recomputed["values"].keys()
    for key, values in ours.items():
        expected = [math.nan if v is None else v for v in recomputed["values"][key]]
        assert values == pytest.approx(expected, rel=1e-6, abs=1e-8, nan_ok=True), key


@pytest.mark.parametrize("machine", MACHINES)
def test_verdicts_equal_recomputed_ones(study, recomputed, machine):
    found = study.data.verdicts
    if machine != MACHINES[0]:
        found = study.data.verdicts_by_level
        found = found[found["level"] == machine]
    found = found.set_index("claim")
    expected = recomputed["verdicts"][machine]
    assert found["measured_verdict"].to_dict() == {
        claim: entry["verdict"] for claim, entry in expected.items()
    }
    for claim, value in found["estimate"].dropna().items():
        assert value == pytest.approx(expected[claim]["number"], rel=1e-6), claim


def test_plotted_values_equal_recomputed_ones(study, recomputed):
    values = recomputed["values"]
    for exhibit in study.study.exhibits:
        if exhibit.kind == "distribution":
            numbers = study.show(exhibit.id).record.numbers[0].frame()
            quantity = {s.label: s.quantity.rpartition("_")[0] for s in exhibit.series}
            for row in numbers.to_dict("records"):
                for name, part in (
                    ("median", "median"),
                    ("p99", "p99"),
                    ("interquartile", "spread"),
                ):
                    key = f"{quantity[row['series']]}_{part} {row['run_id']}"
                    assert row[name] == pytest.approx(values[key][0], rel=1e-5), key
            continue
        means = study.means(exhibit.id)
        assert len(means)
        for row in means.to_dict("records"):
            (run,) = row["runs"]
            expected = values[f"{row['quantity']} {run}"][0]
            assert row["value"] == pytest.approx(expected, rel=1e-6, abs=1e-8)


def test_runs_contain_the_published_files_unchanged(tmp_path):
    artifact = tmp_path / "artifact"
    for run in sorted(path for path in RUNS.iterdir() if path.is_dir()):
        machine = next(m for m in MACHINES if run.name.startswith(m))
        part = {"sys": "sys", "net-summary": ""}.get(run.name[len(machine) + 1 :], "raw")
        (artifact / machine / part).mkdir(parents=True, exist_ok=True)
        for file in run.iterdir():
            if file.name != "run.yaml":
                shutil.copy(file, artifact / machine / part / file.name)
    out = tmp_path / STUDY
    script = [sys.executable, "-S", str(TESTBED / "import_runs.py"), str(artifact), str(out)]
    subprocess.run(script, check=True, capture_output=True)
    made = sorted(path.name for path in out.iterdir())
    assert made == sorted(path.name for path in RUNS.iterdir() if path.is_dir())
    for name in made:
        compared = filecmp.dircmp(out / name, RUNS / name)
        assert not (compared.left_only or compared.right_only), name
        same = filecmp.cmpfiles(out / name, RUNS / name, compared.common_files, shallow=False)[0]
        assert sorted(same) == sorted(compared.common_files), name


def test_folder_without_machines_is_an_error(tmp_path):
    for artifact in (tmp_path / "missing", tmp_path):
        script = [sys.executable, "-S", str(TESTBED / "import_runs.py"), str(artifact), "out"]
        done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert done.stderr.startswith(f"{artifact}: no folder of a machine, with raw and sys in it")
        assert not (tmp_path / "out").exists()


def test_every_file_is_read_or_listed_with_a_reason(study):
    index = study.data.index
    assert not index["quarantined"]
    listed = {file["path"] for run in index["runs"] for file in run["files"]}
    on_disk = {p.name for p in RUNS.glob("*/*") if p.name != "run.yaml"}
    assert listed == on_disk
    for run in index["runs"]:
        for file in run["files"]:
            assert file["samples"] or any(w.startswith("not read: ") for w in file["warnings"])


def test_report_does_not_claim_our_own_measurement(study):
    assert study.study.artifact.words == "measured by the authors, January and February 2020"
    page = (ROOT / "reports" / f"{STUDY}.html").read_text()
    assert "measured by the authors, January and February 2020" in page
    assert "we measured" not in page.lower()
    assert np.all(study.data.means["provenance"] == "measured")
