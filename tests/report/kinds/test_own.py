"""A reader's own figure becomes an exhibit with its numbers, and says what it rests on."""

import pandas as pd
import pytest
from matplotlib import pyplot as plt

from virtperf.core.provenance import Provenance, ProvenanceError
from virtperf.report.loaded import load_study

FRAME = pd.DataFrame(
    {"guests": [1, 2, 4], "tps": [10.0, 19.5, 30.25], "provenance": "own data", "file": "load.csv"}
)


@pytest.fixture
def figure():
    figure, axes = plt.subplots()
    axes.plot(FRAME["guests"], FRAME["tps"], label="mine")
    axes.set_title("Measured at home")
    return figure


def test_the_picture_and_its_numbers_are_kept(root, figure):
    study = load_study("zvm-xen-2009", root / "data")
    shown = study.own(figure, FRAME, title="My own runs", note="Three loads, one run each.")
    assert "Measured at home" in shown.record.drawing.svg
    assert shown.record.numbers[0].frame()["tps"].tolist() == [10.0, 19.5, 30.25]
    assert shown.record.provenance == (Provenance.OWN_DATA,)
    assert (
        figure.number not in plt.get_fignums()
    )  # the inline backend does not draw it a second time


def test_a_frame_that_does_not_say_what_it_rests_on_is_refused(root, figure):
    study = load_study("zvm-xen-2009", root / "data")
    with pytest.raises(ProvenanceError, match="provenance"):
        study.own(figure, FRAME.drop(columns="provenance"), title="Mine")
    with pytest.raises(ProvenanceError, match="it names no run"):
        study.own(figure, FRAME.assign(provenance="measured"), title="Mine")
