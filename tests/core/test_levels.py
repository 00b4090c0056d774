"""Factor levels keep their type in a round trip."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from virtperf.core.levels import level_text, parse_level


@each_case(
    ("text", "level"),
    [
        ("12", 12),
        ("12.5", 12.5),
        ("zvm", "zvm"),
        (" any ", "any"),
        ("-3", -3),
        ("1e3", 1000.0),
        ('"4.17"', "4.17"),
        ("nan", "nan"),
        ("inf", "inf"),
        ("1_000", "1_000"),
        ("4.17.2", "4.17.2"),
        ('"', '"'),
        ('"a', '"a'),
    ],
)
def test_levels_are_parsed_from_text(text, level):
    found = parse_level(text)
    assert (found, type(found)) == (level, type(level))


@given(
    st.one_of(
        st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text().map(str.strip)
    )
)
def test_level_round_trip_keeps_type(level):
    found = parse_level(level_text(level))
    assert found == level and type(found) is type(level)


def test_numpy_scalars_become_plain_numbers():
    assert (level_text(np.int64(12)), level_text(np.float64(12.5))) == ("12", "12.5")
