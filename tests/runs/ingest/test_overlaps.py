"""Overlapping series in several files of a run are rejected, consecutive ones are joined."""

from __future__ import annotations

import numpy as np
import pytest

from rawperf.core.errors import FormatError
from rawperf.core.sample_rows import SampleRows, build_samples, sort_samples
from tests.cases import each_case
from virtperf.runs.ingest.samples import Overlaps

NAN = float("nan")


def checked(rows: SampleRows, *cuts: int) -> None:
    overlaps = Overlaps("r1", ["a.csv", "b.csv", "c.csv"], lambda _: ("loops", "driver", "", "m"))
    for part in np.split(sort_samples(rows, "series"), cuts):
        overlaps.check(part)


def samples(*found: tuple[int, float, float], series: int = 0) -> SampleRows:
    """Samples as file, time, value."""
    file, t, value = zip(*found, strict=True)
    return build_samples(
        len(found), series=series, file=file, t=t, value=value, order=range(len(found))
    )


@each_case("cuts", [(), (1,), (2,), (1, 2, 3)])
def test_interleaved_files_are_rejected(cuts: tuple[int, ...]) -> None:
    rows = samples((0, 1, 10), (1, 1.5, 20), (0, 2, 11), (1, 2.5, 21))
    with pytest.raises(FormatError) as caught:
        checked(rows, *cuts)
    assert str(caught.value).startswith(
        "r1/b.csv: m of an unnamed driver overlaps in time with that in a.csv; both files have format loops"
    )
    assert "by folder (drivers/NAME.log" in str(caught.value)


@each_case("t", [3.0, NAN])
def test_two_values_at_one_time(t: float) -> None:
    with pytest.raises(FormatError, match="m of an unnamed driver overlaps in time"):
        checked(samples((0, t, 10), (1, t, 20)))
    checked(samples((0, t, 10), (0, t, 20)))  # within one file: kept once, with a warning


def test_consecutive_files_and_copies_are_one_series() -> None:
    one, two = [(0, t, 10 + t) for t in range(4)], [(1, t, 10 + t) for t in range(4, 8)]
    checked(samples(*one, *two))
    checked(samples(*one, *((1, t, value) for _, t, value in one)))  # a copy
    checked(samples(*one, *((1, t, value) for _, t, value in one[:2]), *((1, 5, 9.0),)))
    with pytest.raises(FormatError):
        checked(samples(*one, (1, 2, 99)))


def test_different_series_may_overlap() -> None:
    rows = np.concatenate(
        [samples((0, 1, 10), (0, 2, 11)), samples((1, 1.5, 20), (1, 2.5, 21), series=1)]
    )
    checked(rows)
    checked(rows, 1, 2, 3)
