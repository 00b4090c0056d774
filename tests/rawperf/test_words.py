"""Splitting of lines into words by array operations."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rawperf.listing import ListingPart


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(st.sampled_from("ab1 \t\n\r\v\fé-"), max_size=40))
def test_words_equal_str_split(text: str) -> None:
    data = text.encode()
    part = ListingPart(data)
    lines = data.split(b"\n")
    lines = lines[:-1] if lines[-1] == b"" else lines
    assert [part.line(i).encode() for i in range(len(part.line_end))] == lines
    assert part.words.to_pylist() == data.decode().split()
    for number, line in enumerate(lines):
        own = part.words[
            int(part.first_word[number]) : int(part.first_word[number + 1])
        ].to_pylist()
        assert own == line.decode().split()


def test_positions_behind_the_text_are_line_feeds() -> None:
    part = ListingPart(b"12 ab")
    assert part.is_digit(np.array([0, 1, 3, 99])).tolist() == [True, True, False, False]
    assert part.starts_with(np.array([0, 3, 4]), b"ab").tolist() == [False, True, False]
    assert ListingPart(b"").bytes_at(np.array([0])).tolist() == [10]
