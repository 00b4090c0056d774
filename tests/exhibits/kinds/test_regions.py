"""Joint regions of straight lines as a record."""

from __future__ import annotations

import pytest

from tests.exhibits.toy import HOSTILE
from virtperf.core.provenance import ProvenanceError
from virtperf.exhibits.loaded import LoadedStudy
from virtperf.models import frames as models
from virtperf.models import linear

AXES = ("Start, %", "Slope, % per guest")


def test_the_printed_pair_is_inside_or_outside(measured: LoadedStudy) -> None:
    loaded, runs = measured, measured.runs("figure-2")
    fits = models.line("value ~ guests", runs, by="series")
    intercept, slope = fits[HOSTILE].params
    inside = loaded.regions(fits, {HOSTILE: (intercept, slope)}, title="Lines", axes=AXES).record
    assert "is inside." in inside.caption and inside.provenance == ("measured",)
    outside = loaded.regions(fits, {HOSTILE: (intercept, slope + 30)}, title="Lines", axes=AXES).record
    assert "is outside." in outside.caption and outside.drawing is not None
    rings, lines = (n.frame() for n in outside.numbers)
    assert len(rings) > 50 and lines["printed_slope"].tolist() == [pytest.approx(slope + 30, rel=1e-5)]


def test_a_missing_fit_says_why(loaded: LoadedStudy) -> None:
    runs = loaded.runs("figure-2")
    fits = models.line("value ~ guests", runs[runs["provenance"] == "example"], by="series")
    record = loaded.regions(fits, {}, title="Lines", axes=AXES).record
    assert record.drawing is None and fits[HOSTILE].reason in record.caption


def test_a_line_without_origin_is_refused(loaded: LoadedStudy) -> None:
    line = linear.fit_line([1, 2, 3, 4], [1.0, 2.1, 2.9, 4.2])
    with pytest.raises(ProvenanceError, match="does not say what it was computed from"):
        loaded.regions({"mine": line}, {}, title="Lines", axes=AXES)
