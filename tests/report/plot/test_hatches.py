"""Hatching by small tiles looks like Matplotlib's."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import matplotlib.pyplot as plt
import pytest

from virtperf.report import plot
from virtperf.report.plot.svg import TILE, shorten

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("hatch", "lines"),
    [
        ("////", [f"M-1 {c + 1}L{c + 1} -1" for c in range(0, 2 * TILE + 1, 6)]),
        ("\\\\\\\\", [f"M-1 {c - 1}L{TILE + 1} {c + TILE + 1}" for c in range(-TILE, TILE + 1, 6)]),
        ("||||", [f"M{x}.5 0V{TILE}" for x in range(1, TILE, 3)]),
        ("----", [f"M0 {y}.5H{TILE}" for y in range(1, TILE, 3)]),
    ],
)
def test_a_tile_holds_the_lines_that_cross_it(hatch: str, lines: list[str]) -> None:
    with plot.theme():
        figure, axes = plt.subplots()
        axes.bar([0], [1], hatch=hatch)
    root = ET.fromstring(plot.svg(figure, "p"))
    (pattern,) = root.iter(f"{SVG}pattern")
    (path,) = pattern.iter(f"{SVG}path")
    assert (pattern.get("width"), pattern.get("height"), path.get("d")) == (
        str(TILE),
        str(TILE),
        "".join(lines),
    )


@pytest.mark.parametrize(
    "shape",
    [
        "M0 0L72 36M0 6L72 42",
        "M0 0V72M5 0V72",
        "M0 0L72 72M0 3L72 75M0 9L72 81",
        "M0 0C1 1 2 2 3 3",
    ],
)
def test_any_other_pattern_stays_as_it_is(shape: str) -> None:
    written = f'<pattern width="72" height="72"><rect width="73" height="73"/><path d="{shape}"/></pattern>'
    pattern = ET.fromstring(written)
    shorten(pattern)
    assert ET.tostring(pattern) == ET.tostring(ET.fromstring(written))
