"""A run's times: its files on one clock, the stretch that all of them cover, the measurement window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from virtperf.core.errors import RunError
from virtperf.ingest.clocks import align
from virtperf.ingest.runs import RawFile, Run
from virtperf.intake.inspect import Inspected

DAY = 86400.0
MAY_MISS = 1.5
"""Intervals of a file that may be missing at the ends of a window, as in the audit of coverage."""

RELATIVE = ("elapsed", "sample")
"""Clocks that begin when a tool does, so that they are of use only where the run's start is known."""


@dataclass(frozen=True)
class Timing:
    """When a run took place.

    Attributes
    ----------
    start : datetime
        t = 0.
    duration_s, warmup_s : float
    window_s : tuple of float
        The measurement window.
    spans : dict of str to tuple of float
        What each file with several samples covers, in seconds from the start.
    common : tuple of float or None
        What all of them cover; None where no file has several samples.
    notes : tuple of str
        What a reader should know about how the times were found.
    """

    start: datetime
    duration_s: float
    warmup_s: float
    window_s: tuple[float, float]
    spans: dict[str, tuple[float, float]]
    common: tuple[float, float] | None
    notes: tuple[str, ...]


def first_time(files: Sequence[Inspected]) -> datetime | None:
    """The first time that a file with date and time of day has, where no file's clock depends on the run's start."""
    begins = [f.times[0] for f in files if f.clock == "absolute" and len(f.times)]
    if not begins or any(f.clock in RELATIVE for f in files):
        return None
    return datetime.fromtimestamp(float(min(begins)), UTC).replace(tzinfo=None, microsecond=0)


def derive(
    files: Sequence[Inspected], entries: Mapping[str, Mapping[str, Any]], procedure: Mapping[str, Any], *,
    start: datetime, duration_s: float | None = None, warmup_s: float | None = None,
    window_s: tuple[float, float] | None = None,
) -> Timing:  # fmt: skip
    """Put the files on the run's clock and find its window.

    What is not given is taken from the study's procedure, and what that does not say from the files: the run ends with
    the last sample, and the window is what all files cover after the warm-up.

    Parameters
    ----------
    files : sequence of Inspected
    entries : mapping of str to mapping
        start_s, interval_s and the like by path, as in `run.yaml`.
    procedure : mapping
        ``procedure`` of the study: run_s, warmup_s, window_s.

    Raises
    ------
    RunError
        Samples are only numbered and nothing says when they were taken; no stretch that all files cover after the
        warm-up.
    """
    told = duration_s or procedure.get("run_s")
    spans = _spans(files, entries, _clock(start, float(told or DAY)))
    notes = []
    duration = float(told or max((end for _, end in spans.values()), default=0.0))
    if not told:
        notes.append("the run's length is that of its files")
    if duration <= 0:
        raise RunError("nothing says how long the run took", remedy="give --duration")
    warmup = float(procedure.get("warmup_s", 0.0) if warmup_s is None else warmup_s)
    common = None
    if spans:
        common = (max(0.0, *(b for b, _ in spans.values())), min(duration, *(e for _, e in spans.values())))
    window = window_s or _declared(procedure, files, spans, warmup, notes) or _covered(common, warmup, duration)
    return Timing(
        start, _tidy(duration), _tidy(warmup), (_tidy(window[0]), _tidy(window[1])), spans, common, tuple(notes)
    )


def _declared(
    procedure: Mapping[str, Any], files: Sequence[Inspected], spans: Mapping[str, tuple[float, float]], warmup: float,
    notes: list[str],
) -> tuple[float, float] | None:  # fmt: skip
    """The procedure's window, if all files cover it and it does not begin in the warm-up."""
    if "window_s" not in procedure:
        return None
    begin, end = procedure["window_s"]
    words = f"the window of the study's procedure, {begin:g} to {end:g} s"
    for file in files:
        low, high = spans.get(file.path, (begin, end))
        step = (high - low) / len(file.times) if len(file.times) else 0.0
        if max(0.0, low - begin) + max(0.0, end - high) > MAY_MISS * step:
            notes.append(f"{words}, is not covered by {file.path}")
            return None
    if begin < warmup:
        notes.append(f"{words}, begins in the warm-up")
        return None
    notes.append(f"it is {words}")
    return float(begin), float(end)


def _covered(common: tuple[float, float] | None, warmup: float, duration: float) -> tuple[float, float]:
    """What all files cover after the warm-up."""
    low, high = common or (0.0, duration)
    begin, end = max(low, warmup), high
    if not begin < end:
        raise RunError(
            "no stretch of the run is covered by all of its files after the warm-up", found=f"{begin:g} to {end:g} s",
            remedy="compare --start with the files' clocks, leave out a file, or give --window",
        )  # fmt: skip
    return begin, end


def _spans(
    files: Sequence[Inspected], entries: Mapping[str, Mapping[str, Any]], run: Run
) -> dict[str, tuple[float, float]]:
    """What each file covers: a sample speaks of the interval that ends at its time."""
    spans = {}
    for file in files:
        if len(file.times) < 2:
            continue
        entry = entries.get(file.path, {})
        raw = RawFile(
            file.path, file.format, "", "guest", entry.get("start_s"), entry.get("interval_s"), entry.get("at_s"),
            float(entry.get("clock_offset_s", 0.0)),
        )  # fmt: skip
        seconds = align(file.times, file.clock, raw, run)
        step = file.step * (float(entry["interval_s"]) if file.clock == "sample" else 1.0)
        spans[file.path] = (float(seconds[0]) - step, float(seconds[-1]))
    return spans


def _clock(start: datetime, duration_s: float) -> Run:
    """A run of which only the clock matters."""
    return Run("run", "measured", {}, 1, start, duration_s, 0.0, (0.0, duration_s), None, None, None, {}, ())


def _tidy(seconds: float) -> float | int:
    rounded = round(float(seconds), 3)
    return int(rounded) if rounded == int(rounded) else rounded
