"""From the clock of a raw file to seconds since the run's start."""

from __future__ import annotations

import numpy as np

from virtperf.core.errors import RunError
from virtperf.ingest.runs import RawFile, Run

DAY = 86400.0


def align(t: np.ndarray, clock: str, file: RawFile, run: Run) -> np.ndarray:
    """Seconds since the run's start.

    Parameters
    ----------
    t : ndarray, shape (n,)
        As in `Reading.records`; NaN where a number belongs to the whole run.
    clock : str
        One of `virtperf.formats.CLOCKS`.

    Returns
    -------
    ndarray, shape (n,)
        absolute: minus the start. time-of-day: minus the start's time of day, moved by the whole days that put most
        samples inside the run. elapsed: plus `start_s`. sample: ``start_s + t * interval_s``. none: `at_s`, NaN where
        that is not given. To each, `clock_offset_s` is added.

    Raises
    ------
    RunError
        Samples are only numbered, and run.yaml does not say when they were taken.
    """
    if clock == "absolute":
        seconds = t - run.start_epoch
    elif clock == "time-of-day":
        seconds = t - run.start_epoch % DAY
        seconds += _days(seconds + file.clock_offset_s, run.duration_s)
    elif clock == "elapsed":
        seconds = t + (file.start_s or 0.0)
    elif clock == "sample":
        if file.start_s is None or file.interval_s is None:
            if np.isnan(t).all():
                return t
            raise RunError(
                "the file numbers its samples and carries no time", file=f"{run.run_id}/{file.path}",
                expected="start_s and interval_s in this file's entry in run.yaml",
                remedy=f"add - {{path: {file.path}, start_s: ..., interval_s: ...}} to files",
            )  # fmt: skip
        seconds = file.start_s + t * file.interval_s
    elif clock == "none":
        seconds = np.full(len(t), np.nan if file.at_s is None else file.at_s)
    else:
        raise RunError(f"the reader names an unknown clock {clock!r}", file=f"{run.run_id}/{file.path}")
    return seconds + file.clock_offset_s


def _days(seconds: np.ndarray, duration_s: float) -> float:
    """Whole days, in seconds, that put most samples into ``[0, duration_s]``; none where nothing is gained by it."""
    finite = seconds[np.isfinite(seconds)]
    shifts = sorted(range(-2, int(duration_s // DAY) + 3), key=lambda k: (abs(k), -k))
    inside = [((finite + k * DAY >= 0) & (finite + k * DAY <= duration_s)).sum() for k in shifts]
    return shifts[int(np.argmax(inside))] * DAY if len(finite) else 0.0
