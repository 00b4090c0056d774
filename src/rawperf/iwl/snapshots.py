"""Snapshots of an iwlengine document: parsed one by one, or those of one plain form found all at
once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rawperf.core.errors import FormatError
from rawperf.iwl.xml_mapping import HMS, Mapping
from rawperf.rows import Rows, record_table
from rawperf.text import strings
from rawperf.xml_stream import Target, XmlFeed

MAX_DEPTH = 32
MAX_STRANGERS = 50
_BEFORE = -1.0  # no snapshot has this time or an earlier one
_SHAPE = r"-?(?:[0-9]{1,18}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,2})?"
_NUMBER = re.compile(_SHAPE)
_CLOCK = re.compile(r"(\d{1,6}):([0-5]\d):([0-5]\d)")
_NOT_PLAIN = (b"<!", b"<?", b"&", b"\r", b"/>")
_TEXT = re.compile(rb"(?<=>)\s*+[^<>\s][^<>]*+(?=<)")


class Parsed(Target):
    """What the parser calls: keeps numbers, never a tree, so that memory is bounded by the
    numbers.
    """

    def __init__(self, rules: Mapping, file: str) -> None:
        super().__init__(file, rules.snapshot[0], MAX_DEPTH)
        self.rules = rules
        self.info: dict[str, str] = {}
        self.strangers: set[str] = set()
        self.time = _BEFORE  # of the last snapshot
        self.rows = Rows()
        self.found: dict[str, tuple[str, int]] = {}
        self._begin = 0

    def any(self) -> bool:
        return self.time > _BEFORE

    def begins(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self.path) == 1:
            self.info |= attributes
        inside = self._inside()
        if inside == "":
            self.found, self._begin = {}, self.line()
        if inside is not None:
            for key, value in attributes.items():
                self._take(f"{inside}/@{key}".removeprefix("/"), value)
        elif tuple(self.path) != self.rules.snapshot[: len(self.path)]:
            self._stranger(self.path[-1])

    def ends(self) -> None:
        inside = self._inside()
        if inside == "":
            self._close_snapshot()
        elif inside is not None and (text := "".join(self.text).strip()):
            self._take(inside, text)

    def _inside(self) -> str | None:
        """Path below the snapshot, "" for the snapshot itself, None outside."""
        depth = len(self.rules.snapshot)
        return (
            "/".join(self.path[depth:]) if tuple(self.path[:depth]) == self.rules.snapshot else None
        )

    def _take(self, path: str, text: str) -> None:
        if path != self.rules.time and path not in self.rules.fields:
            self._stranger(path)
        elif path in self.found:
            raise self.error("an element is given twice in one snapshot", f"one {path}", text)
        else:
            self.found[path] = (text, self.line())

    def _stranger(self, path: str) -> None:
        if len(self.strangers) < MAX_STRANGERS:
            self.strangers.add(path)

    def _close_snapshot(self) -> None:
        if self.rules.time not in self.found:
            raise self.error(
                "a snapshot without its time", self.rules.time, " ".join(self.found), self._begin
            )
        text, line = self.found.pop(self.rules.time)
        clock = _CLOCK.fullmatch(text)
        if self.rules.time_unit == HMS and clock is not None:
            time = int(clock[1]) * 3600.0 + int(clock[2]) * 60 + int(clock[3])
        elif self.rules.time_unit != HMS and _NUMBER.fullmatch(text):
            time = float(text) * self.rules.time_factor
        else:
            raise self.error("not a time", self.rules.time_unit, text, line)
        if time <= self.time:
            least = self.time if self.any() else 0
            raise self.error("the time does not grow", f"more than {least:g} s", text, line)
        for path, (text, line) in self.found.items():
            if not _NUMBER.fullmatch(text):
                raise self.error(f"{path} is no number", "a decimal number", text, line)
            field, factor = self.rules.fields[path]
            self.rows.line = line
            self.rows.add(
                self.rules.report, self.rules.entity_kind, "", field, float(text) * factor, time
            )
        self.time = time


@dataclass(frozen=True)
class Form:
    """What all snapshots of a part have in common."""

    pattern: re.Pattern[bytes]  # its groups are the texts
    fixed: int  # bytes between them
    lines: NDArray[np.int64]  # line of each text in its snapshot, from 0, then the number of lines
    time: int  # place of the time among the texts
    fields: tuple[str, ...]  # of the others
    factors: NDArray[np.float64]


class Plain:
    """Reads parts of a document that hold snapshots of one form, one behind the other, and nothing
    else.

    `head` is the document up to its first snapshot.
    """

    def __init__(self, head: bytes, rules: Mapping) -> None:
        self._head, self._rules = head, rules
        self.plain = rules.time_unit != HMS and not any(
            mark in head for mark in (b"<!", b"</", b"/>", b"\r")
        )
        self._closing = re.compile(
            rb"</(?:[\w.-]+:)?" + re.escape(rules.snapshot[-1].encode()) + rb"\s*>\s*"
        )
        self._known: dict[bytes, Form | None] = {}

    def read(
        self, data: bytes, line: int, time: float
    ) -> tuple[pd.DataFrame, NDArray[np.int64], float] | None:
        """Records of whole snapshots, their lines and last time; None where they are not as this
        class needs them.

        `line` is how many lines of the file are before them, `time` that of the last snapshot
            before.
        """
        if not data.isascii() or any(mark in data for mark in _NOT_PLAIN):
            return None
        line += data.count(b"\n", 0, len(data) - len(data.lstrip()))
        data = data.strip()
        first = self._closing.search(data)
        if first is None:
            return None
        data += first[0][
            len(first[0].rstrip()) :
        ]  # between the snapshots stands what stands behind the first one
        parts = _TEXT.split(data[: first.end()])
        shape = b"0".join(parts)
        if shape not in self._known:
            self._known[shape] = self._learned(parts)
        form = self._known[shape]
        if form is None:
            return None
        snapshots = form.pattern.findall(data)
        texts = [text for snapshot in snapshots for text in snapshot]
        if len(snapshots) * form.fixed + sum(map(len, texts)) != len(data):
            return None
        words = pa.array(texts, pa.binary()).cast(pa.string())
        if not pc.all(pc.match_substring_regex(words, f"^{_SHAPE}$")).as_py():
            return None
        values = pc.cast(words, pa.float64()).to_numpy().reshape(len(snapshots), -1)
        times = values[:, form.time] * self._rules.time_factor
        if (np.diff(times, prepend=time) <= 0).any():
            return None
        width = len(form.fields)
        lines = line + 1 + form.lines[-1] * np.arange(len(snapshots))[:, None] + form.lines[:-1]
        value, lines = (np.delete(part, form.time, axis=1) for part in (values, lines))
        field = strings(form.fields, np.tile(np.arange(width), len(snapshots)))
        report, kind = self._rules.report, self._rules.entity_kind
        records = record_table(
            report, kind, "", field, np.repeat(times, width), (value * form.factors).ravel()
        )
        return records, lines.ravel(), float(times[-1])

    def _learned(self, parts: list[bytes]) -> Form | None:
        """What the parser makes of a snapshot whose texts are their places; `parts` stand around
        them.
        """
        count, target = len(parts) - 1, Parsed(self._rules, "<snapshot>")
        try:
            numbered = b"".join(part + b"%d" % place for place, part in enumerate(parts[:-1]))
            XmlFeed(target).feed(self._head + numbered + parts[-1])
        except FormatError:
            return None
        places = [text for text, _ in target.found.values()]  # without that of the time
        time = next((place for place in range(count) if str(place) not in places), count)
        whole = places == [str(place) for place in range(count) if place != time] and time < count
        attributes = any(b"=" in part for part in parts)
        if count < 2 or not whole or attributes or target.strangers:
            return None
        names, factors = zip(*(self._rules.fields[path] for path in target.found), strict=True)
        lines = np.cumsum([part.count(b"\n") for part in parts])
        pattern = re.compile(rb"([^<]*)".join(map(re.escape, parts)))
        return Form(
            pattern, sum(map(len, parts)), lines, time, names, np.array(factors, dtype=float)
        )
