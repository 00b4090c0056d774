"""Files read part by part: the parts, however small, make the reading of the whole, and memory stays bounded."""

from __future__ import annotations

import io

import pytest

from tests.formats.mutations import mutant
from tests.formats.seeds import FORMATS, SEEDS
from tests.formats.trial import FILE, check_reading, last_line
from virtperf.core.errors import FormatError
from virtperf.formats import Reading, Streaming, all_formats, blocks_of, joined, pieces

STREAMED = [name for name in FORMATS if isinstance(all_formats()[name], Streaming)]
SIZES = (100, 350, 900)
MUTANTS = 150


def outcome(name: str, data: bytes) -> tuple[Reading | FormatError, int]:
    """What a file gives, and in how many blocks."""
    try:
        blocks = list(blocks_of(all_formats()[name], io.BytesIO(data), file=FILE))
    except FormatError as err:
        return err, 0
    assert len({block.clock for block in blocks}) == 1
    return joined(blocks), len(blocks)


def same(one: Reading, other: Reading) -> bool:
    """Whether two readings are equal to the line."""
    assert one.lines is not None and other.lines is not None
    return (
        one.records.equals(other.records)
        and (one.clock, one.info, sorted(one.warnings)) == (other.clock, other.info, sorted(other.warnings))
        and one.lines.tolist() == other.lines.tolist()
    )


def test_formats_of_long_files_stream() -> None:
    assert {"xentop"} <= set(STREAMED)


@pytest.mark.parametrize("name", STREAMED)
def test_parts_make_the_whole(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    most = 0
    for seed in SEEDS[name]:
        whole, number = outcome(name, seed)
        assert isinstance(whole, Reading) and number == 1
        for size in SIZES:
            monkeypatch.setattr(pieces, "PIECE", size)
            found, number = outcome(name, seed)
            assert isinstance(found, Reading), found
            assert same(found, whole)
            most = max(most, number)
        monkeypatch.undo()
    assert most > 1


@pytest.mark.parametrize("name", STREAMED)
def test_damage_is_seen_in_parts_as_in_the_whole(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged file gives the same or is refused; a few are refused at another place, none gives other numbers."""
    differ = 0
    for number in range(MUTANTS):
        data, history = mutant(SEEDS[name], number)
        whole, _ = outcome(name, data)
        monkeypatch.setattr(pieces, "PIECE", SIZES[number % len(SIZES)])
        found, _ = outcome(name, data)
        monkeypatch.undo()
        if isinstance(found, Reading):
            check_reading(found, last_line(data))
        if isinstance(found, Reading) and isinstance(whole, Reading):
            assert same(found, whole), f"{name}, mutant {number} ({history})"
        differ += isinstance(found, Reading) != isinstance(whole, Reading)
    assert differ <= 0.05 * MUTANTS
