"""XML interval snapshots of the WebSphere Studio Workload Simulator, read through a mapping file.

No schema of these files is public. So what stands where is data: ``xml_mapping.yaml``, whose
element names are assumed, or a mapping of the user's own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import BinaryIO
from xml.etree.ElementTree import Element, SubElement, indent, tostring  # for writing only

import numpy as np

from rawperf.base import Reading, Streaming, joined
from rawperf.core.errors import FormatError
from rawperf.iwl.snapshots import Parsed, Plain
from rawperf.iwl.xml_mapping import HMS, NAME, SHIPPED_MAPPING, Mapping, load_mapping
from rawperf.pieces import Pieces, recoded
from rawperf.rows import Rows, Warnings, refused
from rawperf.text import exact_text
from rawperf.xml_stream import XmlFeed, declared

MAPPING_VARIABLE = "VIRTPERF_IWL_XML_MAPPING"


class IwlXml(Streaming):
    """Reader and writer of the snapshots; see docs/formats/iwl-xml.md."""

    name = "iwl-xml"
    title = "WebSphere Studio Workload Simulator XML snapshots"

    @property
    def mapping(self) -> Mapping:
        """The mapping in use: the environment's, else the shipped one."""
        return load_mapping(os.environ.get(MAPPING_VARIABLE) or SHIPPED_MAPPING)

    def sniff(self, head: bytes) -> float:
        """Sure when the root is the mapping's, surer when a snapshot follows."""
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
        """Snapshots on the elapsed clock; raises `FormatError` for bad, hostile or foreign XML.

        Those of the same plain form are not parsed one by one.
        """
        rules = self.mapping
        target, said = Parsed(rules, file), Warnings(file)
        pieces = Pieces(stream, lambda data: data.rfind(b">") + 1, file, by_line=False)
        opening = re.compile(
            rb"<(?:[\w.-]+:)?" + re.escape(rules.snapshot[-1].encode()) + rb"[\s>]"
        )
        closing = re.compile(
            rb"</(?:[\w.-]+:)?" + re.escape(rules.snapshot[-1].encode()) + rb"\s*>"
        )
        plain: Plain | None = None
        feed: XmlFeed | None = None
        recode = False
        for piece in pieces:
            line, quick = pieces.line, list[Reading]()
            if plain is None and feed is None:
                match = opening.search(piece)
                head = piece[: match.start()] if match else b""
                recode = not declared(piece)
                plain = Plain(head, rules)
                if match is None or not plain.plain or not _begins(head, target, recode):
                    feed, head = XmlFeed(target), b""
                piece, line = piece[len(head) :], line + head.count(b"\n")
            if feed is None and plain is not None:
                end = _last_end(closing, piece)
                found = plain.read(piece[:end], line, target.time) if end else None
                if found is not None:
                    records, lines, target.time = found
                    quick = [Reading(records, "elapsed", dict(target.info), said.new(False), lines)]
                    if not pieces.last:
                        pieces.back = len(piece) - end
                        yield quick[0]
                        continue
                    line += piece.count(b"\n", 0, end)
                    piece = piece[end:]
                feed = XmlFeed(target, line - head.count(b"\n"))
                feed.feed(head)
            assert feed is not None
            feed.feed(recoded(piece, line, said, file) if recode else piece)
            cut = feed.close() if pieces.last else 0
            if cut:
                said.say(
                    f"{file} line {cut}: the document ends early; the snapshots before it were kept"
                )
            strangers = " ".join(sorted(target.strangers))
            if pieces.last and not target.any():
                raise FormatError(
                    "no snapshot in the document",
                    file=file,
                    expected="/".join(rules.snapshot),
                    found=strangers or "no other element",
                    remedy=f"the element names are those of a mapping file; set {MAPPING_VARIABLE} to your own.",
                )
            if strangers:
                target.info["elements not mapped"] = strangers
            rows, target.rows = target.rows, Rows()
            if pieces.last or len(rows):
                info, warnings = dict(target.info), said.new(pieces.last)
                yield joined(
                    [*quick, Reading(rows.frame(), "elapsed", info, warnings, rows.lines())]
                )

    def write(self, reading: Reading) -> bytes:
        """The document of a reading, by the mapping in use; raises `FormatError` for what it has no
        place for.
        """
        rules = self.mapping
        places = {field: (path, factor) for path, (field, factor) in rules.fields.items()}
        if rules.time_unit == HMS or not all(
            NAME.fullmatch(path) for path in (rules.time, *rules.fields)
        ):
            raise refused(
                self.name, "by the mapping, numbers are no plain children of their snapshot"
            )
        if reading.info or reading.records.empty or reading.records["t"].isna().any():
            raise refused(
                self.name, "snapshots, each with its elapsed time, and no facts", str(reading.info)
            )
        root = parent = Element(rules.snapshot[0])
        for name in rules.snapshot[1:-1]:
            parent = SubElement(parent, name)
        snapshots: dict[float, Element] = {}
        for t, field, value in reading.records[["t", "field", "value"]].itertuples(
            index=False, name=None
        ):
            if t not in snapshots:
                snapshots[t] = SubElement(parent, rules.snapshot[-1])
                SubElement(snapshots[t], rules.time).text = exact_text(t / rules.time_factor)
            if field not in places or not np.isfinite(value):
                raise refused(
                    self.name,
                    "the mapping has no place for it",
                    f"{field}={value}",
                    ", ".join(places),
                )
            path, factor = places[field]
            SubElement(snapshots[t], path).text = exact_text(value / factor)
        indent(root)
        return tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def _begins(head: bytes, target: Parsed, recode: bool) -> bool:
    """Whether the parser takes what stands before the first snapshot; `target` then knows the
    root's attributes.
    """
    trial = Parsed(target.rules, target.file)
    if (not recode and b"utf-8" not in head[:200].lower()) or not head.isascii():
        return False
    try:
        XmlFeed(trial).feed(head)
    except FormatError:
        return False
    target.info |= trial.info
    return tuple(trial.path) == target.rules.snapshot[:-1] and not trial.strangers


def _last_end(closing: re.Pattern[bytes], piece: bytes) -> int:
    """Where the last snapshot of a piece ends, 0 where none does."""
    at = len(piece)
    while (at := piece.rfind(b"</", 0, at)) >= 0:
        if match := closing.match(piece, at):
            return match.end()
    return 0


FORMAT = IwlXml()
