"""Change points in benchmark histories: level shifts and noisy revisions under autocorrelated noise.

The logarithms of a benchmark's values at successive revisions are

    y[t] = level of t's segment + shift of t, if t is a noisy revision + e[t],
    e[t] = phi e[t - 1] + white noise.

A candidate is an interval of revisions [a, b) whose values are all shifted by the same amount: a step
if it lasts until the newest revision, one noisy revision if its length is one, else two steps. As in
circular binary segmentation (Olshen et al. 2004) the best interval is added to the model, and the
positions of all steps are fitted again, until no further interval is significant. Noisy revisions
that mask each other are added together, if each is significant beside the others. The statistic of a
candidate is its restricted log-likelihood ratio, maximized over phi in both models (generalized
least squares), so that a history that wanders needs more for a step than one that does not. Its
null distribution is simulated by tools/validation/histories.py and stored in null-distributions.json.

The revisions that may be the first of a step are those whose restricted likelihood is not much less
than that of the best.

References
----------
Olshen, A. B., Venkatraman, E. S., Lucito, R., Wigler, M. (2004). Circular binary segmentation for the
analysis of array-based DNA copy number data. Biostatistics 5, 557-572. Prais, S. J., Winsten, C. B.
(1954). Trend estimators and serial correlation. Cowles Commission discussion paper 383. Patterson, H.
D., Thompson, R. (1971). Recovery of inter-block information when block sizes are unequal. Biometrika
58, 545-554.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from virtperf.core.estimate import Estimate, student

MIN_REVISIONS = 6
MAX_REVISIONS = 1000
NEWEST = 3
"""A step at one of so many last revisions has its own false alarm rate."""
INTERVALS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25)
"""Lengths of the intervals that are tried as a whole; others are found as two steps."""
MAX_CHANGES = 30
"""A history with so many is one that has no levels."""
MAX_CORRELATION, MIN_CORRELATED = 0.5, 20
"""Autocorrelation of the white noise, from so many revisions, at which the noise is of another kind."""
MAX_SWEEPS = 3
MASKED = 8.0
"""Distance to the fit, in median distances, from which several revisions may be noisy together."""
ALPHA = {"newest": 0.022, "step": 0.007, "interval": 0.005, "drift": 0.005}
"""False alarm probability of one look at a history without a change, by kind of candidate."""
SET_LEVEL = 0.97
DRIFT_PENALTY = 2.0
"""Log-likelihood by which a drift must be better than a step: commits make steps."""
AUTOCORRELATIONS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
MIN_NOISE = 1e-9
"""Noise that every history has at least, relative to the values: rounding."""


@dataclass(frozen=True)
class Step:
    """A change of level, most likely at position `at`, at one of `first` to `last`.

    `shift` is the difference to the segment before, `since` that of the present level to the
    segment before: it has the same sign if the change still holds.
    """

    at: int
    first: int
    last: int
    shift: Estimate
    since: Estimate

    @property
    def holds(self) -> bool:
        return 0 not in self.since and self.since.value * self.shift.value > 0


@dataclass(frozen=True)
class Changes:
    """Steps and noisy revisions of one history, with the levels of its segments.

    `newest` is the difference of the newest revision to the level before it, `drift` that of the
    newest to the oldest revision where levels change gradually. A history without levels, which
    wanders otherwise than the noise of this model, `wanders`: it has no changes that mean something.
    """

    steps: tuple[Step, ...]
    noisy: tuple[tuple[int, Estimate], ...]
    levels: tuple[float, ...]
    autocorrelation: float
    newest: Estimate | None
    drift: Estimate | None = None
    wanders: bool = False


def changes(y: Sequence[float] | np.ndarray, level: float = 0.95, benchmarks: int = 1) -> Changes:
    """Find the changes of a history of at least `MIN_REVISIONS` values, the oldest first.

    `level` is the confidence level of the shifts; the false alarm rate is divided by `benchmarks`.
    """
    series = np.asarray(y, dtype=float)
    series = series - series[0]  # shifts are all that is estimated
    n = len(series)
    steps: list[int] = []
    noisy: list[int] = []
    drifts = False
    while len(steps) + len(noisy) < min(MAX_CHANGES, (n - 3) // 2):
        model = Model(series, steps, noisy, drifts)
        interval = model.best(benchmarks)
        if interval is None:
            masked = _masked(model, benchmarks)
            if not masked:
                break
            noisy += masked
            continue
        a, b = interval
        if a == 0:
            drifts, new = True, []
        elif b == n and a > 1:
            new = [a]
        elif b == n or b == a + 1:
            noisy.append(0 if b == n else a)
            new = []
        else:
            new = [a, b]
        steps = _refit(series, sorted([*steps, *new]), noisy, drifts, model.phi)
        if new:
            noisy = _still_noisy(series, steps, noisy, drifts, benchmarks)
    while True:
        model = Model(series, steps, noisy, drifts)
        shifts = [model.shift([1 + k], level) for k in range(len(steps))]
        doubtful = [k for k, shift in enumerate(shifts) if 0 in shift]
        if drifts and 0 in model.shift([-1], level):
            drifts = False
            continue
        if not doubtful:
            break
        del steps[min(doubtful, key=lambda k: abs(shifts[k].value))]
    first = float(np.asarray(y)[0])
    if len(steps) + len(noisy) >= MAX_CHANGES or (
        n >= MIN_CORRELATED and model.correlation > MAX_CORRELATION
    ):
        return Changes((), (), (first + float(series.mean()),), model.phi, None, None, True)
    after = len(steps) + 1
    found = tuple(
        Step(
            at,
            *_position_set(series, steps, noisy, drifts, k, model.phi),
            shifts[k],
            model.shift(range(1 + k, after), level),
        )
        for k, at in enumerate(steps)
    )
    if steps and (steps[-1] == n - 1 or (steps[-1] == n - 2 and n - 2 in noisy)):
        newest = shifts[-1]
    else:
        newest = Model(series, [*steps, n - 1], noisy, drifts).shift([after], level)
    marks = [(at, model.shift([after + k], level)) for k, at in enumerate(noisy)]
    return Changes(
        found,
        tuple(sorted(marks, key=lambda mark: mark[0])),
        tuple((first + np.cumsum(model.coefficients[:after])).tolist()),
        model.phi,
        newest,
        model.shift([-1], level) if drifts else None,
    )


class Model:
    """Generalized least squares fits of steps and noisy revisions, one for each autocorrelation.

    `y` has the shape (revisions,), or (histories, revisions) where only `statistics` is used.
    """

    def __init__(
        self,
        y: np.ndarray,
        steps: Sequence[int],
        noisy: Sequence[int],
        drifts: bool,
        autocorrelations: Sequence[float] = AUTOCORRELATIONS,
    ) -> None:
        self.y, self.steps, self.noisy, self.drifts = y, list(steps), list(noisy), drifts
        n = y.shape[-1]
        design = np.zeros((1 + len(steps) + len(noisy) + drifts, n))
        design[0] = 1
        for row, at in enumerate(steps, 1):
            design[row, at:] = 1
        for row, at in enumerate(noisy, 1 + len(steps)):
            design[row, at] = 1
        if drifts:
            design[-1] = _trend(n)
        self.design = design
        self.free = n - len(design)
        self.fits = []
        for phi in autocorrelations:
            columns = _whiten(design, phi)
            inverse = np.linalg.inv(np.linalg.cholesky(columns @ columns.T))
            basis = inverse @ columns
            white = _whiten(y, phi)
            residual = white - (white @ basis.T) @ basis
            rss = (residual**2).sum(axis=-1) + n * MIN_NOISE**2
            weight = 1.5 * math.log(1 - phi**2) + np.log(np.diag(inverse)).sum()
            self.fits.append((phi, basis, inverse, white, residual, rss, weight))
        self.log_likelihoods = np.array(
            [weight - self.free / 2 * np.log(rss) for *_, rss, weight in self.fits]
        )
        if y.ndim > 1:
            return
        chosen = int(self.log_likelihoods.argmax())
        self.phi, basis, inverse, white, residual, rss, _ = self.fits[chosen]
        self.coefficients = inverse.T @ (basis @ white)
        self.covariance = inverse.T @ inverse * rss / self.free
        self.correlation = float(residual[1:] @ residual[:-1] / rss)

    def shift(self, of: Sequence[int], level: float) -> Estimate:
        """Sum of the coefficients `of`, with its interval by Student's t."""
        at = list(of)
        estimate = float(self.coefficients[at].sum())
        error = math.sqrt(float(self.covariance[np.ix_(at, at)].sum()))
        return student(estimate, error, self.free, level=level, n=self.y.shape[-1])

    def statistics(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Restricted log-likelihood ratio of a shift of each interval [a, b), and last of a drift."""
        n = self.y.shape[-1]
        best = np.full((*self.y.shape[:-1], len(a) + 1), -np.inf)
        for phi, basis, _, _, residual, rss, weight in self.fits:
            trend = _whiten(_trend(n), phi)

            def products(
                rows: np.ndarray, phi: float = phi, trend: np.ndarray = trend
            ) -> np.ndarray:
                of = _products(rows, phi)
                return np.concatenate([of[..., a] - of[..., b], rows @ trend[:, None]], axis=-1)

            norm = np.append(_norms(n, phi, a, b), trend @ trend)
            left = norm - (products(basis) ** 2).sum(axis=0)
            known = left < 1e-9 * norm
            left[known] = 1.0
            if phi == self.fits[0][0]:
                reference = left
            after = rss[..., None] - products(residual) ** 2 / left
            after = np.log(np.maximum(after, n * MIN_NOISE**2))
            ratio = weight - (self.free - 1) / 2 * after - np.log(left / reference) / 2
            ratio[..., known] = -np.inf
            best = np.maximum(best, ratio)
        noise = self.fits[0][5] / self.free
        return best - (self.log_likelihoods.max(axis=0) + np.log(noise) / 2)[..., None]

    def best(self, benchmarks: int) -> tuple[int, int] | None:
        """Return the most likely of the significant intervals; a drift is (0, n)."""
        n = len(self.y)
        a, b, kinds = candidates(n)
        taken = {at + more for at in (0, n, *self.steps) for more in (-1, 0, 1)} - {1, n - 1}
        near = np.isin(a, list(taken))
        free = np.append(
            np.where(b == n, ~near, (b == a + 1) | ~(near | np.isin(b, list(taken)))), True
        )
        statistics = self.statistics(a, b)
        for kind, alpha in ALPHA.items():
            low = statistics < critical_value(kind, self.free + 1, alpha / benchmarks)
            free &= ~((kinds == kind) & low)
        if not free.any():
            return None
        statistics[-1] -= DRIFT_PENALTY
        at = int(np.where(free, statistics, -np.inf).argmax())
        return (0, n) if at == len(a) else (int(a[at]), int(b[at]))


def _refit(
    y: np.ndarray, steps: list[int], noisy: list[int], drifts: bool, phi: float
) -> list[int]:
    """Move steps to their most likely positions, each between its neighbours."""
    for _ in range(MAX_SWEEPS):
        before = list(steps)
        for k in range(len(steps)):
            places, statistics = _position_statistics(y, steps, noisy, drifts, k, phi)
            if np.isfinite(statistics).any():
                steps[k] = int(places[statistics.argmax()])
        if steps == before:
            break
    return steps


def _masked(model: Model, benchmarks: int) -> list[int]:
    """Noisy revisions that only together are significant: each makes the noise too large for the
    others. Candidates are apart from the fit by a robust measure of its noise.
    """
    residual = model.y - model.coefficients @ model.design
    deviation = np.abs(residual - np.median(residual))
    apart = np.flatnonzero(deviation > MASKED * max(float(np.median(deviation)), MIN_NOISE))
    found = [int(at) for at in apart if 0 < at < len(model.y) - 1 and at not in model.noisy]
    if not 2 <= len(found) <= len(model.y) // 5:
        return []
    kept = _still_noisy(model.y, model.steps, [*model.noisy, *found], model.drifts, benchmarks)
    found = [at for at in found if at in kept]
    return found if len(found) > 1 else []


def _still_noisy(
    y: np.ndarray, steps: list[int], noisy: list[int], drifts: bool, benchmarks: int
) -> list[int]:
    """Noisy revisions that are significant with the present steps."""
    for at in list(noisy):
        others = [each for each in noisy if each != at]
        model = Model(y, steps, others, drifts)
        a, b = (at, at + 1) if at else (1, len(y))
        statistic = model.statistics(np.array([a]), np.array([b]))[0]
        if statistic < critical_value("interval", model.free + 1, ALPHA["interval"] / benchmarks):
            noisy = others
    return noisy


def _position_statistics(
    y: np.ndarray, steps: list[int], noisy: list[int], drifts: bool, k: int, phi: float
) -> tuple[np.ndarray, np.ndarray]:
    """Positions of step `k` between its neighbours, and the statistic of each, at one `phi`."""
    low = steps[k - 1] if k else 0
    high = steps[k + 1] - 1 if k + 1 < len(steps) else len(y)
    places = np.arange(low + 2, max(high, low + 3))
    model = Model(y, [*steps[:k], *steps[k + 1 :]], noisy, drifts, (phi,))
    return places, model.statistics(places, np.full_like(places, len(y)))[:-1]


def _position_set(
    y: np.ndarray, steps: list[int], noisy: list[int], drifts: bool, k: int, phi: float
) -> tuple[int, int]:
    """First and last of the smallest set of positions that has a share `SET_LEVEL` of the
    likelihood.
    """
    places, statistics = _position_statistics(y, steps, noisy, drifts, k, phi)
    order = np.argsort(-statistics, kind="stable")
    weights = np.exp(statistics - statistics.max())
    shares = np.cumsum(weights[order]) / weights.sum()
    chosen = places[order[: 1 + int(np.searchsorted(shares, SET_LEVEL))]]
    return int(chosen.min()), int(chosen.max())


@cache
def _trend(n: int) -> np.ndarray:
    """A straight line from 0 at the oldest to 1 at the newest revision."""
    return np.linspace(0, 1, n)


def _whiten(rows: np.ndarray, phi: float) -> np.ndarray:
    """Apply the Prais-Winsten transformation to remove first-order autocorrelation."""
    first = math.sqrt(1 - phi**2) * rows[..., :1]
    return np.concatenate([first, rows[..., 1:] - phi * rows[..., :-1]], axis=-1)


def _products(rows: np.ndarray, phi: float) -> np.ndarray:
    """Products of whitened rows with the whitened step at each position, from 0 to n (no step)."""
    later = np.cumsum(rows[..., :0:-1], axis=-1)[..., ::-1]
    end = np.zeros((*rows.shape[:-1], 1))
    return np.concatenate([rows[..., :-1] + (1 - phi) * later, rows[..., -1:], end], axis=-1)


def _norms(n: int, phi: float, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Squared norm of the whitened interval [a, b), for a of at least 1."""
    return 1 + (1 - phi) ** 2 * (b - a - 1) + np.where(b < n, phi**2, 0)


@cache
def candidates(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Intervals [a, b) and their kind: an earlier step, one at the newest revisions, or neither."""
    starts = np.arange(1, n)
    pairs = [(a, np.full_like(a, n)) for a in (starts,)]
    for length in (each for each in INTERVALS if each <= n // 2):
        a = np.arange(1, n - length)
        pairs.append((a, a + length))
    a, b = (np.concatenate(each) for each in zip(*pairs, strict=True))
    kinds = np.where(b < n, "interval", np.where(a >= n - NEWEST, "newest", "step"))
    kinds = np.where((b == n) & (a == 1), "interval", kinds)  # the first revision alone
    return a, b, np.append(kinds, "drift")


@cache
def _null_distributions() -> dict[str, Any]:
    text = resources.files("virtperf.comparison").joinpath("null-distributions.json").read_text()
    stored: dict[str, Any] = json.loads(text)
    return stored


@cache
def critical_value(kind: str, n: int, alpha: float) -> float:
    """Value that a share `alpha` of histories of `n` revisions without a change exceeds.

    Interpolated in 1 / n, and in the logarithm of `alpha`: beyond the smallest simulated share,
    the tail is exponential.
    """
    stored = _null_distributions()
    tails = np.log(stored["shares"])  # decreasing
    values = np.array(stored[kind])
    inverse = 1 / np.array(stored["revisions"])
    at = np.array([np.interp(1 / n, inverse[::-1], column[::-1]) for column in values.T])
    wanted = math.log(alpha)
    if wanted < tails[-1]:
        return float(at[-1] + (tails[-1] - wanted) * (at[-1] - at[-3]) / (tails[-3] - tails[-1]))
    return float(np.interp(-wanted, -tails, at))


def false_alarm_rates() -> tuple[float, float]:
    """False alarms and found falls within three revisions, in %, at an autocorrelation of 0.3."""
    rates: dict[str, float] = _null_distributions()["within three revisions"]
    return rates["alarms"], rates["found"]
