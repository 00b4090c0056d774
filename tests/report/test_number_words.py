"""Ratios in words, and words that say where a number comes from."""

from __future__ import annotations

import math
import re

import pytest

from tests.cases import each_case
from virtperf.report.number_words import number_words, wrong_origin


@each_case(
    ("says", "text", "ends"),
    [
        ("It takes more than twice as long.", "more than twice", (2, math.inf)),
        ("It is done in less than half of the time.", "less than half", (0, 0.5)),
        ("It nearly doubles throughput.", "doubles", (2 / 1.2, 2.4)),
        ("A third of the memory is used: a third of 3 GB.", "a third of", (1 / 3.6, 1.2 / 3)),
        ("It is three times as fast.", "three times", (2.5, 3.6)),
    ],
)
def test_ratio_in_words(says: str, text: str, ends: tuple[float, float]) -> None:
    word = list(number_words(says))[-1]
    assert word.text == text and (word.low, word.high) == pytest.approx(ends)


@each_case(
    "says",
    [
        "With two CPUs per guest",
        "A third triplet does not start",
        "its half-width",
        "Over half a minute",
    ],
)
def test_counts_and_ordinals_are_no_ratios(says: str) -> None:
    assert not list(number_words(says))


def test_inverse_ratio_is_described_by_the_same_word() -> None:
    (twice,) = number_words("It responds twice as fast.")
    assert twice.describes(1.9, 2.1) and twice.describes(0.48, 0.52)
    assert not twice.describes(1.1, 1.5) and not twice.describes(-3.0, 0.0)


@each_case(
    ("says", "measured", "word"),
    [
        ("It reaches the printed {a}.", True, "printed"),
        ("It reaches {a}, where the paper states more.", True, ""),
        ("With 20 guests ({a} IFLs as printed) it is least.", False, ""),
        ("It was measured as {a} s.", False, "measured"),
    ],
)
def test_origin_of_a_number(says: str, measured: bool, word: str) -> None:
    place = re.search(r"\{a\}", says)
    assert place and wrong_origin(says, place, measured=measured) == word
