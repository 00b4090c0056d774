"""The JSON that ``sadf -j`` prints, sysstat 10 to 12.

Source: ``json_stats.c`` and ``rndr_stats.c`` of sysstat.
"""

from __future__ import annotations

import json
import math
import re
from datetime import date
from typing import Any

import pandas as pd

from virtperf.errors import FormatError
from virtperf.formats.base import RECORD_COLUMNS, Reading
from virtperf.formats.sadf_json_write import write_json
from virtperf.formats.text import DAY, clock_seconds, decode

IDENTITIES = ("cpu", "number", "intr", "line", "iface", "disk-device", "fchost", "bus_number", "filesystem", "device")
"""Keys that name an element of an array even where their value is a number."""

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

_DEEPEST = 20
_BETWEEN = re.compile(r"[\s,]*")
_EPOCH = date(1970, 1, 1).toordinal()
_Record = tuple[str, str, str, str, float, float]


class SadfJsonFormat:
    """Reader and writer of ``sadf -j``."""

    name = "sadf-json"
    title = "sadf -j output (sysstat, JSON)"

    def sniff(self, head: bytes) -> float:
        """1 for an object whose first key is ``sysstat`` and holds ``hosts``."""
        return 1.0 if re.match(rb'\s*\{\s*"sysstat"\s*:\s*\{\s*"hosts"', head.removeprefix(b"\xef\xbb\xbf")) else 0.0

    def read(self, data: bytes, *, file: str = "<bytes>") -> Reading:
        """Read a file.

        ``report`` is the path of objects down to the numbers, or down to the first array (``io/io-reads``,
        ``network/net-dev``); deeper objects join the field by ``/``. In an array the identifying key is the
        ``entity_kind`` and its value the ``entity``; an array inside an array joins both by ``/``.

        Raises
        ------
        FormatError
            For text that is no JSON (a file that breaks off keeps its whole samples), for another structure, and for
            a number that float64 can't hold.
        """
        text, warnings = decode(data, file)
        said = list(warnings)
        host = _host(_parse(text, said, file), file)
        if "\\ud" in text.lower():
            _check_text(host, file)
        info = {ours: str(host[key]) for key, ours in HEADER.items() if isinstance(host.get(key), str | int)}
        records: list[_Record] = []
        zones: dict[str, None] = {}
        for number, sample in enumerate(_list(host, "statistics", file), start=1):
            place = f"statistics {number}"
            stamp = _stamp(sample, "timestamp", place, file)
            t = _time(stamp, place, file)
            zones[_zone(stamp)] = None
            if number == 1 and type(stamp.get("interval")) is int:
                info["interval"] = str(stamp["interval"])
            activities = {key: value for key, value in sample.items() if key != "timestamp"}
            _Walk(records, t, place, file).object((), activities)
        if len(zones) > 1:
            said.append(f"{file}: samples are in the zones {', '.join(zones)}; times were taken as printed")
        info |= {"zone": next(iter(zones))} if zones else {}
        restarts, comments = [], []
        for number, element in enumerate(_list(host, "restarts", file), start=1):
            place = f"restarts {number}"
            restarts.append(f"{_time(_stamp(element, 'boot', place, file), place, file):.0f}")
        for number, element in enumerate(_list(host, "comments", file), start=1):
            place = f"comments {number}"
            stamp = _stamp(element, "com", place, file)
            comments.append(f"{_time(stamp, place, file):.0f} {' '.join(str(stamp.get('comment', '')).split())}")
        info |= {"restarts": " ".join(restarts)} if restarts else {}
        info |= {"comments": "\n".join(comments)} if comments else {}
        frame = pd.DataFrame(records, columns=list(RECORD_COLUMNS))
        frame = frame.astype(dict.fromkeys(RECORD_COLUMNS[:4], "str") | dict.fromkeys(("t", "value"), float))
        return Reading(frame, "absolute", info, tuple(said))

    def write(self, reading: Reading) -> bytes:
        """Print the JSON; see `virtperf.formats.sadf_json_write.write_json`."""
        return write_json(reading, HEADER)


def _no_constant(word: str) -> float:
    raise ValueError(f"{word} is no JSON number")


def _parse(text: str, said: list[str], file: str) -> Any:
    text = text.rstrip()
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError as err:
        raise FormatError("nested too deeply", file=file, expected="a file made by sadf -j") from err
    except ValueError as err:
        line = err.lineno if isinstance(err, json.JSONDecodeError) else None
        mended = re.sub(r",(?=\s*[\]}])", "", text)
        if mended != text:
            try:
                found = json.loads(mended, parse_constant=_no_constant)
            except (ValueError, RecursionError):
                pass
            else:
                said.append(f"{file} line {line}: commas before a closing bracket were dropped")
                return found
        if line == text.count("\n") + 1:
            rescued = _rescue(text)
            if rescued is not None:
                said.append(f"{file} line {line}: the file breaks off; its last sample was left out")
                return rescued
        raise FormatError(
            "not JSON", file=file, line=line, expected="the whole output of sadf -j", found=str(err),
            remedy="collect the file again.",
        ) from err  # fmt: skip


