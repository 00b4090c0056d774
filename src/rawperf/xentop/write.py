"""Prints xentop listings in the layout of Xen 3.1 (17 columns)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from rawperf.base import Reading
from rawperf.rows import refused
from rawperf.text import DAY, HALF_DAY, clock_text
from rawperf.xentop.lines import STATE

WIDTHS = {
    "NAME": 10,
    "STATE": 6,
    "CPU(sec)": 10,
    "CPU(%)": 6,
    "MEM(k)": 10,
    "MEM(%)": 6,
    "MAXMEM(k)": 10,
    "MAXMEM(%)": 9,
    "VCPUS": 5,
    "NETS": 4,
    "NETTX(k)": 8,
    "NETRX(k)": 8,
    "VBDS": 4,
    "VBD_OO": 8,
    "VBD_RD": 8,
    "VBD_WR": 8,
    "SSID": 4,
}
COLUMNS = tuple(WIDTHS)[2:]  # those with numbers
_ABSENT = {"MAXMEM(k)": "no limit", "MAXMEM(%)": "n/a"} | dict.fromkeys(
    ("VBD_OO", "VBD_RD", "VBD_WR"), "-"
)

Sample = tuple[float, dict[str, dict[str, float]]]


def write_listing(reading: Reading) -> bytes:
    """The listing that `read` turns into `reading`, with summary lines exactly where its clock is
    the time of day.

    ``xen_version``, ``cpus``, ``cpu_mhz`` and ``mem_total_k`` of ``reading.info`` go into the
    summary. The state of a domain is no number and so not in the records: every domain is printed
    as ``------`` and counted under no state. Used memory in the summary is the sum of the domains'
    memory. A CPU(%) that a domain has not, because the sample before lacks it, prints as 0.0.

    Raises `FormatError` for other columns, the rows of -r, -v, -n and -x, a number that is missing
    and has no word, a name that can't be found again, or a time that the clock of the listing can't
    show.
    """
    info = reading.info
    timed = reading.clock == "time-of-day"
    summary = info.get("summary", "yes" if timed else "no") == "yes"
    plain = info.get("columns", "17") == "17" and "repeat_header" not in info
    if not plain or summary != timed or reading.clock not in ("time-of-day", "sample"):
        raise refused(
            "xentop",
            "17 columns, with a summary for a time of day",
            f"clock {reading.clock}, {info}",
        )
    samples = list(_samples(reading))
    several = {name for _, domains in samples for name in domains}
    if not timed and len(several) > 1 and all(len(domains) == 1 for _, domains in samples):
        raise refused(
            "xentop",
            "samples of one domain each, of several, need a time of day",
            " ".join(sorted(several)),
        )
    lines: list[str] = []
    before: set[str] = set()
    for number, (t, domains) in enumerate(samples):
        step = t - samples[number - 1][0] if number else 0.0
        if timed and not (-HALF_DAY <= step < HALF_DAY and (number or 0 <= t < DAY)):
            raise refused("xentop", "a step that a time of day can't show", f"{step} to {t} s")
        if not timed and t != number:
            raise refused("xentop", "samples must count 0, 1, 2, ...", str(t), str(number))
        lines += _summary(t, domains, info) if timed else []
        lines.append(" ".join(column.rjust(width) for column, width in WIDTHS.items()))
        for name, values in domains.items():
            cells = _cells(name, values, name in before)
            lines.append(
                " ".join(
                    cell.rjust(width) for cell, width in zip(cells, WIDTHS.values(), strict=True)
                )
            )
        before = set(domains)
    return "".join(line + "\n" for line in lines).encode()


def _samples(reading: Reading) -> Iterator[Sample]:
    """Samples in order: time, and fields by domain."""
    domains: dict[str, dict[str, float]] = {}
    now: float | None = None
    columns = (
        reading.records[name].tolist() for name in ("entity_kind", "entity", "field", "t", "value")
    )
    for kind, entity, name, t, value in zip(*columns, strict=True):
        if now is not None and (t != now or name in domains.get(entity, {})):
            yield now, domains
            domains = {}
        now = t
        if kind != "domain" or not (np.isfinite(t) and np.isfinite(value) and value >= 0):
            raise refused(
                "xentop",
                "numbers of domains are printed",
                f"{name} of {kind} {entity!r}: {value} at {t}",
            )
        domains.setdefault(entity, {})[name] = value
    if now is not None:
        yield now, domains


def _cells(name: str, values: dict[str, float], seen: bool) -> list[str]:
    if name != name.strip() or "\n" in name or "\r" in name or re.search(rf" {STATE} ", f"{name} "):
        raise refused("xentop", "a name that can't be found again in a listing", repr(name))
    unknown = set(values) - set(COLUMNS)
    if unknown:
        raise refused(
            "xentop",
            "a field that the layout has no column for",
            str(sorted(unknown)),
            " ".join(COLUMNS),
        )
    cells = [name, "------"]
    for column in COLUMNS:
        value = values.get(column)
        if column == "CPU(%)" and not seen and not value:
            cells.append("0.0")
        elif value is not None:
            cells.append(f"{value:.1f}" if column.endswith("(%)") else str(int(value)))
        elif column in _ABSENT:
            cells.append(_ABSENT[column])
        else:
            raise refused(
                "xentop", f"no {column} for {name!r}, and xentop has no word for a missing one"
            )
    return cells


def _summary(t: float, domains: dict[str, dict[str, float]], info: dict[str, str]) -> list[str]:
    total = int(info.get("mem_total_k", "0"))
    used = min(total, int(sum(values.get("MEM(k)", 0) for values in domains.values())))
    return [
        f"xentop - {clock_text(t)}   Xen {info.get('xen_version', '')}",
        f"{len(domains)} domains: 0 running, 0 blocked, 0 paused, 0 crashed, 0 dying, 0 shutdown ",
        f"Mem: {total}k total, {used}k used, {total - used}k free    "
        f"CPUs: {info.get('cpus', '0')} @ {info.get('cpu_mhz', '0')}MHz",
    ]
