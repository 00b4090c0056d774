"""The text that ``vmstat INTERVAL`` prints on Linux (procps), with or without ``-t``.

Layout: two heading lines, repeated every screenful; then a row of numbers a sample, whose columns the second heading
names. Columns differ between versions (no ``st`` in old ones, ``gu`` in new ones) and with ``-a``, so rows are read by
those names. The first row shows averages since the machine was started and is no sample.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

import numpy as np
import pandas as pd

from virtperf.core.errors import FormatError
from virtperf.formats.base import RECORD_COLUMNS, Reading
from virtperf.formats.text import decode

_TIME = re.compile(r"\s(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?: +([A-Za-z+-][\w:+-]*))?$")
_HEAD = re.compile(rb"^procs\b.*memory.*\n\s*r\s+b\s+swpd\s+free\s", re.M)
_DTYPES = dict.fromkeys(RECORD_COLUMNS[:4], "str") | dict.fromkeys(RECORD_COLUMNS[4:], "float64")
LARGEST = 2**53  # beyond it float64 drops digits


class VmstatFormat:
    """Reader and writer of vmstat listings."""

    name = "vmstat"
    title = "vmstat text output (procps)"

    def sniff(self, head: bytes) -> float:
        """0.95 for both heading lines."""
        return 0.95 if _HEAD.search(head.replace(b"\r\n", b"\n")) else 0.0

    def read(self, data: bytes, *, file: str = "<bytes>") -> Reading:
        """Read a listing.

        ``field`` is a name of the second heading, the entity is the host. The clock is ``absolute`` with ``-t``, else
        ``sample``: the first row after the averages since the start is number 0.

        Raises
        ------
        FormatError
            A row before a heading, another heading than before, a row with another number of columns, something that
            is no number, times in some rows only.
        """
        text, said = decode(data, file)
        warnings = list(said)
        lines = text.split("\n")
        if lines[-1]:  # without a line end, digits may be missing
            warnings.append(f"{file} line {len(lines)}: the file breaks off; this line was left out")
        names: list[str] = []
        rows: list[tuple[int, list[float], str]] = []
        info: dict[str, str] = {}
        for number, line in enumerate(lines[:-1], start=1):
            words = line.split()
            if not words or words[0] == "procs":
                continue
            if not words[0].isdigit():
                names = _names(words, names, file, number)
                continue
            time = _TIME.search(line)
            values = _values(line[: time.start()].split() if time else words, names, file, number)
            if time and time[2]:
                info["zone"] = time[2]
            rows.append((number, values, time[1] if time else ""))
        if not names:
            raise FormatError("no heading", file=file, line=1, expected="the two heading lines of vmstat")
        timed = {bool(time) for _, _, time in rows}
        if len(timed) > 1:
            odd = next(number for number, _, time in rows if bool(time) != bool(rows[0][2]))
            raise FormatError("times in some rows only", file=file, line=odd, remedy="keep one listing a file.")
        info["columns"] = str(len(names))
        samples = rows[1:]  # the first row shows averages since the machine was started
        absolute = timed == {True}
        t = [_seconds(time, file, number) if absolute else float(k) for k, (number, _, time) in enumerate(samples)]
        n = len(names)
        frame = pd.DataFrame(
            {
                "report": "", "entity_kind": "host", "entity": "", "field": names * len(samples),
                "t": np.repeat(np.array(t, dtype=float), n),
                "value": np.array([values for _, values, _ in samples], dtype=float).reshape(-1),
            },
            columns=list(RECORD_COLUMNS),
        ).astype(_DTYPES)  # fmt: skip
        places = np.repeat(np.array([number for number, _, _ in samples], dtype=np.int64), n)
        return Reading(frame, "absolute" if absolute else "sample", info, tuple(warnings), places)

    def write(self, reading: Reading) -> bytes:
        """Print a listing whose first row, the averages since the start, is all zeros.

        Raises
        ------
        FormatError
            Samples with different fields, or a value that vmstat can't print.
        """
        r = reading.records
        n = int(reading.info.get("columns", 0))
        names = r["field"].tolist()[:n]
        if not n or len(r) % n or names * (len(r) // n) != r["field"].tolist() or not all(map(_is_name, names)):
            raise FormatError("vmstat can't print this reading", expected="the same fields in every sample")
        values = r["value"].to_numpy(dtype=float).reshape(-1, n)
        if not (np.isfinite(values) & (values >= 0) & (values < LARGEST) & (values == np.floor(values))).all():
            raise FormatError("vmstat can't print this reading", expected="whole numbers")
        zone = reading.info.get("zone", "")
        times = r["t"].to_numpy(dtype=float)[::n]
        absolute = reading.clock == "absolute"
        printed = ["procs -----------memory---------- ---swap-- -----io---- --system-- -----cpu------", " ".join(names)]
        first = float(times[0]) if len(times) and absolute else 0.0
        for t, row in zip([first, *times], [[0.0] * n, *values], strict=True):
            stamp = f"\t{_time(t)}{' ' + zone if zone else ''}" if absolute else ""
            printed.append(" ".join(f"{int(v):d}" for v in row) + stamp)
        return "".join(line + "\n" for line in printed).encode()


def _names(words: list[str], before: list[str], file: str, line: int) -> list[str]:
    """The second heading's names, without a time zone that stands behind them."""
    found = [word for word in words if _is_name(word)]
    if before and found != before:
        raise FormatError("another heading than before", file=file, line=line, expected=" ".join(before),
                          found=" ".join(found), remedy="keep one listing a file.")  # fmt: skip
    if len(set(found)) < len(found) or found[:2] != ["r", "b"]:
        raise FormatError("not a heading of vmstat", file=file, line=line, expected="r b swpd free ...",
                          found=" ".join(words))  # fmt: skip
    return found


def _is_name(word: str) -> bool:
    return re.fullmatch(r"[a-z][a-z0-9]*", word) is not None


def _values(words: list[str], names: list[str], file: str, line: int) -> list[float]:
    if not names:
        raise FormatError("a row before any heading", file=file, line=line, remedy="keep the heading lines.")
    if len(words) != len(names) or not all(word.isascii() and word.isdigit() and len(word) < 17 for word in words):
        raise FormatError("a damaged row", file=file, line=line, expected=f"{len(names)} whole numbers",
                          found=" ".join(words))  # fmt: skip
    return [float(word) for word in words]


def _seconds(text: str, file: str, line: int) -> float:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    except ValueError as err:
        raise FormatError("not a date and time", file=file, line=line, found=text) from err


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


FORMAT = VmstatFormat()
