"""Figures: three layers, limits in words, the numbers behind them."""

from __future__ import annotations

import math
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from virtperf.exhibits.axes import TALL, scale, unit_words, y_top
from virtperf.exhibits.book import Book
from virtperf.exhibits.layers import load_points

from tests.exhibits.toy import DOLLARS, HOSTILE
from virtperf.core.errors import StudyError, VirtperfError


def point(book: Book, exhibit: str, series: str, x: object) -> pd.Series:
    table = book.points(exhibit)
    factor = next(c for c in ("guests", "cipher", "storage") if c in table)
    return table[(table["series"] == series) & (table[factor] == x)].iloc[0]


def test_layers_keep_their_provenance(book: Book) -> None:
    # Three replicates 150, 152, 154: mean 152, s = 2, t(2, 0.975) = 4.3027, half-width 4.3027 * 2 / sqrt(3) = 4.968.
    row = point(book, "figure-2", HOSTILE, 8)
    assert row["measured"] == pytest.approx(152)
    assert row["measured_high"] - row["measured"] == pytest.approx(4.968, abs=1e-3)
    assert row["reconstructed"] == pytest.approx(166)
    assert (row["allowed_low"], row["allowed_high"]) == (165.5, 166.5)
    assert math.isnan(row["example"])


def test_examples_are_shown_only_on_request(book: Book, toy_data: Path) -> None:
    assert point(book, "figure-2", HOSTILE, 2)["example"] == pytest.approx(75)
    plain = Book("toy", toy_data)
    assert plain.points("figure-2")["example"].isna().all()
    assert "made-up example" in book.figure("figure-2").html
    assert "made-up example" not in plain.figure("figure-2").html


def test_without_assumptions_the_band_is_the_bare_one(toy_data: Path) -> None:
    bare = Book("toy", toy_data, assumptions=False)
    row = point(bare, "figure-2", HOSTILE, 2)
    assert (row["allowed_low"], row["allowed_high"]) == (10, 90)
    assert "our assumptions being off" in bare.figure("figure-2").html


def test_an_absent_limit_is_said_in_words(book: Book) -> None:
    shown = book.figure("figure-2")
    assert "arrow: no upper limit" in shown.html
    assert "The text sets no upper limit for" in shown.html
    assert re.search(r"\$host_1\$.*  2 .* 40 +inf ", repr(shown))
    assert "no upper limit" not in book.figure("figure-3").html


def test_the_text_table_holds_the_numbers_behind(book: Book) -> None:
    text = repr(book.figure("figure-2"))
    assert text.splitlines()[0] == "Figure 2. Throughput over guests"
    assert re.search(r"8 +165\.5 +166\.5 +166 +161 +171 +152 +147 +157 +3", text)
    assert len(text.splitlines()) == 3 + 7  # title, header, rule, one line a point


def test_both_kinds_of_output_reach_the_notebook(book: Book) -> None:
    shown = book.figure("figure-3")
    assert shown._repr_mimebundle_() == {"text/html": shown._repr_html_(), "text/plain": repr(shown)}


def test_a_printed_number_is_shown_as_printed(book: Book, bare_book: Book) -> None:
    shown = book.figure("figure-3")
    assert "half-filled: printed in the paper" in shown.html and ">published<" in shown.html
    assert "half-filled" not in book.figure("figure-2").html
    printed = book.observations("figure-3", "published")
    assert printed[["series", "x", "value"]].to_numpy().tolist() == [["System A", "hardware", 80.0]]
    assert printed["se"].tolist() == [pytest.approx(0.5 / math.sqrt(3))]
    alone = {p.x: p for p in bare_book._points_of(bare_book.study.exhibit("figure-3")) if p.published}
    assert math.isnan(alone["hardware"].hollow) and alone["hardware"].shown == 80
    assert "1 value as printed" in bare_book.figure("figure-3").html.lower()


def test_relative_units_name_their_reference(book: Book) -> None:
    # figure-2 varies system and guests; figure-4 varies storage only, so its reference is told by the storage.
    assert (
        f"Throughput, % of {HOSTILE} at 4 guests".replace("<", "&lt;").replace(">", "&gt;")
        in book.figure("figure-2").html
    )
    assert "Throughput, % of the value at 20,480 MB storage" in book.figure("figure-4").html
    quantities = [q for _, _, q in book.study.points(book.study.exhibit("figure-3"))]
    assert unit_words(book.study, "utilization", quantities) == "%"


