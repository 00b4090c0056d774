"""Figures over time: whose samples they show, and what they say without any run."""

from __future__ import annotations

import pytest
from virtperf.exhibits.book import Book

from tests.exhibits.toy import HOSTILE
from virtperf.core.errors import StudyError


def test_samples_of_a_measured_run_come_before_reconstructed_ones(book: Book) -> None:
    table = book.samples("figure-5")
    assert set(table["provenance"]) == {"measured"} and set(table["run_id"]) == {"measured-a-4-r1"}
    assert table.groupby("series", sort=False).size().to_dict() == {HOSTILE: 30, "Memory": 15}
    assert set(table.loc[table["series"] == "Memory", "value"]) == {256.0}  # 512 times the declared scale


def test_the_figure_shows_series_levels_and_provenance(book: Book) -> None:
    shown = book.timeseries("figure-5")
    assert HOSTILE not in shown.html and "&lt;script&gt;" in shown.html
    assert ">measured<" in shown.html and "dashes: its middle" in shown.html
    assert "Run measured-a-4-r1" in shown.html
    assert shown.html.count("<svg xmlns") == 2
    assert "Throughput" in shown.text and "90" in shown.text and "110" in shown.text


def test_without_a_run_it_says_so(bare_book: Book) -> None:
    assert bare_book.samples("figure-5").empty
    assert "No run shows this yet." in bare_book.timeseries("figure-5").html


def test_other_kinds_are_refused(book: Book) -> None:
    with pytest.raises(StudyError, match="figure-2 is no figure over time"):
        book.timeseries("figure-2")
