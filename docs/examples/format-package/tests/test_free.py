"""free: columns by name, samples, damage."""

from __future__ import annotations

from contextlib import suppress
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from virtperf_free import FORMAT

from rawperf import all_formats, sniff
from rawperf.base import ParsedFile
from rawperf.core.errors import FormatError
from virtperf.cli import main

PLACE = Path(__file__).parent.parent
SAMPLE = (PLACE / "sample.txt").read_text()
HEAD, MEM, SWAP = SAMPLE.splitlines(keepends=True)[:3]


def get(reading: ParsedFile, entity: str, field: str) -> list[float]:
    r = reading.records
    return r.loc[(r["entity"] == entity) & (r["field"] == field), "value"].tolist()


def test_each_heading_begins_a_sample():
    reading = FORMAT.read(SAMPLE.encode())
    assert get(reading, "Mem", "free") == [4812340, 4601220, 4112008]
    assert get(reading, "Swap", "used") == [0, 10240, 40960]
    assert get(reading, "Swap", "cache") == []  # the row ends before that column
    assert (reading.clock, sorted(set(reading.records["t"]))) == ("sample", [0, 1, 2])
    assert sorted(set(reading.lines)) == [2, 3, 6, 7, 10, 11]


def test_columns_are_found_by_name():
    old = "             total       used       free     shared    buffers     cached\nMem: 5 4 1 0 0 2\n"
    assert get(FORMAT.read(old.encode()), "Mem", "cached") == [2]


def test_truncated_last_line_is_omitted():
    reading = FORMAT.read((HEAD + MEM + SWAP[:30]).encode(), file="f.txt")
    assert set(reading.records["entity"]) == {"Mem"}
    assert reading.warnings == ("f.txt line 3: the file is truncated; this line was left out",)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (HEAD + MEM.replace("8152340", "7.8Gi") + SWAP, 2, "a damaged row"),
        (HEAD + MEM + SWAP.replace("2097148\n", "2097148 1 2 3 4 5\n"), 3, "a damaged row"),
        (MEM, 1, "not a row of free"),
        (HEAD + MEM + MEM, 3, "not a row of free"),
        (HEAD + MEM + HEAD.replace("cache", "cached") + MEM, 3, "a heading that differs"),
        ("", None, "no row"),
    ],
)
def test_damage_is_refused_with_its_line(text, line, problem):
    with pytest.raises(FormatError) as caught:
        FORMAT.read(text.encode(), file="f.txt")
    assert (caught.value.file, caught.value.line) == ("f.txt", line)
    assert problem in caught.value.problem


def test_virtperf_finds_and_recognises_the_format():
    assert all_formats()["free"] is FORMAT
    assert sniff(SAMPLE.encode()) is FORMAT


@given(st.binary(max_size=300))
def test_any_bytes_give_a_reading_or_a_format_error(data):
    for prefix in (b"", (HEAD + MEM).encode()):
        with suppress(FormatError):
            FORMAT.read(prefix + data)


def test_values_have_the_units_of_the_metrics():
    command = [
        "read",
        str(PLACE / "sample.txt"),
        "--metrics",
        str(PLACE / "metrics.yaml"),
        "-o",
        "-",
    ]
    rows = pd.read_csv(StringIO(CliRunner().invoke(main, command).stdout))
    swapped = rows[rows["metric"] == "swap_used"]
    assert swapped[["metric_value", "line"]].values.tolist() == [
        [0, 3],
        [10240 * 1024, 7],
        [40960 * 1024, 11],
    ]
    assert set(swapped["metric_unit"]) == {"B"}
