"""The samples of a measurement window: one rule, for means, counts, lineage and audits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

EVENT, COUNTER = "event", "counter"
"""Kinds of metrics whose samples cover other times than those of a gauge."""
MAX_STEPS = 1.5
"""Longest interval of a sample, in usual steps of its series; a longer one contains a lost sample."""


@dataclass(frozen=True)
class Overlap:
    """Overlap of samples with a window, arrays of shape (samples,).

    `seconds`: time of the window that each sample covers; 0 for an event.
    `weights`: weights of a mean over the window: `seconds`, or 1 for each event inside.
    `inside`: samples that count where a sample counts whole or not at all (spread, order
        statistics): those whose interval has its middle in the window, or, in a window shorter than
        an interval, the one with the largest overlap.
    """

    seconds: np.ndarray
    weights: np.ndarray
    inside: np.ndarray

    @property
    def used(self) -> np.ndarray:
        """Mask of the samples with a weight."""
        return self.weights > 0

    def mean(self, values: np.ndarray) -> float:
        """Mean of `values` over the window; NaN if no sample covers any of it."""
        total = float(self.weights.sum())
        return float(self.weights @ values) / total if total else float("nan")


def overlap(t: np.ndarray, window: tuple[float, float], since: np.ndarray | None = None) -> Overlap:
    """Return the overlap of samples at ascending times `t` with a window from begin to end.

    A sample covers the interval from `since` (default: `sample_begins`) to its time, and its value
    is the mean over that interval. So a mean over the window weights each sample by the part of its
    interval that lies in the window, and the integral of a rate, ``seconds @ values``, is the linear
    interpolation of its cumulative counter at both ends of the window. Times of the window that no
    sample covers (a gap) have no weight. An event has no interval (`since` is its time): it counts
    once, in the window that contains its time; the begin is excluded, the end included, so that
    adjacent windows share no event.
    """
    begin, end = window
    since = sample_begins(t) if since is None else since
    seconds = np.maximum(np.minimum(t, end) - np.maximum(since, begin), 0.0)
    middle = (since + t) / 2
    inside = (middle > begin) & (middle <= end)
    if not inside.any() and seconds.any():
        inside = np.arange(len(t)) == np.argmax(seconds)
    weights = seconds if seconds.any() else inside.astype(float)
    return Overlap(seconds, weights, inside)


def sample_begins(t: np.ndarray, kind: str = "gauge") -> np.ndarray:
    """Return the begin of the interval that each sample of a metric of this kind covers.

    It is the time of the previous sample, and one usual step (the median) earlier for the first
    sample. After a gap of more than `MAX_STEPS` usual steps a gauge covers one usual step: the
    samples of the rest were lost; the rate of a counter covers the whole gap. An event, and the only
    sample of a series, begins at its time.
    """
    if kind == EVENT or len(t) < 2:
        return t.copy()
    usual = float(np.median(np.diff(t)))
    since = np.concatenate([[t[0] - usual], t[:-1]])
    if kind != COUNTER:
        since = np.where(t - since > MAX_STEPS * usual, t - usual, since)
    return since
