"""The results file of SwingBench: XML, one run, numbers of the whole run and transactions per
second over time.
"""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree.ElementTree import Element, SubElement, indent, tostring  # for writing only

import numpy as np

from rawperf.base import RECORD_COLUMNS, Reading
from rawperf.core.errors import FormatError
from rawperf.rows import checked
from rawperf.swingbench.results import (
    DRIVER,
    DURATIONS,
    FIELDS,
    NAMESPACE,
    READINGS,
    SECTIONS,
    STRANGERS,
    TEXTS,
    TRANSACTION,
    TRANSACTIONS,
    Results,
)
from rawperf.text import exact_text
from rawperf.xml_stream import XML_TEXT, Target, parse_xml

MAX_BYTES = 64 * 1024**2
MAX_DEPTH = 16
ROOT, RESULT, ID, METRICS = "Results", "Result", "id", "BenchmarkMetrics"
_FIRST = re.compile(rb"<(?:[\w.-]+:)?([A-Za-z_][\w.-]*+)([^<>]*)>")
_OWN_WORDS = re.compile(
    rb"<(?:[\w.-]+:)?(?:BenchmarkName|TotalCompletedTransactions|TransactionResults|TPSReadings)\b"
)


class Swingbench:
    """Reader and writer of the XML; see docs/formats/swingbench.md."""

    name = "swingbench"
    title = "SwingBench results (XML)"

    def sniff(self, head: bytes) -> float:
        """Sure of a root with SwingBench's namespace, nearly of one without it but with the tool's
        own elements.
        """
        first = _FIRST.search(head)
        if (
            first is None
            or first[1] != ROOT.encode()
            or not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
        ):
            return 0.0
        if b"swingbench" in first[2].lower():
            return 0.95
        return 0.8 if _OWN_WORDS.search(head) else 0.0

    def read(self, data: bytes, *, file: str = "<bytes>") -> Reading:
        """Numbers of the run with ``t`` NaN, then the series on the absolute clock.

        Raises `FormatError`: bad, hostile or foreign XML; an element that is given twice or is no
        number; another unit of time.
        """
        target = _Elements(file)
        warnings, cut = parse_xml(data, target, MAX_BYTES)
        if cut:
            target.cut()
            warnings += (
                f"{file} line {cut}: the document ends early; what stands before it was kept",
            )
        reading = target.results.reading()
        return replace(reading, warnings=(*warnings, *reading.warnings))

    def write(self, reading: Reading) -> bytes:
        """The XML of a reading; raises `FormatError` for what results have no place for."""
        results, wanted = _content(reading)
        root = Element(ROOT)
        for text in (part for item in wanted.info.items() for part in item):
            if not XML_TEXT.fullmatch(text):
                raise FormatError("XML can't hold it", found=repr(text))
        if NAMESPACE in wanted.info:
            root.set(NAMESPACE, wanted.info[NAMESPACE])
        for section in SECTIONS:
            if section == READINGS:
                if len(results.times):
                    pairs = zip(
                        (results.times * 1000).round().tolist(), results.tps.tolist(), strict=True
                    )
                    text = "".join(f"{time:.0f}, {exact_text(rate)}," for time, rate in pairs)
                    SubElement(SubElement(root, METRICS), READINGS).text = text
                continue
            values = {
                key[1:]: value for key, (value, _) in results.values.items() if key[0] == section
            }
            texts = {
                k: v
                for k, v in wanted.info.items()
                if k in TEXTS.get(section, ()) or k.startswith(f"{section}/")
            }
            if not values and not texts:
                continue
            parent = SubElement(root, section)
            for key, text in texts.items():
                SubElement(parent, _tag(key.rpartition("/")[2])).text = text
            groups: dict[str, Element] = {}
            for (transaction, name), value in values.items():
                if section == TRANSACTIONS and transaction not in groups:
                    groups[transaction] = SubElement(parent, RESULT, {ID: transaction})
                SubElement(groups.get(transaction, parent), _tag(name)).text = _printed(name, value)
        indent(root, space="   ")
        text = (
            "<?xml version = '1.0' encoding = 'UTF-8'?>\n"
            + tostring(root, encoding="unicode")
            + "\n"
        )
        return checked(self, text.encode(), wanted)


