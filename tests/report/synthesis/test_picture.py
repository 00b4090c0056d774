"""Figures of the synthesis, checked by their drawn artists."""

from __future__ import annotations

import math

import pytest
from matplotlib.axes import Axes

from tests.report.plot.drawn import boxes, dots, legend, words
from virtperf.core.provenance import Provenance
from virtperf.report.synthesis.capacity import RATIOS, CurveValues
from virtperf.report.synthesis.definition import Curve, QuantityRow
from virtperf.report.synthesis.picture import capacity, ratios_figure
from virtperf.report.synthesis.values import REFERENCE, Value


def course(study: str, label: str, *points: tuple[float, str, float, float]) -> CurveValues:
    curve = Curve(
        study=study,
        label=label,
        derived="d",
        of="memory",
        measure="throughput",
        against="8 GB",
        over=1,
        reference=1,
    )
    return CurveValues(
        curve,
        f"{study.capitalize()} 1, 2026",
        "throughput",
        tuple(
            (ratio, (value(study, label, kind, low, high),)) for ratio, kind, low, high in points
        ),
    )


def value(study: str, label: str, kind: str, low: float, high: float) -> Value:
    measured = kind == "measured"
    made = Provenance.MEASURED if measured else Provenance.RECONSTRUCTED
    return Value(
        study,
        label,
        "d",
        kind,
        "",
        ((low, high),),
        made,
        "",
        (low + high) / 2 if measured else math.nan,
    )


@pytest.fixture
def found() -> list[CurveValues]:
    """Three studies: ranges (one unbounded above), means, only the reference."""
    return [
        course(
            "paper",
            "A",
            (1, REFERENCE, 1, 1),
            (1.5, "allows", 0.6, 0.8),
            (2, "allows", 0.01, math.inf),
        ),
        course("paper", "B", (1.5, "allows", 0.9, 1.45)),
        course("own", "A", (1, REFERENCE, 1, 1), (1.25, "measured", 0.7, 0.8)),
        course("none", "C", (1, REFERENCE, 1, 1)),
    ]


def test_every_study_has_a_panel_with_its_reference(found: list[CurveValues]) -> None:
    figure = capacity(found, "memory", "throughput", 0.9)
    assert figure is not None
    paper, own = figure.axes
    assert (
        words(paper) == "Paper 1, 2026: throughput relative to 8 GB"
        and own.get_xlabel() == RATIOS["memory"]
    )
    assert boxes(paper, "text") == [
        (1, 1, 1),
        (1.5, 0.6, pytest.approx(0.8)),
        (1.5, 0.9, 1.45),
        (2, 0.01, paper.get_ylim()[1]),
    ]
    assert boxes(own, "text") == [(1, 1, 1)] and dots(own) == [(1.25, pytest.approx(0.75))]
    legends = [[text.get_text() for text in axes.get_legend().get_texts()] for axes in (paper, own)]
    assert legends == [["A", "B"], ["A"]] and "measured, 90 % interval" in legend(own)


def test_texts_and_arrows_stay_within_the_figure(
    found: list[CurveValues],
) -> None:
    figure = capacity(found, "memory", "throughput", 0.9)
    assert figure is not None
    figure.canvas.draw()
    (width, height), drawn = figure.get_size_inches(), figure.get_tightbbox()
    assert drawn.x0 > 0 and drawn.x1 < width and drawn.y0 > 0 and drawn.y1 < height
    arrows = [
        line.get_ydata() for axes in figure.axes for line in axes.lines if line.get_marker() == 6
    ]
    assert [list(y) for y in arrows] == [[figure.axes[0].get_ylim()[1]]]


def test_no_figure_without_curves(found: list[CurveValues]) -> None:
    assert capacity(found, "cpu", "throughput", 0.9) is None
    assert capacity(found[-1:], "memory", "throughput", 0.9) is None


def test_vertical_lines_of_the_joint_figure_stay_clear_of_the_names() -> None:
    cell = {"study": "paper", "label": "A", "derived": "d"}
    row = QuantityRow.model_validate({"id": "r", "says": "A quantity", "cells": [cell]})
    values = [value("paper", "A", "allows", 0.4, 3.0), value("own", "B", "measured", 0.9, 1.1)]
    figure = ratios_figure({"r": row}, {"r": values})
    figure.canvas.draw()
    (axes,) = figure.axes
    names = [text.get_window_extent() for text in axes.texts]
    (at_one,) = (
        line for line in axes.lines if len(line.get_xdata()) > 2 and set(line.get_xdata()) == {1}
    )
    pieces = axes.transData.transform(
        [(x, y) for x, y in zip(*at_one.get_data(), strict=True) if math.isfinite(y)]
    ).reshape(-1, 2, 2)
    assert len(names) == 3 and len(pieces) == 2
    for piece in pieces:
        low, high = sorted(piece[:, 1])
        assert not any(name.y0 < high and low < name.y1 for name in names)


def test_curves_of_a_panel_do_not_reach_the_next_ratio() -> None:
    near = [
        course(
            "paper",
            label,
            (1, "allows", 0.9, 1.1),
            (1.05, "allows", 0.9, 1.1),
            (3, "allows", 1, 1.1),
        )
        for label in "ABCDE"
    ]
    figure = capacity(near, "memory", "throughput", 0.9)
    assert figure is not None
    figure.canvas.draw()
    (axes,) = figure.axes[:1]
    boxes_drawn = [
        bar.get_window_extent() for c in axes.containers if c.get_label() == "text" for bar in c
    ]
    first, second = (
        [box for box in boxes_drawn if lies(axes, box.x0 + box.width / 2, ratio)]
        for ratio in (1, 1.05)
    )
    assert len(first) == len(second) == 5
    assert max(box.x1 for box in first) <= min(box.x0 for box in second)


def lies(axes: Axes, pixels: float, ratio: float) -> bool:
    """Whether a place is nearer to that ratio than half of the distance of the tested ratios."""
    x = float(axes.transData.inverted().transform((pixels, 0))[0])
    return abs(x - ratio) < 0.025
