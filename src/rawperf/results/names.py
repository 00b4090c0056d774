"""Units at the end of column names: ``latency (ms)``, ``time [s]``, ``time in ms``, ``latency_us``."""

from __future__ import annotations

import re

from rawperf.core.units import base_unit, conversion_factor, is_unit

_BRACKETS = re.compile(r"(.*\S)\s*[\[(]\s*([^\[\]()]+?)\s*[\])]")
_IN = re.compile(r"(?i)(.*\S)\s+in\s+([^\s\d]+)")
_WORDS = {
    "sec": "s",
    "secs": "s",
    "second": "s",
    "seconds": "s",
    "msec": "ms",
    "msecs": "ms",
    "millis": "ms",
    "millisecond": "ms",
    "milliseconds": "ms",
    "usec": "us",
    "usecs": "us",
    "micros": "us",
    "microsecond": "us",
    "microseconds": "us",
    "nsec": "ns",
    "nsecs": "ns",
    "nanos": "ns",
    "nanosecond": "ns",
    "nanoseconds": "ns",
    "minutes": "min",
    "bytes": "B",
    "byte": "B",
    "kb": "kB",
    "mb": "MB",
    "gb": "GB",
    "kib": "KiB",
    "mib": "MiB",
    "gib": "GiB",
    "kbps": "kbit/s",
    "mbps": "Mbit/s",
    "gbps": "Gbit/s",
    "percent": "%",
    "pct": "%",
    "rps": "requests/s",
    "qps": "queries/s",
    "tps": "transactions/s",
}
_SUFFIXES = {"s", "ms", "us", "ns", *(set(_WORDS) - {"rps", "qps", "tps"})}
"""Units that a name may end in after ``_``; ``_b``, ``_min`` and ``_m`` mean other things too."""
_BITS = {"Kb", "Mb", "Gb"}
"""Bits, or bytes in careless writing: no unit is taken from these."""
_PER_SECOND = re.compile(r"(?i)(.*[_ ]per[_ ]|.*/)(s|sec|secs|second|seconds)")
_AMOUNTS = {
    **{
        word: unit
        for word, unit in _WORDS.items()
        if unit in ("B", "kB", "MB", "GB", "KiB", "MiB", "GiB")
    },
    **{"bit": "bit", "bits": "bit", "kbit": "kbit", "mbit": "Mbit", "gbit": "Gbit"},
}
_AMOUNT_PER_SECOND = re.compile(
    r"(?i)(?:.*[_ ])?(?!per[_ ])([a-z]+)(?:[_ ]per[_ ]|/|_)(?:s|sec|secs|second|seconds)"
)
_RATES = re.compile(r"(?i)(?:.*[_ ])?(?:rps|qps|tps|iops)")
_COUNTED = re.compile(
    r"(?i)(.*_)?(ops?|reqs?|requests?|trans(actions)?|tx|iops|messages?|msgs?|packets|pkts|events|"
    r"calls|queries|pages|rows|records|frames|faults|switches|interrupts|iterations)"
)


def split_unit(name: str) -> tuple[str, str]:
    """Split the name of a column in the quantity's name and its unit.

    Returns
    -------
    tuple of str
        Name and unit; the whole name and "" where it ends in no unit. A unit in brackets may be one
        of counted items, such as ``requests/s``.
    """
    if (brackets := _BRACKETS.fullmatch(name)) and (unit := parse_unit(brackets[2])):
        return brackets[1], unit
    if (words := _IN.fullmatch(name)) and (unit := parse_unit(words[2])):
        return words[1], unit
    if amount := _AMOUNT_PER_SECOND.fullmatch(name):
        if amount[1] in _BITS:
            return name, ""
        if amount[1].lower() in _AMOUNTS:
            return name, f"{_AMOUNTS[amount[1].lower()]}/s"
    if _PER_SECOND.fullmatch(name):
        return name, "1/s"
    if _RATES.fullmatch(name):
        return name, "1/s"
    base, _, suffix = name.rpartition("_")
    known = suffix.lower() in _SUFFIXES and suffix not in _BITS
    if base and known and not (suffix == "s" and _COUNTED.fullmatch(base)):
        return base, parse_unit(suffix)
    return name, ""


def parse_unit(text: str) -> str:
    """Return the unit that a text names, "" if it names none: ``milliseconds`` is ``ms``."""
    text = text.strip().replace("μ", "u").replace("µ", "u")
    if text in _BITS:
        return ""
    if text.endswith("Bps"):  # bytes: bits are written Mbps
        text = f"{text.removesuffix('ps')}/s"
    counted, slash, time = text.rpartition("/")
    if counted.lower() in _AMOUNTS and counted not in _BITS and time == "s":
        return f"{_AMOUNTS[counted.lower()]}/s"
    if is_unit(text):
        return text
    if slash and _WORDS.get(time.lower()) in ("s", "min"):
        return parse_unit(f"{counted}/{_WORDS[time.lower()]}")
    unit = _WORDS.get(text.lower(), text.lower() if text.lower() in ("s", "ms", "us", "ns") else "")
    return unit if not unit or is_unit(unit) else ""


def to_base(unit: str) -> tuple[str, float]:
    """Return the base unit of a unit, and the factor that converts to it: ``ms`` gives s, 0.001."""
    target = base_unit(unit)
    return target, conversion_factor(unit, target) if unit and unit != target else 1.0
