"""Prints sar's text in its 24-hour form with an ISO date."""

from __future__ import annotations

import math
import re
from datetime import date

from rawperf.base import Reading
from rawperf.rows import refused
from rawperf.sar.headings import parse_heading
from rawperf.text import DAY, EPOCH, HALF_DAY, clock_text

# Counts that sysstat prints without decimals; every other value has two.
_WHOLE = (
    "kb",
    "dentunusd",
    "file-nr",
    "inode-nr",
    "pty-nr",
    "runq-sz",
    "plist-sz",
    "blocked",
    "MBfs",
    "Ifree",
    "Iused",
    "totsck",
    "tcpsck",
    "udpsck",
    "rawsck",
    "ip-frag",
    "tcp-tw",
    "tcp6sck",
    "udp6sck",
    "raw6sck",
    "ip6-frag",
)

Row = tuple[str, str, str, int, list[str], list[float]]  # report, kind, entity, t, fields, values


def write_sar(reading: Reading) -> bytes:
    """The listing that `read` turns into `reading`.

    ``reading.info`` gives ``kernel``, ``host``, ``machine`` and ``cpus``. A heading carries the
    time of the sample before, the first one a time one step before the first sample. Values are
    rounded as sar rounds them.

    Raises `FormatError` for another clock than the absolute one, restarts and comments, a report
    that is not the one that its fields' heading would give (such as averages since boot), and two
    samples too far apart for times of day.
    """
    info = reading.info
    if reading.clock != "absolute" or info.keys() & {"restarts", "comments"}:
        raise refused(
            "sar", "only samples with dates are printed", f"clock {reading.clock}, {info}"
        )
    rows = _rows(reading)
    steps = _steps(rows)
    day = (rows[0][3] - steps[rows[0][0]]) // DAY if rows else 0
    lines = [_system_line(info, day)]
    heading = None
    last: dict[str, int] = {}  # time of each activity's last heading or row
    now = day * DAY
    for report, kind, entity, t, names, values in rows:
        if heading != (report, kind, names):
            body = _heading(report, kind, names)
            if report in last:
                start = max([s for s in (last[report], now) if s < t], default=t - 1)
            else:
                start = max(t - steps[report], min(day * DAY, t - 1))
                start = start if start // DAY == day else day * DAY + DAY - 1
            _check_step(last.get(report, day * DAY), start, report)
            lines += ["", f"{clock_text(start):<11s}{body}"]
            heading, last[report] = (report, kind, names), start
        _check_step(last[report], t, report)
        last[report] = now = t
        lines.append(f"{clock_text(t):<11s}{_row(kind, entity, names, values)}")
    return ("\n".join(lines) + "\n").encode()


def _rows(reading: Reading) -> list[Row]:
    """Records of one report, entity and time after the other."""
    rows: list[Row] = []
    columns = (
        reading.records[name].tolist()
        for name in ("report", "entity_kind", "entity", "field", "t", "value")
    )
    previous = None
    for report, kind, entity, name, t, value in zip(*columns, strict=True):
        if not (math.isfinite(t) and math.isfinite(value) and t == round(t)):
            raise refused(
                "sar",
                "times are whole seconds, values numbers",
                f"{name} of {report} is {value} at {t}",
            )
        if (report, kind, entity, t) != previous or name in rows[-1][4]:
            rows.append((report, kind, entity, int(t), [], []))
            previous = (report, kind, entity, t)
        rows[-1][4].append(name)
        rows[-1][5].append(value)
    return rows


def _steps(rows: list[Row]) -> dict[str, int]:
    """Seconds between the first two samples of each activity, 1 where there is one only."""
    seen: dict[str, int] = {}
    steps: dict[str, int] = {}
    for report, _, _, t, _, _ in rows:
        if seen.setdefault(report, t) < t:
            steps.setdefault(report, min(t - seen[report], HALF_DAY - 1))
    return dict.fromkeys(seen, 1) | steps


def _check_step(start: int, end: int, report: str) -> None:
    same_day = start // DAY == end // DAY and start <= end
    if not same_day and not (
        end // DAY - start // DAY == 1 and end % DAY - start % DAY < -HALF_DAY
    ):
        raise refused("sar", "times of day can't show a step", f"{start} to {end} s in {report}")


def _system_line(info: dict[str, str], day: int) -> str:
    iso = date.fromordinal(day + EPOCH).isoformat()
    line = f"Linux {info.get('kernel', 'unknown')} ({info.get('host', '')}) \t{iso}"
    if "machine" in info:
        line += f" \t_{info['machine']}_"
    if "cpus" in info:
        line += f"\t({info['cpus']} CPU)"
    return line


def _heading(report: str, kind: str, names: list[str]) -> str:
    front = [] if kind == "host" else [_cell(kind.upper(), kind)]
    body = "".join([*front, *(f" {name:>9s}" for name in names)])
    found = parse_heading(body)
    if found is None or (found.report, found.kind, list(found.fields)) != (report, kind, names):
        raise refused(
            "sar",
            "no heading of sar stands for this",
            f"report {report}, entity {kind}, fields {' '.join(names)}",
        )
    return body


def _cell(text: str, kind: str) -> str:
    return f" {text:>7s}" if kind == "cpu" else f" {text:>9s}"


def _row(kind: str, entity: str, names: list[str], values: list[float]) -> str:
    cells = [
        f" {v:9.0f}" if n.startswith(_WHOLE) else f" {v:9.2f}"
        for n, v in zip(names, values, strict=True)
    ]
    words = re.findall(r"[^\t-\r ]+", entity)
    if " ".join(words) != entity or len(words) != (kind != "host"):
        raise refused("sar", "an entity is a word, and none for the host", repr(entity))
    return "".join([*(_cell(word, kind) for word in words), *cells])
