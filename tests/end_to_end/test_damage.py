"""Damaged and hostile raw files: one clear error each, the rest of the study still renders, nothing executes."""

from __future__ import annotations

import gzip
import json
import re

import pytest

from tests.end_to_end.conftest import STUDY, Workplace

BOMB = b'<?xml version="1.0"?><!DOCTYPE iwl [<!ENTITY x SYSTEM "file:///etc/hostname">]><iwl><snapshot>&x;</snapshot></iwl>'


def unpacked(path):
    return gzip.decompress(path.read_bytes())


@pytest.mark.slow
def test_every_kind_of_damage_is_named_and_the_study_still_renders(workplace: Workplace):
    runs = workplace.examples
    (runs / "example-scaling-xen-6-r1" / "xentop.txt.gz").unlink()
    listing = runs / "example-scaling-xen-12-r2" / "xentop.txt.gz"
    listing.write_bytes(gzip.compress(unpacked(listing)[:-40]))
    garbled = runs / "example-scaling-zvm-9-r2" / "perfkit.txt.gz"
    text, found = re.subn(rb"( P03 +\d+)\.\d", rb"\1.?", unpacked(garbled), count=1)
    assert found
    garbled.write_bytes(gzip.compress(text))
    snapshots = next((runs / "example-scaling-xen-12-r1" / "drivers").rglob("*.xml*"))
    snapshots.write_bytes(gzip.compress(BOMB) if snapshots.suffix == ".gz" else BOMB)
    named = runs / "example-scaling-xen-15-r1" / "xentop.txt.gz"
    named.write_bytes(
        gzip.compress(unpacked(named).replace(b"    lnweb2 ", b"<script>alert(1)</script> "))
    )
    whole_condition = [f"example-scaling-xen-9-r{replicate}" for replicate in (1, 2, 3)]
    for run in whole_condition:
        (runs / run / "run.yaml").write_text("study: [broken")

    said = workplace.run("runs", STUDY, status=3).output
    for run, reason in {
        "example-scaling-xen-6-r1": "xentop.txt.gz",
        "example-scaling-zvm-9-r2": "perfkit.txt.gz line",
        "example-scaling-xen-12-r1": snapshots.name,
        **dict.fromkeys(whole_condition, "run.yaml"),
    }.items():
        lines = [line for line in said.splitlines() if f"quarantined {run}:" in line]
        assert len(lines) == 1, (run, said)
        assert reason in lines[0]
    index = json.loads((workplace.root / "data" / "samples" / STUDY / "index.json").read_text())
    refused = {
        "example-scaling-xen-6-r1",
        "example-scaling-zvm-9-r2",
        "example-scaling-xen-12-r1",
        *whole_condition,
    }
    assert {q["run"] for q in index["quarantined"]} == refused
    cut = next(run for run in index["runs"] if run["run_id"] == "example-scaling-xen-12-r2")
    assert any("breaks off" in w for file in cut["files"] for w in file["warnings"])
    assert "hostname" not in said

    workplace.run("report", STUDY, "--examples")
    reports = workplace.root / "reports"
    pages = [(reports / f"{name}example-{STUDY}.html").read_text() for name in ("", "quality-")]
    quality = pages[1].replace("<wbr>", "").replace("\u200b", "")
    assert [run for run in sorted(refused) if run not in quality] == []
    assert "<script>alert" not in "".join(pages)
    assert "Figure 12" in pages[0] and "made up around known values" in pages[0]


@pytest.mark.slow
def test_only_changed_runs_are_read_again(workplace: Workplace):
    workplace.run("runs", STUDY)
    samples = workplace.root / "data" / "samples" / STUDY
    before = {p.name: p.read_bytes() for p in samples.glob("*.parquet")}
    log = workplace.examples / "example-scaling-xen-9-r1" / "drivers" / "triplet1.log"
    assert b"web err 0" in log.read_bytes()
    log.write_bytes(log.read_bytes().replace(b"web err 0", b"web err 1", 1))
    workplace.run("runs", STUDY)
    changed = {name for name, data in before.items() if (samples / name).read_bytes() != data}
    assert changed == {"example-scaling-xen-9-r1.parquet"}
