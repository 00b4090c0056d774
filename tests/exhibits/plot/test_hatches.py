"""Hatching by small tiles looks like Matplotlib's."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import matplotlib.pyplot as plt
import pytest

from virtperf.exhibits import plot
from virtperf.exhibits.plot.hatches import TILE, shorten

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("hatch", "shape"),
    [
        ("////", "M-1 1L1 -1M-1 7L7 -1M-1 13L13 -1M-1 19L19 -1M-1 25L25 -1"),
        ("\\\\\\\\", "M-1 -13L13 1M-1 -7L13 7M-1 -1L13 13M-1 5L13 19M-1 11L13 25"),
        ("||||", "M1.5 0V12M4.5 0V12M7.5 0V12M10.5 0V12"),
        ("----", "M0 1.5H12M0 4.5H12M0 7.5H12M0 10.5H12"),
    ],
)
def test_a_tile_holds_the_lines_that_cross_it(hatch: str, shape: str) -> None:
    with plot.theme():
        figure, axes = plt.subplots()
        axes.bar([0], [1], hatch=hatch)
    root = ET.fromstring(plot.svg(figure, "p"))
    (pattern,) = root.iter(f"{SVG}pattern")
    (path,) = pattern.iter(f"{SVG}path")
    assert (pattern.get("width"), pattern.get("height"), path.get("d")) == (str(TILE), str(TILE), shape)


@pytest.mark.parametrize(
    "shape", ["M0 0L72 36M0 6L72 42", "M0 0V72M5 0V72", "M0 0L72 72M0 3L72 75M0 9L72 81", "M0 0C1 1 2 2 3 3"]
)
def test_any_other_pattern_stays_as_it_is(shape: str) -> None:
    written = f'<pattern width="72" height="72"><rect width="73" height="73"/><path d="{shape}"/></pattern>'
    pattern = ET.fromstring(written)
    shorten(pattern)
    assert ET.tostring(pattern) == ET.tostring(ET.fromstring(written))
