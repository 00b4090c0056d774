"""SVG of figures: unique ids, reproducible bytes, text elements, scoped styles."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import matplotlib.pyplot as plt
import pytest

from virtperf.report import plot
from virtperf.report.loaded import LoadedStudy
from virtperf.report.plot.svg import shorten_path

SVG = "{http://www.w3.org/2000/svg}"


def draw(text: str, name: str = "p") -> str:
    with plot.theme():
        figure, axes = plt.subplots()
        axes.plot([0, 1], [0, 1], alpha=0.25)
        axes.set_title(text)
    return plot.svg(figure, name, title=text, description="it rises")


def test_equal_figures_give_equal_bytes(loaded: LoadedStudy) -> None:
    points = loaded.points("figure-2")
    once, again = (
        plot.svg(plot.lines(points, x="guests", hue="series"), "figure-2") for _ in range(2)
    )
    assert once == again
    figure = plot.lines(points, x="guests", hue="series")
    assert plot.svg(figure, "figure-2") == plot.svg(figure, "figure-2") == once


def test_text_is_kept_as_text_and_escaped() -> None:
    texts = [t.text for t in ET.fromstring(draw("$x_1$ <b>&amp;")).iter(f"{SVG}text")]
    assert "$x_1$ <b>&amp;" in texts


def test_css_rules_are_scoped_to_the_svg() -> None:
    drawn = draw("a")
    for word in ("<style", "<metadata", "DejaVu", "<!--", "<!DOCTYPE", "<?xml"):
        assert word not in drawn


def test_title_and_description_are_accessible() -> None:
    root = ET.fromstring(draw("a"))
    assert root.get("role") == "img"
    labels = [
        e.get("id") for e in (root.find(f"{SVG}title"), root.find(f"{SVG}desc")) if e is not None
    ]
    assert len(labels) == 2 and root.get("aria-labelledby", "").split() == labels


def test_ids_are_unique_and_references_resolve(loaded: LoadedStudy) -> None:
    one, two = (set(re.findall(r' id="([^"]+)"', draw("a", name))) for name in ("p", "q"))
    assert one and not one & two
    svg = plot.svg(plot.bars(loaded.points("figure-3"), x="cipher", hue="series"), "figure-3")
    ids = re.findall(r' id="([^"]+)"', svg)
    assert len(ids) == len(set(ids))
    used = set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', svg))
    assert used and {a or b for a, b in used} <= set(ids)


def test_standalone_file_has_a_background() -> None:
    figure, _ = plt.subplots()
    root = ET.fromstring(plot.svg(figure, "p", background="#ffffff"))
    first = root.find(f"{SVG}rect")
    assert first is not None and first.get("fill") == "#ffffff"


@pytest.mark.parametrize(
    ("exhibit", "width"),
    [("figure-2", "340"), ("figure-3", "340"), ("figure-4", "340"), ("figure-5", "540")],
)
def test_figures_are_as_wide_as_a_page_or_a_phone_and_small(
    loaded: LoadedStudy, exhibit: str, width: str
) -> None:
    drawing = loaded.show(exhibit).record.drawing
    root = ET.fromstring(drawing)
    assert root.get("width") == width and 250 <= int(root.get("height", "0")) <= 700
    assert len(drawing) < 60_000


def test_unrotated_labels_have_no_rotation() -> None:
    assert "rotate(" not in draw("a")


def test_empty_paths_are_removed() -> None:
    """Matplotlib writes empty paths."""
    with plot.theme():
        figure, axes = plt.subplots()
        axes.bar([0, 1, 2], [1, 2, 3], color="none", linewidth=0)
    paths = list(ET.fromstring(plot.svg(figure, "p")).iter(f"{SVG}path"))
    assert paths and all(path.get("d") for path in paths)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("M0 0L4 0L4 3L9 7z", "M0 0H4V3L9 7z"),
        ("M0 0L4 0L4 0L4 3", "M0 0H4V3"),
        ("M1 1L1 1", "M1 1H1"),  # a round cap draws a dot
        ("M0 0C1 1 2 2 3 3L3 3L3 5", "M0 0C1 1 2 2 3 3L3 3V5"),
        ("M0 0L0 2zL0 2", "M0 0V2zL0 2"),
    ],
)
def test_horizontal_and_vertical_lines_are_shortened(path: str, expected: str) -> None:
    assert shorten_path(path) == expected


def test_successive_paths_share_their_attributes() -> None:
    root = ET.fromstring(draw("a"))
    shared = [g for g in root.iter(f"{SVG}g") if g.get("style") and len(g) > 1]
    assert shared and not any(path.get("style") for g in shared for path in g)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    # tick labels of the vertical axis follow the grid lines that they stand between
    assert [text for text in texts if text == "0.4"] == ["0.4", "0.4"]
