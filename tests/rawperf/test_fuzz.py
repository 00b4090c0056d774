"""Damaged files give a reading or an error with file and line, never another exception or an endless loop.

`VIRTPERF_FUZZ=100000 pytest tests/rawperf` reads some hundred times as many mutants of each format as CI does; `python
tools/benchmarks/fuzz.py` does the same and prints a table. Run one of them after changing a reader.
"""

from __future__ import annotations

import numpy as np
import pytest

from rawperf import ParsedFile, all_formats
from rawperf.base import Streaming
from tests.cases import each_case
from tests.rawperf.mutations import mutant
from tests.rawperf.seeds import FORMATS, SEEDS
from tests.rawperf.test_blocks import SIZES, outcome, same
from tests.rawperf.trial import FILE, INPUTS, TooSlow, check_reading, last_line, trial

TIMED = ("perfkit",)  # every number has a time
RANKED_EVERY = 4
"""Every so many mutants, all formats examine one: about 660 in total. Its own format examines each."""
MAX_PARTS = 12
"""Maximum number of parts per mutant; `test_blocks` cuts intact files into more parts."""


def test_every_format_has_seeds() -> None:
    assert set(FORMATS) == set(SEEDS)


@each_case("name", FORMATS)
def test_seeds_are_intact(name: str) -> None:
    form = all_formats()[name]
    for seed in SEEDS[name]:
        assert form.sniff(seed) >= 0.5
        reading = form.read(seed, file=FILE)
        check_reading(reading, last_line(seed))
        assert len(reading.records)


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_file_gives_reading_or_error(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts and whole agree; a few files fail at another position, none gives other numbers."""
    form, read, differ = all_formats()[name], 0, 0
    for number in range(INPUTS):
        data, history = mutant(SEEDS[name], number)
        where = f"{name}, mutant {number} ({history})"
        try:
            whole = trial(form, data, rank=number % RANKED_EVERY == 0)[0]
        except (Exception, TooSlow) as error:
            pytest.fail(f"{where}: {type(error).__name__}: {error}\n{data[:2000]!r}")
        if whole is not None:
            read += 1
            assert np.isfinite(whole.records["value"]).all(), where
            assert name not in TIMED or np.isfinite(whole.records["t"]).all(), where
        if not isinstance(form, Streaming):
            continue
        with monkeypatch.context() as small:
            small.setattr(
                "rawperf.text.PIECE_BYTES", max(SIZES[number % len(SIZES)], len(data) // MAX_PARTS)
            )
            found, _ = outcome(form, data)
        if isinstance(found, ParsedFile):
            check_reading(found, last_line(data))
            assert whole is None or same(found, whole), where
        differ += isinstance(found, ParsedFile) != (whole is not None)
    # some mutants are read, and some fail after their first line
    assert 0 < read < 0.95 * INPUTS
    assert differ <= 0.05 * INPUTS
