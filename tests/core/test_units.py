import pytest
from hypothesis import given
from hypothesis import strategies as st

from virtperf.core.errors import VirtperfError
from virtperf.core.units import _KIND_AND_FACTOR, conversion_factor, rate_unit

UNITS = sorted(_KIND_AND_FACTOR)
KIND = {unit: kind for unit, (kind, _) in _KIND_AND_FACTOR.items()}


@given(st.sampled_from(UNITS), st.sampled_from(UNITS), st.sampled_from(UNITS))
def test_conversions_compose(a, b, c):
    if KIND[a] == KIND[b] == KIND[c]:
        assert conversion_factor(a, b) * conversion_factor(b, c) == pytest.approx(conversion_factor(a, c), rel=1e-14)


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_is_itself(unit):
    assert conversion_factor(unit, unit) == 1


@pytest.mark.parametrize(
    ("source", "target", "factor"),
    [
        ("%", "processors", 0.01),  # 100 % in z/VM and xentop is one processor
        ("%", "1", 0.01),
        ("pages", "B", 4096),
        ("KiB", "B", 1024),
        ("kB", "B", 1000),
        ("sectors/s", "B/s", 512),
        ("pages/s", "B/s", 4096),
        ("ms", "s", 0.001),
        ("s/s", "processors", 1),  # a second of processor time each second is one processor
    ],
)
def test_known_factors(source, target, factor):
    assert conversion_factor(source, target) == pytest.approx(factor, rel=1e-15)


@given(st.sampled_from(UNITS), st.sampled_from(UNITS))
def test_different_kinds_do_not_convert(a, b):
    if KIND[a] != KIND[b]:
        with pytest.raises(VirtperfError, match="no conversion"):
            conversion_factor(a, b)


def test_an_unknown_unit_is_named_with_the_known_ones():
    with pytest.raises(VirtperfError, match=r"unknown unit 'furlong'.*KiB"):
        conversion_factor("furlong", "s")


@pytest.mark.parametrize(("unit", "rate"), [("count", "1/s"), ("s", "s/s"), ("KiB", "KiB/s"), ("sectors", "sectors/s")])
def test_rates_of_counters(unit, rate):
    assert rate_unit(unit) == rate


def test_a_percentage_is_no_counter():
    with pytest.raises(VirtperfError, match="has no rate"):
        rate_unit("%")
