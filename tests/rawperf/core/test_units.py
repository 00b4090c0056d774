import pytest
from hypothesis import given
from hypothesis import strategies as st

from rawperf.core.errors import RawperfError
from rawperf.core.units import _UNITS_BY_NAME, conversion_factor, rate_unit
from tests.cases import each_case

UNITS = sorted(_UNITS_BY_NAME)
KIND = {unit: dimension for unit, (dimension, _) in _UNITS_BY_NAME.items()}


@given(st.sampled_from(UNITS), st.sampled_from(UNITS), st.sampled_from(UNITS))
def test_conversions_compose(a, b, c):
    if KIND[a] == KIND[b] == KIND[c]:
        assert conversion_factor(a, b) * conversion_factor(b, c) == pytest.approx(
            conversion_factor(a, c), rel=1e-14
        )


@each_case("unit", UNITS)
def test_unit_converts_to_itself(unit):
    assert conversion_factor(unit, unit) == 1


@each_case(
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
def test_different_dimensions_do_not_convert(a, b):
    if KIND[a] != KIND[b]:
        with pytest.raises(RawperfError, match="no conversion"):
            conversion_factor(a, b)


@each_case(("source", "target"), [("furlong", "s"), ("s", "furlong")])
def test_unknown_unit_error_lists_the_known_ones(source, target):
    with pytest.raises(
        RawperfError, match=rf"from '{source}' to '{target}'.*KiB.*unknown unit 'furlong'"
    ):
        conversion_factor(source, target)


@each_case(
    ("source", "per", "target", "factor"),
    [
        (
            "processors",
            "1/s",
            "ms",
            1000,
        ),  # half a processor at 100 a second is 5 ms of processor time each
        ("1/s", "processors", "1/min", 60),
        ("B/s", "1/s", "KiB", 1 / 1024),
        ("MiB", "MiB", "%", 100),
    ],
)
def test_units_divide(source, per, target, factor):
    assert conversion_factor(source, target, per=per) == pytest.approx(factor, rel=1e-15)


def test_event_units_occur_in_rates_only():
    assert conversion_factor("1/min", "requests/s") == pytest.approx(1 / 60)
    for unit in ("requests", "requests/h", "percent"):
        with pytest.raises(RawperfError, match=f"unknown unit '{unit}'"):
            conversion_factor("1/s", unit)
    with pytest.raises(
        RawperfError, match="'B/s' measures information rate, 'MiBs/s' measures rate"
    ):
        conversion_factor("B/s", "MiBs/s")


def test_unknown_quotient_is_reported():
    with pytest.raises(
        RawperfError, match="'s per MiB' measures something else, 'MiB' measures information"
    ):
        conversion_factor("s", "MiB", per="MiB")


@each_case(
    ("unit", "rate"), [("count", "1/s"), ("s", "s/s"), ("KiB", "KiB/s"), ("sectors", "sectors/s")]
)
def test_rates_of_counters(unit, rate):
    assert rate_unit(unit) == rate


def test_percentage_is_not_a_counter():
    with pytest.raises(RawperfError, match="has no rate"):
        rate_unit("%")