def _rescue(text: str) -> Any:
    """The beginning of a file that breaks off, with every sample that is whole; None where there is none."""
    opening = re.search(r'"statistics"\s*:\s*\[', text)
    if opening is None:
        return None
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    samples: list[Any] = []
    at = opening.end()
    try:
        found = json.loads(text[:at] + "]}]}}", parse_constant=_no_constant)
        while gap := _BETWEEN.match(text, at):
            sample, at = decoder.raw_decode(text, gap.end())
            samples.append(sample)
    except (ValueError, RecursionError):
        pass
    if not samples:
        return None
    _host(found, "").update(statistics=samples)
    return found


def _host(root: Any, file: str) -> dict[str, Any]:
    try:
        hosts = root["sysstat"]["hosts"]
        (host,) = hosts
        if isinstance(hosts, list) and isinstance(host, dict):
            return host
    except (TypeError, KeyError, ValueError):
        pass
    raise FormatError(
        "not the structure of sadf -j",
        file=file,
        expected="an object sysstat with a list hosts of one object",
        found=json.dumps(root)[:80] if isinstance(root, dict | list) else repr(root)[:80],
        remedy="one file holds one host.",
    )


def _check_text(host: dict[str, Any], file: str) -> None:
    """Refuse half of a surrogate pair, which JSON can write and no text can hold."""
    try:
        json.dumps(host, ensure_ascii=False).encode()
    except UnicodeEncodeError as err:
        raise FormatError("half a character", file=file, found=ascii(err.object[err.start : err.end])) from err


def _list(host: dict[str, Any], key: str, file: str) -> list[Any]:
    found = host.get(key, [])
    if not isinstance(found, list):
        raise FormatError(f"{key} is not a list", file=file, found=repr(found)[:80])
    return found


def _stamp(element: Any, key: str, place: str, file: str) -> dict[str, Any]:
    stamp = element.get(key) if isinstance(element, dict) else None
    if not isinstance(stamp, dict):
        raise FormatError(f"{place} has no {key}", file=file, expected="an object with date and time")
    return stamp


def _time(stamp: dict[str, Any], place: str, file: str) -> float:
    day, time = stamp.get("date"), stamp.get("time")
    try:
        if isinstance(day, str) and isinstance(time, str):
            return float((date.fromisoformat(day).toordinal() - _EPOCH) * DAY + clock_seconds(time, file=file, line=1))
    except (ValueError, FormatError):
        pass
    raise FormatError(
        f"{place} has no time", file=file, expected="date YYYY-MM-DD and time HH:MM:SS", found=f"{day!r}, {time!r}"
    )


def _zone(stamp: dict[str, Any]) -> str:
    """``tz`` since 12.x; ``utc`` 1 or 0 before."""
    if "tz" in stamp:
        return str(stamp["tz"])
    return "UTC" if stamp.get("utc") else "local"


class _Walk:
    """Appends the numbers of one sample to `records`."""

    def __init__(self, records: list[_Record], t: float, place: str, file: str) -> None:
        self.records, self.t, self.place, self.file = records, t, place, file

    def object(self, path: tuple[str, ...], found: dict[str, Any]) -> None:
        """An object outside any array."""
        self._check(path)
        for key, value in found.items():
            name = key.replace("/", ":")
            if isinstance(value, dict):
                self.object((*path, name), value)
            elif isinstance(value, list):
                self._array("/".join((*path, name)), "", "", "", value, 1)
            else:
                self._number("/".join(path), "host", "", name, value)

    def _array(self, report: str, kinds: str, names: str, prefix: str, found: list[Any], depth: int) -> None:
        self._check(range(depth))
        for number, element in enumerate(found):
            if isinstance(element, dict):
                key = _identity(element)
                kind, name = ("index", str(number)) if key is None else (key.replace("/", ":"), str(element[key]))
                rest = {k: v for k, v in element.items() if k != key}
                self._element(report, kinds + kind, names + name, prefix, rest, depth)

    def _element(self, report: str, kind: str, name: str, prefix: str, found: dict[str, Any], depth: int) -> None:
        self._check(range(depth))
        for key, value in found.items():
            field = prefix + key.replace("/", ":")
            if isinstance(value, dict):
                self._element(report, kind, name, f"{field}/", value, depth + 1)
            elif isinstance(value, list):
                self._array(report, f"{kind}/", f"{name}/", f"{field}/", value, depth + 1)
            else:
                self._number(report, kind, name, field, value)

    def _number(self, report: str, kind: str, name: str, field: str, value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return  # words describe the hardware (vendor, driver); they are not observations
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise FormatError(f"{field} in {self.place} is too large", file=self.file, found=str(value)[:40])
        self.records.append((report, kind, name, field, self.t, number))

    def _check(self, path: tuple[str, ...] | range) -> None:
        if len(path) > _DEEPEST:
            raise FormatError(f"{self.place} is nested too deeply", file=self.file, expected=f"{_DEEPEST} levels")


def _identity(element: dict[str, Any]) -> str | None:
    """The key that names an array's element: a known one, else the first with a string."""
    for key in element:
        if key in IDENTITIES and type(element[key]) in (str, int):
            return key
    return next((key for key, value in element.items() if isinstance(value, str)), None)


FORMAT = SadfJsonFormat()
