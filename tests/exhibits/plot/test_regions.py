"""Joint regions of intercept and slope."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tests.exhibits.plot.drawn import legend, words
from virtperf.exhibits import plot


def test_outline_estimate_and_printed_pair_stand_where_they_should() -> None:
    turn = np.linspace(0, 2 * np.pi, 50)
    rings = pd.concat(
        pd.DataFrame({"line": name, "intercept": k + np.cos(turn), "slope": 10 * k + 2 * np.sin(turn)})
        for k, name in enumerate(("fill", "save"), 1)
    )
    figure = plot.regions(
        rings, centres={"fill": (1.0, 10.0), "save": (2.0, 20.0)}, published={"save": (2.5, 21.0)},
        axes=("Start, s", "Slope, s/GB"), level=0.9,
    )  # fmt: skip
    for k, axes in enumerate(figure.axes, 1):
        outline, estimate, *printed = axes.lines
        assert len(outline.get_xydata()) == 50 and estimate.get_xydata().tolist() == [[k, 10 * k]]
        assert [line.get_xydata().tolist() for line in printed] == ([[[2.5, 21.0]]] if k == 2 else [])
    assert [words(axes) for axes in figure.axes] == ["fill: Slope, s/GB", "save: Slope, s/GB"]
    assert figure.axes[-1].get_xlabel() == "Start, s"
    assert [t.replace("\n", " ") for t in legend(figure.axes[0])] == [
        "joint 90 % region and estimate", "pair printed in the paper",
    ]  # fmt: skip
