"""Snapshots of one form after the other: the parser sees one of a form, and the numbers of all are found at once."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from virtperf.core.errors import FormatError
from virtperf.formats.iwl.xml_mapping import HMS, Mapping
from virtperf.formats.rows import record_table
from virtperf.formats.text import strings
from virtperf.formats.xml_stream import Target, XmlFeed

NUMBER = r"-?(?:[0-9]{1,18}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,2})?"
_NOT_PLAIN = (b"<!", b"<?", b"&", b"\r", b"/>")
_OPENING = re.compile(rb"<([A-Za-z_][\w.:-]*)")


@dataclass(frozen=True)
class Form:
    """Which of the texts in a snapshot are what."""

    texts: int  # how many it has
    time: int  # the place of its time
    places: NDArray[np.int64]  # those of its numbers
    fields: tuple[str, ...]
    factors: NDArray[np.float64]


class Snapshots:
    """Reads parts of a document that hold plain snapshots of one form, one behind the other, and nothing else.

    `head` is the document up to its first snapshot.
    """

    def __init__(self, head: bytes, rules: Mapping) -> None:
        self._head, self._rules = head, rules
        names = _OPENING.findall(head)
        self._tail = b"".join(b"</" + name + b">" for name in reversed(names))
        self.plain = rules.time_unit != HMS and not any(mark in head for mark in (b"<!", b"</", b"/>", b"\r"))
        self._known: dict[bytes, Form | None] = {}

    def read(self, data: bytes, line: int, time: float) -> tuple[pd.DataFrame, NDArray[np.int64], float] | None:
        """Records of whole snapshots, their lines and last time; None where they are not as this class needs them.

        `line` is how many lines of the file are before them, `time` that of the last snapshot before.
        """
        if not data.isascii() or any(mark in data for mark in _NOT_PLAIN):
            return None
        blank = len(data) - len(data.lstrip())
        data, line = data[blank:], line + data.count(b"\n", 0, blank)
        bytes_ = np.frombuffer(data, np.uint8)
        opening, closing = np.flatnonzero(bytes_ == ord("<")), np.flatnonzero(bytes_ == ord(">"))
        if not data.startswith(b"<") or len(opening) != len(closing) or (opening > closing).any():
            return None
        begin, end = closing[:-1] + 1, opening[1:]
        if (begin > end).any():
            return None
        ink = bytes_ > ord(" ")
        edge = ink[begin] & (begin < end)
        inked = np.append(0, np.cumsum(ink))
        if ((inked[end] > inked[begin]) != edge).any():  # a text with blanks before it
            return None
        texts = np.flatnonzero(edge)
        begin, end = begin[texts], end[texts]
        if not ink[end - 1].all():
            return None
        inside = np.zeros(len(data) + 1, dtype=np.int8)
        inside[begin] = 1
        inside[end] -= 1
        within = np.cumsum(inside[:-1], dtype=np.int8).view(bool)
        form = self._form(data, bytes_, begin, within)
        if form is None or len(begin) % form.texts:
            return None
        offsets = np.concatenate([[0], np.cumsum(end - begin)]).astype(np.int32)
        words = pa.StringArray.from_buffers(len(begin), pa.py_buffer(offsets), pa.py_buffer(bytes_[within]))
        count = len(begin) // form.texts
        base = form.texts * np.arange(count)
        picked = base[:, None] + np.append(form.time, form.places)
        words = words.take(pa.array(picked.ravel()))
        if not pc.all(pc.match_substring_regex(words, f"^{NUMBER}$")).as_py():
            return None
        values = pc.cast(words, pa.float64()).to_numpy().reshape(picked.shape)
        times = values[:, 0] * self._rules.time_factor
        if (np.diff(times, prepend=time) <= 0).any():
            return None
        newlines = np.flatnonzero(bytes_ == ord("\n"))
        lines = np.searchsorted(newlines, begin[picked[:, 1:].ravel()]) + line + 1
        rules, width = self._rules, len(form.fields)
        field = strings(form.fields, np.tile(np.arange(width), count))
        t, value = np.repeat(times, width), (values[:, 1:] * form.factors).ravel()
        return record_table(rules.report, rules.entity_kind, "", field, t, value), lines, float(times[-1])

    def _form(
        self, data: bytes, bytes_: NDArray[np.uint8], begin: NDArray[np.int64], within: NDArray[np.bool_]
    ) -> Form | None:
        """The form of all snapshots of a part; None where it is not one."""
        kept = ~within
        kept[begin] = True
        text = bytes_.copy()
        text[begin] = ord("0")
        shape = text[kept].tobytes()
        closing = rb"</(?:[\w.-]+:)?" + re.escape(self._rules.snapshot[-1].encode()) + rb"\s*>\s*"
        first = re.search(closing, shape)
        if first is None:
            return None
        unit = shape[: first.end()]
        # between the snapshots stands what stands behind the first one; behind the last one there may be less
        count = -(-len(shape) // len(unit))
        if not (unit * count).startswith(shape) or (unit * count)[len(shape) :].strip():
            return None
        if unit not in self._known:
            self._known[unit] = self._learned(unit)
        return self._known[unit]

    def _learned(self, unit: bytes) -> Form | None:
        """What the parser makes of a snapshot whose texts are their places."""
        parts = re.split(rb">0<", unit)
        numbered = b"".join(part + b">%d<" % place for place, part in enumerate(parts[:-1])) + parts[-1]
        target = _Places(self._rules)
        try:
            feed = XmlFeed(target)
            feed.feed(self._head + numbered + self._tail)
            feed.close()
        except FormatError:
            return None
        found = target.found
        time = found.pop(self._rules.time, None)
        if target.snapshots != 1 or target.other or time is None:
            return None
        fields = [self._rules.fields[path] for path in found]
        names, factors = tuple(name for name, _ in fields), np.array([factor for _, factor in fields], dtype=float)
        return Form(len(parts) - 1, time, np.array(list(found.values()), dtype=np.int64), names, factors)


class _Places(Target):
    """Learns where in a snapshot the numbers stand."""

    def __init__(self, rules: Mapping) -> None:
        super().__init__("<snapshot>", rules.snapshot[0], 32)
        self._rules = rules
        self.found: dict[str, int] = {}
        self.snapshots = 0
        self.other = False

    def begins(self, tag: str, attributes: dict[str, str]) -> None:
        depth = len(self._rules.snapshot)
        self.snapshots += tuple(self.path) == self._rules.snapshot
        elsewhere = tuple(self.path[:depth]) != self._rules.snapshot[: len(self.path)]
        self.other |= elsewhere or (len(self.path) >= depth and bool(attributes))

    def ends(self) -> None:
        depth = len(self._rules.snapshot)
        text = "".join(self.text).strip()
        if len(self.path) <= depth or not text:
            self.other |= bool(text)
            return
        path = "/".join(self.path[depth:])
        if path in self.found or (path != self._rules.time and path not in self._rules.fields):
            self.other = True
        elif path:
            self.found[path] = int(text)
