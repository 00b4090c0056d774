"""The Xen testbed's conditions and run folders, and what it has measured: shares, weights and caps as Xen promises them."""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

import virtperf as vp
from virtperf.ingest.runs import Run

ROOT = Path(__file__).parents[2]
TESTBED = ROOT / "testbeds" / "xen-qemu"
STUDY = ROOT / "data" / "measured" / "xen-2026"
MEASURED = sorted(path.parent for path in STUDY.glob("*/run.yaml"))

sys.path.insert(0, str(TESTBED))
try:
    import conditions
    import folders
finally:
    sys.path.remove(str(TESTBED))


@pytest.fixture
def out(tmp_path):
    """What a boot leaves, of one condition with one busy guest and the web guest."""
    root = tmp_path / "boot" / "out"
    run = root / "runs" / "web-1"
    run.mkdir(parents=True)
    samples = [f"sample={1000 + 5.5 + 3.5 * k:.6f} " for k in range(conditions.SAMPLES)]
    (run / "times").write_text("\n".join(["clock=998.0 ", "start=1000.0 ", *samples, "end=1039.25 "]) + "\n")
    (run / "xentop.txt").write_text("      NAME  STATE\n")
    (run / "webload.csv").write_text("t_s,requests\n")
    (root / "console").mkdir()
    (root / "console" / "guest-busy1.log").write_text("noise\nbegin web-1\nt_s\n1\nend web-1\n")
    (root / "console" / "guest-web1.log").write_text("clock web-1 997.75 \nbegin web-1\n{}\nend web-1\n")
    return root


def write(out, study):
    versions = {"xen-utils-4.17": "4", "sysstat": "12", "busybox-static": "1", "linux-image-6": "6", "qemu": "7"}
    return folders.write_run(out, study, conditions.BY_NAME["web-1"], boot=2, position=3, versions=versions)


def test_every_boot_runs_every_condition_in_an_order_of_its_own():
    for kind, all_of_it in conditions.KINDS.items():
        orders = [conditions.ordered(kind, boot, seed=1) for boot in (1, 2, 3)]
        assert all(Counter(order) == Counter(all_of_it) for order in orders)
        assert all(a != b for a, b in itertools.pairwise(orders))
        assert orders[1] == conditions.ordered(kind, 2, seed=1) == conditions.planned(conditions.plan(kind, 2, seed=1))
    assert len(conditions.BY_NAME) == sum(len(kind) for kind in conditions.KINDS.values())


def test_samples_after_the_work_tell_nothing_of_the_distance_in_it(out, tmp_path):
    times = out / "runs/web-1/times"
    late = [f"sample={1000 + t}" for t in (10, 15, 20, 25, 30, 35, 38, 41)]
    times.write_text("\n".join(["clock=998.0", "start=1000.0", *late, "end=1043.0"]))
    described = yaml.safe_load((write(out, tmp_path / "xen-2026") / "run.yaml").read_text())
    assert (described["files"][0]["start_s"], described["files"][0]["interval_s"]) == (10, 5)
    assert described["window_s"] == [5, 35]


def test_a_run_folder_holds_each_log_and_a_description_that_ingest_takes(out, tmp_path):
    run = write(out, tmp_path / "xen-2026")
    described = Run.model_validate(yaml.safe_load((run / "run.yaml").read_text()))
    assert (described.run_id, described.replicate, described.factors) == (
        "web-1-2",
        2,
        conditions.BY_NAME["web-1"].factors,
    )
    xentop, sadf = described.files
    assert (xentop.start_s, xentop.interval_s) == (5.5, 3.5)
    assert sadf.clock_offset_s == 998.0 - 997.75
    last = xentop.start_s + xentop.interval_s * (conditions.SAMPLES - 1)
    assert last <= described.window_s[1] <= conditions.WORK_S
    assert (run / "guests/busy1/burn.csv").read_text() == "t_s\n1\n"
    assert (run / "guests/web1/sadf.json").read_text() == "{}\n"


@pytest.mark.parametrize("lost", ["end web-1\n", "begin web-1\n"])
def test_a_log_that_is_not_there_is_an_error(out, tmp_path, lost):
    console = out / "console" / "guest-busy1.log"
    console.write_text(console.read_text().replace(lost, ""))
    with pytest.raises(ValueError, match="busy1: no log of web-1"):
        write(out, tmp_path / "xen-2026")


def test_a_sample_that_is_not_there_is_an_error(out, tmp_path):
    times = out / "runs/web-1/times"
    times.write_text(times.read_text().replace("sample", "lost", 1))
    with pytest.raises(ValueError, match=f"{conditions.SAMPLES - 1} samples"):
        write(out, tmp_path / "xen-2026")


@pytest.mark.parametrize("run", MEASURED, ids=lambda run: run.name)
def test_measured_shares_are_those_that_the_scheduler_promises(run):
    described = Run.model_validate(yaml.safe_load((run / "run.yaml").read_text()))
    condition = conditions.BY_NAME[run.name.rpartition("-")[0]]
    assert described.factors == condition.factors
    frame = vp.read(run / "xentop.txt", interval_s=described.files[0].interval_s)
    assert frame.attrs["warnings"] == []
    cpu = frame[frame.field == "CPU(%)"].groupby("entity")["value"].mean()
    assert cpu.sum() <= 100.5  # of the one processor
    busy = [cpu[f"busy{n}"] for n in range(1, len(condition.shares) + 1)]
    for share, (_, cap) in zip(busy, condition.shares, strict=True):
        assert share <= (cap or 100) + 0.5
    if condition.test in ("overcommit", "weights"):
        assert cpu.sum() >= 99.5  # busy guests leave none of it idle
        weights = [weight for weight, _ in condition.shares]
        for share, weight in zip(busy, weights, strict=True):
            assert share / sum(busy) == pytest.approx(weight / sum(weights), rel=0.02)
