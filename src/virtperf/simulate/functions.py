"""The functions that expressions of `raw.yaml` may call: arithmetic, sums over time and entities, shapes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from virtperf.simulate.expressions import ExpressionError, Value, combine


def _over_time(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[Value], Value]:
    """A function along the time axis; its result varies over time where it has as many rows as its argument."""

    def applied(x: Value) -> Value:
        if not x.times:
            raise ExpressionError("what does not vary over time has no sum, mean, last or highest value over time")
        found = np.atleast_2d(function(x.data))
        return Value(found, x.times if len(found) == len(x.data) > 1 else "", x.entities)

    return applied


def _together(x: Value) -> Value:
    return Value(x.data.sum(axis=1, keepdims=True), x.times)


def _share(weights: Value) -> Value:
    return combine(np.divide, weights, _together(weights))


def _parts(total: Value, weights: Value) -> Value:
    """Whole numbers in proportion to weights that add up to the total, rounded."""
    edges = np.cumsum(_share(weights).data, axis=1)
    cut = combine(lambda whole, edge: np.round(np.round(whole) * edge), total, Value(edges, "", weights.entities))
    return Value(np.diff(cut.data, axis=1, prepend=0.0), cut.times, cut.entities)


def share_noise(share: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Relative noise on a utilization that can't leave [0, 1]: it shrinks towards both ends, the mean stays."""
    room = np.minimum(share, 1 - share)
    return share + np.clip(noise * np.minimum(share, 4 * room), -room, room)


def uneven(share: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Shares of several entities that scatter around `share`, each within [0, 1], with exactly that mean."""
    noise = noise - noise.mean(axis=1, keepdims=True)
    return share + noise / max(1.0, float(np.abs(noise).max(initial=0))) * np.minimum(share, 1 - share)


def autocorrelated(rng: np.random.Generator, shape: tuple[int, int], correlation: float) -> np.ndarray:
    """Standard normal noise, shape (times, entities): AR(1) over time with that correlation of neighbours."""
    noise = rng.standard_normal(shape)
    spread = np.sqrt(1 - correlation**2)
    for i in range(1, len(noise)):
        noise[i] = correlation * noise[i - 1] + spread * noise[i]
    return noise


_ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "abs": np.abs, "ceil": np.ceil, "exp": np.exp, "floor": np.floor, "log": np.log, "sqrt": np.sqrt,
    "min": lambda a, b: np.minimum(a, b), "max": lambda a, b: np.maximum(a, b),
    "clip": lambda x, low, high: np.clip(x, low, high),
    "round": lambda x, digits=0: np.round(x, int(np.max(digits))),
    "where": lambda condition, a, b: np.where(condition != 0, a, b),
    "only": lambda condition, x: np.where(condition != 0, x, np.nan),
    "filled": lambda x, instead: np.where(np.isnan(x), instead, x),
    # from 0 at t = 0 towards 1 (caches fill, code gets compiled); a bell of height 1
    "ramp": lambda t, constant: -np.expm1(-t / constant),
    "peak": lambda t, middle, width: np.exp(-(((t - middle) / width) ** 2)),
    "bounded": share_noise,
    "uneven": uneven,
}  # fmt: skip

FUNCTIONS: dict[str, Callable[..., Value]] = {
    **{name: partial(combine, function) for name, function in _ELEMENTWISE.items()},
    "cumsum": _over_time(lambda x: x.cumsum(axis=0)),
    "last": _over_time(lambda x: x[-1]),
    "total": _over_time(lambda x: x.sum(axis=0)),
    "average": _over_time(lambda x: x.mean(axis=0)),
    "highest": _over_time(lambda x: x.max(axis=0)),
    "together": _together,
    "share": _share,
    "parts": _parts,
}
"""By name, what needs nothing but its arguments; `virtperf.simulate.signals` adds what looks at the run."""
