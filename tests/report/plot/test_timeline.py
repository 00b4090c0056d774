"""Figures over time."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rawperf.core.errors import RawperfError
from tests.report.plot.drawn import legend, lines, words
from virtperf.report import plot
from virtperf.report.frames import timeline
from virtperf.report.loaded import LoadedStudy


def test_every_unit_has_a_panel_and_every_sample_a_point(loaded: LoadedStudy) -> None:
    frame = timeline(loaded.data, "figure-5")
    figure = plot.timeline(frame)
    assert len(figure.axes) == 2
    for axes, (unit, part) in zip(figure.axes, frame.groupby("unit", sort=False), strict=True):
        assert lines(axes)[0] == list(zip(part["t_s"], part["value"], strict=True))
        assert words(axes) == f"{part['series'].iloc[0]}, {unit}"
    assert figure.axes[-1].get_xlabel() == "Time since the start, min:s"
    assert figure.axes[-1].xaxis.get_major_formatter()(200, 0) == "3:20"
    assert np.diff(figure.axes[-1].get_xticks()).tolist() == pytest.approx(
        [60] * (len(figure.axes[-1].get_xticks()) - 1)
    )


def test_range_of_the_text_spans_the_time_axis(loaded: LoadedStudy) -> None:
    points = pd.DataFrame({"low": [90.0], "high": [110.0]})
    (above, _) = plot.timeline(timeline(loaded.data, "figure-5"), points=points).axes
    (band,) = above.collections
    (corners,) = [path.vertices for path in band.get_paths()]
    assert (corners[:, 1].min(), corners[:, 1].max()) == (90, 110) and corners[:, 0].max() == 300
    assert "range" in legend(above)


def test_user_series(own: pd.DataFrame) -> None:
    (axes,) = plot.timeline(
        own, x="users", y="tps", hue=None, row=None, ylabel="Throughput, 1/s"
    ).axes
    assert words(axes) == "Throughput, 1/s" and legend(axes) == []
    with pytest.raises(RawperfError, match=r"no column 'tsp'.*'tps'"):
        plot.timeline(own, x="users", y="tsp")
