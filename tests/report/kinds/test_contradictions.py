"""Contradictions as text."""

from __future__ import annotations

import json
from pathlib import Path

from tests.report import toy
from tests.report.plain import links, plain
from virtperf.report import frames as files
from virtperf.report.kinds.contradictions import (
    allowed_instead,
    contradiction_entries,
    contradiction_numbers,
    contradictions_by_origin,
    dependent_points,
    points_by_claim,
    set_aside,
)
from virtperf.report.loaded import load_study
from virtperf.report.records import Folded, Grid


def build(root: Path, found: dict) -> Path:
    data = toy.build(root)
    (data / "reconstructed" / "toy" / "contradictions.json").write_text(json.dumps(found))
    return data


CONFLICTS = [["best-at-8", "flat"], ["best-at-8", "flat", "more-at-8"]]


def test_entry_lists_resolutions_and_errata(tmp_path: Path) -> None:
    found = {
        "dropped": ["flat"],
        "contradictions": [
            {"conflicts": CONFLICTS, "always": ["flat"], "choices": []},
            {"conflicts": [["busy", "bends-down"]], "always": ["bends-down"], "choices": []},
        ],
    }
    root = build(tmp_path, found)
    path = root / "published" / "toy" / "study.yaml"
    remark = "  - {claims: [flat], says: Flat may be a misprint of fast.}\n"
    path.write_text(path.read_text().replace("errata:\n", f"errata:\n{remark}"))
    data = files.load("toy", root)
    assert set_aside(data) == {"flat", "bends-down"}
    assert contradiction_numbers(data) == {"best-at-8": [1], "flat": [1], "more-at-8": [1]} | {
        "busy": [2],
        "bends-down": [2],
    }
    exhibit = load_study("toy", root).contradictions()
    text = plain(exhibit)
    # bends-down is an assumption
    assert contradictions_by_origin(data) == {"paper": 1, "reading": 0, "assumption": 1}
    words = "1 contradiction of the paper (with a sentence as we read it) and 1 assumption of ours"
    assert words in text
    assert "System A peaks at 8 guests" in text and "claim:best-at-8" in links(exhibit)
    assert "1 more set with the same cause" in text and "an assumption of ours" in text
    assert "Errata: Flat may be a misprint of fast." in text
    assert exhibit.record.claims[:3] == ("best-at-8", "flat", "more-at-8")


def test_contradictions_by_a_reading_are_counted_apart_and_say_so(tmp_path: Path) -> None:
    read = {"conflicts": [["best-at-8", "flat"]], "always": ["flat"], "choices": []}
    found = [read | {"readings": ["flat"], "lenient": False}]
    found.append({"conflicts": [["gone", "lost"]], "always": ["gone"], "choices": []})
    root = build(tmp_path, {"dropped": ["flat"], "contradictions": found})
    data = files.load("toy", root)
    assert contradictions_by_origin(data) == {"paper": 1, "reading": 1, "assumption": 0}
    text = plain(load_study("toy", root).contradictions())
    assert "1 contradiction of the paper and 1 more that follows from our readings of words" in text
    assert "Follows from our reading of words: nothing means within 2 %." in text
    assert "read leniently, the claims do not exclude each other" in text
    summary = plain(load_study("toy", root).summary())
    assert "1 more from our readings of words" in summary


def test_alternatives_are_compared_with_their_ranges(tmp_path: Path) -> None:
    point = {"exhibit": "figure-2", "series": "A", "x": 8, "quantity": "throughput"}
    options = [
        {"aside": ["flat"], "points": [point | {"low": 7.0, "high": 9.0}]},
        {"aside": ["gone"], "points": [point | {"low": 10.0, "high": None}]},
    ]
    entry = {"conflicts": [["flat", "gone"]], "always": [], "choices": [options]}
    root = build(tmp_path, {"dropped": ["flat"], "contradictions": [entry]})
    text = plain(load_study("toy", root).contradictions())
    assert "no longer exists" in text and "Or without: " in text
    assert "Figure 2, A at 8: 7 to 9" in text and "Figure 2, A at 8: 10 or more" in text
    assert set_aside(files.load("toy", root)) == set()


def test_claim_of_an_undecided_conflict_has_what_the_others_allow(tmp_path: Path) -> None:
    entry = {"conflicts": [["more-at-8", "flat"]], "always": [], "choices": []}
    root = build(tmp_path, {"dropped": [], "contradictions": [entry]})
    data = files.load("toy", root)
    known = {claim.id: claim for claim in data.claims or ()}
    instead = allowed_instead(data, known["more-at-8"])
    assert instead.startswith("other claims allow ")
    text = plain(load_study("toy", root).contradictions())
    assert " ".join(f": {instead}. It cannot hold together with: ".split()) in " ".join(
        text.split()
    )


def test_absence_of_contradictions_is_stated(tmp_path: Path) -> None:
    root = build(tmp_path, {"dropped": [], "contradictions": []})
    assert "No claims of the paper exclude each other." in plain(
        load_study("toy", root).contradictions()
    )


def test_contradictions_are_sorted_by_affected_points_and_minor_ones_folded(
    tmp_path: Path,
) -> None:
    # busy limits the ranges of two bars; flat, which is read by us, and best-at-8 those of more
    # points; gone none
    conflicts = ["gone", "lost"], ["busy"], ["best-at-8", "flat", "more-at-8"]
    found = [{"conflicts": [list(c)], "always": [c[-1]], "choices": []} for c in conflicts]
    root = build(tmp_path, {"dropped": [], "contradictions": found})
    data = files.load("toy", root)
    set_by = points_by_claim(data)
    order = [entry["conflicts"][0][0] for entry in contradiction_entries(data)]
    assert order == ["busy", "best-at-8", "gone"]
    assert [len(dependent_points(entry, set_by)) for entry in contradiction_entries(data)] == [
        2,
        4,
        0,
    ]
    blocks = load_study("toy", root).contradictions().record.blocks
    grids = [block for block in blocks if isinstance(block, Grid)]
    (folded,) = [b for b in blocks if isinstance(b, Folded) and "no plotted point" in b.summary]
    assert [grid.ids for grid in grids] == [("contradiction-1", "contradiction-2")]
    assert folded.blocks[0].ids == ("contradiction-3",)
    assert folded.summary == "1 contradiction on which no plotted point depends"
    assert "2 plotted points depend on these claims: Figure 3." in plain(
        load_study("toy", root).contradictions()
    )
