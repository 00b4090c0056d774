"""Prints the console log of iwlengine."""

from __future__ import annotations

import pandas as pd

from virtperf.core.errors import FormatError
from virtperf.formats.base import Reading
from virtperf.formats.iwl.summary import CLIENTS_FIELD, CLIENTS_OF_FIELD, RUN_TIME_FIELD, SUMMARY_LABELS
from virtperf.formats.rows import refused

STATUS_FIELDS = ("clients", "clients max", "rd", "wr", "pg", "web err", "resp avg", "pg elem/s")
STATUS_REPORT, SUMMARY_REPORT, ENTITY_KIND = "status", "summary", "driver"
_LIMIT = "time limit"


def log_lines(reading: Reading) -> list[str]:
    """The lines of a driver's log: status lines, then the summary.

    Raises
    ------
    FormatError
        What a log of iwlengine can't hold, and what is not written: a harness's wrapper, several machines, other lines.
    """
    records, info = reading.records, reading.info
    if info.keys() - {_LIMIT} or records["entity"].any():
        raise refused("iwl-console", f"{_LIMIT} is the only fact, of one driver", str(info), "no entity")
    samples, summary = _printable(records)
    lines = _status_lines(samples)
    if _LIMIT in info:
        lines.append(f"IWL0058I Time limit of {info[_LIMIT]} seconds has been reached. Shutting down.")
    return lines + _summary_lines(summary)


def _printable(records: pd.DataFrame) -> tuple[dict[float, dict[str, float]], dict[str, float]]:
    """The values of each time's status line, and of the summary, by field."""
    samples: dict[float, dict[str, float]] = {}
    summary: dict[str, float] = {}
    known = {STATUS_REPORT: frozenset(STATUS_FIELDS), SUMMARY_REPORT: {*SUMMARY_LABELS, CLIENTS_OF_FIELD}}
    columns = (records[name].tolist() for name in ("report", "field", "t", "value"))
    for place, (report, field, t, value) in enumerate(zip(*columns, strict=True)):
        fields = samples.setdefault(t, {}) if report == STATUS_REPORT else summary
        if field not in known.get(report, ()) or not 0 <= value < 1e15 or field in fields:
            raise FormatError(
                "a record that a console log can't hold",
                expected="report status or summary, each field once a sample, numbers from 0 to 1e15",
                found=str(records.iloc[place].to_dict()),
            )
        fields[field] = value
    return samples, summary


def _status_lines(samples: dict[float, dict[str, float]]) -> list[str]:
    times = sorted(samples)
    if times != list(range(len(times))) or any(len(samples[t]) < len(STATUS_FIELDS) for t in times):
        raise FormatError(
            "status records do not make whole status lines",
            expected=f"t = 0, 1, 2, ... and each of {', '.join(STATUS_FIELDS)}",
        )
    return [
        f"# clients {clients:.0f}/{most:.0f} | rd {rd:.4f} MB/s | wr {wr:.4f} MB/s | pg {pg:.0f} | web err {errors:.0f}"
        f" | resp avg = {response:.3f} | pg elem/s = {elements:.3f}"
        for clients, most, rd, wr, pg, errors, response, elements in (
            [samples[t][field] for field in STATUS_FIELDS] for t in times
        )
    ]


def _summary_lines(values: dict[str, float]) -> list[str]:
    most = values.pop(CLIENTS_OF_FIELD, values.get(CLIENTS_FIELD, 0.0))
    lines = []
    for label, value in values.items():
        ident, unit, decimals = SUMMARY_LABELS[label]
        text = f"{value:.{decimals}f}"
        if label == RUN_TIME_FIELD:
            text = f"{int(value) // 3600:02d}:{int(value) // 60 % 60:02d}:{int(value) % 60:02d}"
        elif label == CLIENTS_FIELD:
            text = f"{value:.0f}/{most:.0f}"
        lines.append(f"{ident} {label} = {text}{unit}".strip())
    return lines
