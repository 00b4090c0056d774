"""Contradictions by their words, audits by kind, numbers as precise as their intervals."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pandas as pd
import pytest

from tests.exhibits import toy
from virtperf.exhibits import data as files
from virtperf.exhibits.book import Book
from virtperf.exhibits.claim_words import implied
from virtperf.exhibits.contradictions import contradictions, places
from virtperf.exhibits.wording import as_precise, interval, printable


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ((12.345, 11.9, 12.8), ("12.3", "11.9", "12.8")),
        ((12.345, 12.2, 12.5), ("12.35", "12.20", "12.50")),
        ((1.2431, 1.2368, 1.2495), ("1.243", "1.237", "1.250")),
        ((22990.0, 22990.0, 22990.0), ("22,990", "22,990", "22,990")),
        ((97.49, 94.44, 100.7), ("97", "94", "101")),
        ((1.017, math.nan, math.nan), ("1.02", "not known", "not known")),
        ((11.4, 11.0, math.inf), ("11.4", "11.0", "unbounded")),
        ((0.001, -0.2, 0.2), ("0.00", "−0.20", "0.20")),
    ],
)
def test_a_number_is_as_precise_as_its_interval(numbers: tuple[float, ...], said: tuple[str, ...]) -> None:
    assert as_precise(*numbers) == said


def test_a_unit_stands_behind_the_number_it_belongs_to() -> None:
    assert interval(-100, math.inf, " %") == "−100 % or more"
    assert interval(1, 2, " %") == "1 to 2 %" and interval(-math.inf, 2, " %") == "at most 2 %"
    assert printable("3\u00a0%\x07") == "3\u00a0%"


def test_what_the_others_allow_is_said_for_relations_without_a_number(book: Book) -> None:
    assert book._data.claims is not None
    claim = book._data.claims["best-at-8"]
    limits = {"implied_low": math.nan, "implied_high": math.nan}
    for verdict, said in (("corroborated", "nothing else"), ("contradicted", "not this")):
        assert implied(claim, {**limits, "text_verdict": verdict}) == said


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
    assert [e.aside for e in entries] == ["flat", "busy"]
    assert entries[0].groups == (("best-at-8",), ("more-at-8", "best-at-8"))  # the shortest first, its own only
    assert entries[1].groups == (("flat", "bends-down"),)  # it has none of its own
    assert places(files.load("toy", root))["flat"] == [1, 2]
    html = Book("toy", root).contradictions().html
    assert "3 smallest groups" in html and "2 statements of the paper are set aside" in html
    assert "System A peaks at 8 guests" in html and "<code>best-at-8" not in html
    assert "1 other group excludes it as well" in html and "an assumption of ours" in html


def test_groups_that_nothing_was_taken_from_are_shown_too(tmp_path: Path) -> None:
    root = build(tmp_path, {"dropped": [], "conflicts": [{"claims": ["flat", "gone"], "dropped": []}]})
    html = Book("toy", root).contradictions().html
    assert "none is set aside" in html and "no longer there" in html


def test_audits_are_told_by_kind_and_exceptions_by_condition(tmp_path: Path) -> None:
    data = toy.build(tmp_path)
    rows = [
        (f"run-{k}-r{r}", audit, value, 300.0 if audit == "warm-up" else 16.0, low, 300.0, status, note)
        for k in ("a", "b")
        for r in (1, 2, 3)
        for audit, value, low, status, note in (
            ("warm-up", 250.0 + 100 * (r == 3), 0.0, "ok", "later" if r == 3 else ""),
            ("law", 16.0 if k == "a" else 20.0 + r, 15.0, "ok" if k == "a" else "violated", ""),
        )
    ]
    columns = ["run_id", "audit", "value", "expected", "low", "high", "status", "note"]
    folder = data / "runs" / "toy"
    pd.DataFrame(rows, columns=columns).to_parquet(folder / "audits.parquet")
    runs = pd.DataFrame({"run_id": ["run-a-r1"] * 3, "provenance": "measured", "replicate": 1})
    runs["stationarity"], runs["flags"], runs["metric"] = ["constant", "step", ""], ["", "it jumps", ""], "page_rate"
    runs.to_parquet(folder / "runs.parquet")
    html = Book("toy", data).quality().html
    plain = re.sub(r"<[^>]+>", " ", html.replace("<wbr>", ""))
    assert re.search(r"law +6 +6 +3 +44 %", plain)  # (23 - 16) / 16
    assert re.search(r"warm-up +6 +6 +6 +only a limit counts", plain)
    assert re.search(r"run-b \(3 runs\) +21 to 23 +16", plain) and "run-b-r1" not in plain.split("Warm-up")[0]
    assert re.search(r"300 s +6 +250 s +250 s +350 s +2", plain) and "Later: run-a-r3 and run-b-r3" in plain
    assert re.search(r"step +1 +33 %", plain) and "It jumps: 1 series of run-a-r1 (page_rate)" in plain


def test_long_tables_show_first_what_something_speaks_against(tmp_path: Path) -> None:
    data = toy.build(tmp_path)
    path = data / "published" / "toy" / "claims.yaml"
    more = "".join(
        f"  - {{id: extra-{k}, kind: value, says: Extra {k}, about: [figure-2], section: S, ledger: x{k},\n"
        f'     of: "throughput[guests=8]", value: {k + 1}, half_width: 0.5}}\n'
        for k in range(9)
    )
    path.write_text(path.read_text().replace("assumptions:", f"{more}assumptions:"))
    html = Book("toy", data).claims("figure-2").html
    shown, _, hidden = html.partition('<details class="vp-details"><summary>Show 8 more statements')
    assert hidden and 'id="claim-more-at-8"' in shown and 'id="claim-flat"' in shown  # refuted, contradicted
    assert 'id="claim-extra-8"' in hidden and "12 statements." in shown
