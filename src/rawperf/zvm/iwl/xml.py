"""Reader of XML interval snapshots of the WebSphere Studio Workload Simulator, by a mapping file.

No schema of these files is public. The element paths are therefore data: see `mapping`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rawperf.base import ParsedFile, RecordBuilder, Streaming, Warnings, build_records
from rawperf.core.errors import FormatError
from rawperf.recognition import Recognised
from rawperf.text import take_strings
from rawperf.xml_stream import XmlParser, XmlPieceReader, XmlTarget, declares_encoding
from rawperf.zvm.iwl.mapping import HMS, MAPPING_VARIABLE, Mapping, mapping_in_use

MAX_DEPTH = 32
MAX_UNMAPPED = 50
_NO_SNAPSHOT_YET = -1.0  # sentinel: earlier than any snapshot
_NUMBER_PATTERN = r"-?(?:[0-9]{1,18}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,2})?"
_NUMBER = re.compile(_NUMBER_PATTERN)
_CLOCK = re.compile(r"(\d{1,6}):([0-5]\d):([0-5]\d)")


class SnapshotTarget(XmlTarget):
    """Parser target that keeps numbers but no tree, so that memory is bounded by the numbers."""

    def __init__(self, mapping: Mapping, file: str) -> None:
        super().__init__(file, mapping.snapshot[0], MAX_DEPTH)
        self.mapping = mapping
        self.info: dict[str, str] = {}
        self.unmapped: set[str] = set()
        self.time = _NO_SNAPSHOT_YET  # time of the last snapshot
        self.rows = RecordBuilder()
        self.text_and_line_by_path: dict[str, tuple[str, int]] = {}
        self._begin = 0

    def has_content(self) -> bool:
        return self.time > _NO_SNAPSHOT_YET

    def on_start(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self.path) == 1:
            self.info |= attributes
        path_below = self._path_below_snapshot()
        if path_below == "":
            self.text_and_line_by_path, self._begin = {}, self.line()
        if path_below is not None:
            for key, value in attributes.items():
                self._add_value(f"{path_below}/@{key}".removeprefix("/"), value)
        elif tuple(self.path) != self.mapping.snapshot[: len(self.path)]:
            self._note_unmapped(self.path[-1])

    def on_end(self) -> None:
        path_below = self._path_below_snapshot()
        if path_below == "":
            self._close_snapshot()
        elif path_below is not None and (text := "".join(self.text).strip()):
            self._add_value(path_below, text)

    def _path_below_snapshot(self) -> str | None:
        """Path below the snapshot, "" for the snapshot itself, None outside."""
        depth = len(self.mapping.snapshot)
        return (
            "/".join(self.path[depth:])
            if tuple(self.path[:depth]) == self.mapping.snapshot
            else None
        )

    def _add_value(self, path: str, text: str) -> None:
        if path != self.mapping.time and path not in self.mapping.fields:
            self._note_unmapped(path)
        elif path in self.text_and_line_by_path:
            raise self.error("an element is given twice in one snapshot", f"one {path}", text)
        else:
            self.text_and_line_by_path[path] = (text, self.line())

    def _note_unmapped(self, path: str) -> None:
        if len(self.unmapped) < MAX_UNMAPPED:
            self.unmapped.add(path)

    def _close_snapshot(self) -> None:
        if self.mapping.time not in self.text_and_line_by_path:
            raise self.error(
                "a snapshot without a time",
                self.mapping.time,
                " ".join(self.text_and_line_by_path),
                self._begin,
            )
        text, line = self.text_and_line_by_path.pop(self.mapping.time)
        clock = _CLOCK.fullmatch(text)
        if self.mapping.time_unit == HMS and clock is not None:
            time = int(clock[1]) * 3600.0 + int(clock[2]) * 60 + int(clock[3])
        elif self.mapping.time_unit != HMS and _NUMBER.fullmatch(text):
            time = float(text) * self.mapping.time_factor
        else:
            raise self.error("not a time", self.mapping.time_unit, text, line)
        if time <= self.time:
            least = self.time if self.has_content() else 0
            raise self.error("the time does not increase", f"more than {least:g} s", text, line)
        for path, (text, line) in self.text_and_line_by_path.items():
            if not _NUMBER.fullmatch(text):
                raise self.error(f"{path} is not a number", "a decimal number", text, line)
            field, factor = self.mapping.fields[path]
            self.rows.line = line
            self.rows.add(
                self.mapping.report, self.mapping.entity_kind, "", field, float(text) * factor, time
            )
        self.time = time


_PARSED_MARKS = (b"<!", b"<?", b"&", b"/>")
"""Marks of comments, document types, instructions, references and empty elements."""
_UTF_8 = re.compile(rb"encoding\s*=\s*[\"'][uU][tT][fF]-8[\"']")
_ELEMENT_TEXT = re.compile(rb"(?<=>)\s*+[^<>\s][^<>]*+(?=<)")


@dataclass(frozen=True)
class _SnapshotForm:
    """What snapshots that differ only in their numbers have in common."""

    pattern: re.Pattern[bytes]  # of a snapshot; its groups are the numbers
    size: int  # bytes of a snapshot beside the numbers
    lines: NDArray[np.int64]  # line of each number in the snapshot, from 0, then number of lines
    time: int  # index of the time among the numbers
    fields: tuple[str, ...]  # of the other numbers
    factors: NDArray[np.float64]


class SnapshotScanner:
    """Scanner of snapshots that differ only in their numbers, without parsing each of them.

    The parser reads the first one of a form, and everything that has another form. `begin` is the
    beginning of the document, in UTF-8 unless it declares another encoding.

    Attributes
    ----------
    head : bytes
        The document up to the first snapshot.
    info : dict of str to str
        Attributes of the root element.
    is_usable : bool
        Whether the parser accepts the head, and the snapshots are children of its last element.
    """

    def __init__(self, begin: bytes, mapping: Mapping, file: str) -> None:
        name = rb"(?:[\w.-]+:)?" + re.escape(mapping.snapshot[-1].encode())
        opening = re.search(rb"<" + name + rb"[\s>]", begin)
        self._closing = re.compile(rb"</" + name + rb"\s*>\s*")
        self._mapping, self._file = mapping, file
        self._forms: dict[bytes, _SnapshotForm | None] = {}
        self.head, self.info = begin[: opening.start()] if opening else b"", dict[str, str]()
        self.is_usable = opening is not None and mapping.time_unit != HMS and self._check_head()

    def _check_head(self) -> bool:
        is_plain = self.head.isascii() and not any(
            mark in self.head for mark in (b"<!", b"</", b"/>", b"\r")
        )
        if not is_plain or (declares_encoding(self.head) and not _UTF_8.search(self.head)):
            return False
        target = self._parse(b"")
        if target is None:
            return False
        self.info = target.info
        return tuple(target.path) == self._mapping.snapshot[:-1] and not target.unmapped

    def _parse(self, text: bytes) -> SnapshotTarget | None:
        """Parse the head and a text; None if that fails."""
        target = SnapshotTarget(self._mapping, self._file)
        try:
            XmlParser(target).feed(self.head + text)
        except FormatError:
            return None
        return target

    def find_end(self, data: bytes) -> int:
        """Offset after the last snapshot that ends in `data`, 0 if none does."""
        position = len(data)
        while (position := data.rfind(b"</", 0, position)) >= 0:
            if match := self._closing.match(data, position):
                return match.end()
        return 0

    def scan(
        self, data: bytes, lines_before: int, time: float
    ) -> tuple[pd.DataFrame, NDArray[np.int64], float] | None:
        """Records of whole snapshots, their lines, and the last time; None to leave them to the
        parser.

        `lines_before` is the number of lines of the file before `data`, `time` the time of the last
        snapshot before it.
        """
        if not data.isascii() or any(mark in data for mark in _PARSED_MARKS):
            return None
        data = data.replace(b"\r\n", b"\n")
        lines_before += data.count(b"\n", 0, len(data) - len(data.lstrip()))
        data = data.strip()
        first = self._closing.search(data)
        if first is None or b"\r" in data:
            return None
        data += first[0][len(first[0].rstrip()) :]  # blanks between snapshots
        parts = _ELEMENT_TEXT.split(data[: first.end()])
        key = b"0".join(parts)
        if key not in self._forms:
            self._forms[key] = self._learn(parts)
        form = self._forms[key]
        if form is None:
            return None
        snapshots = form.pattern.findall(data)
        texts = [text for snapshot in snapshots for text in snapshot]
        if len(snapshots) * form.size + sum(map(len, texts)) != len(data):
            return None
        words = pa.array(texts, pa.binary()).cast(pa.string())
        if not pc.all(pc.match_substring_regex(words, f"^(?:{_NUMBER_PATTERN})$")).as_py():
            return None
        numbers = pc.cast(words, pa.float64()).to_numpy().reshape(len(snapshots), -1)
        times = numbers[:, form.time] * self._mapping.time_factor
        if (np.diff(times, prepend=time) <= 0).any():
            return None
        first_lines = lines_before + 1 + form.lines[-1] * np.arange(len(snapshots))
        lines = np.delete(first_lines[:, None] + form.lines[:-1], form.time, axis=1)
        values = np.delete(numbers, form.time, axis=1) * form.factors
        width = len(form.fields)
        records = build_records(
            self._mapping.report,
            self._mapping.entity_kind,
            "",
            take_strings(form.fields, np.tile(np.arange(width), len(snapshots))),
            np.repeat(times, width),
            values.ravel(),
        )
        return records, lines.ravel(), float(times[-1])

    def _learn(self, parts: list[bytes]) -> _SnapshotForm | None:
        """Form of a snapshot that consists of `parts` with a number between each two.

        It is parsed with the index of each number in place of the number.
        """
        count = len(parts) - 1
        numbered = b"".join(part + b"%d" % index for index, part in enumerate(parts[:-1]))
        target = self._parse(numbered + parts[-1])
        if target is None or tuple(target.path) != self._mapping.snapshot[:-1]:
            return None
        indices = [text for text, _ in target.text_and_line_by_path.values()]  # not of the time
        time = next((index for index in range(count) if str(index) not in indices), count)
        others = [str(index) for index in range(count) if index != time]
        if count < 2 or indices != others or target.unmapped or any(b"=" in part for part in parts):
            return None
        fields, factors = zip(
            *(self._mapping.fields[path] for path in target.text_and_line_by_path), strict=True
        )
        return _SnapshotForm(
            re.compile(rb"([^<]*)".join(map(re.escape, parts))),
            sum(map(len, parts)),
            np.cumsum([part.count(b"\n") for part in parts]),
            time,
            fields,
            np.array(factors, dtype=float),
        )


class IwlXml(Recognised, Streaming):
    """Reader of the snapshots; see docs/formats/iwl-xml.md."""

    name = "iwl-xml"
    title = "WebSphere Studio Workload Simulator XML snapshots"

    def blocks(self, stream: BinaryIO, *, file: str = "<bytes>") -> Iterator[ParsedFile]:
        """Read snapshots on the elapsed clock.

        Raises `FormatError` for bad, hostile or foreign XML.
        """
        mapping = mapping_in_use()
        target, warnings = SnapshotTarget(mapping, file), Warnings(file)
        pieces = XmlPieceReader(stream, warnings, file)
        scanner: SnapshotScanner | None = None
        parser: XmlParser | None = None  # reads all that follows what was scanned
        data, lines_before = b"", 0  # what is left of earlier pieces, and lines before it
        for piece in pieces:
            data += piece
            if scanner is None:
                scanner = SnapshotScanner(data, mapping, file)
                if scanner.is_usable:
                    target.info |= scanner.info
                    lines_before, data = scanner.head.count(b"\n"), data[len(scanner.head) :]
                else:
                    parser = XmlParser(target)
            if parser is None:
                end = scanner.find_end(data)
                found = scanner.scan(data[:end], lines_before, target.time)
                if found is not None:
                    records, lines, target.time = found
                    yield ParsedFile(
                        records, "elapsed", dict(target.info), warnings.drain(False), lines
                    )
                    lines_before, data = lines_before + data.count(b"\n", 0, end), data[end:]
                    if not pieces.is_last:
                        continue
                parser = XmlParser(target)
                parser.feed(scanner.head)
                target.lines_skipped = lines_before - scanner.head.count(b"\n")
            parser.feed(data)
            data = b""
            truncated_at = parser.close() if pieces.is_last else 0
            if truncated_at:
                sentence = "the document is truncated; the snapshots before this line were kept"
                warnings.add_always(truncated_at, sentence)
            unmapped = " ".join(sorted(target.unmapped))
            if pieces.is_last and not target.has_content():
                raise FormatError(
                    "no snapshot in the document",
                    file=file,
                    expected="/".join(mapping.snapshot),
                    found=unmapped or "no other element",
                    remedy="the element names come from a mapping file; "
                    f"set {MAPPING_VARIABLE} to your own mapping file.",
                )
            if unmapped:
                target.info["elements not mapped"] = unmapped
            records, lines = target.rows.take()
            if pieces.is_last or len(records):
                messages = warnings.drain(pieces.is_last)
                yield ParsedFile(records, "elapsed", dict(target.info), messages, lines)


FORMAT = IwlXml()
