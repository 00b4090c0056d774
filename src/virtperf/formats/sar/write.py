"""Prints sar's text in its 24-hour form with an ISO date."""

from __future__ import annotations

import re
from datetime import date

import numpy as np

from virtperf.formats.base import Reading
from virtperf.formats.rows import refused
from virtperf.formats.sar.headings import SINCE_BOOT, parse_heading
from virtperf.formats.text import DAY, EPOCH, HALF_DAY, clock_text

# Counts that sysstat prints without decimals; every other value has two.
_WHOLE = (
    "kb", "dentunusd", "file-nr", "inode-nr", "pty-nr", "runq-sz", "plist-sz", "blocked", "MBfs", "Ifree", "Iused",
    "totsck", "tcpsck", "udpsck", "rawsck", "ip-frag", "tcp-tw", "tcp6sck", "udp6sck", "raw6sck", "ip6-frag",
)  # fmt: skip
_AT_END = ("fchost", "filesystem", "mountpoint")  # entities that stand at the right end of their row


class _Rows:
    """Groups records into rows of one time and entity: (report, kind, entity, t, fields, values)."""

    def __init__(self, reading: Reading) -> None:
        self.rows: list[tuple[str, str, str, int, list[str], list[float]]] = []
        columns = (reading.records[name] for name in ("report", "entity_kind", "entity", "field", "t", "value"))
        previous = None
        for report, kind, entity, name, t, value in zip(*columns, strict=True):
            if not (np.isfinite(t) and np.isfinite(value) and t == round(t)):
                raise refused("sar", "times are whole seconds, values numbers", f"{name} of {report} is {value} at {t}")
            if (report, kind, entity, t) != previous or name in self.rows[-1][4]:
                self.rows.append((report, kind, entity, int(t), [], []))
                previous = (report, kind, entity, t)
            self.rows[-1][4].append(name)
            self.rows[-1][5].append(value)


def write_sar(reading: Reading) -> bytes:
    """The listing that `read` turns into `reading`.

    ``reading.info`` gives ``kernel``, ``host``, ``machine``, ``cpus``, and ``restarts`` and ``comments`` as `read`
    does; with clock ``time-of-day`` the system line has no date. A heading carries the time of the sample before, the
    first one a time one step before the first sample. Values are rounded as sar rounds them.

    Raises
    ------
    FormatError
        When a report is not the one that its fields' heading would give, or two samples are too far apart (or too
        near to a midnight) for a clock without dates.
    """
    info = reading.info
    if reading.clock not in ("absolute", "time-of-day"):
        raise refused("sar", "sar prints times of day", f"clock {reading.clock}")
    rows = _Rows(reading).rows
    steps = _steps(rows)
    marks = sorted(_marks(info))
    first = min([mark[0] for mark in marks] + [_before(row, steps) for row in rows[:1]], default=0)
    day = first // DAY
    if "date" in info and rows and first % DAY < HALF_DAY:  # the heading may have stood just before midnight
        declared = date.fromisoformat(info["date"]).toordinal() - EPOCH
        day = declared if declared == day - 1 else day
    lines = [_system_line(info, day if reading.clock == "absolute" else None)]
    if reading.clock == "time-of-day" and rows and not 0 <= min(row[3] for row in rows) < DAY:
        raise refused("sar", "a time of day starts at 0 to 86399 s", str(rows[0][3]))
    heading = None
    last: dict[str, int] = {}  # time of each activity's last heading or row
    now = day * DAY
    for row in rows:
        report, kind, entity, t, names, values = row
        base = report.removesuffix(SINCE_BOOT)
        while marks and marks[0][0] <= t:
            now, text = marks.pop(0)
            lines += ["", f"{clock_text(now):<11s}  {text}"]
            heading = None
        if heading != (report, kind, names):
            body = _heading(base, kind, names)
            if report != base:
                start = t
            elif base in last:
                start = max([s for s in (last[base], now) if s < t], default=t - 1)
            else:
                start = max(_before(row, steps), min(day * DAY, t - 1))
                start = start if start // DAY == day else day * DAY + DAY - 1
            _check_step(last.get(base, day * DAY), start, base)
            lines += ["", f"{clock_text(start):<11s}{body}"]
            heading, last[base] = (report, kind, names), start
        _check_step(last[base], t, base)
        last[base] = now = t
        lines.append(f"{clock_text(t):<11s}{_row(kind, entity, names, values)}")
    for at, text in marks:
        lines += ["", f"{clock_text(at):<11s}  {text}"]
    return ("\n".join(lines) + "\n").encode()


