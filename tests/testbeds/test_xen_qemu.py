"""The Xen testbed: conditions, run folders, and measured shares against scheduler weights and caps."""

from __future__ import annotations

import itertools
import json
import math
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

import virtperf as vp
from tests.cases import each_case
from tests.measured_runs import unpacked
from virtperf.measure.plan import load_definition, plan
from virtperf.measure.run import LateFields
from virtperf.runs.ingest.runs import Run
from virtperf.study.definition import load_study

ROOT = Path(__file__).parents[2]
TESTBED = ROOT / "testbeds" / "xen-qemu"
STUDY = ROOT / "data" / "measured" / "xen-2026"
MEASURED = sorted(path.parent for path in unpacked(STUDY.name).glob("*/run.yaml"))

sys.path.insert(0, str(TESTBED))
try:
    import conditions
    import folders
finally:
    sys.path.remove(str(TESTBED))


@pytest.fixture
def out(tmp_path):
    """Output of one boot: one condition with one busy guest and the web guest."""
    root = tmp_path / "boot" / "out"
    run = root / "runs" / "web-1"
    run.mkdir(parents=True)
    samples = [f"sample={1000 + 5.5 + 3.5 * k:.6f} " for k in range(conditions.SAMPLES)]
    (run / "times").write_text(
        "\n".join(["clock=998.0 ", "start=1000.0 ", *samples, "end=1039.25 "]) + "\n"
    )
    (run / "xentop.txt").write_text("      NAME  STATE\n")
    (run / "webload.csv").write_text("t_s,requests\n")
    (root / "console").mkdir()
    (root / "console" / "guest-busy1.log").write_text("noise\nbegin web-1\nt_s\n1\nend web-1\n")
    (root / "console" / "guest-web1.log").write_text(
        "clock web-1 997.75 \nbegin web-1\n{}\nend web-1\n"
    )
    return root


def write(out, run):
    versions = {
        "xen-utils-4.17": "4",
        "sysstat": "12",
        "busybox-static": "1",
        "linux-image-6": "6",
        "qemu": "7",
    }
    return folders.write_run(out, run, conditions.BY_NAME["web-1"], position=3, versions=versions)


def test_every_boot_runs_all_conditions_in_its_own_order():
    for kind, all_of_it in conditions.KINDS.items():
        orders = [conditions.ordered(kind, boot, seed=1) for boot in (1, 2, 3)]
        assert all(Counter(order) == Counter(all_of_it) for order in orders)
        assert all(a != b for a, b in itertools.pairwise(orders))
        assert (
            orders[1]
            == conditions.ordered(kind, 2, seed=1)
            == conditions.planned(conditions.plan(kind, 2, seed=1))
        )
    assert len(conditions.BY_NAME) == sum(len(kind) for kind in conditions.KINDS.values())


def test_samples_after_the_workload_do_not_affect_gaps_within_it(out, tmp_path):
    times = out / "runs/web-1/times"
    late = [f"sample={1000 + t}" for t in (10, 15, 20, 25, 30, 35, 38, 41)]
    times.write_text("\n".join(["clock=998.0", "start=1000.0", *late, "end=1043.0"]))
    fields = write(out, tmp_path / "run")
    assert (fields["files"][0]["start_s"], fields["files"][0]["interval_s"]) == (10, 5)
    assert (fields["warmup_s"], fields["window_s"]) == (10, [10, 35])


def test_run_has_all_logs_and_valid_run_yaml(out, tmp_path):
    run = tmp_path / "run"
    fields = LateFields.model_validate(yaml.safe_load(json.dumps(write(out, run)))).model_dump(
        exclude_unset=True
    )
    known = {"study": STUDY.name, "run": "a", "provenance": "measured", "replicate": 2}
    described = Run.model_validate(
        known | {"factors": conditions.BY_NAME["web-1"].factors, **fields}
    )
    xentop, sadf = described.files
    assert (xentop.start_s, xentop.interval_s) == (5.5, 3.5)
    assert sadf.clock_offset_s == 998.0 - 997.75
    last = xentop.start_s + xentop.interval_s * (conditions.SAMPLES - 1)
    assert described.window_s == (math.ceil(xentop.start_s), math.floor(last))
    assert (run / "guests/busy1/burn.csv").read_text() == "t_s\n1\n"
    assert (run / "guests/web1/sadf.json").read_text() == "{}\n"


