"""The JSON that ``sadf -j`` prints, sysstat 10 to 12.

Source: ``json_stats.c`` and ``rndr_stats.c`` of sysstat.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from rawperf.base import Reading, Streaming
from rawperf.core.errors import FormatError
from rawperf.json_lines import first_line, loads, with_lines
from rawperf.pieces import Pieces, recoded
from rawperf.rows import RecordRows, Warnings
from rawperf.sadf.elements import Elements
from rawperf.sadf.samples import COMMAS, TRAILING, SampleReader, check_text, not_json
from rawperf.sadf.walk import ElementPlace, Lines

HEADER = {
    "nodename": "host",
    "sysname": "system",
    "release": "kernel",
    "machine": "machine",
    "number-of-cpus": "cpus",
    "file-date": "date",
    "file-utc-time": "time",
    "timezone": "timezone",
}
"""Facts of the host, and what they are called in ``Reading.info``."""

_BEGINS = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"sysstat"\s*:\s*\{\s*"hosts"')
_OTHER_TOOL = re.compile(rb'"date"\s*:\s*"[^"]*"\s*,\s*"statistics"')  # of mpstat, pidstat, iostat
_LIST = re.compile(rb'"statistics"\s*:\s*\[')
_CLOSED = b"]}]}}"
_BREAKS_OFF = "the file breaks off; its last sample was left out"


class SadfJsonFormat(Streaming):
    """Reader of ``sadf -j``."""

    name = "sadf-json"
    title = "sadf -j output (sysstat, JSON)"

    def sniff(self, head: bytes) -> float:
        """1 for an object whose first key is ``sysstat`` and holds ``hosts``; 0 for mpstat's and
        its like's.
        """
        return 1.0 if _BEGINS.match(head) and not _OTHER_TOOL.search(head) else 0.0

    def blocks(self, stream: BinaryIO, *, file: str = "<bytes>") -> Iterator[Reading]:
        """Read a file; each part ends with a sample, the last one with the restarts and comments.

        ``report`` is the path of objects down to the numbers, or down to the first array
            (``io/io-reads``,
        ``network/net-dev``); deeper objects join the field by ``/``. In an array the identifying
            key is the
        ``entity_kind`` and its value the ``entity``; an array inside an array joins both by ``/``.

        Raises `FormatError` for text that is no JSON (a file that breaks off keeps its whole
        samples), for another structure, and for a number that float64 can't hold.
        """
        return _File(stream, file).blocks()


class _File:
    """A file: what stands before its samples, the samples, what stands behind."""

    def __init__(self, stream: BinaryIO, file: str) -> None:
        self.file = file
        self.said = Warnings(file)
        self.samples = SampleReader(file, self.said)
        self.pieces = Pieces(stream, _behind_bracket, file, by_line=False)
        self.head = b""  # all up to the bracket of the samples
        self.info: dict[str, str] = {}
        self.separated = True  # a sample may come

    def blocks(self) -> Iterator[Reading]:
        within = closed = False
        for piece in self.pieces:
            begin, line = 0, self.pieces.line
            if not within and not closed:
                match = _LIST.search(piece)
                if match is not None:
                    begin, within = match.end(), True
                elif self.pieces.last:
                    begin, closed = len(piece), True
                self.head = piece[:begin]
                self.info = self._facts() if within else {}
                line += self.head.count(b"\n")
            body = piece[begin:]
            if within:
                found = Elements(body)
                end = self._checked(found, line)
                closed = found.closed >= 0
                within = not closed
                records, lines = self.samples.records(found, line)
                self.pieces.back = len(body) - end
            elif self.pieces.last:
                end, (records, lines) = 0, (RecordRows().frame(), RecordRows().lines())
            else:
                self.pieces.back = len(piece)
                continue
            info = self._info()
            if self.pieces.last:
                info = self._behind(body[end:], line + body.count(b"\n", 0, end))
            if self.pieces.last or len(records):
                yield Reading(records, "absolute", info, self.said.new(self.pieces.last), lines)

    def _facts(self) -> dict[str, str]:
        """Facts of the host, as far as they stand before the samples."""
        text = self._text(self.head + _CLOSED, 0)
        try:
            root = loads(text)
        except (ValueError, RecursionError):
            return {}  # is looked at again when the file has ended
        return _facts_of(_host(root, self.file))

    def _info(self) -> dict[str, str]:
        interval = {"interval": self.samples.interval} if self.samples.interval else {}
        zone = {"zone": next(iter(self.samples.zones))} if self.samples.zones else {}
        return {**self.info, **interval, **zone}

    def _text(self, data: bytes, line: int) -> str:
        return recoded(data, line, self.said, self.file).decode()

    def _checked(self, found: Elements, line: int) -> int:
        """Where the samples end, after a look at the commas between them."""
        end = 0
        data = found.data
        for begin, behind in zip(found.begin.tolist(), found.end.tolist(), strict=True):
            between = data[end:begin].strip()
            if between != (b"" if self.separated else b","):
                number = line + data.count(b"\n", 0, begin) + 1
                raise not_json(self.file, number, ValueError(f"between samples: {between[:40]!r}"))
            end, self.separated = behind, False
        return end

    def _behind(self, tail: bytes, line: int) -> dict[str, str]:
        """What the restarts and comments say, once all samples are read; raises `FormatError` as
        `SadfJsonFormat`.
        """
        if len(self.samples.zones) > 1:
            said = f"{self.file}: samples are in the zones {', '.join(self.samples.zones)}; times were taken as printed"
            self.said.say(said)
        head, behind = self._text(self.head, 0), self._text(tail, line)
        if self.samples.number and behind.lstrip()[:1] == ",":
            behind = behind.replace(",", " ", 1)
            if behind.lstrip()[:1] == "]":
                self.said.once("commas", f"{self.file} line {line + 1}: {COMMAS}")
        above = head.count("\n")
        document, places = self._parsed((head + behind).rstrip(), len(head), above, line - above)
        host, where = _host(document, self.file), _host(places, self.file)
        check_text(host, head + behind, self.file)
        self.info = _facts_of(host)
        if _list(host, where, "statistics", self.file) and self.samples.number:
            raise FormatError("two lists of samples", file=self.file, remedy="split the file.")
        marks: dict[str, list[str]] = {"restarts": [], "comments": []}
        for key, name in (("restarts", "boot"), ("comments", "comment")):
            for number, (element, at) in enumerate(_list(host, where, key, self.file), start=1):
                place = ElementPlace(f"{key} {number}", first_line(at), self.file)
                stamp = place.stamp(element, name)
                words = [f"{place.time(stamp):.0f}"]
                words += [" ".join(str(stamp.get("com", "")).split())] if key == "comments" else []
                marks[key].append(" ".join(words))
        info = self._info()
        info |= {"restarts": " ".join(marks["restarts"])} if marks["restarts"] else {}
        return info | ({"comments": "\n".join(marks["comments"])} if marks["comments"] else {})

    def _parsed(self, text: str, head: int, above: int, gone: int) -> tuple[Any, Lines]:
        """The document without its samples, of which `gone` lines are left out behind line `above`,
        and its lines.
        """
        try:
            return _with_lines(text, above, gone)
        except RecursionError as err:
            raise FormatError(
                "nested too deeply", file=self.file, expected="a file made by sadf -j"
            ) from err
        except ValueError as err:
            line = err.lineno if isinstance(err, json.JSONDecodeError) else None
            number = None if line is None else line + (gone if line > above + 1 else 0)
            attempts = {COMMAS: TRAILING.sub("", text)}
            if line == text.count("\n") + 1 and self.samples.number:
                attempts[_BREAKS_OFF] = text[:head] + _CLOSED.decode()
            for sentence, rewritten in attempts.items():
                try:
                    found = _with_lines(rewritten, above, gone)
                except (ValueError, RecursionError):
                    continue
                self.said.say(f"{self.file} line {number}: {sentence}")
                return found
            raise not_json(self.file, number, err) from err


def _behind_bracket(data: bytes) -> int:
    """Where a part of a file may end: no text is cut there within a character."""
    return max(data.rfind(b"}"), data.rfind(b"[")) + 1


def _with_lines(text: str, above: int, gone: int) -> tuple[Any, Lines]:
    document, lines = with_lines(text, loads)
    return document, _moved(lines, above + 1, gone) if gone else lines


def _moved(lines: Lines, above: int, gone: int) -> Lines:
    """The same lines, those behind line `above` moved by as many as are left out there."""
    if isinstance(lines, dict):
        return {key: _moved(value, above, gone) for key, value in lines.items()}
    if isinstance(lines, list):
        return [_moved(value, above, gone) for value in lines]
    return lines + gone if lines > above else lines


def _facts_of(host: dict[str, Any]) -> dict[str, str]:
    return {
        ours: str(host[key]) for key, ours in HEADER.items() if isinstance(host.get(key), str | int)
    }


def _host(root: Any, file: str) -> dict[str, Any]:
    try:
        hosts = root["sysstat"]["hosts"]
        (host,) = hosts
        if isinstance(hosts, list) and isinstance(host, dict):
            return host
    except (TypeError, KeyError, ValueError):
        pass
    found = json.dumps(root)[:80] if isinstance(root, dict | list) else repr(root)[:80]
    expected = "an object sysstat with a list hosts of one object"
    problem, remedy = "not the structure of sadf -j", "one file holds one host."
    raise FormatError(problem, file=file, expected=expected, found=found, remedy=remedy)


def _list(
    host: dict[str, Any], where: dict[str, Lines], key: str, file: str
) -> list[tuple[Any, Lines]]:
    """The elements of a list of the host, each with its lines."""
    found = host.get(key, [])
    if not isinstance(found, list):
        line = first_line(where[key])
        raise FormatError(f"{key} is not a list", file=file, line=line, found=repr(found)[:80])
    return list(zip(found, where.get(key, []), strict=True))


FORMAT = SadfJsonFormat()
