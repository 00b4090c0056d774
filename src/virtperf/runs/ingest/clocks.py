"""Conversion of a raw file's clock to seconds since the run's start."""

from __future__ import annotations

import numpy as np

from rawperf.core.errors import RunError
from virtperf.runs.ingest.runs import RawFile, Run

DAY = 86400.0
MIN_TIMES, MIN_DISPLACEMENT, DISPLACEMENT_SHARE = 10, 3, 0.1
"""Least number of times, displacement in sampling intervals, and tolerance of its equality at both
ends, as a share of it. No file of the 4,051 with ten times in this repository's studies is reported."""


def align(t: np.ndarray, clock: str, file: RawFile, run: Run) -> np.ndarray:
    """Convert all times of a file to seconds since the run's start; see `FileClock`."""
    times = FileClock(clock, file, run)
    seconds = times.seconds(t)
    return seconds + times.days


class FileClock:
    """Incremental conversion of one file's times to the run's clock; `clock` is one of
    `rawperf.base.CLOCKS`.

    absolute: minus the start. time-of-day: minus the start's time of day, shifted by the whole days
    that put most samples inside the run. elapsed: plus `start_s`. sample: ``start_s + t *
    interval_s``. none: `at_s`, NaN if not given. `clock_offset_s` is added to all; from a host's
    clock (absolute, time-of-day), that host's offset is subtracted.

    A run without a clock (no `duration_s`) has no seconds: samples keep their number, from 1, and
    all other values belong to the whole run.
    """

    def __init__(self, clock: str, file: RawFile, run: Run) -> None:
        self.clock = clock
        self._file, self._run = file, run
        most = int(run.duration_s // DAY) + 3 if clock == "time-of-day" and run.duration_s else 1
        self._day_shifts = sorted(range(-2 if most > 1 else 0, most), key=lambda k: (abs(k), -k))
        self._inside = np.zeros(len(self._day_shifts), dtype=np.int64)
        # first and last time so far, without `days`; infinite if there is none
        self.low, self.high = np.inf, -np.inf
        self._n_times = 0

    @property
    def days(self) -> float:
        """Shift by whole days, in seconds, that puts most samples so far inside the run; 0 if no
        shift gains any.
        """
        return self._day_shifts[int(np.argmax(self._inside))] * DAY

    @property
    def inside(self) -> int:
        """Number of samples so far inside the run."""
        return int(self._inside.max())

    @property
    def displacement_s(self) -> float:
        """Seconds by which a file as long as the run lies later than it; 0 if it is not evident.

        Begin and end of the file must be more than `MIN_DISPLACEMENT` intervals late, or early, by
        about the same time: a monitor that only begins late ends with the run or long after it.
        """
        if self._run.duration_s is None or self._n_times < MIN_TIMES:
            return 0.0
        interval = (self.high - self.low) / (self._n_times - 1)
        begin = self.low + self.days - interval
        late = np.array([begin, self.high + self.days - self._run.duration_s])
        least = MIN_DISPLACEMENT * interval
        if not (late > least).all() and not (late < -least).all():
            return 0.0
        alike = abs(late[0] - late[1]) <= max(least, DISPLACEMENT_SHARE * abs(late[0]))
        return float(late.mean()) if alike else 0.0

    def seconds(self, t: np.ndarray) -> np.ndarray:
        """Convert a part of the file to seconds since the run's start, without `days` of the whole
        file.

        NaN where a number belongs to the whole run. Raises `RunError` if samples are only numbered,
        and run.yaml does not define their times.
        """
        if self._run.duration_s is None:
            return t + 1 if self.clock == "sample" else np.full(len(t), np.nan)
        seconds = self._since_start(t) + self._file.clock_offset_s
        times, counts = np.unique(seconds[np.isfinite(seconds)], return_counts=True)
        if len(times):
            self.low, self.high = min(self.low, float(times[0])), max(self.high, float(times[-1]))
            self._n_times += len(times)
        for place, shift in enumerate(self._day_shifts):
            moved = times + shift * DAY
            self._inside[place] += counts[(moved >= 0) & (moved <= self._run.duration_s)].sum()
        return seconds

    def _since_start(self, t: np.ndarray) -> np.ndarray:
        file, run = self._file, self._run
        host_offset = 0.0 if file.host is None else run.clocks[file.host].offset_s
        match self.clock:
            case "absolute":
                return t - run.start_epoch - host_offset
            case "time-of-day":
                return t - run.start_epoch % DAY - host_offset
            case "elapsed":
                return t + (file.start_s or 0.0)
            case "none":
                return np.full(len(t), np.nan if file.at_s is None else file.at_s)
            case "sample" if np.isnan(t).all():
                return t
            case "sample":
                if file.start_s is None or file.interval_s is None:
                    raise RunError(
                        "the samples are numbered and have no times",
                        file=f"{run.run_id}/{file.path}",
                        expected="start_s and interval_s in this file's entry in run.yaml",
                        remedy=f"under files, add - {{path: {file.path}, start_s: ..., interval_s: ...}}",
                    )
                return file.start_s + t * file.interval_s
        raise RunError(
            f"the reader returned an unknown clock {self.clock!r}", file=f"{run.run_id}/{file.path}"
        )
