"""Units that the name of a column states, such as ``boot_us`` or ``bandwidth (MB/s)``."""

from __future__ import annotations

import re

from rawperf.core.units import is_unit

_WORDS = {
    "us": "us",
    "usec": "us",
    "microseconds": "us",
    "ms": "ms",
    "msec": "ms",
    "milliseconds": "ms",
    "ns": "ns",
    "nsec": "ns",
    "nanoseconds": "ns",
    "s": "s",
    "sec": "s",
    "secs": "s",
    "seconds": "s",
    "bytes": "B",
    "kib": "KiB",
    "mib": "MiB",
    "gib": "GiB",
    "gbps": "Gbit/s",
    "mbps": "Mbit/s",
    "percent": "%",
    "pct": "%",
}
_RATE = re.compile(r"(?i)(?:^|[_\W])(?:(?:per|/)[_ ]?s(?:ec(?:ond)?)?|reqs|rps|iops|ops|tps|qps)$")
_IN_BRACKETS = re.compile(r"[(\[]([^()\[\]]+)[)\]]\s*$")
_BITS = re.compile(r"(?i)bits_per_second$")


def unit_of_name(name: str) -> str:
    """The unit that a name states, "" for none.

    Names of rates of counted items, such as ``requests_per_second``, have the unit 1/s.
    """
    bracket = _IN_BRACKETS.search(name)
    if bracket:
        inner = bracket[1].strip()
        return inner if is_unit(inner) else _WORDS.get(inner.lower(), "")
    if _BITS.search(name):
        return "bit/s"
    if _RATE.search(name):
        return "1/s"
    last = re.split(r"[^A-Za-z%]+", name)[-1]
    if last == name:  # a name of one word that happens to be a unit
        return ""
    return _WORDS.get(last.lower(), "")
