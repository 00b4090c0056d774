"""Runs a reader on one damaged file and checks result and time."""

from __future__ import annotations

import io
import os
import re
import signal
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pandas as pd

from rawperf.base import CLOCKS, RECORD_COLUMNS, Format, ParsedFile, concat_parts
from rawperf.core.errors import FormatError
from rawperf.registry import rank_formats, read_blocks
from rawperf.text import HEAD_BYTES

FILE = "a/damaged.file"
INPUTS = int(os.environ.get("VIRTPERF_FUZZ", "40"))
"""Mutants per format in the tests."""
CPU_SECONDS = 60.0
"""Processor time after which a reader counts as one that does not end; how fast readers are is not tested."""

_PLACE = re.compile(re.escape(FILE) + r" line (\d+):")


class TooSlow(BaseException):  # not an Exception, so that no reader catches it
    """A reader took longer than `CPU_SECONDS`."""


def _stop(signum: int, frame: object) -> None:
    raise TooSlow(f"no end after {CPU_SECONDS:g} s of processor time")


@contextmanager
def bounded() -> Iterator[None]:
    """Raise `TooSlow` in code that runs too long; main thread only."""
    before = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def read_whole(form: Format, data: bytes, file: str = FILE) -> ParsedFile:
    """The reading of a whole file, compressed or not."""
    return concat_parts(read_blocks(form, io.BytesIO(data), file=file))


def last_line(data: bytes) -> int:
    r"""Number of the last line, from 1; a lone ``\r`` may end a line too, as in XML."""
    return 1 + data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")


def check_reading(reading: ParsedFile, end: int) -> None:
    """Check the contract of `rawperf.base.ParsedFile` for a file whose last line is `end`."""
    records = reading.records
    assert tuple(records.columns) == RECORD_COLUMNS
    assert records.index.equals(pd.RangeIndex(len(records)))
    for column in RECORD_COLUMNS[:4]:
        cells = records[column].unique().tolist()
        assert all(isinstance(cell, str) for cell in cells), f"{column} has {cells[:5]}"
        check_text(*cells)
    for column in RECORD_COLUMNS[4:]:
        assert records[column].dtype == np.float64, column
        assert not np.isinf(records[column].to_numpy()).any(), f"{column} is infinite"
    assert reading.clock in CLOCKS
    check_text(*reading.info, *reading.info.values(), *reading.warnings)
    check_places(reading.warnings, end)
    assert reading.lines is not None, "no lines"
    assert reading.lines.shape == (len(records),)
    assert np.issubdtype(reading.lines.dtype, np.integer)
    assert ((reading.lines >= 1) & (reading.lines <= end)).all(), "a line that is not in the file"


def check_refusal(error: FormatError, end: int) -> None:
    """Check that an error names the file and, if any, an existing line."""
    assert error.file == FILE
    assert error.line is None or (type(error.line) is int and 1 <= error.line <= end), (
        f"line {error.line!r} of {end}"
    )
    check_text(str(error))


def check_text(*texts: str) -> None:
    """Check for texts that a terminal, YAML and Parquet accept: no surrogates."""
    for text in texts:
        text.encode()


def check_places(sentences: tuple[str, ...], end: int) -> None:
    """Check that each warning names the file, and no line beyond its end."""
    for sentence in sentences:
        assert FILE in sentence, sentence
        assert all(1 <= int(line) <= end for line in _PLACE.findall(sentence)), (
            f"{sentence} (of {end} lines)"
        )


def trial(form: Format, data: bytes, *, rank: bool = True) -> tuple[ParsedFile | None, float]:
    """Sniff and read some bytes; `rank`: every other format looks at them too.

    Returns
    -------
    reading : ParsedFile or None
        What they gave; None where they were refused.
    seconds : float
        Processor time of the reader.

    Raises
    ------
    AssertionError
        For a reading or a refusal that is not what it promises to be.
    Exception
        Whatever the reader raised that is no `FormatError`; warnings of libraries too.
    """
    end = last_line(data)
    with bounded(), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not rank or all(0 < score <= 1 for score, _ in rank_formats(data))
        assert 0 <= form.sniff(data[:HEAD_BYTES]) <= 1
        start = time.process_time()
        try:
            reading = form.read(data, file=FILE)
        except FormatError as error:
            seconds = time.process_time() - start
            check_refusal(error, end)
            return None, seconds
        seconds = time.process_time() - start
    check_reading(reading, end)
    return reading, seconds
