"""The samples of ``sadf -j``, most of which have the form of the one before: only the first of a
form is walked.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rawperf.core.errors import FormatError
from rawperf.json_lines import TOKEN, first_line, loads, with_lines
from rawperf.pieces import recoded
from rawperf.rows import RecordRows, Warnings, record_table
from rawperf.sadf.elements import Elements
from rawperf.sadf.walk import ElementPlace, Walk
from rawperf.text import strings

_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
_STAMP = b'"timestamp"'
TRAILING = re.compile(r",(?=\s*[\]}])")
COMMAS = "commas before a closing bracket were dropped"
MAX_CACHED_FORMS = 2000
"""Forms of samples that are remembered."""


@dataclass(frozen=True)
class SampleForm:
    """What the numbers of a sample of one form are."""

    pick: NDArray[np.int64]  # which of them are records, in their order
    path: NDArray[
        np.int64
    ]  # number of each record's report, kind, entity and field in `Samples.paths`


class SampleReader:
    """Reads samples, part after part of a file."""

    def __init__(self, file: str, said: Warnings) -> None:
        self.file, self.said = file, said
        self.zones: dict[str, None] = {}  # that stamps name, in their order
        self.interval = ""  # seconds of the first sample's interval, where it says them
        self.number = 0  # samples that were read
        self.paths: dict[tuple[str, str, str, str], int] = {}
        self._names: dict[bytes, tuple[int, ...]] = {}
        self._forms: dict[tuple[bytes, tuple[bytes, ...]], SampleForm] = {}

    def records(self, found: Elements, line: int) -> tuple[pd.DataFrame, NDArray[np.int64]]:
        """Records of the samples of a part of a file, before which there are `line` lines, and
        their lines.
        """
        newlines = np.flatnonzero(np.frombuffer(found.data, np.uint8) == ord("\n"))
        values, fine = found.values()
        opening = np.searchsorted(found.at, found.begin)
        closing = np.searchsorted(found.at, found.end).tolist()
        forms, times = [], []
        bounds = zip(
            found.begin.tolist(), found.end.tolist(), opening.tolist(), closing, strict=True
        )
        all_fine = bool(fine.all())
        for shape, (begin, end, first, last) in zip(found.shapes(), bounds, strict=True):
            self.number += 1
            sample = _Sample(found, begin, end, first, line + int(np.searchsorted(newlines, begin)))
            t = self._time(sample)
            form = (
                None
                if t is None or not (all_fine or fine[first:last].all())
                else self._known(shape, sample)
            )
            if form is None or t is None:
                form, t = self._walked(shape, sample)
            forms.append(form)
            times.append(t)
        sizes = [len(form.pick) for form in forms]
        none = [np.zeros(0, dtype=np.int64)]
        pick = np.concatenate([form.pick for form in forms] or none) + np.repeat(opening, sizes)
        path = np.concatenate([form.path for form in forms] or none)
        lines = np.searchsorted(newlines, found.at[pick]) + line + 1
        columns = (
            [_column(words, path) for words in zip(*self.paths, strict=True)]
            if self.paths
            else [""] * 4
        )
        return record_table(
            *columns, np.repeat(np.array(times, dtype=float), sizes), values[pick]
        ), lines

    def _time(self, sample: _Sample) -> float | None:
        """Seconds since 1970; None where a closer look is needed."""
        stamp = sample.stamp()
        try:
            t = ElementPlace("", None, self.file).time(stamp) if stamp is not None else None
        except FormatError:
            return None
        if stamp is not None:
            self._note(stamp)
        return t

    def _note(self, stamp: dict[str, Any]) -> None:
        self.zones.setdefault(zone(stamp))
        if self.number == 1 and type(stamp.get("interval")) is int:
            self.interval = str(stamp["interval"])

    def _known(self, shape: bytes, sample: _Sample) -> SampleForm | None:
        key = _without_times(shape)
        names = self._names.get(key)
        return None if names is None else self._forms.get((key, sample.numbers(names)))

    def _walked(self, shape: bytes, sample: _Sample) -> tuple[SampleForm, float]:
        """The form of a sample, whose every value is looked at; raises `FormatError` at the first
        that is wrong.
        """
        text = self._whole(
            recoded(sample.text(), sample.line, self.said, self.file).decode(), sample.line
        )
        document, lines = with_lines(text, loads, sample.line)
        check_text(document, text, self.file)
        place = ElementPlace(f"statistics {self.number}", first_line(lines), self.file)
        stamp = place.stamp(document, "timestamp")
        t = place.time(stamp)
        self._note(stamp)
        activities = {key: value for key, value in document.items() if key != "timestamp"}
        Walk(RecordRows(), t, place).object(
            (), activities, lines
        )  # names the line of what is wrong
        rows = RecordRows()
        walk = Walk(rows, t, place)
        walk.object((), activities, _places(text))
        frame = rows.frame()
        names = list(
            zip(*(frame[column].tolist() for column in list(frame.columns)[:4]), strict=True)
        )
        path = np.array(
            [self.paths.setdefault(name, len(self.paths)) for name in names], dtype=np.int64
        )
        form = SampleForm(rows.lines(), path)
        if stamp == sample.stamp():  # else the first timestamp in the text is another one
            if len(self._forms) >= MAX_CACHED_FORMS:
                self._forms.clear()
                self._names.clear()
            key = _without_times(shape)
            self._names[key] = tuple(walk.names)
            self._forms[key, sample.numbers(walk.names)] = form
        return form, t

    def _whole(self, text: str, line: int) -> str:
        """The text of a sample, without commas before a closing bracket, which old versions
        print.
        """
        try:
            loads(text)
        except RecursionError as err:
            raise FormatError(
                "nested too deeply", file=self.file, expected="a file made by sadf -j"
            ) from err
        except ValueError as err:
            repaired = TRAILING.sub("", text)
            number = line + (err.lineno if isinstance(err, json.JSONDecodeError) else 1)
            try:
                loads(repaired)
            except (ValueError, RecursionError):
                raise not_json(self.file, number, err) from err
            self.said.once("commas", f"{self.file} line {number}: {COMMAS}")
            return repaired
        return text


@dataclass(frozen=True)
class _Sample:
    """An element of `statistics`: where it stands, its first number, and how many lines of the file
    are before it.
    """

    found: Elements
    begin: int
    end: int
    first: int
    line: int

    def text(self) -> bytes:
        return self.found.data[self.begin : self.end]

    def stamp(self) -> dict[str, Any] | None:
        """The first object that is called timestamp; None where there is none that is simple."""
        data = self.found.data
        at = data.find(_STAMP, self.begin, self.end)
        begin = data.find(b"{", at, self.end)
        end = data.find(b"}", begin, self.end) + 1
        if at < 0 or begin < 0 or not end or data[at + len(_STAMP) : begin].strip() != b":":
            return None
        try:
            stamp = loads(data[begin:end].decode())
        except ValueError:
            return None
        return stamp if isinstance(stamp, dict) else None

    def numbers(self, places: Sequence[int]) -> tuple[bytes, ...]:
        """The texts of some of its numbers."""
        at, behind = self.found.at, self.found.behind
        return tuple(self.found.data[at[self.first + k] : behind[self.first + k]] for k in places)


def zone(stamp: dict[str, Any]) -> str:
    """``tz`` since 12.x; ``utc`` 1 or 0 before."""
    if "tz" in stamp:
        return str(stamp["tz"])
    return "UTC" if stamp.get("utc") else "local"


def not_json(file: str, line: int | None, err: Exception) -> FormatError:
    """The error of a text that is none."""
    return FormatError(
        "not JSON",
        file=file,
        line=line,
        expected="the whole output of sadf -j",
        found=getattr(err, "msg", str(err)),
        remedy="collect the file again.",
    )


def check_text(document: Any, text: str, file: str) -> None:
    """Refuse half of a surrogate pair, which JSON can write and no text can hold."""
    if "\\ud" not in text.lower():
        return
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError as err:
        raise FormatError(
            "half a character", file=file, found=ascii(err.object[err.start : err.end])
        ) from err


def _without_times(shape: bytes) -> bytes:
    """A sample's form with zeros for all digits of its stamp."""
    begin = shape.find(_STAMP)
    end = shape.find(b"}", begin)
    return shape[:begin] + shape[begin:end].translate(_DIGITS) + shape[end:]


def _places(text: str) -> Any:
    """The document with each number's place among the numbers in its stead."""
    places = itertools.count()

    def place(token: re.Match[str]) -> str:
        return token[1] or (str(next(places)) if token[0][0] in "-0123456789" else "-1")

    return json.loads(TOKEN.sub(place, text))


def _column(words: Sequence[str], path: NDArray[np.int64]) -> Any:
    codes, unique = pd.factorize(np.array(words, dtype=object))
    return strings(list(unique), codes[path])
