"""Contradictions by their words."""

from __future__ import annotations

import json
from pathlib import Path

from tests.report import toy
from tests.report.plain import links, plain
from virtperf.report import data as files
from virtperf.report.kinds.contradictions import contradictions, places
from virtperf.report.loaded import load_study


def build(root: Path, found: dict) -> Path:
    data = toy.build(root)
    (data / "reconstructed" / "toy" / "contradictions.json").write_text(json.dumps(found))
    return data


def test_contradictions_are_ordered_by_what_was_set_aside(tmp_path: Path) -> None:
    found = {
        "dropped": ["flat", "busy"],
        "conflicts": [
            {"claims": ["more-at-8", "best-at-8", "flat"], "dropped": ["flat"]},
            {"claims": ["best-at-8", "flat"], "dropped": ["flat"]},
            {"claims": ["busy", "flat", "bends-down"], "dropped": ["busy", "flat"]},
        ],
    }
    root = build(tmp_path, found)
    entries = contradictions(files.load("toy", root))
    assert list(entries) == ["flat", "busy"]
    assert entries["flat"] == [
        ("best-at-8",),
        ("more-at-8", "best-at-8"),
    ]  # the shortest first, its own only
    assert entries["busy"] == [("flat", "bends-down")]  # it has none of its own
    assert places(files.load("toy", root))["flat"] == [1, 2]
    shown = load_study("toy", root).contradictions()
    said = plain(shown)
    assert (
        "3 minimal conflicting sets of claims. Setting aside 2 claims of the paper resolves them all."
        in said
    )
    assert (
        "System A peaks at 8 guests" in said
        and "best-at-8" not in said
        and "claim:best-at-8" in links(shown)
    )
    assert "1 other set excludes it as well" in said and "an assumption of ours" in said
    assert shown.record.claims[:3] == ("more-at-8", "best-at-8", "flat")


def test_sets_that_nothing_was_taken_from_are_shown_too(tmp_path: Path) -> None:
    root = build(
        tmp_path, {"dropped": [], "conflicts": [{"claims": ["flat", "gone"], "dropped": []}]}
    )
    said = plain(load_study("toy", root).contradictions())
    assert "no claim is set aside" in said and "no longer there" in said


def test_no_contradiction_is_said_too(tmp_path: Path) -> None:
    root = build(tmp_path, {"dropped": [], "conflicts": []})
    assert "No two claims of the paper exclude each other." in plain(
        load_study("toy", root).contradictions()
    )
