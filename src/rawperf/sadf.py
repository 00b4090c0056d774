"""Reader of the JSON output of ``sadf -j``, sysstat 10 to 12.

Most samples have the same form as the previous one: only the first sample of a form is traversed,
and the numbers of the others are extracted without building objects.

Source: ``json_stats.c`` and ``rndr_stats.c`` of sysstat.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rawperf.base import ParsedFile, RecordBuilder, Streaming, Warnings, build_records
from rawperf.core.errors import FormatError
from rawperf.core.sample_rows import HOST
from rawperf.json_lines import TOKEN, first_line, loads_strict, parse_with_lines
from rawperf.recognition import Recognised
from rawperf.text import DAY, EPOCH, IndexArray, PieceReader, clock_seconds, recode, take_strings

_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_QUOTE, _OPENING, _CLOSING, _LETTER_BIT = ord('"'), ord("{"), ord("}"), 0x20
_IN_NUMBERS = np.zeros(256, dtype=bool)
_IN_NUMBERS[list(b"0123456789+-.eE")] = True
_BEGINS_NUMBER = np.zeros(256, dtype=bool)
_BEGINS_NUMBER[list(b"0123456789-")] = True
_NUMBER = r"^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?$"


class ListElements:
    """Offsets of the elements (objects and arrays) of a JSON list, and of their numbers.

    `data` begins after the list's bracket, or after an element.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        without_escapes = _ESCAPE.sub(b"__", data) if b"\\" in data else data
        text = np.frombuffer(without_escapes, np.uint8)
        is_outside_strings = np.bitwise_xor.accumulate((text == _QUOTE).view(np.uint8)) == 0
        kind = text | np.uint8(_LETTER_BIT)  # maps [ to { and ] to }
        brackets = np.flatnonzero(((kind == _OPENING) | (kind == _CLOSING)) & is_outside_strings)
        depth = np.cumsum(np.where(kind[brackets] == _OPENING, 1, -1))
        closing = np.flatnonzero(depth < 0)
        # offset of the list's closing bracket, -1 if it is not in `data`
        self.closed = int(brackets[closing[0]]) if len(closing) else -1
        if len(closing):
            brackets, depth = brackets[: closing[0]], depth[: closing[0]]
        ends = np.flatnonzero(depth == 0)
        # offsets of the complete elements
        self.end: IndexArray = brackets[ends] + 1
        self.begin: IndexArray = brackets[np.append(0, ends[:-1] + 1)] if len(ends) else ends
        inside = _IN_NUMBERS[text] & is_outside_strings
        edges = np.flatnonzero(np.diff(inside, prepend=False, append=False))
        number_begins, number_ends = edges[::2], edges[1::2]
        is_number = _BEGINS_NUMBER[text[number_begins]]
        for k in np.flatnonzero(~is_number).tolist():  # the e of true and false
            inside[number_begins[k] : number_ends[k]] = False
        # offsets of the numbers
        self.number_begin: IndexArray = number_begins[is_number]
        self.number_end: IndexArray = number_ends[is_number]
        self._inside, self._text = inside, text

    def shapes(self) -> list[bytes]:
        """Text of each element with each number replaced by 0."""
        original = np.frombuffer(self.data, np.uint8).copy()
        original[self.number_begin] = ord("0")
        is_kept = ~self._inside
        is_kept[self.number_begin] = True
        text = original[is_kept].tobytes()
        n_removed = np.concatenate([[0], np.cumsum(self.number_end - self.number_begin - 1)])

        def shifted(positions: IndexArray) -> list[int]:
            offsets: list[int] = (
                positions - n_removed[np.searchsorted(self.number_begin, positions)]
            ).tolist()
            return offsets

        return [
            text[begin:end]
            for begin, end in zip(shifted(self.begin), shifted(self.end), strict=True)
        ]

    def values(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """All numbers, and a mask of those that are valid in JSON and finite in float64."""
        lengths = self.number_end - self.number_begin
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        texts = pa.StringArray.from_buffers(
            len(lengths), pa.py_buffer(offsets), pa.py_buffer(self._text[self._inside])
        )
        is_valid = pc.match_substring_regex(texts, _NUMBER).to_numpy(zero_copy_only=False)
        if not is_valid.all():
            texts = pc.if_else(pa.array(is_valid), texts, "0")
        values = pc.cast(texts, pa.float64()).to_numpy(zero_copy_only=False)
        return values, is_valid & np.isfinite(values)


IDENTITIES = (
    "cpu",
    "number",
    "intr",
    "line",
    "iface",
    "disk-device",
    "fchost",
    "bus_number",
    "filesystem",
    "device",
)
"""Keys that name an element of an array even if their value is a number."""
_DESCRIPTIONS = {*IDENTITIES, "idvendor", "idprod", "manufact", "product", "status", "type", "NODE"}
"""Keys of words that describe the hardware; they are not observations."""

Lines = Any  # part of the line numbers from `rawperf.json_lines.with_lines`

MAX_DEPTH = 20


@dataclass(frozen=True)
class ElementLocation:
    """Name of an element of a list for messages, and the line of its first value."""

    name: str
    line: int | None
    file: str

    def timestamp(self, element: Any, key: str) -> dict[str, Any]:
        """Get the object with date and time."""
        stamp = element.get(key) if isinstance(element, dict) else None
        if not isinstance(stamp, dict):
            raise self.error(f"{self.name} has no {key}", "an object with date and time")
        return stamp

    def time(self, timestamp: dict[str, Any]) -> float:
        """Convert a timestamp to seconds since 1970."""
        day, time = timestamp.get("date"), timestamp.get("time")
        try:
            if isinstance(day, str) and isinstance(time, str):
                clock = clock_seconds(time, file=self.file, line=self.line or 1)
                return float((date.fromisoformat(day).toordinal() - EPOCH) * DAY + clock)
        except (ValueError, FormatError):
            pass
        raise self.error(
            f"{self.name} has no time", "date YYYY-MM-DD and time HH:MM:SS", f"{day!r}, {time!r}"
        )

    def error(
        self, problem: str, expected: str | None = None, found: str | None = None
    ) -> FormatError:
        """Build an error of this element."""
        return FormatError(problem, file=self.file, line=self.line, expected=expected, found=found)


class SampleWalker:
    """Traverse a sample and add its numbers to `rows`.

    `name_lines` are the lines of the numbers that name elements.
    """

    def __init__(self, rows: RecordBuilder, t: float, location: ElementLocation) -> None:
        self.rows, self.t, self.location = rows, t, location
        self.name_lines: list[int] = []
        self.texts: list[tuple[int, str, str]] = []  # line, field and text of what is no number
        # line, name and keys of lists whose elements have different keys with their names
        self.mixed: list[tuple[int, str, str]] = []

    def visit_object(self, path: tuple[str, ...], members: dict[str, Any], lines: Lines) -> None:
        """Traverse an object outside of arrays."""
        self._check(path)
        for key, value in members.items():
            name = key.replace("/", ":")
            if isinstance(value, dict):
                self.visit_object((*path, name), value, lines[key])
            elif isinstance(value, list):
                self._visit_array("/".join((*path, name)), "", "", "", value, lines[key], 1)
            else:
                self._add_number("/".join(path), HOST, "", name, value, lines[key])

    def _visit_array(
        self,
        report: str,
        kinds: str,
        names: str,
        prefix: str,
        items: list[Any],
        lines: Lines,
        depth: int,
    ) -> None:
        self._check(range(depth))
        keys = {_identifying_key(element) for element in items if isinstance(element, dict)}
        if len(keys) > 1 and (None in keys or keys & {*IDENTITIES}):
            named = ", ".join(sorted(str(key) for key in keys if key is not None))
            self.mixed.append((first_line(lines) or 1, report, named))
        for number, (element, element_lines) in enumerate(zip(items, lines, strict=True)):
            if isinstance(element, dict):
                key = _identifying_key(element)
                kind, name = (
                    ("index", str(number))
                    if key is None
                    else (key.replace("/", ":"), str(element[key]))
                )
                if key is not None and isinstance(element[key], int):
                    self.name_lines.append(element_lines[key])
                rest = {k: v for k, v in element.items() if k != key}
                self._visit_element(
                    report, kinds + kind, names + name, prefix, rest, element_lines, depth
                )

    def _visit_element(
        self,
        report: str,
        kind: str,
        name: str,
        prefix: str,
        members: dict[str, Any],
        lines: Lines,
        depth: int,
    ) -> None:
        self._check(range(depth))
        for key, value in members.items():
            field = prefix + key.replace("/", ":")
            if isinstance(value, dict):
                self._visit_element(report, kind, name, f"{field}/", value, lines[key], depth + 1)
            elif isinstance(value, list):
                self._visit_array(
                    report, f"{kind}/", f"{name}/", f"{field}/", value, lines[key], depth + 1
                )
            else:
                self._add_number(report, kind, name, field, value, lines[key])

    def _add_number(
        self, report: str, kind: str, name: str, field: str, value: Any, line: int
    ) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            if field.rpartition("/")[2] not in _DESCRIPTIONS:
                self.texts.append((line, field, json.dumps(value)))
            return
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            problem = f"{field} in {self.location.name} is too large"
            raise FormatError(problem, file=self.location.file, line=line, found=str(value)[:40])
        self.rows.line = line
        self.rows.add(report, kind, name, field, number, self.t)

    def warn(self, messages: Warnings) -> None:
        """Warn of texts in place of numbers, once a field, and of elements without their name."""
        for line, report, keys in self.mixed:
            messages.add_once(
                f"mixed {report}",
                line,
                f"only some elements of {report} are named by {keys}; "
                "the others are named by their position",
            )
        for line, field, text in self.texts:
            messages.add_once(
                f"text {field}",
                line,
                f"{field} is not a number and was left out: {text[:40]}",
            )

    def _check(self, path: tuple[str, ...] | range) -> None:
        if len(path) > MAX_DEPTH:
            raise self.location.error(
                f"{self.location.name} is nested too deeply", f"at most {MAX_DEPTH} levels"
            )


def _identifying_key(element: dict[str, Any]) -> str | None:
    """Key that names an array's element: a known one, else the first with a string."""
    for key in element:
        if key in IDENTITIES and type(element[key]) in (str, int):
            return key
    return next((key for key, value in element.items() if isinstance(value, str)), None)


_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
_STAMP = b'"timestamp"'
TRAILING = re.compile(r",(?=\s*[\]}])")
COMMAS = "commas before a closing bracket were dropped"
MAX_CACHED_FORMS = 2000
"""Cache size for forms of samples."""


@dataclass(frozen=True)
class SampleForm:
    """Mapping of the numbers of a sample of one form to records."""

    pick: NDArray[np.int64]  # indices of the numbers that are records, in record order
    # index into `SampleReader.paths` of each record's report, kind, entity and field
    path: NDArray[np.int64]


class SampleReader:
    """Read samples, part by part of a file, with a cache of their forms."""

    def __init__(self, file: str, messages: Warnings) -> None:
        self.file, self.messages = file, messages
        self.zones: dict[str, None] = {}  # zones of the timestamps, in order
        self.interval = ""  # seconds of the first sample's interval, if given
        self.number = 0  # samples read so far
        self.paths: dict[tuple[str, str, str, str], int] = {}
        self._names: dict[bytes, tuple[int, ...]] = {}
        self._forms: dict[tuple[bytes, tuple[bytes, ...]], SampleForm] = {}

    def records(
        self, elements: ListElements, lines_before: int
    ) -> tuple[pd.DataFrame, NDArray[np.int64]]:
        """Records of the samples in a part of a file, and their lines; `lines_before` lines precede it."""
        newlines = np.flatnonzero(np.frombuffer(elements.data, np.uint8) == ord("\n"))
        values, is_valid = elements.values()
        opening = np.searchsorted(elements.number_begin, elements.begin)
        closing = np.searchsorted(elements.number_begin, elements.end).tolist()
        forms, times = [], []
        bounds = zip(
            elements.begin.tolist(), elements.end.tolist(), opening.tolist(), closing, strict=True
        )
        are_all_valid = bool(is_valid.all())
        for shape, (begin, end, first, last) in zip(elements.shapes(), bounds, strict=True):
            self.number += 1
            sample = _Sample(
                elements, begin, end, first, lines_before + int(np.searchsorted(newlines, begin))
            )
            t = self._time(sample)
            form = (
                None
                if t is None or not (are_all_valid or is_valid[first:last].all())
                else self._cached_form(shape, sample)
            )
            if form is None or t is None:
                form, t = self._learn_form(shape, sample)
            forms.append(form)
            times.append(t)
        sizes = [len(form.pick) for form in forms]
        none = [np.zeros(0, dtype=np.int64)]
        pick = np.concatenate([form.pick for form in forms] or none) + np.repeat(opening, sizes)
        path = np.concatenate([form.path for form in forms] or none)
        lines = np.searchsorted(newlines, elements.number_begin[pick]) + lines_before + 1
        columns = (
            [_string_column(words, path) for words in zip(*self.paths, strict=True)]
            if self.paths
            else [""] * 4
        )
        return build_records(
            *columns, np.repeat(np.array(times, dtype=float), sizes), values[pick]
        ), lines

    def _time(self, sample: _Sample) -> float | None:
        """Seconds since 1970; None if the sample must be traversed."""
        timestamp = sample.timestamp()
        try:
            t = (
                ElementLocation("", None, self.file).time(timestamp)
                if timestamp is not None
                else None
            )
        except FormatError:
            return None
        if timestamp is not None:
            self._record_zone(timestamp)
        return t

    def _record_zone(self, timestamp: dict[str, Any]) -> None:
        self.zones.setdefault(time_zone(timestamp))
        if self.number == 1 and type(timestamp.get("interval")) is int:
            self.interval = str(timestamp["interval"])

    def _cached_form(self, shape: bytes, sample: _Sample) -> SampleForm | None:
        key = _zero_times(shape)
        names = self._names.get(key)
        return None if names is None else self._forms.get((key, sample.numbers(names)))

    def _learn_form(self, shape: bytes, sample: _Sample) -> tuple[SampleForm, float]:
        """Traverse a sample to learn its form; raises `FormatError` at the first invalid value."""
        text = self._drop_trailing_commas(
            recode(sample.text(), self.messages, sample.line).decode(), sample.line
        )
        document, lines = parse_with_lines(text, loads_strict, sample.line)
        check_text(document, text, self.file)
        location = ElementLocation(f"statistics {self.number}", first_line(lines), self.file)
        timestamp = location.timestamp(document, "timestamp")
        t = location.time(timestamp)
        self._record_zone(timestamp)
        activities = {key: value for key, value in document.items() if key != "timestamp"}
        walk = SampleWalker(RecordBuilder(), t, location)
        walk.visit_object((), activities, lines)  # errors with their line
        walk.warn(self.messages)
        rows = RecordBuilder()
        walk = SampleWalker(rows, t, location)
        walk.visit_object((), activities, _number_indices(text))
        frame, numbers = rows.take()
        names = list(
            zip(*(frame[column].tolist() for column in list(frame.columns)[:4]), strict=True)
        )
        path = np.array(
            [self.paths.setdefault(name, len(self.paths)) for name in names], dtype=np.int64
        )
        form = SampleForm(numbers, path)
        if (
            timestamp == sample.timestamp()
        ):  # else the first timestamp in the text is a different one
            if len(self._forms) >= MAX_CACHED_FORMS:
                self._forms.clear()
                self._names.clear()
            key = _zero_times(shape)
            self._names[key] = tuple(walk.name_lines)
            self._forms[key, sample.numbers(walk.name_lines)] = form
        return form, t

    def _drop_trailing_commas(self, text: str, line: int) -> str:
        """Text of a sample without trailing commas, which old versions print."""
        try:
            loads_strict(text)
        except RecursionError as err:
            raise FormatError(
                "nested too deeply", file=self.file, expected="a file made by sadf -j"
            ) from err
        except ValueError as err:
            repaired = TRAILING.sub("", text)
            number = line + (err.lineno if isinstance(err, json.JSONDecodeError) else 1)
            try:
                loads_strict(repaired)
            except (ValueError, RecursionError):
                raise json_error(self.file, number, err) from err
            self.messages.add_once("commas", number, COMMAS)
            return repaired
        return text


@dataclass(frozen=True)
class _Sample:
    """Element of `statistics`: its offsets, its first number, and the number of preceding lines."""

    elements: ListElements
    begin: int
    end: int
    first: int
    line: int

    def text(self) -> bytes:
        return self.elements.data[self.begin : self.end]

    def timestamp(self) -> dict[str, Any] | None:
        """First object with the key timestamp; None if there is none or it is not a simple one."""
        data = self.elements.data
        position = data.find(_STAMP, self.begin, self.end)
        begin = data.find(b"{", position, self.end)
        end = data.find(b"}", begin, self.end) + 1
        if (
            position < 0
            or begin < 0
            or not end
            or data[position + len(_STAMP) : begin].strip() != b":"
        ):
            return None
        try:
            stamp = loads_strict(data[begin:end].decode())
        except ValueError:
            return None
        return stamp if isinstance(stamp, dict) else None

    def numbers(self, indices: Sequence[int]) -> tuple[bytes, ...]:
        """Texts of some of its numbers, by index."""
        begins, ends = self.elements.number_begin, self.elements.number_end
        return tuple(
            self.elements.data[begins[self.first + k] : ends[self.first + k]] for k in indices
        )


def time_zone(timestamp: dict[str, Any]) -> str:
    """Time zone: ``tz`` since 12.x; ``utc`` 1 or 0 before."""
    if "tz" in timestamp:
        return str(timestamp["tz"])
    return "UTC" if timestamp.get("utc") else "local"


def json_error(file: str, line: int | None, err: Exception) -> FormatError:
    """Build the error of invalid JSON."""
    return FormatError(
        "invalid JSON",
        file=file,
        line=line,
        expected="the complete output of sadf -j",
        found=getattr(err, "msg", str(err)),
        remedy="collect the file again.",
    )


def check_text(document: Any, text: str, file: str) -> None:
    """Reject lone surrogates, which JSON can escape but UTF-8 cannot encode."""
    if "\\ud" not in text.lower():
        return
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError as err:
        raise FormatError(
            "a lone surrogate", file=file, found=ascii(err.object[err.start : err.end])
        ) from err


def _zero_times(shape: bytes) -> bytes:
    """Replace all digits of a form's timestamp with zeros."""
    begin = shape.find(_STAMP)
    end = shape.find(b"}", begin)
    return shape[:begin] + shape[begin:end].translate(_DIGITS) + shape[end:]


def _number_indices(text: str) -> Any:
    """Parse a document with each number replaced by its index among the numbers."""
    indices = itertools.count()

    def place(token: re.Match[str]) -> str:
        return token[1] or (str(next(indices)) if token[0][0] in "-0123456789" else "-1")

    return json.loads(TOKEN.sub(place, text))


def _string_column(texts: Sequence[str], path: NDArray[np.int64]) -> Any:
    codes, unique = pd.factorize(np.array(texts, dtype=object))
    return take_strings(list(unique), codes[path])


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
"""Facts of the host, and their keys in ``ParsedFile.info``."""

_LIST = re.compile(rb'"statistics"\s*:\s*\[')
_CLOSED = b"]}]}}"
_TRUNCATED = "the file is truncated; its last sample was left out"


class SadfJsonFormat(Recognised, Streaming):
    """Reader of ``sadf -j``."""

    name = "sadf-json"
    title = "sadf -j output (sysstat, JSON)"

    def blocks(self, stream: BinaryIO, *, file: str = "<bytes>") -> Iterator[ParsedFile]:
        """Read a file; each part ends with a sample, the last one with the restarts and comments.

        ``report`` is the path of objects down to the numbers, or down to the first array
        (``io/io-reads``, ``network/net-dev``); deeper objects join the field by ``/``. In an array
        the identifying key is the ``entity_kind`` and its value the ``entity``; an array inside an
        array joins both by ``/``.

        Raises `FormatError` for invalid JSON (a truncated file keeps its whole samples), for
        another structure, and for a number that overflows float64.
        """
        return _SadfParser(stream, file).blocks()


class _SadfParser:
    """A file: the text before its samples, the samples, and the text after them."""

    def __init__(self, stream: BinaryIO, file: str) -> None:
        self.file = file
        self.messages = Warnings(file)
        self.samples = SampleReader(file, self.messages)
        self.pieces = PieceReader(stream, _cut_after_bracket, file, by_line=False)
        self.head = b""  # text up to the samples' opening bracket
        self.info: dict[str, str] = {}
        self.separated = True  # whether a sample may follow

    def blocks(self) -> Iterator[ParsedFile]:
        is_in_list = is_list_closed = False
        for piece in self.pieces:
            begin, line = 0, self.pieces.lines_before
            if not is_in_list and not is_list_closed:
                match = _LIST.search(piece)
                if match is not None:
                    begin, is_in_list = match.end(), True
                elif self.pieces.is_last:
                    begin, is_list_closed = len(piece), True
                self.head = piece[:begin]
                self.info = self._read_host_facts() if is_in_list else {}
                line += self.head.count(b"\n")
            body = piece[begin:]
            if is_in_list:
                elements = ListElements(body)
                end = self._check_commas(elements, line)
                is_list_closed = elements.closed >= 0
                is_in_list = not is_list_closed
                records, lines = self.samples.records(elements, line)
                self.pieces.bytes_to_repeat = len(body) - end
            elif self.pieces.is_last:
                end, (records, lines) = 0, RecordBuilder().take()
            else:
                self.pieces.bytes_to_repeat = len(piece)
                continue
            info = self._info()
            if self.pieces.is_last:
                info = self._parse_tail(body[end:], line + body.count(b"\n", 0, end))
            if self.pieces.is_last or len(records):
                yield ParsedFile(
                    records, "absolute", info, self.messages.drain(self.pieces.is_last), lines
                )

    def _read_host_facts(self) -> dict[str, str]:
        """Facts of the host that precede the samples."""
        text = self._text(self.head + _CLOSED, 0)
        try:
            root = loads_strict(text)
        except (ValueError, RecursionError):
            return {}  # parsed again at the end of the file
        return _host_facts(_host(root, self.file))

    def _info(self) -> dict[str, str]:
        interval = {"interval": self.samples.interval} if self.samples.interval else {}
        zone = {"zone": next(iter(self.samples.zones))} if self.samples.zones else {}
        return {**self.info, **interval, **zone}

    def _text(self, data: bytes, line: int) -> str:
        return recode(data, self.messages, line).decode()

    def _check_commas(self, elements: ListElements, line: int) -> int:
        """Offset of the end of the samples, after checking the commas between them."""
        end = 0
        data = elements.data
        for begin, sample_end in zip(elements.begin.tolist(), elements.end.tolist(), strict=True):
            between = data[end:begin].strip()
            if between != (b"" if self.separated else b","):
                number = line + data.count(b"\n", 0, begin) + 1
                raise json_error(
                    self.file, number, ValueError(f"between samples: {between[:40]!r}")
                )
            end, self.separated = sample_end, False
        return end

    def _parse_tail(self, tail: bytes, line: int) -> dict[str, str]:
        """Parse restarts and comments at the end; raises `FormatError` as `SadfJsonFormat` does."""
        if len(self.samples.zones) > 1:
            zones = ", ".join(self.samples.zones)
            sentence = f"samples have the time zones {zones}; times were used as printed"
            self.messages.add_always(0, sentence)
        head, tail_text = self._text(self.head, 0), self._text(tail, line)
        if self.samples.number and tail_text.lstrip()[:1] == ",":
            tail_text = tail_text.replace(",", " ", 1)
            if tail_text.lstrip()[:1] == "]":
                self.messages.add_once("commas", line + 1, COMMAS)
        n_head_lines = head.count("\n")
        document, document_lines = self._parse_document(
            (head + tail_text).rstrip(), len(head), n_head_lines, line - n_head_lines
        )
        host, host_lines = _host(document, self.file), _host(document_lines, self.file)
        check_text(host, head + tail_text, self.file)
        self.info = _host_facts(host)
        if _host_list(host, host_lines, "statistics", self.file) and self.samples.number:
            raise FormatError("two lists of samples", file=self.file, remedy="split the file.")
        marks: dict[str, list[str]] = {"restarts": [], "comments": []}
        for key, name in (("restarts", "boot"), ("comments", "comment")):
            for number, (element, element_lines) in enumerate(
                _host_list(host, host_lines, key, self.file), start=1
            ):
                location = ElementLocation(f"{key} {number}", first_line(element_lines), self.file)
                timestamp = location.timestamp(element, name)
                mark_text = [f"{location.time(timestamp):.0f}"]
                mark_text += (
                    [" ".join(str(timestamp.get("com", "")).split())] if key == "comments" else []
                )
                marks[key].append(" ".join(mark_text))
        info = self._info()
        info |= {"restarts": " ".join(marks["restarts"])} if marks["restarts"] else {}
        return info | ({"comments": "\n".join(marks["comments"])} if marks["comments"] else {})

    def _parse_document(
        self, text: str, head: int, lines_before: int, n_removed: int
    ) -> tuple[Any, Lines]:
        """Parse the document without its samples, and its line numbers.

        The samples are `n_removed` lines after line `lines_before`.
        """
        try:
            return _with_lines(text, lines_before, n_removed)
        except RecursionError as err:
            raise FormatError(
                "nested too deeply", file=self.file, expected="a file made by sadf -j"
            ) from err
        except ValueError as err:
            line = err.lineno if isinstance(err, json.JSONDecodeError) else None
            number = None if line is None else line + (n_removed if line > lines_before + 1 else 0)
            attempts = {COMMAS: TRAILING.sub("", text)}
            if line == text.count("\n") + 1 and self.samples.number:
                attempts[_TRUNCATED] = text[:head] + _CLOSED.decode()
            for sentence, rewritten in attempts.items():
                try:
                    document = _with_lines(rewritten, lines_before, n_removed)
                except (ValueError, RecursionError):
                    continue
                self.messages.add_always(number or 0, sentence)
                return document
            raise json_error(self.file, number, err) from err


def _cut_after_bracket(data: bytes) -> int:
    """Cut after a bracket, so that no character is split."""
    return max(data.rfind(b"}"), data.rfind(b"[")) + 1


def _with_lines(text: str, above: int, n_removed: int) -> tuple[Any, Lines]:
    document, lines = parse_with_lines(text, loads_strict)
    return document, _shift_lines(lines, above + 1, n_removed) if n_removed else lines


def _shift_lines(lines: Lines, above: int, n_removed: int) -> Lines:
    """Shift the line numbers after line `above` by the number of removed lines."""
    if isinstance(lines, dict):
        return {key: _shift_lines(value, above, n_removed) for key, value in lines.items()}
    if isinstance(lines, list):
        return [_shift_lines(value, above, n_removed) for value in lines]
    return lines + n_removed if lines > above else lines


def _host_facts(host: dict[str, Any]) -> dict[str, str]:
    return {
        name: str(host[key]) for key, name in HEADER.items() if isinstance(host.get(key), str | int)
    }


def _host(root: Any, file: str) -> dict[str, Any]:
    try:
        hosts = root["sysstat"]["hosts"]
        (host,) = hosts
        if isinstance(hosts, list) and isinstance(host, dict):
            return host
    except (TypeError, KeyError, ValueError):
        pass
    text = json.dumps(root)[:80] if isinstance(root, dict | list) else repr(root)[:80]
    expected = "an object sysstat with a list hosts of one object"
    problem, remedy = "not the structure of sadf -j", "keep one host per file."
    raise FormatError(problem, file=file, expected=expected, found=text, remedy=remedy)


def _host_list(
    host: dict[str, Any], host_lines: dict[str, Lines], key: str, file: str
) -> list[tuple[Any, Lines]]:
    """Elements of a list of the host, each with its line numbers."""
    items = host.get(key, [])
    if not isinstance(items, list):
        line = first_line(host_lines[key])
        raise FormatError(f"{key} is not a list", file=file, line=line, found=repr(items)[:80])
    return list(zip(items, host_lines.get(key, []), strict=True))


FORMAT = SadfJsonFormat()
