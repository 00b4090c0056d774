"""Fewer bytes, the same drawing."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virtperf.exhibits.svg_compact import TOLERANCE_PX, compact, simplified

GRID = "fill:none;stroke:#888"


def test_what_neighbours_share_is_said_once() -> None:
    body = (
        f'<g><path d="M 0 1 L 9 1" clip-path="url(#c)" style="{GRID}"/></g><text style="fill:red" x="1" y="2">0 &lt; 1</text>'
        f'<g><path d="M 0 5 L 9 5" clip-path="url(#c)" style="{GRID}"/></g><text style="fill:red" x="1" y="6">b</text>'
        '<g><defs><path id="m" d="M 0 0 L 1 1"/></defs><g clip-path="url(#c)"><use href="#m" x="3" y="4"/></g></g>'
    )
    assert compact(body) == (
        '<defs><path id="m" d="M 0 0 L 1 1"/></defs>'
        f'<path d="M 0 1 L 9 1 M 0 5 L 9 5" clip-path="url(#c)" style="{GRID}"/>'
        '<g style="fill:red"><text x="1" y="2">0 &lt; 1</text><text x="1" y="6">b</text></g>'
        '<g clip-path="url(#c)"><use href="#m" x="3" y="4"/></g>'
    )


def test_what_is_painted_over_stays_behind() -> None:
    body = (
        '<path d="M 0 0 L 9 9" style="fill:none"/><text x="1" y="1">on it</text><path d="M 0 1 z" style="fill:blue"/>'
    )
    assert compact(body) == body


def test_filled_shapes_and_groups_with_an_opacity_are_not_merged() -> None:
    filled = '<path d="M 0 0 L 9 9 z" style="fill:red;fill-opacity:0.5"/>' * 2
    assert compact(filled).count("<path") == 2
    faint = '<path d="M 0 0 L 9 9 z" style="fill:red;opacity:0.5"/>' * 2
    assert compact(faint) == faint


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6000), st.integers(0, 6000)), min_size=3, max_size=60))
def test_a_line_keeps_its_place(points: list[tuple[int, int]]) -> None:
    d = "M " + " L ".join(f"{x / 10:g} {y / 10:g}" for x, y in points)
    kept = np.array(re.findall(r"[-\d.]+", simplified(d)), dtype=float).reshape(-1, 2)
    given_points = np.array(points) / 10
    assert (kept[[0, -1]] == given_points[[0, -1]]).all()
    for x, y in given_points:
        along = kept[1:] - kept[:-1]
        length = np.maximum((along**2).sum(axis=1), 1e-300)
        share = np.clip(((np.array([x, y]) - kept[:-1]) * along).sum(axis=1) / length, 0, 1)
        apart = np.hypot(*(np.array([x, y]) - kept[:-1] - share[:, None] * along).T)
        assert apart.min() <= TOLERANCE_PX + 1e-9


@pytest.mark.parametrize("d", ["M 0 0 L 1 1", "M 0 0 L 1 1 L 2 2 z", "M 0 0 C 1 1 2 2 3 3", "M 0 0 L 1 0 M 2 0 L 3 0"])
def test_other_paths_stay_as_they_are(d: str) -> None:
    assert simplified(d) == d


def test_a_straight_line_needs_its_ends_only() -> None:
    assert simplified("M 0 0 L 1 1 L 2 2 L 5 5") == "M 0 0 L 5 5"
