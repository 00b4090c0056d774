"""The JSON that ``sadf -j`` prints, sysstat 10 to 12.

Source: ``json_stats.c`` and ``rndr_stats.c`` of sysstat.
"""

from __future__ import annotations

import json
import re
from typing import Any

from virtperf.core.errors import FormatError
from virtperf.formats.base import Reading
from virtperf.formats.json_lines import first_line, with_lines
from virtperf.formats.rows import Rows
from virtperf.formats.sadf.walk import Lines, Place, Walk
from virtperf.formats.text import decode

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
_BETWEEN = re.compile(r"[\s,]*")


class SadfJsonFormat:
    """Reader of ``sadf -j``."""

    name = "sadf-json"
    title = "sadf -j output (sysstat, JSON)"

    def sniff(self, head: bytes) -> float:
        """1 for an object whose first key is ``sysstat`` and holds ``hosts``; 0 for mpstat's and its like's."""
        return 1.0 if _BEGINS.match(head) and not _OTHER_TOOL.search(head) else 0.0

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
        root, places = _parse(text, said, file)
        host, where = _host(root, file), _host(places, file)
        if "\\ud" in text.lower():
            _check_text(host, file)
        info = {ours: str(host[key]) for key, ours in HEADER.items() if isinstance(host.get(key), str | int)}
        rows = Rows()
        zones: dict[str, None] = {}
        for number, (sample, at) in enumerate(_list(host, where, "statistics", file), start=1):
            place = Place(f"statistics {number}", first_line(at), file)
            stamp = place.stamp(sample, "timestamp")
            zones[_zone(stamp)] = None
            if number == 1 and type(stamp.get("interval")) is int:
                info["interval"] = str(stamp["interval"])
            activities = {key: value for key, value in sample.items() if key != "timestamp"}
            Walk(rows, place.time(stamp), place).object((), activities, at)
        if len(zones) > 1:
            said.append(f"{file}: samples are in the zones {', '.join(zones)}; times were taken as printed")
        info |= {"zone": next(iter(zones))} if zones else {}
        restarts, comments = [], []
        for number, (element, at) in enumerate(_list(host, where, "restarts", file), start=1):
            place = Place(f"restarts {number}", first_line(at), file)
            restarts.append(f"{place.time(place.stamp(element, 'boot')):.0f}")
        for number, (element, at) in enumerate(_list(host, where, "comments", file), start=1):
            place = Place(f"comments {number}", first_line(at), file)
            stamp = place.stamp(element, "comment")
            comments.append(f"{place.time(stamp):.0f} {' '.join(str(stamp.get('com', '')).split())}")
        info |= {"restarts": " ".join(restarts)} if restarts else {}
        info |= {"comments": "\n".join(comments)} if comments else {}
        return Reading(rows.frame(), "absolute", info, tuple(said), rows.lines())


def _no_constant(word: str) -> float:
    raise ValueError(f"{word} is no JSON number")


def _loads(text: str) -> Any:
    return json.loads(text, parse_constant=_no_constant)


def _parse(text: str, said: list[str], file: str) -> tuple[Any, Lines]:
    """The document and its lines."""
    text = text.rstrip()
    try:
        return with_lines(text, _loads)
    except RecursionError as err:
        raise FormatError("nested too deeply", file=file, expected="a file made by sadf -j") from err
    except ValueError as err:
        line = err.lineno if isinstance(err, json.JSONDecodeError) else None
        attempts = {"commas before a closing bracket were dropped": re.sub(r",(?=\s*[\]}])", "", text)}
        if line == text.count("\n") + 1:
            attempts["the file breaks off; its last sample was left out"] = _whole_samples(text)
        for sentence, rewritten in attempts.items():
            try:
                found = with_lines(rewritten, _loads)
            except (ValueError, RecursionError):
                continue
            said.append(f"{file} line {line}: {sentence}")
            return found
        raise FormatError(
            "not JSON", file=file, line=line, expected="the whole output of sadf -j", found=str(err),
            remedy="collect the file again.",
        ) from err  # fmt: skip


def _whole_samples(text: str) -> str:
    """The beginning of a file that breaks off, closed behind the last sample that is whole; empty where none is."""
    opening = re.search(r'"statistics"\s*:\s*\[', text)
    if opening is None:
        return ""
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    at, end = opening.end(), 0
    try:
        while gap := _BETWEEN.match(text, at):
            _, at = decoder.raw_decode(text, gap.end())
            end = at
    except (ValueError, RecursionError):
        pass
    return text[:end] + "]}]}}" if end else ""


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


def _list(host: dict[str, Any], where: dict[str, Lines], key: str, file: str) -> list[tuple[Any, Lines]]:
    """The elements of a list of the host, each with its lines."""
    found = host.get(key, [])
    if not isinstance(found, list):
        line = first_line(where[key])
        raise FormatError(f"{key} is not a list", file=file, line=line, found=repr(found)[:80])
    return list(zip(found, where.get(key, []), strict=True))


def _zone(stamp: dict[str, Any]) -> str:
    """``tz`` since 12.x; ``utc`` 1 or 0 before."""
    if "tz" in stamp:
        return str(stamp["tz"])
    return "UTC" if stamp.get("utc") else "local"


FORMAT = SadfJsonFormat()
