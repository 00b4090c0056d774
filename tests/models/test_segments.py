"""Arithmetic of page ranges, with ranges from a published study."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rawperf.core.errors import RawperfError
from tests.cases import each_case
from virtperf.models.segments import PageRange, address_table, merged_range, overlaps

ranges = st.tuples(st.integers(0, 2**40), st.integers(1, 2**24)).map(
    lambda p: PageRange(p[0], p[0] + p[1] - 1)
)


@each_case(
    ("text", "mib", "segments"),
    [
        ("20000-5FFFF", 1024, 1),
        ("20000-9FEFF", 2047, 1),
        ("20000-11FDFF", 4094, 2),
        ("22FC00-4AF6FF", 10235, 5),
    ],
)
def test_sizes_from_page_numbers(text, mib, segments):
    pages = PageRange.parse(text)
    assert pages.mib == mib and pages.pages == 256 * mib and pages.on_mib_boundaries
    assert address_table([("DCSS", pages, mib)])["segments"].tolist() == [segments]


def test_position_of_a_range():
    assert str(PageRange.parse("20000-5ffff")) == "20000-5FFFF"
    assert not PageRange(1, 256).on_mib_boundaries


@given(ranges)
def test_text_round_trip(pages):
    assert PageRange.parse(str(pages)) == pages


@each_case(
    "text",
    ["", "20000", "5FFFF-20000", "0x20000-5FFFF", "20000-5FFFG", "1-2-3", "20000-" + "F" * 14],
)
def test_invalid_range_is_rejected(text):
    with pytest.raises(RawperfError):
        PageRange.parse(text)


def test_gaps_and_overlaps_are_reported():
    a, b, c = PageRange(0, 9), PageRange(10, 19), PageRange(15, 30)
    assert overlaps([("a", a), ("b", b), ("c", c)]) == [("b", "c")]
    with pytest.raises(RawperfError, match="A-13 and F-1E overlap"):
        merged_range([a, b, c])
    with pytest.raises(RawperfError, match="are not adjacent"):
        merged_range([a, PageRange(11, 12)])
    with pytest.raises(RawperfError, match="no ranges"):
        merged_range([])


def test_stated_and_actual_sizes_are_compared():
    table = address_table([("DCSS2G", PageRange.parse("20000-9FEFF"), 2048.0)])
    assert table.to_dict("records") == [
        {
            "name": "DCSS2G",
            "first": "20000",
            "last": "9FEFF",
            "pages": 524032,
            "mib": 2047.0,
            "stated_mib": 2048.0,
            "short_mib": 1.0,
            "segments": 1,
            "boundaries": True,
        }
    ]
