"""Damaged and hostile raw files: one clear error each, the rest is rendered, nothing executes.

The runs count as measured: intact ones are plotted and judge claims.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil

import pytest

from tests.end_to_end.conftest import STUDY, Workplace

BOMB = b'<?xml version="1.0"?><!DOCTYPE iwl [<!ENTITY x SYSTEM "file:///etc/hostname">]><iwl><snapshot>&x;</snapshot></iwl>'


def unpacked(path):
    return gzip.decompress(path.read_bytes())


@pytest.mark.slow
def test_damage_is_reported_and_the_study_still_renders(workplace: Workplace):
    runs = workplace.measured
    for folder in workplace.examples.iterdir():
        # made-up files take the place of measured runs in a temporary folder
        own = shutil.move(folder, runs / folder.name.removeprefix("example-")) / "run.yaml"
        text = re.sub(r"provenance: \w+", "provenance: measured", own.read_text())
        own.write_text(text.replace(folder.name, own.parent.name))
    (runs / "scaling-xen-9-r2" / "xentop.txt.gz").unlink()
    listing = runs / "scaling-xen-15-r2" / "xentop.txt.gz"
    listing.write_bytes(gzip.compress(unpacked(listing)[:-40]))
    garbled = runs / "scaling-zvm-9-r2" / "perfkit.txt.gz"
    damaged, found = re.subn(rb"( P03 +\d+)\.\d", rb"\1.?", unpacked(garbled), count=1)
    assert found
    garbled.write_bytes(gzip.compress(damaged))
    snapshots = next((runs / "scaling-xen-15-r1" / "drivers").rglob("*.xml*"))
    snapshots.write_bytes(gzip.compress(BOMB) if snapshots.suffix == ".gz" else BOMB)
    unreadable = runs / "scaling-xen-15-r3" / "xentop.txt.gz"
    unreadable.write_bytes(
        gzip.compress(unpacked(unreadable).replace(b"    lnweb2 ", b"<script>alert(1)</script> "))
    )
    whole_condition = [f"scaling-zvm-15-r{replicate}" for replicate in (1, 2, 3)]
    for run in whole_condition:
        (runs / run / "run.yaml").write_text("study: [broken")

    output = workplace.run("runs", STUDY, status=3).output
    for run, reason in {
        "scaling-xen-9-r2": "xentop.txt.gz",
        "scaling-zvm-9-r2": "perfkit.txt.gz line",
        "scaling-xen-15-r1": snapshots.name,
        **dict.fromkeys(whole_condition, "run.yaml"),
    }.items():
        lines = [line for line in output.splitlines() if f"quarantined {run}:" in line]
        assert len(lines) == 1, (run, output)
        assert reason in lines[0]
    index = json.loads((workplace.root / "data" / "samples" / STUDY / "index.json").read_text())
    refused = {
        "scaling-xen-9-r2",
        "scaling-zvm-9-r2",
        "scaling-xen-15-r1",
        *whole_condition,
    }
    assert {q["run"] for q in index["quarantined"]} == refused
    cut = next(run for run in index["runs"] if run["run_id"] == "scaling-xen-15-r2")
    assert any("is truncated" in w for file in cut["files"] for w in file["warnings"])
    assert "hostname" not in output

    decided = set(workplace.verdicts().values()) - {"no measurement", "not judged"}
    assert decided, "runs of Xen at 9 guests speak of its CPU utilization at least"

    workplace.run("report", STUDY)
    reports = workplace.root / "reports"
    pages = [(reports / f"{name}{STUDY}.html").read_text() for name in ("", "data-")]
    quality = pages[1].replace("<wbr>", "").replace("\u200b", "")
    assert [run for run in sorted(refused) if run not in quality] == []
    assert "<script>alert" not in "".join(pages)
    assert "measured, 95 % interval" in pages[0]
    # z/VM, whose 12 guests are the 100 % reference, was not measured
    assert "because its reference point was not run" in pages[0]
    assert "Figure 12" in pages[0]
