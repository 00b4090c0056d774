"""Damaged and hostile raw files, all those of a condition too: one clear error each, the rest of the study still renders,
nothing executes."""

from __future__ import annotations

import json
import re

import pytest

from tests.end_to_end.conftest import STUDY, Workplace

BOMB = b'<?xml version="1.0"?><!DOCTYPE iwl [<!ENTITY x SYSTEM "file:///etc/hostname">]><iwl><snapshot>&x;</snapshot></iwl>'


@pytest.mark.slow
def test_every_kind_of_damage_is_named_and_the_study_still_renders(workplace: Workplace):
    runs = workplace.runs
    (runs / "scaling-xen-6-r1" / "xentop.txt").unlink()
    listing = runs / "scaling-xen-12-r2" / "xentop.txt"
    listing.write_bytes(listing.read_bytes()[:-40])
    garbled = runs / "scaling-zvm-9-r2" / "perfkit.txt"
    garbled.write_bytes(re.sub(rb"( P03 +\d+)\.\d", rb"\1.?", garbled.read_bytes(), count=1))
    (runs / "scaling-xen-12-r1" / "drivers" / "triplet2" / "snapshots.xml").write_bytes(BOMB)
    named = runs / "scaling-xen-15-r1" / "xentop.txt"
    named.write_bytes(named.read_bytes().replace(b"    lnweb2 ", b"<script>alert(1)</script> "))
    whole_condition = [f"scaling-xen-9-r{replicate}" for replicate in (1, 2, 3)]
    for run in whole_condition:
        (runs / run / "run.yaml").write_text("study: [broken")

    said = workplace.run("ingest", STUDY, status=3).output
    for run, reason in {
        "scaling-xen-6-r1": "xentop.txt",
        "scaling-zvm-9-r2": "perfkit.txt line",
        "scaling-xen-12-r1": "snapshots.xml",
        **dict.fromkeys(whole_condition, "run.yaml"),
    }.items():
        lines = [line for line in said.splitlines() if f"quarantined {run}:" in line]
        assert len(lines) == 1, (run, said)
        assert reason in lines[0]
    index = json.loads((workplace.root / "data" / "samples" / STUDY / "index.json").read_text())
    refused = {"scaling-xen-6-r1", "scaling-zvm-9-r2", "scaling-xen-12-r1", *whole_condition}
    assert {q["run"] for q in index["quarantined"]} == refused
    cut = next(run for run in index["runs"] if run["run_id"] == "scaling-xen-12-r2")
    assert any("breaks off" in w for file in cut["files"] for w in file["warnings"])
    assert "hostname" not in said

    page = workplace.after_ingest()
    workplace.run("site", STUDY)
    rehearsal = (workplace.root / "reports" / f"rehearsal-{STUDY}.html").read_text()
    assert all(run in rehearsal for run in refused)
    assert (
        "Throughput (Xen, 9 guests)" not in rehearsal and "Throughput (Xen, 12 guests)" in rehearsal
    )
    assert "<script>alert" not in page + rehearsal
    assert "Figure 12" in page


@pytest.mark.slow
def test_only_changed_runs_are_read_again(workplace: Workplace):
    workplace.run("ingest", STUDY)
    samples = workplace.root / "data" / "samples" / STUDY
    before = {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in samples.glob("*.parquet")}
    log = workplace.runs / "scaling-xen-9-r1" / "drivers" / "triplet1" / "console.log"
    log.write_bytes(log.read_bytes().replace(b"web err 0", b"web err 1", 1))
    workplace.run("ingest", STUDY)
    changed = {name for name, (data, _) in before.items() if (samples / name).read_bytes() != data}
    assert changed == {"scaling-xen-9-r1.parquet"}
