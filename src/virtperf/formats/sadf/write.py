"""Prints the JSON of ``sadf -j``."""

from __future__ import annotations

import json
import re
from datetime import date
from itertools import pairwise
from typing import Any

import numpy as np

from virtperf.core.errors import FormatError
from virtperf.formats.base import Reading
from virtperf.formats.text import DAY, clock_text

_EPOCH = date(1970, 1, 1).toordinal()


def write_json(reading: Reading, header: dict[str, str]) -> bytes:
    """The file that `read` turns into `reading`.

    Parameters
    ----------
    reading : Reading
        Clock absolute, whole seconds. ``info`` gives the host's facts, ``zone``, the first sample's ``interval``,
        ``restarts`` and ``comments`` as `read` does.
    header : dict
        sadf's name of a fact, and its name in ``info``.

    Raises
    ------
    FormatError
        For another clock, for fractions of a second, and for arrays inside arrays, whose shape the records lose.
    """
    info = reading.info
    if reading.clock != "absolute":
        raise _refused("it prints dates", f"clock {reading.clock}")
    samples: list[tuple[int, dict[str, Any]]] = []
    columns = (reading.records[name] for name in ("report", "entity_kind", "entity", "field", "t", "value"))
    for report, kind, entity, name, t, value in zip(*columns, strict=True):
        if not (np.isfinite(t) and t == round(t) and np.isfinite(value)):
            raise _refused("times are whole seconds, values numbers", f"{name} of {report} is {value} at {t}")
        if not samples or samples[-1][0] != t or not _insert(samples[-1][1], report, kind, entity, name, value):
            samples.append((int(t), {}))
            if not _insert(samples[-1][1], report, kind, entity, name, value):
                raise _refused("a number has no place in it", f"{report}, {kind} {entity!r}, {name}")
    zone = info.get("zone", "UTC")
    statistics = [{"timestamp": _stamp(t, zone), **activities} for t, activities in samples]
    if "interval" in info and statistics:
        steps = [int(info["interval"]), *(b - a for (a, _), (b, _) in pairwise(samples))]
        for sample, step in zip(statistics, steps, strict=True):
            sample["timestamp"]["interval"] = step
    host: dict[str, Any] = {key: info[ours] for key, ours in header.items() if ours in info}
    if re.fullmatch(r"[0-9]{1,9}", host.get("number-of-cpus", "")):
        host["number-of-cpus"] = int(host["number-of-cpus"])
    host["statistics"] = statistics
    host["restarts"] = [{"boot": _stamp(int(t), zone)} for t in info.get("restarts", "").split()]
    comments = [line.partition(" ") for line in info.get("comments", "").split("\n") if line]
    if comments:
        host["comments"] = [{"comment": {**_stamp(int(t), zone), "com": text}} for t, _, text in comments]
    return (json.dumps({"sysstat": {"hosts": [host]}}, indent="\t", ensure_ascii=False) + "\n").encode()


def _insert(sample: dict[str, Any], report: str, kind: str, entity: str, name: str, value: float) -> bool:
    """Add a number at the end of the sample; False where that would change the order or overwrite something."""
    path = report.split("/") if report else []
    number = int(value) if value == int(value) and abs(value) < 2**53 else value
    if path[:1] == ["timestamp"] or (not path and name == "timestamp"):
        return False
    if kind == "host" and not entity:
        level = _descend(sample, path)
        if level is None or name in level:
            return False
        level[name] = number
        return True
    if not path:
        return False
    level = _descend(sample, path[:-1])
    if level is None or (path[-1] in level and next(reversed(level)) != path[-1]):
        return False
    array = level.setdefault(path[-1], [])
    if not isinstance(array, list) or "/" in kind:
        return False
    names = name.split("/")
    if array and _same(array, kind, entity) and _put(array[-1], names, number):
        return True
    if kind == "index" and entity != str(len(array)):
        return False
    array.append({} if kind == "index" else {kind: entity})
    return _put(array[-1], names, number)


def _same(array: list[dict[str, Any]], kind: str, entity: str) -> bool:
    return entity == str(len(array) - 1) if kind == "index" else next(iter(array[-1].items())) == (kind, entity)


def _put(element: dict[str, Any], names: list[str], number: float) -> bool:
    level = _descend(element, names[:-1])
    if level is None or names[-1] in level:
        return False
    level[names[-1]] = number
    return True


def _descend(level: dict[str, Any], path: list[str]) -> dict[str, Any] | None:
    """The object at `path`, made where it is missing; None where it is no object or not the last thing written."""
    for key in path:
        if key in level and (next(reversed(level)) != key or not isinstance(level[key], dict)):
            return None
        level = level.setdefault(key, {})
    return level


def _stamp(t: int, zone: str) -> dict[str, Any]:
    try:
        day = date.fromordinal(t // DAY + _EPOCH).isoformat()
    except (ValueError, OverflowError) as err:
        raise _refused("a date of the years 1 to 9999", f"{t} s") from err
    return {"date": day, "time": clock_text(t), "tz": zone}


def _refused(problem: str, found: str) -> FormatError:
    return FormatError(
        f"sadf -j can't print this reading: {problem}",
        found=found,
        remedy="see docs/formats/sadf-json.md for what it holds.",
    )
