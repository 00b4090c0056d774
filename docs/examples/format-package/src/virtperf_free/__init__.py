"""Reader of the text that ``free -s SECONDS`` prints on Linux (procps).

A sample is a heading, then a row for each kind of memory, whose cells are below the headings; the row of swap has fewer
cells. A blank line ends a sample. Columns differ between versions and options, so they are read by name. The file has
no times.
"""

from __future__ import annotations

import re

from rawperf.base import Reading
from rawperf.core.errors import FormatError
from rawperf.rows import RecordBuilder, Warnings, split_lines
from rawperf.text import decode

_HEAD = re.compile(rb"^ +total +used +free\b", re.M)
_LABEL = re.compile(r"([A-Z][a-z]+):")
_NUMBER = re.compile(r"\d{1,15}", re.ASCII)


class FreeFormat:
    """Reader of free's listings."""

    name = "free"
    title = "free text output (procps)"

    def sniff(self, head: bytes) -> float:
        """0.95 for the heading."""
        return 0.95 if _HEAD.search(head) else 0.0

    def read(self, data: bytes, *, file: str = "<bytes>") -> Reading:
        """Read a listing.

        The entity kind is ``memory``, an entity the row's label (``Mem``, ``Swap``), ``field`` the column's heading.
        The clock is ``sample``: each heading begins a sample.

        Raises
        ------
        FormatError
            A row before a heading, a heading that differs from the first, a row with too many cells or given twice, a
            cell that is not a whole number, such as with ``-h``.
        """
        text, said = decode(data, file)
        lines, whole = split_lines(text)
        warnings = Warnings(file, said)
        rows, names, sample = RecordBuilder(), list[str](), -1
        seen: set[str] = set()
        for number, line in enumerate(lines, start=1):
            words = line.split()
            rows.line = number
            if not words:
                continue
            if number == len(lines) and not whole:  # without a line end, digits may be missing
                warnings.add(number, "the file is truncated; this line was left out")
                break
            if words[:3] == ["total", "used", "free"] and len(set(words)) == len(words):
                if names and words != names:
                    raise FormatError(
                        "a heading that differs from the first",
                        file=file,
                        line=number,
                        found=line,
                        expected=" ".join(names),
                        remedy="keep one listing per file.",
                    )
                names, sample, seen = words, sample + 1, set()
                continue
            label = _LABEL.fullmatch(words[0])
            if not names or label is None or label[1] in seen:
                raise FormatError(
                    "not a row of free",
                    file=file,
                    line=number,
                    found=line,
                    expected="a heading, then Mem: and Swap:, each once",
                )
            if not 3 <= len(words) - 1 <= len(names) or not all(
                _NUMBER.fullmatch(word) for word in words[1:]
            ):
                raise FormatError(
                    "a damaged row",
                    file=file,
                    line=number,
                    found=line,
                    expected=f"whole numbers below {' '.join(names)}",
                    remedy="collect without -h.",
                )
            seen.add(label[1])
            for name, word in zip(names, words[1:], strict=False):
                rows.add("", "memory", label[1], name, float(word), float(sample))
        if not len(rows):
            raise FormatError("no row in the file", file=file, expected="the output of free")
        return Reading(
            rows.to_frame(),
            "sample",
            {"columns": " ".join(names)},
            warnings.messages(),
            rows.lines(),
        )


FORMAT = FreeFormat()
