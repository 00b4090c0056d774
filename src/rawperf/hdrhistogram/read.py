"""HdrHistogram logs, format versions 1.0 to 1.3: a histogram of every interval, which clients of
load tests (HdrHistogram's own recorders, YCSB, Cassandra's stress tool, JLBH) write.

Source: ``HistogramLogWriter.java`` and ``HistogramLogReader.java`` of HdrHistogram.
"""

from __future__ import annotations

import re

from rawperf.base import Reading
from rawperf.core.errors import FormatError
from rawperf.hdrhistogram.payload import PayloadError, buckets
from rawperf.rows import WHOLE, RecordRows, Warnings, split_lines
from rawperf.text import decode, surest

BUCKET, COUNT = "bucket", "count"
"""Entity kind of a bucket, whose name is the highest value that is counted in it, and the field of how
many values were."""
LENGTH, MAX = "Interval_Length", "Interval_Max"
YEAR_S = 365 * 24 * 3600.0

_SNIFFS = (
    (re.compile(rb"^#\[Histogram log format version ", re.M), 0.98),
    (re.compile(rb'^"StartTimestamp","Interval_Length","Interval_Max",', re.M), 0.95),
)
_TIME = re.compile(r"#\[(StartTime|BaseTime): *(\d{1,12}(?:\.\d{1,9})?) ", re.A)
_VERSION = re.compile(r"#\[Histogram log format version (\S{1,9})\]")
_NUMBER = r"(\d{1,15}(?:[.,]\d{1,9})?)"
_INTERVAL = re.compile(rf"(?:Tag=([^,\s]{{1,200}}),)?{_NUMBER},{_NUMBER},{_NUMBER},(\S+)", re.A)
_WHAT = "[Tag=NAME,]START,LENGTH,MAX,HISTOGRAM, the histogram in base64"


class HdrHistogramFormat:
    """Reader of HdrHistogram's logs; see docs/formats/hdrhistogram.md."""

    name = "hdrhistogram"
    title = "HdrHistogram log"

    def sniff(self, head: bytes) -> float:
        """Sure of a log's first comment, or of its heading."""
        return surest(_SNIFFS, head)

    def read(self, data: bytes, *, file: str = "<bytes>") -> Reading:
        """Read all intervals; `t` is the end of each.

        Raises `FormatError` at a damaged line that is not the last, and without any interval.
        """
        text, said = decode(data, file)
        lines, whole = split_lines(text)
        warnings, rows = Warnings(file, said), RecordRows()
        times: dict[str, float] = {}
        info: dict[str, str] = {}
        for number, raw in enumerate(lines, 1):
            line = raw.strip()
            if not line or line.startswith('"StartTimestamp"'):
                continue
            if line.startswith("#"):
                if found := _TIME.match(line):
                    times.setdefault(found[1], float(found[2]))
                elif found := _VERSION.match(line):
                    info["version"] = found[1]
                continue
            rows.line = number
            try:
                _interval(line, times, rows)
            except PayloadError as err:
                if number == len(lines) and not whole:
                    warnings.add(number, f"the file breaks off here ({err}); the line was left out")
                    break
                raise FormatError(
                    str(err), file=file, line=number, expected=_WHAT, found=line[:60]
                ) from err
        if not len(rows):
            raise FormatError("the log has no interval", file=file, expected=_WHAT)
        clock = "absolute" if times else "elapsed"
        return Reading(rows.frame(), clock, info, warnings.sentences(), rows.lines())


def _interval(line: str, times: dict[str, float], rows: RecordRows) -> None:
    found = _INTERVAL.fullmatch(line)
    if not found:
        raise PayloadError("the line is no interval")
    tag = found[1] or ""
    start, length, top = (float(text.replace(",", ".")) for text in found.groups()[1:4])
    begin = times.get("StartTime", 0.0)
    base = times.get("BaseTime", begin if start < begin - YEAR_S else 0.0)
    t = base + start + length
    counted = buckets(found[5])
    rows.add(tag, WHOLE, "", LENGTH, length, t)
    rows.add(tag, WHOLE, "", MAX, top, t)
    for value, count in counted:
        rows.add(tag, BUCKET, str(value), COUNT, count, t)


FORMAT = HdrHistogramFormat()
