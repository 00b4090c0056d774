"""Prints xentop listings in the layout of Xen 3.1 (17 columns) or of Xen 4.5 and later (19 columns)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from virtperf.core.errors import FormatError
from virtperf.formats.base import Reading
from virtperf.formats.text import DAY, HALF_DAY, clock_text
from virtperf.formats.xentop.lines import LAYOUTS, NET_FIELDS, STATE, VBD_FIELDS, begins_sample

WIDTHS = {
    "NAME": 10, "STATE": 6, "CPU(sec)": 10, "CPU(%)": 6, "MEM(k)": 10, "MEM(%)": 6, "MAXMEM(k)": 10, "MAXMEM(%)": 9,
    "VCPUS": 5, "NETS": 4, "NETTX(k)": 8, "NETRX(k)": 8, "VBDS": 4, "VBD_OO": 8, "VBD_RD": 8, "VBD_WR": 8,
    "VBD_RSECT": 10, "VBD_WSECT": 10, "SSID": 4,
}  # fmt: skip
_ABSENT = {"MAXMEM(k)": "no limit", "MAXMEM(%)": "n/a"} | dict.fromkeys(
    ("VBD_OO", "VBD_RD", "VBD_WR", "VBD_RSECT", "VBD_WSECT"), "-"
)
_WIDENED = ("NAME", "NETTX(k)", "NETRX(k)", "VBD_RD", "VBD_WR", "VBD_RSECT", "VBD_WSECT")

Sample = tuple[float, dict[str, dict[str, float]], dict[str, dict[tuple[str, str], dict[str, float]]]]


def write_listing(reading: Reading) -> bytes:
    """The listing that `read` turns into `reading`.

    ``reading.info`` chooses the layout: ``columns`` is "17" (the default), "19", "13" or "8"; ``summary`` is "yes" or
    "no" (the default follows the clock); ``repeat_header`` "yes" prints the header before each domain, as -r does.
    ``xen_version``, ``cpus``, ``cpu_mhz`` and ``mem_total_k`` go into the summary. The state of a domain is no number
    and so not in the records: every domain is printed as ``------`` and counted under no state. Used memory in the
    summary is the sum of the domains' memory. CPU(%) prints as 0.0 where the sample before lacks the domain. A sample
    of one domain that could as well be the next domain of the sample before, listed with -r, stands below a blank line.

    Raises
    ------
    FormatError
        When a number is missing for which xentop has no word, a name that can't be found again, or a time that the
        clock of the listing can't show.
    """
    info = reading.info
    columns = LAYOUTS.get(info.get("columns", "17"))
    if columns is None:
        raise _refused("no layout has that many columns", expected=" or ".join(LAYOUTS), found=info["columns"])
    timed = reading.clock == "time-of-day"
    if (info.get("summary", "yes" if timed else "no") == "yes") != timed or reading.clock not in (
        "time-of-day",
        "sample",
    ):
        raise _refused(
            "a listing has a time of day exactly when it has summary lines",
            expected="clock time-of-day with summary yes, or clock sample with summary no",
            found=f"clock {reading.clock}, summary {info.get('summary')}",
        )
    repeat = info.get("repeat_header") == "yes"
    lines: list[str] = []
    before: set[str] = set()
    last_t: float | None = None
    samples = list(_samples(reading))
    # Where each header has one row, headers don't tell where a sample begins: only names and blank lines do.
    by_name = not timed and (repeat or all(len(domains) == 1 for _, domains, _ in samples))
    previous, seen = "", set[str]()
    for number, (t, domains, details) in enumerate(samples):
        if timed:
            first_fits = last_t is not None or 0 <= t < DAY
            if not first_fits or (last_t is not None and not -HALF_DAY <= t - last_t < HALF_DAY):
                raise _refused("a step that a time of day can't show", found=f"{last_t} to {t} s")
            lines += _summary(t, domains, info)
        elif t != number:
            raise _refused("samples must count 0, 1, 2, ...", expected=str(number), found=str(t))
        rows = {name: _cells(name, values, columns, name in before, set(domains)) for name, values in domains.items()}
        if by_name:
            for i, (name, *_) in enumerate(rows.values()):  # names as they are printed
                begins = begins_sample(name, previous, seen)
                if i and begins:
                    raise _refused("-r lists domains by name", found=f"{name!r} after {previous!r}")
                if number and not i:
                    lines += [] if begins else [""]
                    seen = set()
                previous = name
                seen.add(name)
        widths = WIDTHS
        if len(columns) == 19:  # from Xen 4.5 on, each sample is as wide as its longest number
            widths = WIDTHS | {
                c: max(WIDTHS[c], *(len(cells[columns.index(c)]) for cells in rows.values())) for c in _WIDENED
            }
        header = " ".join(c.rjust(widths[c]) for c in columns)
        for i, (name, cells) in enumerate(rows.items()):
            if i == 0 or repeat:
                lines.append(header)
            lines.append(" ".join(cell.rjust(widths[c]) for cell, c in zip(cells, columns, strict=True)))
            lines += _details(details.pop(name, {}), len(columns))
        if details:
            raise _refused("a vCPU, net or VBD without the row of its domain", found=f"{next(iter(details))}, t = {t}")
        before, last_t = set(domains), t
    return "".join(line + "\n" for line in lines).encode()


def _samples(reading: Reading) -> Iterator[Sample]:
    """Samples in order: time, fields by domain, and fields of devices by domain."""
    domains: dict[str, dict[str, float]] = {}
    details: dict[str, dict[tuple[str, str], dict[str, float]]] = {}
    now: float | None = None
    r = reading.records
    for kind, entity, name, t, value in zip(r["entity_kind"], r["entity"], r["field"], r["t"], r["value"], strict=True):
        if now is not None and (t != now or (kind == "domain" and name in domains.get(entity, {}))):
            yield now, domains, details
            domains, details = {}, {}
        now = t
        if not (np.isfinite(t) and np.isfinite(value) and value >= 0):
            raise _refused(f"{name} of {entity!r} is not a number that xentop prints", found=f"{value} at {t}")
        if kind == "domain":
            domains.setdefault(entity, {})[name] = value
        elif kind in ("vcpu", "net", "vbd") and "/" in entity:
            owner, device = entity.rsplit("/", 1)
            details.setdefault(owner, {}).setdefault((kind, device), {})[name] = value
        else:
            raise _refused("xentop lists domains, vCPUs, nets and VBDs", found=f"{kind} {entity!r}")
    if now is not None:
        yield now, domains, details


def _cells(name: str, values: dict[str, float], columns: tuple[str, ...], seen: bool, names: set[str]) -> list[str]:
    printed = re.sub(r"#\d+$", "", name)
    printed = printed if printed in names else name
    if printed != printed.strip() or "\n" in printed or "\r" in printed or re.search(rf" {STATE} ", f"{printed} "):
        raise _refused("a name that can't be found again in a listing", found=repr(name))
    unknown = set(values) - set(columns)
    if unknown:
        raise _refused(
            "a field that the layout has no column for", expected=" ".join(columns), found=str(sorted(unknown))
        )
    cells = [printed, "------"]
    for column in columns[2:]:
        value = values.get(column)
        if column == "CPU(%)" and not seen:
            cells.append("0.0")
        elif value is not None:
            cells.append(f"{value:.1f}" if column.endswith("(%)") else str(int(value)))
        elif column in _ABSENT:
            cells.append(_ABSENT[column])
        else:
            raise _refused(f"no {column} for {name!r}, and xentop has no word for a missing one")
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


def _details(devices: dict[tuple[str, str], dict[str, float]], columns: int) -> list[str]:
    vcpus = [(int(device), values["VCPUs(sec)"]) for (kind, device), values in devices.items() if kind == "vcpu"]
    lines = []
    if vcpus:
        text = "VCPUs(sec): "
        for number, value in vcpus:
            text += ("\n        " if number and number % 5 == 0 else "") + f" {number:2d}: {int(value):10d}s"
        lines.append(text)
    try:
        for (_, device), v in (item for item in devices.items() if item[0][0] == "net"):
            counts = [f"{int(v[name]):8d}{name[3:]}" for name in NET_FIELDS]
            lines.append(f"Net{int(device)} RX: {' '.join(counts[:4])}  TX: {' '.join(counts[4:])}")
        for (_, device), v in (item for item in devices.items() if item[0][0] == "vbd"):
            model, _, digits = device.rpartition(" ")  # 3.0.4 and 3.1 print no model
            number = int(digits)
            text = f"VBD {model}{' ' if model else ''}{number:4d} [{number >> 8:2x}:{number & 255:2x}] "
            wanted = VBD_FIELDS if columns == 19 or "RSECT" in v else VBD_FIELDS[:3]
            widths = dict.fromkeys(VBD_FIELDS[:3], 8) | dict.fromkeys(VBD_FIELDS[3:], 10)
            cells = [f"{name}: {int(v[name]) if name in v else '-':>{widths[name]}}" for name in wanted]
            lines.append(f"{text} {'   '.join(cells)}")
    except (KeyError, ValueError) as err:
        raise _refused("a net or VBD that xentop can't print", found=f"{device!r}: {v}") from err
    return lines


def _refused(problem: str, *, expected: str | None = None, found: str | None = None) -> FormatError:
    return FormatError(
        f"xentop can't print this reading: {problem}",
        expected=expected,
        found=found,
        remedy="see docs/formats/xentop.md for what the layout holds.",
    )