def test_plan_equals_the_conditions_of_the_boots():
    planned = plan(load_definition(STUDY / "measure.yaml", load_study(STUDY)), load_study(STUDY))
    boots = {
        k: [conditions.found(texts(run.levels)) for run in planned if run.replicate == k]
        for k in (1, 2, 3)
    }
    assert all(Counter(boot) == Counter(conditions.BY_NAME.values()) for boot in boots.values())
    assert {run.run_id for run in planned} == {run.name for run in MEASURED}
    with pytest.raises(ValueError, match="no condition has test=web cap=3"):
        conditions.found({"test": "web", "cap": "3"})


def texts(levels):
    return {factor: str(level) for factor, level in levels.items()}


def test_failed_boot_is_not_repeated_by_each_run(tmp_path):
    build = tmp_path / "build"
    work = build / "boots" / "web-4"
    work.mkdir(parents=True)
    for file in (build / "site.img", work / "failed"):
        file.touch()
    levels = [f"{factor}={level}" for factor, level in conditions.BY_NAME["web-0"].factors.items()]
    places = [
        "--into",
        tmp_path / "run",
        "--fields",
        tmp_path / "fields",
        "--boots",
        tmp_path / "boots",
    ]
    ended = subprocess.run(
        [sys.executable, TESTBED / "measure.py", "--boot", "4", *places, *levels],
        capture_output=True,
        text=True,
        env={**os.environ, "TESTBED_BUILD": str(build)},
        check=False,
    )
    assert (
        ended.returncode == 1
        and "this boot failed before" in ended.stderr
        and not (tmp_path / "run").exists()
    )


@pytest.mark.parametrize("lost", ["end web-1\n", "begin web-1\n"])
def test_missing_log_is_an_error(out, tmp_path, lost):
    console = out / "console" / "guest-busy1.log"
    console.write_text(console.read_text().replace(lost, ""))
    with pytest.raises(ValueError, match="busy1: no log of web-1"):
        write(out, tmp_path / "run")


def test_missing_sample_is_an_error(out, tmp_path):
    times = out / "runs/web-1/times"
    times.write_text(times.read_text().replace("sample", "lost", 1))
    with pytest.raises(ValueError, match=f"{conditions.SAMPLES - 1} samples"):
        write(out, tmp_path / "run")


@each_case("run", MEASURED)
def test_measured_shares_match_the_scheduler_settings(run):
    described = Run.model_validate(yaml.load((run / "run.yaml").read_text(), yaml.CSafeLoader))
    condition = conditions.found(texts(described.factors))
    frame = vp.read(run / "xentop.txt", interval_s=described.files[0].interval_s)
    assert frame.attrs["warnings"] == []
    cpu = frame[frame.field == "CPU(%)"].groupby("entity")["value"].mean()
    assert cpu.sum() <= 100.5  # of the one processor
    busy = [cpu[f"busy{n}"] for n in range(1, len(condition.shares) + 1)]
    for share, (_, cap) in zip(busy, condition.shares, strict=True):
        assert share <= (cap or 100) + 0.5
    if condition.test in ("overcommit", "weights"):
        assert cpu.sum() >= 99.5  # busy guests leave no idle time
        weights = [weight for weight, _ in condition.shares]
        for share, weight in zip(busy, weights, strict=True):
            assert share / sum(busy) == pytest.approx(weight / sum(weights), rel=0.02)


def test_documented_time_before_the_monitor_is_recomputed():
    done = subprocess.run(
        [sys.executable, "-I", TESTBED / "recompute.py", unpacked(STUDY.name)],
        capture_output=True,
        text=True,
        check=True,
    )
    found = {}
    for line in done.stdout.splitlines()[1:]:
        limit, guests, part, value, _ = line.split("; ")
        found[limit, guests, part] = value
    readme = (STUDY / "README.md").read_text()
    study = " ".join((STUDY / "study.yaml").read_text().split())
    for limit in ("1 ms", "10 ms"):
        for guests, texts in (("8", (readme, study)), ("2", (readme,))):
            value = found[limit, guests, "before"]
            mean, interval = value[:-1].split(" % (")
            assert any(f"{mean} % ({words}{interval}" in readme for words in ("", "95 % CI "))
            assert all(mean in text for text in texts)
