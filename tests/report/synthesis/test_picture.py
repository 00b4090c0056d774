"""Figures of the synthesis, checked by their drawn artists."""

from __future__ import annotations

import math

import pytest

from tests.report.plot.drawn import boxes, dots, legend, words
from virtperf.core.provenance import Provenance
from virtperf.report.synthesis.capacity import RATIOS, CurveValues
from virtperf.report.synthesis.definition import Curve
from virtperf.report.synthesis.picture import capacity
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
