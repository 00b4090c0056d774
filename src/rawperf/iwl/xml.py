"""Reader of XML interval snapshots of the WebSphere Studio Workload Simulator, by a mapping file.

No schema of these files is public. The element paths are therefore data: ``xml_mapping.yaml``, with
assumed element names, or a mapping of the user's own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

from rawperf.base import Reading, Streaming
from rawperf.core.errors import FormatError, RawperfError
from rawperf.core.units import conversion_factor
from rawperf.core.yamlio import load_yaml
from rawperf.rows import RecordBuilder, Warnings
from rawperf.xml_stream import XmlParser, XmlPieceReader, XmlTarget

SHIPPED_MAPPING = Path(__file__).with_name("xml_mapping.yaml")
HMS = "HH:MM:SS"
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class Mapping:
    """Paths of the numbers in a document."""

    snapshot: tuple[str, ...]  # element names from the root to the repeated element
    time: str  # path of the elapsed time below the snapshot
    time_unit: str  # a unit of time, or HH:MM:SS
    time_factor: float  # seconds in one printed unit of time
    report: str
    entity_kind: str
    # path below the snapshot -> field name, factor of the printed number
    fields: dict[str, tuple[str, float]]


def load_mapping(path: Path | str) -> Mapping:
    """Read a mapping file; raises `StudyError` (with its line) if it is invalid."""
    path = Path(path)
    return _load_mapping(path, path.stat().st_mtime_ns if path.is_file() else 0)


@lru_cache(maxsize=16)
def _load_mapping(path: Path, _version: int) -> Mapping:
    document = load_yaml(path)

    def text(where: tuple[str | int, ...], default: str | None = None) -> str:
        part: Any = document.data
        try:
            for key in where:
                part = part[key]
        except (KeyError, TypeError):
            part = default
        if not isinstance(part, str):
            raise document.error(f"{'/'.join(map(str, where))} is missing or not text", *where)
        return part

    def steps(where: tuple[str | int, ...], attribute: bool = True) -> str:
        path = text(where)
        *above, last = path.split("/")
        if not all(
            NAME.fullmatch(name) for name in (*above, last.removeprefix("@") if attribute else last)
        ):
            raise document.error(
                f"{path!r} is not a path", *where, expected="element names joined by '/'"
            )
        return path

    def factor(where: tuple[str | int, ...], unit: str, to: str) -> float:
        try:
            return conversion_factor(unit, to)
        except RawperfError as err:
            raise document.error(str(err), *where) from err

    if "/" not in text(("snapshot",)):
        raise document.error(
            "snapshot is the root element itself", "snapshot", expected="root/element"
        )
    field_entries = document.data.get("fields")
    if not isinstance(field_entries, list) or not field_entries:
        raise document.error("fields is missing or not a list", "fields")
    fields: dict[str, tuple[str, float]] = {}
    for i in range(len(field_entries)):
        unit = text(("fields", i, "unit"))
        scale = factor(("fields", i, "unit"), unit, text(("fields", i, "to"), unit))
        fields[steps(("fields", i, "path"))] = (text(("fields", i, "field")), scale)
    time_unit = text(("time", "unit"))
    return Mapping(
        snapshot=tuple(steps(("snapshot",), attribute=False).split("/")),
        time=steps(("time", "path")),
        time_unit=time_unit,
        time_factor=1.0 if time_unit == HMS else factor(("time", "unit"), time_unit, "s"),
        report=text(("report",), "snapshot"),
        entity_kind=text(("entity_kind",), "driver"),
        fields=fields,
    )


MAPPING_VARIABLE = "VIRTPERF_IWL_XML_MAPPING"

MAX_DEPTH = 32
MAX_UNMAPPED = 50
_NO_SNAPSHOT_YET = -1.0  # sentinel: earlier than any snapshot
_NUMBER = re.compile(r"-?(?:[0-9]{1,18}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,2})?")
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


class IwlXml(Streaming):
    """Reader of the snapshots; see docs/formats/iwl-xml.md."""

    name = "iwl-xml"
    title = "WebSphere Studio Workload Simulator XML snapshots"

    @property
    def mapping(self) -> Mapping:
        """Mapping in use: the one named by the environment, else the packaged one."""
        return load_mapping(os.environ.get(MAPPING_VARIABLE) or SHIPPED_MAPPING)

    def sniff(self, head: bytes) -> float:
        """0.6 if the root is the mapping's, 0.95 if a snapshot follows."""
        path = self.mapping.snapshot
        tags = re.findall(rb"<(?:[\w.-]+:)?([A-Za-z_][\w.-]*)", head)
        if (
            not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
            or not tags
            or tags[0] != path[0].encode()
        ):
            return 0.0
        return 0.95 if path[-1].encode() in tags else 0.6

    def blocks(self, stream: BinaryIO, *, file: str = "<bytes>") -> Iterator[Reading]:
        """Read snapshots on the elapsed clock.

        Raises `FormatError` for bad, hostile or foreign XML.
        """
        mapping = self.mapping
        target, warnings = SnapshotTarget(mapping, file), Warnings(file)
        pieces, feed = XmlPieceReader(stream, warnings, file), XmlParser(target)
        for piece in pieces:
            feed.feed(piece)
            truncated_at = feed.close() if pieces.is_last else 0
            if truncated_at:
                warnings.add_located(
                    f"{file} line {truncated_at}: the document is truncated; the snapshots before this line were kept"
                )
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
            rows, target.rows = target.rows, RecordBuilder()
            if pieces.is_last or len(rows):
                yield Reading(
                    rows.to_frame(),
                    "elapsed",
                    dict(target.info),
                    warnings.drain(pieces.is_last),
                    rows.lines(),
                )


FORMAT = IwlXml()
