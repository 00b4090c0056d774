"""Line figures, checked by their drawn artists."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from matplotlib import rcParams
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from rawperf.core.errors import RawperfError
from tests.cases import each_case
from tests.report.plot.drawn import across, boxes, brackets, dots, legend, lines, words
from tests.report.toy import DOLLARS, HOSTILE
from virtperf import models
from virtperf.report import plot
from virtperf.report.axis_words import colours
from virtperf.report.loaded import LoadedStudy
from virtperf.report.palette import GREY, GREYS, SERIES_COLOURS, SURFACE
from virtperf.report.plot.curves import CURVE_STEPS
from virtperf.report.plot.theme import (
    FIGURE_WIDTH,
    NARROW_WIDTH,
    narrow_figures,
    series_style,
    series_styles,
)


def test_user_frame_is_drawn_with_its_columns(own: pd.DataFrame) -> None:
    (axes,) = plot.lines(runs=own, x="users", y="tps", hue="tool").axes
    assert dots(axes) == sorted(zip(own["users"].astype(float), own["tps"], strict=True))
    means = own.groupby(["tool", "users"])["tps"].mean()
    wanted = [[(float(u), means[tool, u]) for u in (1, 2, 4, 8)] for tool in ("wrk", "ab")]
    assert np.array(sorted(map(sorted, lines(axes)))) == pytest.approx(np.array(sorted(wanted)))
    assert [t.get_text() for t in axes.get_xticklabels()] == ["1", "2", "4", "8"]
    assert (axes.get_xlabel(), words(axes), legend(axes)) == ("users", "tps", ["wrk", "ab"])


def test_frame_of_x_and_y_has_no_legend(own: pd.DataFrame) -> None:
    (axes,) = plot.lines(
        runs=own, x="users", y="tps", xlabel="Users", ylabel="Throughput, 1/s"
    ).axes
    assert (axes.get_xlabel(), words(axes), legend(axes)) == ("Users", "Throughput, 1/s", [])


def test_returned_figure_can_be_modified(own: pd.DataFrame) -> None:
    figure = plot.lines(runs=own, x="users", y="tps", hue="tool")
    figure.axes[0].set_title("Mine")
    figure.axes[0].axhline(123.0)
    figure.canvas.draw()
    title = figure.axes[0].title.get_window_extent()
    assert not title.overlaps(figure.axes[0].child_axes[0].xaxis.label.get_window_extent())
    assert ">Mine<" in plot.svg(figure, "own")


def test_matplotlib_settings_are_unchanged(own: pd.DataFrame) -> None:
    before = dict(rcParams)
    plot.lines(runs=own, x="users", y="tps", hue="tool")
    assert dict(rcParams) == before


def test_ranges_are_drawn_at_their_values(loaded: LoadedStudy) -> None:
    points = loaded.points("figure-2")
    (axes,) = plot.lines(points, x="guests", hue="series").axes
    top = axes.get_ylim()[1]
    differ = points["low"].ne(points["low_text"]) | points["high"].ne(points["high_text"])
    for kind, low, high, part in (
        ("text", "low_text", "high_text", points[~differ]),
        ("given", "low", "high", points[differ]),
    ):
        assert boxes(axes, kind) == sorted(
            (g, a, pytest.approx(min(b, top)))
            for g, a, b in zip(part["guests"], part[low], part[high], strict=True)
        )
    arrows = [line.get_xydata().tolist() for line in axes.lines if line.get_marker() == 6]
    assert arrows == [[[2, top], [8, top]]]  # the two points of system b without upper limit
    words = {
        "range, our reading",
        "range, with our assumptions",
        "range wider than a factor of 2",
        "no upper limit",
    }
    assert set(legend(axes)) == {HOSTILE, DOLLARS, *words}
    assert dots(axes) == [] and lines(axes) == [
        [tuple(place) for place in arrows[0]]
    ]  # no marker for a range, no line between ranges


def test_pieces_of_a_range_are_drawn_separately(loaded: LoadedStudy) -> None:
    points = loaded.points("figure-2").query("guests == 8 and system == 'a'")
    points = points.assign(low=20.0, high=90.0, pieces=[[20.0, 30.0, 80.0, 90.0]])
    points = points.assign(low_text=20.0, high_text=90.0, pieces_text=points["pieces"])
    (axes,) = plot.lines(points, x="guests", hue="series").axes
    assert boxes(axes, "text") == [(8, 20, 30), (8, 80, 90)]
    assert boxes(axes, "given") == [] and "with our assumptions" not in legend(
        axes
    )  # no effect here


def test_user_ranges_need_only_two_columns() -> None:
    mine = pd.DataFrame({"users": [1, 2], "low": [3.0, 4.0], "high": [5.0, 8.0]})
    (axes,) = plot.lines(mine, x="users").axes
    assert boxes(axes, "given") == [(1, 3, 5), (2, 4, 8)] and legend(axes) == ["range"]


def test_short_range_is_a_box_even_if_it_begins_at_zero() -> None:
    mine = pd.DataFrame({"users": [1, 2], "low": [0.0, 90.0], "high": [5.0, 100.0]})
    (axes,) = plot.lines(mine, x="users").axes
    assert brackets(axes, "given") == [] and boxes(axes, "given") == [(1, 0, 5), (2, 90, 100)]


@each_case("draw", [plot.lines, plot.bars])
def test_range_over_a_factor_of_two_is_a_bracket(draw: Callable[..., Figure]) -> None:
    mine = pd.DataFrame(
        {"users": [1, 2, 4, 8], "low": [3.0, 4.0, 0.0, 5.0], "high": [5.0, 9.0, 0.0, math.inf]}
    )
    (axes,) = draw(mine, x="users").axes
    found = [part for _, part in brackets(axes, "given")]
    assert [(part[0, 1], part[3, 1], part[4, 1]) for part in found] == [
        (4, 9, 9),
        (5, axes.get_ylim()[1], pytest.approx(math.nan, nan_ok=True)),  # its head is the arrow
    ]
    assert len(boxes(axes, "given")) == 4 and set(legend(axes)) == {
        "range",
        "range wider than a factor of 2",
        "no upper limit",
    }


def test_range_beyond_the_axis_has_an_open_arrow(own: pd.DataFrame) -> None:
    mine = pd.DataFrame({"users": [1, 2], "low": [9.0, 0.0], "high": [10.0, 900.0]})
    (axes,) = plot.lines(mine, x="users").axes
    top = axes.get_ylim()[1]
    (arrow,) = [line for line in axes.lines if line.get_marker() == 6]
    assert top < 900 and arrow.get_xydata().tolist() == [[2, top]]
    assert arrow.get_markerfacecolor() == SURFACE.light and "no upper limit" not in legend(axes)


def test_marker_shows_the_provenance_of_a_mean(loaded: LoadedStudy) -> None:
    points, means = loaded.points("figure-2"), loaded.means("figure-2")
    (axes,) = plot.lines(points, x="guests", hue="series", means=means).axes
    assert dots(axes, filled=SERIES_COLOURS[0].light) == [
        (2, 75),
        (4, pytest.approx(100)),
        (8, pytest.approx(152)),
    ]
    assert {"measured, 95 % interval", "made-up example"} <= {
        t.replace("\n", " ") for t in legend(axes)
    }


def test_measured_marker_is_between_its_range_and_the_next(loaded: LoadedStudy) -> None:
    points, means = loaded.points("figure-2"), loaded.means("figure-2").query("guests == 8")
    (axes,) = plot.lines(points, x="guests", hue="series", means=means).axes
    axes.figure.canvas.draw()
    (mark,) = [c for c in axes.collections if isinstance(c, PathCollection)]
    ((x, _),) = mark.get_offset_transform().transform(mark.get_offsets())
    at_8 = [
        ends
        for ends in sorted([*across(axes, "text"), *across(axes, "given")])
        if abs(sum(ends) / 2 - axes.transData.transform((8, 0))[0]) < 40
    ]
    assert len(at_8) == 2 and at_8[0][1] < x < at_8[1][0]


def test_marks_of_several_series_stay_at_their_number() -> None:
    levels, names = (20, 40, 60), "abcdef"
    means = pd.DataFrame([{"x": x, "series": name, "value": 1.0} for x in levels for name in names])
    (axes,) = plot.lines(means=means, x="x", hue="series").axes
    axes.figure.canvas.draw()
    marks = [c for c in axes.collections if isinstance(c, PathCollection)]
    drawn = np.concatenate([m.get_offset_transform().transform(m.get_offsets()) for m in marks])
    numbers = axes.transData.inverted().transform(drawn)[:, 0]
    assert len(numbers) == len(levels) * len(names) == len(np.unique(np.round(numbers, 6)))
    assert np.abs(numbers[:, np.newaxis] - levels).min(axis=1).max() < 5


def test_marks_are_beside_each_other_only_where_they_overlap_and_stay_joined() -> None:
    rows = [(1, "a", 5.0), (2, "a", 5.0), (1, "b", 5.0), (2, "b", 50.0)]
    means = pd.DataFrame(rows, columns=["x", "series", "value"])
    (axes,) = plot.lines(means=means, x="x", hue="series").axes
    one, other = (np.array(line) for line in sorted(lines(axes)))
    assert one.tolist() == [[1, 5], [2, 5]] and other[1].tolist() == [2, 50]
    assert 1 < other[0, 0] < 1.2


def test_user_means_next_to_a_paper_are_not_labelled_measured(loaded: LoadedStudy) -> None:
    mine = pd.DataFrame({"guests": [4, 8], "series": HOSTILE, "value": [90.0, 140.0]})
    (axes,) = plot.lines(loaded.points("figure-2"), x="guests", hue="series", means=mine).axes
    assert "own data" in legend(axes) and not [
        text for text in legend(axes) if text.startswith("measured")
    ]
    assert (8.0, 140.0) in dots(axes, filled=SERIES_COLOURS[0].light)


def test_key_of_printed_numbers_has_the_shape_of_the_first_series_with_one() -> None:
    rows = [("a", 1, math.nan), ("b", 1, 2.0), ("c", 1, 3.0)]
    points = pd.DataFrame(rows, columns=["series", "x", "printed"]).assign(low=1.0, high=4.0)
    figure = plot.lines(points, x="x", hue="series")
    (drawn,) = figure.legends
    keys = {t.get_text(): h for t, h in zip(drawn.texts, drawn.legend_handles, strict=True)}
    assert keys["printed"].get_marker() == keys["b"].get_marker() != "o"


def test_printed_number_is_half_filled_and_has_no_box(loaded: LoadedStudy) -> None:
    points = loaded.points("figure-3")
    (axes,) = plot.lines(points, x="cipher", hue="series").axes
    assert "printed" in legend(axes)
    colour = SERIES_COLOURS[colours(loaded.study)["System A"]].light
    assert dots(axes, filled=colour) == [(1.0, 80.0)]  # its lower half
    assert 1.0 not in [x for kind in ("text", "given") for x, _, _ in boxes(axes, kind)]
    (axes,) = plot.lines(points.assign(printed=90.0), x="cipher", hue="series").axes
    assert (1.0, 79.5, 80.5) in boxes(axes, "text")  # a misprint is outside its range


def test_range_within_the_rounding_of_a_printed_number_has_no_box() -> None:
    points = pd.DataFrame({"x": [1, 2], "low": [24.25, 8.0], "high": [24.25, 9.0]})
    points = points.assign(printed=[24.5, 7.0], printed_half_width=[0.5, 0.5])
    (axes,) = plot.lines(points, x="x").axes
    assert boxes(axes, "given") == [(2.0, 8.0, 9.0)]
    assert (
        len(boxes(plot.lines(points.drop(columns="printed_half_width"), x="x").axes[0], "given"))
        == 2
    )


def test_key_of_ranges_has_the_colours_of_all_series() -> None:
    figures = (plot.lines(rows, x="x", hue="series") for rows in (NEAR_AND_FAR, NEAR_AND_FAR[:2]))
    of_both, of_one = (
        [to_hex(patch.get_edgecolor()) for patch in figure.legends[0].findobj(Rectangle)]
        for figure in figures
    )
    near, far = (colour.light for colour in SERIES_COLOURS[:2])
    assert of_one == [near] and of_both[-2:] == [near, far]


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(("half_width", "within"), [(0.05, True), (3.0, False)])
def test_key_of_an_interval_is_a_whisker_only_if_one_is_longer_than_its_mark(
    half_width: float, within: bool, log: bool, measured_means: Callable[..., pd.DataFrame]
) -> None:
    means = measured_means([100.0, 96.0, 4.0], half_width)
    (axes,) = plot.lines(means=means, x="x", hue="series", log=log).axes
    texts = {text.replace("\n", " ") for text in legend(axes)}
    assert ("a: measured, 95 % interval within the mark" in texts) is within


def test_key_says_that_intervals_of_bars_cannot_be_seen(
    measured_means: Callable[..., pd.DataFrame],
) -> None:
    (axes,) = plot.bars(means=measured_means([100.0, 96.0, 50.0], 0.1), x="x", hue="series").axes
    (text,) = legend(axes)
    assert text.replace("\n", " ") == "a: measured, 95 % interval too narrow to be seen"


@pytest.fixture
def measured_means() -> Callable[..., pd.DataFrame]:
    """Means of a study at three levels of x, each with an interval of this half width."""

    def made(values: list[float], half_width: float) -> pd.DataFrame:
        frame = pd.DataFrame({"x": [1, 2, 3], "series": "a", "value": values})
        frame["low"], frame["high"] = frame["value"] - half_width, frame["value"] + half_width
        return frame.assign(provenance="measured")

    return made


NEAR_AND_FAR = pd.DataFrame(
    {
        "series": ["a", "a", "b", "b"],
        "x": [1, 2, 1, 2],
        "low": [10, 20, 50, 60],
        "high": [12, 22, 55, 63],
    }
)


def test_series_that_end_apart_are_named_there() -> None:
    (axes,) = plot.lines(NEAR_AND_FAR, x="x", hue="series").axes
    assert [(note.get_text(), note.xy) for note in axes.texts] == [("a", (2, 21)), ("b", (2, 61.5))]
    assert not {"a", "b"} & set(legend(axes))
    near = NEAR_AND_FAR.assign(low=[10, 20, 50, 21], high=[12, 22, 55, 23])
    (axes,) = plot.lines(near, x="x", hue="series").axes
    assert not axes.texts and {"a", "b"} <= set(legend(axes))


def test_line_joins_printed_numbers_only_without_gaps(loaded: LoadedStudy) -> None:
    points = loaded.points("figure-4")
    every = points.assign(printed=points["low"])
    above, below = plot.lines(every, x="storage", hue="series").axes
    assert [[y for _, y in line] for line in lines(below)] == [sorted(points["low"][3:])]
    above, below = plot.lines(
        every.assign(printed=every["printed"].mask(every["storage"] == 11264)),
        x="storage",
        hue="series",
    ).axes
    assert lines(above) == lines(below) == []


def test_quantities_of_one_unit_share_a_panel_and_study_colours(
    loaded: LoadedStudy,
) -> None:
    points = loaded.points("figure-4")
    assert len(plot.lines(points, x="storage", hue="series").axes) == 2
    words_of = points.attrs["axes"]
    points.attrs["axes"] = words_of | {
        "panels": {"throughput": "both", "resident": "both"},
        "labels": words_of["labels"] | {"both": "Both, MiB"},
        "colours": {"Throughput": 3, "Resident memory": 1},
    }
    (axes,) = plot.lines(points, x="storage", hue="series").axes
    assert words(axes) == "Both, MiB" and len(boxes(axes, "text")) == len(points)
    colours = {to_hex(p.get_edgecolor()) for c in axes.containers for p in c}
    assert colours == {SERIES_COLOURS[3].light, SERIES_COLOURS[1].light}


def test_levels_keep_study_order_and_quantities_have_panels(loaded: LoadedStudy) -> None:
    figure = plot.lines(loaded.points("figure-4"), x="storage", hue="series")
    above, below = figure.axes
    left, right = above.get_xlim()
    assert left > 20480 > 10240 > right and below.get_xlim() == (left, right)
    assert [t.get_text() for t in below.get_xticklabels() if t.get_text()] == [
        "20,480",
        "10,240",
    ]
    label = words(above).replace("\n", " ")
    assert label == "Throughput, % of the value at 20,480 MB storage (axis from 96)"
    assert words(below) == "Resident memory, MiB (axis from 9,000)"
    assert below.get_xlabel() == "Storage, MB" and above.get_xlabel() == ""


def test_texts_of_files_are_not_interpreted(loaded: LoadedStudy) -> None:
    figure = plot.lines(loaded.points("figure-2"), x="guests", hue="series")
    svg = plot.svg(figure, "hostile")
    assert "<script" not in svg and "$host_1$ &amp;" in svg
    assert words(figure.axes[0]).split() == f"Throughput, % of {HOSTILE} at 4 guests".split()


def test_fits_of_both_libraries_are_drawn_alike(own: pd.DataFrame) -> None:
    theirs = {tool: smf.ols("tps ~ users", rows).fit() for tool, rows in own.groupby("tool")}
    ours = models.line("tps ~ users", own, by="tool")
    for fits in (theirs, ours):
        (axes,) = plot.lines(runs=own, x="users", y="tps", hue="tool", fits=fits, level=0.9).axes
        curves = {line.get_color(): line for line in axes.lines if line.get_label() == "curve"}
        slope = theirs["wrk"].params["users"]
        assert np.diff(curves[SERIES_COLOURS[0].light].get_ydata()) == pytest.approx(
            7 / (CURVE_STEPS - 1) * slope
        )
        low, high = (
            theirs["wrk"].get_prediction(pd.DataFrame({"users": [1]})).conf_int(alpha=0.1)[0]
        )
        limits = [
            line.get_ydata()[0] for line in axes.lines if _dotted(line, SERIES_COLOURS[0].light)
        ]
        assert sorted(limits) == pytest.approx([low, high])
        assert "fitted, dots: 90 % interval" in legend(axes)


def _dotted(line: Line2D, colour: str) -> bool:
    return line.get_color() == colour and line.get_linewidth() == 0.9


def test_missing_fit_draws_no_curve(own: pd.DataFrame) -> None:
    few = own[own["users"] == 1]
    fits = models.line("tps ~ users", few, by="tool")
    (axes,) = plot.lines(runs=own, x="users", y="tps", hue="tool", fits=fits).axes
    assert not [line for line in axes.lines if line.get_label() == "curve"]


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        ({"x": "user"}, "users"),
        ({"y": "tsp"}, "tps"),
        ({"hue": "tools"}, "tool"),
        ({"row": "toll"}, "tool"),
        ({"fits": {"wkr": object()}}, "wrk"),
    ],
)
def test_unknown_names_suggest_close_ones(
    own: pd.DataFrame, arguments: dict[str, Any], near: str
) -> None:
    with pytest.raises(RawperfError, match=f"did you mean '{near}'|Did you mean '{near}'"):
        plot.lines(**{"runs": own, "x": "users", "y": "tps", "hue": "tool"} | arguments)


def test_invalid_fit_is_rejected(own: pd.DataFrame) -> None:
    with pytest.raises(RawperfError, match="can't be drawn from a float"):
        plot.lines(runs=own, x="users", y="tps", fits=1.5)
    with pytest.raises(RawperfError, match="a model with a formula"):
        plot.lines(runs=own, x="users", y="tps", fits=sm.OLS(own["tps"], own["users"]).fit())
    with pytest.raises(RawperfError, match="levels that are not numbers"):
        plot.lines(runs=own, x="tool", y="tps", fits=smf.ols("tps ~ users", own).fit())
    with pytest.raises(RawperfError, match="no data to draw"):
        plot.lines(x="users")


def test_points_without_ranges_are_refused(own: pd.DataFrame) -> None:
    for draw in (plot.lines, plot.bars):
        with pytest.raises(RawperfError, match=r"no columns 'low' and 'high'.*Pass .* runs=frame"):
            draw(own, x="users", y="tps", hue="tool")
        with pytest.raises(RawperfError, match="points has no column 'high'"):
            draw(own.assign(low=1.0), x="users", y="tps", hue="tool")


def test_negative_values_are_on_the_axis(own: pd.DataFrame) -> None:
    (axes,) = plot.lines(runs=own.assign(tps=-own["tps"]), x="users", y="tps").axes
    assert axes.get_ylim()[0] <= -own["tps"].max()


def test_missing_values_are_skipped(own: pd.DataFrame) -> None:
    own.loc[own["users"] == 8, "tps"] = math.nan
    (axes,) = plot.lines(runs=own, x="users", y="tps", hue="tool").axes
    assert max(x for x, _ in dots(axes)) == 4


def test_logarithmic_axis_shows_positive_values(own: pd.DataFrame) -> None:
    own.loc[0, "tps"] = 0.0
    (axes,) = plot.lines(runs=own, x="users", y="tps", hue="tool", log=True).axes
    low, high = axes.get_ylim()
    above = own["tps"][own["tps"] > 0]
    assert axes.get_yscale() == "log" and 0 < low < above.min() and above.max() < high
    assert words(axes) == "tps (logarithmic axis)"


def test_many_series_are_distinct_by_colour_hatch_and_marker() -> None:
    looks = [series_style(position) for position in range(36)]
    assert len({(one.colour, one.hatch) for one in looks}) == 36
    assert len({(one.colour, one.marker) for one in looks}) == 36


def test_grey_series_have_shades_that_no_system_has() -> None:
    styles = series_styles("abc", {"a": GREY, "b": 1, "c": GREY})
    shades = [styles[name].colour for name in "ac"]
    assert shades == [colour.light for colour in GREYS[:2]]
    assert styles["b"].colour == SERIES_COLOURS[1].light
    assert styles["a"].marker != styles["c"].marker and styles["a"].hatch != styles["c"].hatch


def test_series_of_one_colour_differ_otherwise() -> None:
    first, second, other = series_styles(
        ["a, 10", "a, 100", "b"], {"a, 10": 2, "a, 100": 2, "b": 1}
    ).values()
    assert first.colour == second.colour != other.colour
    assert first.marker != second.marker and first.dash != second.dash
    assert first.hatch != second.hatch


@each_case(
    ("levels", "width"),
    [
        ((1, 2, 4), NARROW_WIDTH),
        ((1, 16, 32, 64), NARROW_WIDTH),
        (tuple(range(1, 13)), FIGURE_WIDTH),
    ],
)
def test_figure_is_narrow_where_its_marks_and_labels_have_room(
    levels: tuple[int, ...], width: int
) -> None:
    frame = pd.DataFrame({"guests": levels, "value": 1.0})
    assert 72 * plot.lines(runs=frame, x="guests").get_figwidth() == pytest.approx(width)
    with narrow_figures():
        narrow = plot.lines(runs=frame, x="guests")
    assert 72 * narrow.get_figwidth() == pytest.approx(NARROW_WIDTH)


def test_panels_name_their_own_series() -> None:
    rows = [
        {"panel": panel, "label": label, "x": x, "low_text": 0.9, "high_text": 1.1}
        for panel, labels, levels in (("near", "ABCDE", (1, 1.05, 3)), ("far", "F", (1, 3)))
        for label in labels
        for x in levels
    ]
    points = pd.DataFrame(rows)
    figure = plot.lines(points, x="x", hue="label", row="panel", legend="panel")
    near, far = figure.axes
    names = [[text.get_text() for text in axes.get_legend().get_texts()] for axes in (near, far)]
    assert names == [[*"ABCDE"], ["F"]] and legend(near) == ["range, our reading"]
    edges = {to_hex(bar.get_edgecolor()) for c in far.containers for bar in c}
    assert edges == {SERIES_COLOURS[0].light}  # colours begin anew in each panel
    figure.canvas.draw()
    drawn = [
        bar.get_window_extent() for c in near.containers if c.get_label() == "text" for bar in c
    ]
    # the first series is at its level, the others are to the right of it
    following = near.transData.transform((1.05, 1))[0] - 0.51 * drawn[0].width
    left = [box.x1 for box in drawn if box.x1 < following]
    right = [box.x0 for box in drawn if box.x0 > following]
    assert len(left) == 5 and len(right) == 10  # curves do not reach the next ratio


@each_case(("high", "shifted"), [(1.1, 0), (2.0, 1)])
def test_only_ranges_that_overlap_are_drawn_beside_each_other(high: float, shifted: int) -> None:
    rows = [("a", 1.0, high), ("b", 1.5, 2.5)]
    points = pd.DataFrame(
        [(s, x, low, end) for s, low, end in rows for x in (1, 2)],
        columns=["label", "x", "low", "high"],
    )
    figure = plot.lines(points, x="x", hue="label")
    figure.canvas.draw()
    (axes,) = figure.axes
    at = axes.transData.transform((1, 1))[0]
    middles = {
        round((b.x0 + b.x1) / 2 - at) for b in (c[0].get_window_extent() for c in axes.containers)
    }
    assert len(middles) == 1 + shifted and min(middles) == 0


def test_values_of_one_unit_are_joined() -> None:
    means = pd.DataFrame({"x": ["a", "b"], "value": [2.0, 1.0], "provenance": "measured"})
    machines = pd.DataFrame(
        {
            "x": ["a", "b", "a", "b"],
            "value": [2.5, 1.2, 1.5, 0.8],
            "machine": [1, 1, 2, 2],
            "provenance": "measured",
        }
    )
    figure = plot.lines(means=means, runs=machines, x="x", units="machine")
    assert len({to_rgb(line.get_color()) for line in figure.axes[0].lines}) == 1
    drawn = [list(line.get_ydata()) for line in figure.axes[0].lines]
    assert [2.5, 1.2] in drawn and [1.5, 0.8] in drawn and [2.0, 1.0] in drawn
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "one machine, measured" in texts