def _steps(rows: list[tuple[str, str, str, int, list[str], list[float]]]) -> dict[str, int]:
    """Seconds between the first two samples of each activity."""
    seen: dict[str, int] = {}
    steps: dict[str, int] = {}
    for report, _, _, t, _, _ in rows:
        if seen.setdefault(report, t) < t:
            steps.setdefault(report, t - seen[report])
    return steps


def _before(row: tuple[str, str, str, int, list[str], list[float]], steps: dict[str, int]) -> int:
    return row[3] if row[0].endswith(SINCE_BOOT) else row[3] - min(steps.get(row[0], 1), HALF_DAY - 1)


def _check_step(start: int, end: int, report: str) -> None:
    same_day = start // DAY == end // DAY and start <= end
    if not same_day and not (end // DAY - start // DAY == 1 and end % DAY - start % DAY < -HALF_DAY):
        raise refused("sar", "times of day can't show a step", f"{start} to {end} s in {report}")


def _marks(info: dict[str, str]) -> list[tuple[int, str]]:
    cpus = f"\t({info['cpus']} CPU)" if "cpus" in info else ""
    marks = [(int(t), f"LINUX RESTART{cpus}") for t in info.get("restarts", "").split()]
    for comment in filter(None, info.get("comments", "").split("\n")):
        t, _, text = comment.partition(" ")
        marks.append((int(t), f"COM {text}"))
    return marks


def _system_line(info: dict[str, str], day: int | None) -> str:
    parts = [f"Linux {info.get('kernel', 'unknown')} ({info.get('host', '')}) "]
    parts.append("-" if day is None else date.fromordinal(day + EPOCH).isoformat())
    line = "\t".join(parts)
    if "machine" in info:
        line += f" \t_{info['machine']}_"
    if "cpus" in info:
        line += f"\t({info['cpus']} CPU)"
    return line


def _heading(report: str, kind: str, names: list[str]) -> str:
    front = [] if kind == "host" or kind in _AT_END else [_cell(kind.upper(), kind)]
    back = [f" {kind.upper()}"] if kind in _AT_END else []
    body = "".join([*front, *(f" {name:>9s}" for name in names), *back])
    found = parse_heading(body)
    if found is None or (found.report, found.kind, list(found.fields)) != (report, kind, names):
        raise refused(
            "sar", "no heading of sar stands for this", f"report {report}, entity {kind}, fields {' '.join(names)}"
        )
    return body


def _cell(text: str, kind: str) -> str:
    return f" {text:>7s}" if kind == "cpu" else f" {text:>9s}"


def _row(kind: str, entity: str, names: list[str], values: list[float]) -> str:
    cells = [f" {v:9.0f}" if n.startswith(_WHOLE) else f" {v:9.2f}" for n, v in zip(names, values, strict=True)]
    words = re.findall(r"[^\t-\r ]+", entity)
    if " ".join(words) != entity or (kind not in _AT_END and len(words) != (kind != "host")):
        raise refused("sar", "an entity is a word (a path may hold blanks), and none for the host", repr(entity))
    if kind in _AT_END:
        return "".join([*cells, f" {entity}"])
    return "".join([*(_cell(word, kind) for word in words), *cells])
