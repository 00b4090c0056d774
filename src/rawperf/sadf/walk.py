"""What is in one sample of ``sadf -j``: its time, and its numbers with their paths as names."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from typing import Any

from rawperf.core.errors import FormatError
from rawperf.rows import WHOLE, RecordRows
from rawperf.text import DAY, EPOCH, clock_seconds

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
"""Keys that name an element of an array even where their value is a number."""

Lines = Any  # a part of what `rawperf.json_lines.with_lines` gives

_DEEPEST = 20


@dataclass(frozen=True)
class ElementPlace:
    """What an element of a list is called in messages, and the line of its first value."""

    name: str
    line: int | None
    file: str

    def stamp(self, element: Any, key: str) -> dict[str, Any]:
        """The object that says when it was."""
        stamp = element.get(key) if isinstance(element, dict) else None
        if not isinstance(stamp, dict):
            raise self.error(f"{self.name} has no {key}", "an object with date and time")
        return stamp

    def time(self, stamp: dict[str, Any]) -> float:
        """Seconds since 1970 of a stamp."""
        day, time = stamp.get("date"), stamp.get("time")
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
        """The error of something in this element."""
        return FormatError(problem, file=self.file, line=self.line, expected=expected, found=found)


class Walk:
    """Adds the numbers of one sample to `rows`; `names` are the lines of the numbers that name
    elements.
    """

    def __init__(self, rows: RecordRows, t: float, place: ElementPlace) -> None:
        self.rows, self.t, self.place = rows, t, place
        self.names: list[int] = []

    def object(self, path: tuple[str, ...], found: dict[str, Any], at: Lines) -> None:
        """An object outside any array."""
        self._check(path)
        for key, value in found.items():
            name = key.replace("/", ":")
            if isinstance(value, dict):
                self.object((*path, name), value, at[key])
            elif isinstance(value, list):
                self._array("/".join((*path, name)), "", "", "", value, at[key], 1)
            else:
                self._number("/".join(path), WHOLE, "", name, value, at[key])

    def _array(
        self,
        report: str,
        kinds: str,
        names: str,
        prefix: str,
        found: list[Any],
        at: Lines,
        depth: int,
    ) -> None:
        self._check(range(depth))
        for number, (element, place) in enumerate(zip(found, at, strict=True)):
            if isinstance(element, dict):
                key = _identity(element)
                kind, name = (
                    ("index", str(number))
                    if key is None
                    else (key.replace("/", ":"), str(element[key]))
                )
                if key is not None and isinstance(element[key], int):
                    self.names.append(place[key])
                rest = {k: v for k, v in element.items() if k != key}
                self._element(report, kinds + kind, names + name, prefix, rest, place, depth)

    def _element(
        self,
        report: str,
        kind: str,
        name: str,
        prefix: str,
        found: dict[str, Any],
        at: Lines,
        depth: int,
    ) -> None:
        self._check(range(depth))
        for key, value in found.items():
            field = prefix + key.replace("/", ":")
            if isinstance(value, dict):
                self._element(report, kind, name, f"{field}/", value, at[key], depth + 1)
            elif isinstance(value, list):
                self._array(report, f"{kind}/", f"{name}/", f"{field}/", value, at[key], depth + 1)
            else:
                self._number(report, kind, name, field, value, at[key])

    def _number(self, report: str, kind: str, name: str, field: str, value: Any, line: int) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return  # words describe the hardware (vendor, driver); they are not observations
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            problem = f"{field} in {self.place.name} is too large"
            raise FormatError(problem, file=self.place.file, line=line, found=str(value)[:40])
        self.rows.line = line
        self.rows.add(report, kind, name, field, number, self.t)

    def _check(self, path: tuple[str, ...] | range) -> None:
        if len(path) > _DEEPEST:
            raise self.place.error(f"{self.place.name} is nested too deeply", f"{_DEEPEST} levels")


def _identity(element: dict[str, Any]) -> str | None:
    """The key that names an array's element: a known one, else the first with a string."""
    for key in element:
        if key in IDENTITIES and type(element[key]) in (str, int):
            return key
    return next((key for key, value in element.items() if isinstance(value, str)), None)
