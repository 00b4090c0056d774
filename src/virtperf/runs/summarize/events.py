"""Numbers of events per second, and their shares, from samples of single events such as requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

EVENT_BIN_S = 1.0
"""Length of the intervals in which events are counted, about: a whole number of them is a window."""
MIN_BINS = 30
"""Smallest number of intervals of a window, for the error of their mean."""

Key = tuple[str, str, str, str]
"""Source, entity kind, entity, metric."""
Events = TypeVar("Events")


def count_edges(window: tuple[float, float], last: float) -> np.ndarray:
    """Return the edges of equal intervals that divide a window exactly, ascending.

    They go on before the window, from the run's start on, and after it, up to the event at `last`.
    """
    begin, end = window
    n = max(MIN_BINS, round((end - begin) / EVENT_BIN_S))
    width = (end - begin) / n
    before = int(max(begin, 0.0) // width)
    after = int(max(last - end, 0.0) // width)
    edges = begin + width * np.arange(-before, n + after + 1)
    edges[before + n] = end
    return edges


def per_second(t: np.ndarray, edges: np.ndarray, values: np.ndarray | None = None) -> np.ndarray:
    """Return events per second, or the sum of their `values` per second, in each interval.

    `t` are the times of the events, ascending; an interval contains its end, but not its begin.
    """
    weights = np.ones(len(t)) if values is None else values
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    at_edges = sums[np.searchsorted(t, edges, side="right")]
    return np.diff(at_edges) / np.diff(edges)


def counted_places(
    keys: Mapping[Key, Any], facts: Mapping[str, Any], metrics: Mapping[str, Mapping[str, Any]]
) -> dict[tuple[str, str, str], tuple[Key, ...]]:
    """Return, for a metric that counts events, the series of these events by source and entity.

    `facts` is the metric's entry in the index of samples.
    """
    places: dict[tuple[str, str, str], tuple[Key, ...]] = {}
    for key in keys:
        if key[3] in facts["counted"] and key[0] in metrics[key[3]]["events"]:
            places[key[:3]] = (*places.get(key[:3], ()), key)
    return places
