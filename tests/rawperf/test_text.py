"""Numbers in texts of any length."""

from __future__ import annotations

import numpy as np
import pytest

from rawperf import all_formats
from rawperf.core.errors import FormatError
from rawperf.text import MAX_PYTHON_NUMBERS, parse_numbers
from tests.cases import each_case
from tests.rawperf.seeds import SEEDS
from tests.rawperf.trial import read_whole

NUL = "line 3: a NUL character; expected text"


@each_case("name", ["vmstat", "sar", "xentop", "netstat", "fio", "wrk", "iostat", "jmeter-csv"])
def test_nul_characters_are_an_error_with_their_line(name: str) -> None:
    """A text with them has lost data, often in a crash: lines without a match would be skipped."""
    lines = SEEDS[name][0].split(b"\n")
    lines[2] += b"\0" * 9
    with pytest.raises(FormatError) as caught:
        read_whole(all_formats()[name], b"\n".join(lines), file="f")
    assert NUL in str(caught.value)


@each_case("others", [0, MAX_PYTHON_NUMBERS])
@each_case("end", ["x", ".x", "e", "."])
def test_long_digit_text_is_no_number(others, end):
    values, bad = parse_numbers([*["1"] * others, "9" * 20_000 + end])
    assert bad == others and not np.isfinite(values[others])


@each_case("others", [0, MAX_PYTHON_NUMBERS])
@each_case("text", ["1", "-1.", "+.5", "2.5e-3", "1E3"])
def test_number_formats_of_tools(others, text):
    values, bad = parse_numbers([*["1"] * others, text])
    assert bad == -1 and values[others] == float(text)


@each_case("others", [0, MAX_PYTHON_NUMBERS])
@each_case("text", [".", "1..2", "1_0", "0x1", "", " 1", "1e", "nan", "inf", "1e999", "١"])
def test_invalid_numbers(others, text):
    _, bad = parse_numbers([*["1"] * others, text])
    assert bad == others