class _Elements(Target):
    """What the parser calls: hands leaves to `Results`, never keeps a tree."""

    def __init__(self, file: str) -> None:
        super().__init__(file, ROOT, MAX_DEPTH)
        self.results = Results(file)
        self._transaction = ""
        self._begin = 0

    def begins(self, tag: str, attributes: dict[str, str]) -> None:
        path, self._begin = self.path, self.line()
        if len(path) == 1:
            if tag.startswith("{"):
                self.results.info[NAMESPACE] = tag[1:].partition("}")[0]
        elif path[1:] == [TRANSACTIONS, RESULT]:
            self._transaction = attributes.get(ID, "").strip()
            if not self._transaction:
                raise self.error("a Result without its id", "the transaction's name", "no id")
        elif self._leaf() is None and path[1:] not in (
            [TRANSACTIONS],
            [METRICS],
            *([name] for name in FIELDS),
        ):
            self.results.skip("/".join(path[1:]))

    def ends(self) -> None:
        leaf = self._leaf()
        if leaf is not None:
            self._take(*leaf, whole=True)

    def any(self) -> bool:
        return bool(self.results.values)

    def cut(self) -> None:
        """The document ended early: a series that was begun is kept up to its last whole pair."""
        self.results.whole = False
        leaf = self._leaf()
        if leaf is not None and leaf[0] == READINGS:
            self._take(*leaf, whole=False)

    def _leaf(self) -> tuple[str, str] | None:
        """Section and name of the element that is open, where it is one that holds a value."""
        match self.path[1:]:
            case [section, name] if section in FIELDS and section != TRANSACTIONS:
                return section, name
            case [section, result, name] if (section, result) == (TRANSACTIONS, RESULT):
                return section, name
            case [section, name] if (section, name) == (METRICS, READINGS):
                return READINGS, name
        return None

    def _take(self, section: str, name: str, whole: bool) -> None:
        text = "".join(self.text)
        if section == READINGS:
            self.results.take_readings(text, self._begin, whole)
        else:
            self.results.take(
                section,
                self._transaction if section == TRANSACTIONS else "",
                name,
                text,
                self._begin,
            )


def _content(reading: Reading) -> tuple[Results, Reading]:
    """The results that a reading holds, and the reading that a file with them gives.

    A mean response of all transactions is computed, not taken; what was not read is not written.
    """
    results, records = Results("<reading>"), reading.records
    report, kind, entity, field = (
        records[name].to_numpy(dtype=object) for name in RECORD_COLUMNS[:4]
    )
    series, of_one = report == READINGS, entity != ""
    wrong = (
        ~np.isfinite(records["value"].to_numpy(dtype=float))
        | ~records["report"].isin(SECTIONS).to_numpy()
    )
    wrong |= np.isfinite(records["t"].to_numpy(dtype=float)) != series
    wrong |= (kind != np.where(of_one, TRANSACTION, DRIVER)) | (of_one & (report != TRANSACTIONS))
    wrong |= series & (field != READINGS)
    if reading.clock != "absolute":
        raise FormatError(
            "results of SwingBench have another clock", expected="absolute", found=reading.clock
        )
    if wrong.any():
        raise FormatError(
            "results of SwingBench have no place for it",
            expected=f"reports {', '.join(SECTIONS)}; a time in the last one only, entities of transactions only",
            found=str(records.iloc[int(wrong.argmax())].to_dict()),
        )
    results.times, results.tps = (
        records.loc[series, name].to_numpy(dtype=float) for name in ("t", "value")
    )
    columns = (
        records.loc[~series, name].tolist() for name in ("report", "entity", "field", "value")
    )
    for section, transaction, name, value in zip(*columns, strict=True):
        if section != TRANSACTIONS or transaction:
            if (section, transaction, name) in results.values:
                raise FormatError(
                    "a number is given twice", found=f"{name} of {transaction or section}"
                )
            results.values[section, transaction, name] = value, 0
    info = {key: text for key, text in reading.info.items() if key != STRANGERS}
    return results, replace(results.reading(), info=info, warnings=())


def _printed(name: str, value: float) -> str:
    """A number as the tool prints it."""
    if name in DURATIONS:
        thousandths = round(value * 1000)
        rest = f".{thousandths % 1000:03d}" if thousandths % 1000 else ""
        seconds = thousandths // 1000
        return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{rest}"
    return exact_text(value)


def _tag(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][\w.-]*", name, re.ASCII):
        raise FormatError("no name of an element", expected="letters, digits, _ . -", found=name)
    return name


FORMAT = Swingbench()
