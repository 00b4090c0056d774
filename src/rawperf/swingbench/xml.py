"""Reader of SwingBench's XML results: one run, totals and transactions per second over time."""

from __future__ import annotations

from dataclasses import replace

from rawperf.base import ParsedFile
from rawperf.recognition import Recognised
from rawperf.swingbench.results import (
    FIELDS,
    NAMESPACE,
    READINGS,
    TRANSACTIONS,
    ResultCollector,
)
from rawperf.xml_stream import XmlTarget, parse_xml

MAX_BYTES = 64 * 1024**2
MAX_DEPTH = 16
ROOT, RESULT, ID, METRICS = "Results", "Result", "id", "BenchmarkMetrics"


class Swingbench(Recognised):
    """Reader of the XML; see docs/formats/swingbench.md."""

    name = "swingbench"
    title = "SwingBench results (XML)"

    def read(self, data: bytes, *, file: str = "<bytes>") -> ParsedFile:
        """Read the numbers of the run with ``t`` NaN, then the series on the absolute clock.

        Raises `FormatError`: bad, hostile or foreign XML; an element that is duplicate or not a
        number; another unit of time.
        """
        target = _ResultTarget(file)
        warnings, cut = parse_xml(data, target, MAX_BYTES)
        if cut:
            target.keep_truncated_series()
            warnings += (
                f"{file} line {cut}: the document is truncated; the elements before this line were kept",
            )
        parsed = target.results.parsed_file()
        return replace(parsed, warnings=(*warnings, *parsed.warnings))


class _ResultTarget(XmlTarget):
    """Parser target that passes leaf elements to `ResultCollector`."""

    def __init__(self, file: str) -> None:
        super().__init__(file, ROOT, MAX_DEPTH)
        self.results = ResultCollector(file)
        self._transaction = ""
        self._begin = 0

    def on_start(self, tag: str, attributes: dict[str, str]) -> None:
        path, self._begin = self.path, self.line()
        if len(path) == 1:
            if tag.startswith("{"):
                self.results.info[NAMESPACE] = tag[1:].partition("}")[0]
        elif path[1:] == [TRANSACTIONS, RESULT]:
            self._transaction = attributes.get(ID, "").strip()
            if not self._transaction:
                raise self.error("a Result without an id", "the transaction's name", "no id")
        elif self._leaf() is None and path[1:] not in (
            [TRANSACTIONS],
            [METRICS],
            *([name] for name in FIELDS),
        ):
            self.results.note_unread("/".join(path[1:]))

    def on_end(self) -> None:
        leaf = self._leaf()
        if leaf is not None:
            self._add_element(*leaf, is_complete=True)

    def has_content(self) -> bool:
        return bool(self.results.values)

    def keep_truncated_series(self) -> None:
        """Handle a truncated document: keep an open series up to its last complete pair."""
        self.results.is_complete = False
        leaf = self._leaf()
        if leaf is not None and leaf[0] == READINGS:
            self._add_element(*leaf, is_complete=False)

    def _leaf(self) -> tuple[str, str] | None:
        """Section and name of the open element if it holds a value, else None."""
        match self.path[1:]:
            case [section, name] if section in FIELDS and section != TRANSACTIONS:
                return section, name
            case [section, result, name] if (section, result) == (TRANSACTIONS, RESULT):
                return section, name
            case [section, name] if (section, name) == (METRICS, READINGS):
                return READINGS, name
        return None

    def _add_element(self, section: str, name: str, is_complete: bool) -> None:
        text = "".join(self.text)
        if section == READINGS:
            self.results.add_readings(text, self._begin, is_complete)
        else:
            self.results.add(
                section,
                self._transaction if section == TRANSACTIONS else "",
                name,
                text,
                self._begin,
            )


FORMAT = Swingbench()
