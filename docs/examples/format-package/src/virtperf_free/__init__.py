"""Reader of the text that ``free -s SECONDS`` prints on Linux (procps).

A sample is a heading, then a row for each kind of memory, whose cells are below the headings; the row of swap has fewer
cells. A blank line ends a sample. Columns differ between versions and options, so they are read by name. The file has
no times.
"""

from __future__ import annotations

import re

from rawperf.listing import TRUNCATED_LINE, LineListing, ListingFormat

_HEAD = re.compile(rb"^ +total +used +free\b", re.M)
_LABEL = re.compile(r"([A-Z][a-z]+):")
_NUMBER = re.compile(r"\d{1,15}", re.ASCII)


class FreeListing(LineListing):
    """Rows of free.

    The entity kind is ``memory``, an entity the row's label (``Mem``, ``Swap``), ``field`` the column's heading. Each
    heading begins a sample.

    Refused are a row before a heading, a heading that differs from the first, a row with too many cells or given twice,
    and a cell that is not a whole number, such as with ``-h``.
    """

    name = "free"
    title = "free text output (procps)"
    clock = "sample"

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.names: list[str] = []
        self.sample, self.labels = -1, set[str]()
        self.has_rows = False

    def parse_line(self, line: str, number: int, is_truncated: bool) -> None:
        words = line.split()
        if not words:
            return
        if is_truncated:  # digits may be missing
            self.warnings.add(number, TRUNCATED_LINE)
        elif words[:3] == ["total", "used", "free"] and len(set(words)) == len(words):
            if self.names and words != self.names:
                problem, remedy = (
                    "a heading that differs from the first",
                    "keep one listing per file.",
                )
                raise self.error(problem, number, " ".join(self.names), line, remedy)
            self.names, self.sample, self.labels = words, self.sample + 1, set()
            self.info["columns"] = " ".join(words)
        else:
            self.parse_row(words, line, number)

    def parse_row(self, words: list[str], line: str, number: int) -> None:
        label, *cells = words
        match = _LABEL.fullmatch(label)
        if not self.names or match is None or label in self.labels:
            expected = "a heading, then Mem: and Swap:, each once"
            raise self.error("not a row of free", number, expected, line)
        if not 3 <= len(cells) <= len(self.names) or not all(map(_NUMBER.fullmatch, cells)):
            expected = f"whole numbers below {' '.join(self.names)}"
            raise self.error("a damaged row", number, expected, line, "collect without -h.")
        self.labels.add(label)
        self.has_rows = True
        for name, cell in zip(self.names, cells, strict=False):
            self.rows.add("", "memory", match[1], name, float(cell), float(self.sample))

    def finish(self) -> None:
        if not self.has_rows:
            raise self.error("no row in the file", expected="the output of free")


class FreeFormat(ListingFormat):
    """Listings of free, and their recognition."""

    def sniff(self, head: bytes) -> float:
        """0.95 for the heading."""
        return 0.95 if _HEAD.search(head) else 0.0


FORMAT = FreeFormat(FreeListing)
