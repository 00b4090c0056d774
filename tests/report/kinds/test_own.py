"""A user's figure becomes an exhibit with its numbers and provenance."""

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


def test_picture_and_numbers_are_kept(root, figure):
    study = load_study("zvm-xen-2009", root / "data")
    exhibit = study.own(figure, FRAME, title="My own runs", note="Three loads, one run each.")
    assert "Measured at home" in exhibit.record.drawing
    assert exhibit.record.numbers[0].frame()["tps"].tolist() == [10.0, 19.5, 30.25]
    assert exhibit.record.provenance == (Provenance.OWN_DATA,)
    assert figure.number not in plt.get_fignums()  # the inline backend does not draw it again


def test_frame_without_provenance_is_rejected(root, figure):
    study = load_study("zvm-xen-2009", root / "data")
    with pytest.raises(ProvenanceError, match="provenance"):
        study.own(figure, FRAME.drop(columns="provenance"), title="Mine")
    with pytest.raises(ProvenanceError, match="it names no run"):
        study.own(figure, FRAME.assign(provenance="measured"), title="Mine")