def test_two_quantities_get_two_panels_that_share_x(book: Book) -> None:
    html = book.figure("figure-4").html
    wide = html[html.index("<svg") : html.index("</svg>")]
    assert wide.count("Resident memory, MiB") == 1 and wide.count(">20,480<") == 1


def test_a_numeric_axis_runs_as_the_study_lists_its_levels(book: Book) -> None:
    points = book._points_of(book.study.exhibit("figure-4"))
    left, right = scale(points, book.study.factors["storage"], 600).limits
    assert left > right and left > 20480 and right < 10240
    left, right = scale(book._points_of(book.study.exhibit("figure-2")), book.study.factors["guests"], 600).limits
    assert left < right


@pytest.mark.parametrize("width", [250, 400, 700, 2000])
def test_tick_labels_never_run_into_each_other(book: Book, width: int) -> None:
    axis = scale(book._points_of(book.study.exhibit("figure-4")), book.study.factors["storage"], width)
    shown = [
        (axis.where[level] / abs(axis.pixel), label)
        for level, label in zip(axis.levels, axis.tick_labels, strict=True)
        if label
    ]
    gaps = np.diff(sorted(place for place, _ in shown))
    assert (gaps >= (14 if axis.turned else 7 * 6)).all()


def test_a_far_limit_does_not_flatten_the_figure(book: Book) -> None:
    points = book._points_of(book.study.exhibit("figure-2"))
    top = y_top(points, math.inf)
    assert 171 < top <= TALL * 171 * 1.07  # 171: the upper end of the highest interval
    assert y_top(book._points_of(book.study.exhibit("figure-3")), 100.0) <= 105


def test_files_text_is_shown_not_run(book: Book) -> None:
    for shown in (book.figure("figure-2"), book.figure("figure-3"), book.figure("figure-4")):
        assert "<script" not in shown.html and "<b>co" not in shown.html
    assert DOLLARS.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") in book.figure("figure-2").html


class Line:
    """A fitted line y = 10 x with an interval of one to either side."""

    def predict(self, new: np.ndarray, interval: str, alpha: float) -> pd.DataFrame:
        assert interval == "mean" and alpha == pytest.approx(0.05)
        return pd.DataFrame({"value": 10 * new, "se": 0.5, "low": 10 * new - 1, "high": 10 * new + 1})


def test_curves_are_drawn_over_their_series_only(book: Book) -> None:
    plain, fitted = book.figure("figure-2").html, book.figure("figure-2", curves={HOSTILE: Line()}).html
    assert "fitted curve with its 95 % interval" in fitted and "fitted curve with its 95 % interval" not in plain
    with pytest.raises(StudyError, match="no curve can be drawn for 'System Z'"):
        book.figure("figure-2", curves={"System Z": Line()})
    with pytest.raises(StudyError, match="no curve"):
        book.figure("figure-3", curves={"System A": Line()})


def test_before_any_stage_the_figure_says_so(bare_book: Book) -> None:
    shown = bare_book.figure("figure-2")
    assert "no data yet" in shown.html and "no values yet" in shown.html
    assert "Not there yet" in bare_book.summary().html


def test_unknown_names_are_refused_with_the_known_ones(book: Book, toy_data: Path) -> None:
    with pytest.raises(StudyError, match="one of table-1, figure-1"):
        book.figure("figure-99")
    with pytest.raises(StudyError, match="has no series"):
        book.figure("table-1")
    with pytest.raises(VirtperfError, match="expected one of toy"):
        Book("other", toy_data)


def test_runs_behind_a_figure_are_in_its_unit(book: Book) -> None:
    runs = book.observations("figure-2", "measured")
    assert list(runs["value"]) == [98, 100, 102, 150, 152, 154]  # relative, not the raw values that are thrice as large
    assert set(runs["x"]) == {4, 8}
    assert list(book.values("figure-2", HOSTILE, 8, "measured")) == [150, 152, 154]


def test_levels_of_files_match_however_they_are_written(book: Book) -> None:
    exhibit = book.study.exhibit("figure-2")
    data = SimpleNamespace(
        **{f: getattr(book._data, f) for f in ("study", "claims", "claim_results", "points", "observations")}
    )
    data.points = data.points.assign(x=[f"{x}.0" if x.isdigit() else x for x in data.points["x"]])
    points = load_points(data, exhibit, {}, {}, examples=False, assumptions=True)  # type: ignore[arg-type]
    assert all(p.known for p in points)
