"""`dvc plots` has values of every study: widths of a paper's ranges, means of a measured study with their intervals."""

from __future__ import annotations

import json
import subprocess
import sys

import pandas as pd

from virtperf.core.paths import Layout

MEASURED = "xen-2026"


def test_every_study_has_rows_of_its_kind(root):
    layout = Layout(root)
    for study in layout.studies():
        measured = layout.definition(study) == layout.measured(study)
        table = pd.read_csv(layout.key_numbers(study).with_suffix(".csv"))
        assert len(table) > 10
        assert {"mean", "low", "high"} <= {*table} if measured else {"half_width"} <= {*table}


def test_means_are_drawn_with_their_intervals(root):
    layout = Layout(root)
    path = layout.key_numbers(MEASURED).with_suffix(".csv").relative_to(root)
    command = [sys.executable, "-m", "dvc", "plots", "show", str(path), "--show-vega"]
    shown = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    figure = json.loads(shown.stdout)
    interval, mean = (layer["encoding"] for layer in figure["spec"]["layer"])
    assert (interval["x"]["field"], interval["x2"]["field"]) == ("low", "high")
    assert mean["x"]["field"] == "mean"
    means = json.loads(layout.key_numbers(MEASURED).read_text())["means"]
    assert len(figure["data"]["values"]) == sum(map(len, means.values()))
