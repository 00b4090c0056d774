"""Numbers of a text, and the values of the data that round to them."""

from __future__ import annotations

import pytest

from virtperf.artifact.printed_numbers import DataValue, find_occurrences, printed_numbers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("boots in 125 ms", [(125.0, 0.5, ("ms",))]),
        ("4,096 MB and 1.5 s", [(4096.0, 0.5, ("MB", "MiB")), (1.5, 0.05, ("s",))]),
        ("1.7x to 2.7x", [(1.7, 0.05, ("times",)), (2.7, 0.05, ("times",))]),
        ("1.7 to 2.7 times", [(1.7, 0.05, ("times",)), (2.7, 0.05, ("times",))]),
        ("2-70ms", [(2.0, 0.5, ("ms",)), (70.0, 0.5, ("ms",))]),
        ("44% of them", [(44.0, 0.5, ("%",))]),
        ("x86 and IPv6, version 4.15.0-1044", []),
    ],
)
def test_numbers_of_a_text(text, expected):
    found = printed_numbers(text)
    assert [(n.value, n.half_width, n.units) for n in found] == expected


def occurs(text, *values):
    (found,) = find_occurrences(printed_numbers(text), values)
    return [value.words for value in found.found]


@pytest.mark.parametrize(
    ("text", "seconds", "found"),
    [
        ("125 ms", 0.12541, True),
        ("125 ms", 0.12551, False),
        ("125.4 ms", 0.12541, True),
        ("0.13 s", 0.12541, True),
        ("125 MB", 0.12541, False),
        ("125", 0.125, False),
    ],
)
def test_value_rounds_to_the_printed_number(text, seconds, found):
    assert bool(occurs(text, DataValue(seconds, "s", "boot"))) == found


def test_ratio_is_compared_with_times_and_percentages():
    ratio = DataValue(1.442, "times", "a / b")
    assert occurs("1.4 times", ratio) and occurs("44 %", ratio)
    assert not occurs("1.4 s", ratio) and not occurs("144 %", ratio)


def test_unknown_unit_is_compared_as_printed():
    assert occurs("125 ms", DataValue(125.2, "1", "t", is_unit_known=False))


def test_number_of_compared_values_is_stated():
    values = [DataValue(float(n), "s", str(n)) for n in range(10)] + [DataValue(1.0, "B", "b")]
    (found,) = find_occurrences(printed_numbers("3 s"), values)
    assert (found.compared, [v.words for v in found.found]) == (10, ["3"])
