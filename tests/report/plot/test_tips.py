"""Tooltips: one per point, at its drawn position."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pandas as pd
from matplotlib.figure import Figure

from tests.cases import each_case
from virtperf.report import plot
from virtperf.report.plot.svg import tip_rectangles

SVG = "{http://www.w3.org/2000/svg}"
POINTS = pd.DataFrame(
    {
        "guests": [2, 4, 2, 4],
        "system": ["a", "a", "<b>", "<b>"],
        "low": [10.0, 20.0, 5.0, 1.0],
        "high": [12.0, 22.0, 6.0, float("inf")],
        "printed": [11.0, None, None, None],
    }
)


def drawn(figure: object) -> list[tuple[str, dict[str, str]]]:
    root = ElementTree.fromstring(plot.svg(figure, "here"))
    (group,) = (g for g in root.iter(f"{SVG}g") if g.get("class") == "vp-tips")
    return [(str(r.findtext(f"{SVG}title")), r.attrib) for r in group.iter(f"{SVG}rect")]


@each_case("draw", [plot.lines, plot.bars])
def test_every_point_has_a_tooltip(draw) -> None:
    texts = [text for text, _ in drawn(draw(POINTS, x="guests", hue="system"))]
    assert texts == [
        "a, 2: allowed 10 to 12; printed 11",
        "a, 4: allowed 20 to 22",
        "<b>, 2: allowed 5 to 6",
        "<b>, 4: allowed 1 or more",
    ]


def test_tooltips_are_at_the_drawn_points() -> None:
    own = pd.DataFrame({"guests": [2, 4, 8], "value": [10.0, 20.0, 30.0]})
    figure = plot.lines(means=own, x="guests")
    found = drawn(figure)
    marks = re.findall(
        r'<use xlink:href="#here_\d+" x="([\d.]+)" y="([\d.]+)"', plot.svg(figure, "here")
    )
    places = {round(float(x)) for x, _ in marks}
    for _, rect in found:
        left, width = float(rect["x"]), float(rect["width"])
        assert any(abs(left + width / 2 - x) < 1 for x in places)
    assert [text for text, _ in found] == ["2: 10", "4: 20", "8: 30"]


def test_figure_without_points_has_no_tooltips() -> None:
    assert list(tip_rectangles(Figure())) == []


def test_tooltips_show_both_kinds_of_ranges() -> None:
    both = POINTS.assign(low_text=1.0, high_text=30.0)
    assert drawn(plot.bars(both, x="guests", hue="system"))[0][0] == (
        "a, 2: the text allows 1 to 30; with our assumptions 10 to 12; printed 11"
    )
