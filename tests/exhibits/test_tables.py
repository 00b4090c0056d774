"""Printed tables, claims, registers, estimates, diagrams: what they say and refuse."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from tests.exhibits import toy
from virtperf.core.errors import StudyError
from virtperf.exhibits.book import Book
from virtperf.exhibits.summary import reach
from virtperf.exhibits.table import REWORDED
from virtperf.exhibits.trace_tables import table_text, table_trails
from virtperf.models.result import Estimate


def test_a_reworded_table_says_so_wherever_it_is_called_printed(book: Book, tmp_path: Path) -> None:
    assert "as printed (CSV)" in book.table("table-1").html and REWORDED not in book.table("table-1").html
    data = toy.build(tmp_path)
    path = data / "published" / "toy" / "study.yaml"
    path.write_text(path.read_text().replace("table: table-1}", "table: table-1, reworded: true}"))
    ours = Book("toy", data)
    html = ours.table("table-1").html
    assert REWORDED in html and "Download reworded (CSV)" in html and "typed off" not in html
    (trail,) = [t for t in table_trails(ours.data) if t.exhibit == "table-1"]
    assert trail.reworded and "reworded, numbers as printed in section 'Setup'" in table_text(trail, {})


def test_a_printed_table_shows_both_values_of_a_corrected_cell(book: Book) -> None:
    shown = book.table("table-1")
    assert "<del>" in shown.html and "81921" in shown.html and "8192</ins>" in shown.html
    assert "a footnote mark stuck to it" in shown.html
    assert "8192 (printed 81921)" in repr(shown)
    assert ">published</span>" in shown.html
    assert "not stated" in shown.html  # the empty cell


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("table-1,lnwas,Memory [MB],9999,8192,why", "does not fit"),
        ("table-1,lnwas#2,Memory [MB],81921,8192,why", "there is no cell"),
        ("table-1,lnwas,Disk,81921,8192,why", "there is no cell"),
    ],
)
def test_a_correction_must_fit_its_table(tmp_path: Path, line: str, problem: str) -> None:
    data = toy.build(tmp_path, stages=False)
    path = data / "published" / "toy" / "tables" / "corrections.csv"
    path.write_text(f"table,row,column,printed,corrected,reason\n{line}\n")
    with pytest.raises(StudyError, match=problem) as caught:
        Book("toy", data).table("table-1")
    assert caught.value.line == 2


def test_a_table_never_leaves_its_folder(tmp_path: Path) -> None:
    data = toy.build(tmp_path, stages=False)
    study = data / "published" / "toy" / "study.yaml"
    study.write_text(study.read_text().replace("table: table-1", "table: ../../../secret"))
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    with pytest.raises(StudyError, match="are missing"):
        Book("toy", data).table("table-1")


def test_claims_carry_both_verdicts_in_words(book: Book) -> None:
    shown = book.claims("figure-2")
    assert re.search(r"more-at-8 +66 % \(65\.5 to 66\.5 %\) +60 to 70 % +corroborated +refuted", repr(shown))
    assert re.search(r"best-at-8 +the place of the peak +this and more +independent +undecided", repr(shown))
    assert "takes part in contradiction" in shown.html and "set aside, see contradiction" in shown.html
    assert 'href="#contradiction-1"' in shown.html and 'id="contradiction-1"' in book.contradictions().html
    assert "measured 52 (48 to 56)" in shown.html and "Read as: nothing means within 2 %" in shown.html
    assert "busy" not in repr(shown)
    assert "55 % or more" in repr(book.claims("figure-3"))


def test_claims_about_the_text_and_all_claims(book: Book) -> None:
    assert "flat" in repr(book.claims("text")) and "busy" not in repr(book.claims("text"))
    assert all(name in repr(book.claims()) for name in ("more-at-8", "best-at-8", "flat", "busy"))
    assert "bends-down" not in repr(book.claims())
    assert "says nothing about this" in book.claims("figure-4").html


def test_before_the_stages_verdicts_are_not_computed(bare_book: Book) -> None:
    text = repr(bare_book.claims("figure-2"))
    assert re.search(r"more-at-8 .* not computed +not computed +no measurement", text)


def test_registers(book: Book) -> None:
    assert "more-at-8; flat" in repr(book.contradictions()) and "Set aside" in book.contradictions().html
    assert re.search(r"bends-down +on +4", repr(book.assumptions()))  # it sets four limits in points.csv
    assert "8192" in repr(book.errata()) and "1 remark" in repr(book.errata())
    assert re.search(r"runs refused +1", repr(book.quality())) and "sar.txt" in book.quality().html
    assert re.search(r"audits: failed +1", repr(book.quality()))


def test_summary_counts(book: Book) -> None:
    points = [p for points in book._points.values() for p in points]
    found = reach(book.study, points)
    references = [p for p in points if (r := book.study.reference_for(p.quantity)) is not None and r[0] == p.quantity]
    assert found.points == len(points) - len(references) < len(points)
    narrow = [p for p in points if p not in references and (p.high - p.low) / (p.high + p.low) <= 0.05]
    assert found.within[0] == len(narrow) <= found.within[1]
    assert found.open_ended == 2
    text = repr(book.summary())
    assert re.search(r"text: corroborated +1", text) and re.search(r"measured: refuted +1", text)
    assert re.search(r"measured: reproduced +0", text) and re.search(r"measured runs +9", text)


def test_nothing_from_a_file_becomes_markup(book: Book) -> None:
    shown = [book.table("table-1"), book.diagram("figure-1"), book.claims(), book.contradictions(), book.assumptions()]
    shown += [book.errata(), book.quality(), book.summary()]
    for exhibit in shown:
        assert not re.search(r"<script|<u>1|<i>slipped", exhibit.html)


def test_estimates_say_what_kind_of_interval_they_have(book: Book) -> None:
    peak = Estimate(12.34, 11, math.inf, 0.95, "profile likelihood", ("a bound holds sigma",))
    shown = book.estimates(
        {"A": {"peak": peak}, "slope": Estimate(-2, -3, -1, 0.9, "delta")}, title="Fit <1>", provenance="measured"
    )
    assert re.search(r"A: peak +12\.34 +11 +inf +95 % profile likelihood +a bound holds sigma", repr(shown))
    assert "11.0 to no limit" in shown.html and "90 %, delta" in shown.html and "a bound holds sigma" in shown.html
    assert "Fit &lt;1&gt;" in shown.html and 'id="fit-1"' in shown.html and ">measured</span>" in shown.html


def test_a_download_holds_the_whole_table(book: Book) -> None:
    from urllib.parse import unquote

    link = re.search(
        r'download="toy-figure-2\.csv" href="data:text/csv;charset=utf-8,([^"]*)"', book.figure("figure-2").html
    )
    assert link is not None
    lines = unquote(link[1]).splitlines()
    assert len(lines) == 8 and lines[0].startswith("exhibit,series,guests,quantity,unit,allowed_low")


def test_estimates_lead_back_to_what_they_rest_on(book: Book) -> None:
    estimate = Estimate(1.0, 0.5, 1.5, 0.95, "t")
    of = ["figure-2", "run-<1>"]
    html = book.estimates({"one": estimate}, title="A number", of=of).html
    assert 'href="../reports/trail-toy.html#figure-2"' in html
    assert 'href="../reports/quality-toy.html#run-run-%3C1%3E"' in html and "<1>" not in html
    assert "Computed by" not in book.estimates({"one": estimate}, title="A number").html
