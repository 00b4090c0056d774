"""Change point detection in benchmark histories: level shifts, and changes at the newest revisions.

Values of successive revisions are autocorrelated: a machine drifts, an upgrade stays. Tests for
independent values then give false alarms. Every statistic here is therefore based on a model with
first-order autocorrelation,

    log y[t] = level of t's segment + e[t],   e[t] = phi e[t - 1] + white noise,

and its null distribution is simulated for the length and autocorrelation of the history, with the
parameters re-estimated in every simulated history.

- Segments are the optimal ones of `ruptures` (kernel change point detection with a linear kernel,
  equivalent to least squares). One or two changes are added as long as the F ratio of the
  generalized least squares fits exceeds the critical value of histories without a change.
- A change of the last one, two or three revisions has too little data to be found by segmentation.
  It is tested separately, against the revisions since the last change.

References
----------
Truong, C., Oudre, L., Vayatis, N. (2020). Selective review of offline change point detection methods.
Signal Processing 167, 107299. Arlot, S., Celisse, A., Harchaoui, Z. (2019). A kernel multiple
change-point algorithm via model selection. J. Mach. Learn. Res. 20, 1-56. Prais, S. J., Winsten, C. B.
(1954). Trend estimators and serial correlation. Cowles Commission discussion paper 383. Kendall, M. G.
(1954). Note on bias in the estimation of autocorrelation. Biometrika 41, 403-404.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import ruptures
from scipy import special

NEWEST = 3
"""Number of last revisions that are tested separately for a change."""
MIN_BEFORE = 5
"""Minimum number of preceding revisions for this test."""
MAX_REVISIONS = 400
ALPHA_HISTORY = 0.01
"""False alarm probability of a history without a change; with `ALPHA_NEWEST` less than 5 %."""
ALPHA_NEWEST = 0.032
N_SIMULATIONS, N_SIMULATIONS_NEWEST = 999, 1999
WORSE_SHARE = 0.8
"""Share of `ALPHA_NEWEST` spent on changes to the worse, where the benchmark's direction is known:
improvements can wait for more revisions."""
MIN_SEGMENT = 2
MAX_AUTOCORRELATION = 0.9


@dataclass(frozen=True)
class Step:
    """A level shift at position `at`: ratio to the level of the segment before, with an interval."""

    at: int
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class Changes:
    """Change points of one history.

    `starts` has the first position of each segment except the first; `autocorrelation` is the
    bias-corrected one of the residuals. `newest` is the most likely change among the last `NEWEST`
    revisions, `p` its p-value under no change; both are None with too few preceding revisions.
    """

    steps: tuple[Step, ...]
    levels: tuple[float, ...]
    autocorrelation: float
    newest: Step | None
    p: float | None

    @property
    def starts(self) -> tuple[int, ...]:
        return tuple(step.at for step in self.steps)


def changes(values: Sequence[float], level: float = 0.95, *, better: str = "") -> Changes:
    """Find the change points of a history of positive values, oldest first.

    `level` is the confidence level of the ratios. If `better` is "higher" or "lower", changes of
    the newest revisions to the worse get `WORSE_SHARE` of the false alarm probability, else half.
    """
    y = np.log(np.asarray(values, dtype=float))
    ends, phi = _segments(y)
    bounds = [0, *ends]
    steps = tuple(
        _step(y[before:after], start - before, start, phi, level)
        for before, start, after in zip(bounds, bounds[1:], bounds[2:], strict=False)
    )
    levels = tuple(math.exp(float(y[a:b].mean())) for a, b in itertools.pairwise(bounds))
    if steps and steps[-1].at >= len(y) - NEWEST:
        return Changes(steps, levels, phi, steps[-1], 1 / (N_SIMULATIONS + 1))
    start = bounds[-2]
    segment = y[start:]
    if len(segment) < MIN_BEFORE + NEWEST:
        return Changes(steps, levels, phi, None, None)
    statistics = _newest_statistics(segment[None])[0]
    if np.ptp(segment) < 1e-12:
        step = _step(segment, len(segment) - 1, len(y) - 1, phi, level)
        return Changes(steps, levels, phi, step, 1.0)
    shares = {"higher": (1 - WORSE_SHARE, WORSE_SHARE), "lower": (WORSE_SHARE, 1 - WORSE_SHARE)}
    tried = [
        (_newest_pvalue(len(segment), phi, float(signed.max())) / share, int(signed.argmax()))
        for signed, share in zip(
            (statistics, -statistics), shares.get(better, (0.5, 0.5)), strict=True
        )
    ]
    p, place = min(tried)
    at = len(segment) - 1 - place
    return Changes(steps, levels, phi, _step(segment, at, start + at, phi, level), min(p, 1.0))


def _segments(y: np.ndarray) -> tuple[list[int], float]:
    """Return the segment ends, including that of the history, and the autocorrelation."""
    n, ends = len(y), [len(y)]
    if np.ptp(y) < 1e-12:
        return ends, 0.0
    search = _search(y)
    while n >= 2 * MIN_SEGMENT * (len(ends) + 2):
        without = _autocorrelation(_residuals(y, ends), len(ends))
        tried = []
        for more in (1, 2):
            new = search.predict(n_bkps=len(ends) - 1 + more)
            # too high without the changes, too low with spurious ones: average the two estimates
            phi = _rounded_up((without + _autocorrelation(_residuals(y, new), len(new))) / 2)
            reference, joint = _null_distribution(n, phi)
            p = _monte_carlo_pvalue(reference[:, more - 1], _f_ratio(y, ends, new))
            tried.append((float((joint <= p).mean()), new))
        p, new = min(tried, key=lambda candidate: candidate[0])
        if p > ALPHA_HISTORY:
            break
        ends = new
    return ends, _autocorrelation(_residuals(y, ends), len(ends))


def _search(y: np.ndarray) -> ruptures.KernelCPD:
    return ruptures.KernelCPD(kernel="linear", min_size=MIN_SEGMENT).fit(y.reshape(-1, 1))


def _residuals(y: np.ndarray, ends: Sequence[int]) -> np.ndarray:
    return np.concatenate([y[a:b] - y[a:b].mean() for a, b in zip([0, *ends], ends, strict=False)])


def _autocorrelation(residuals: np.ndarray, means: int) -> float:
    """First-order autocorrelation of residuals, corrected for the bias of `means` fitted means
    (about 1 / n each).
    """
    return float(_autocorrelations(residuals[None], means)[0])


def _autocorrelations(residuals: np.ndarray, means: int) -> np.ndarray:
    """First-order autocorrelation of each row of residuals, shape (histories, revisions)."""
    n = residuals.shape[1]
    squares = np.maximum((residuals**2).sum(axis=1), 1e-300)
    phi = (residuals[:, 1:] * residuals[:, :-1]).sum(axis=1) / squares
    return np.clip((phi * n + means) / (n - 3), 0.0, MAX_AUTOCORRELATION)


def _rounded_up(phi: float) -> float:
    """Round up to a multiple of 0.05, so that cached simulations can be shared."""
    return math.ceil(round(20 * phi, 9)) / 20


def _prais_winsten(rows: np.ndarray, phi: float) -> np.ndarray:
    """Apply the Prais-Winsten transformation to remove first-order autocorrelation."""
    first = math.sqrt(1 - phi**2) * rows[..., :1]
    return np.concatenate([first, rows[..., 1:] - phi * rows[..., :-1]], axis=-1)


def _gls_rss(y: np.ndarray, ends: Sequence[int], phi: float) -> float:
    """Residual sum of squares of the generalized least squares fit of segment means."""
    design = np.zeros((len(ends), len(y)))
    for row, (a, b) in enumerate(zip([0, *ends], ends, strict=False)):
        design[row, a:b] = 1
    basis = np.linalg.qr(_prais_winsten(design, phi).T)[0]
    white = _prais_winsten(y, phi)
    residual = white - basis @ (basis.T @ white)
    return float(residual @ residual)


def _f_ratio(y: np.ndarray, old: Sequence[int], new: Sequence[int]) -> float:
    """F ratio of segmentation `new` against `old`, with the autocorrelation of `new`."""
    phi = _autocorrelation(_residuals(y, new), len(new))
    before, after = _gls_rss(y, old, phi), _gls_rss(y, new, phi)
    noise = max(after / (len(y) - len(new)), 1e-300)
    return (before - after) / (len(new) - len(old)) / noise


def _monte_carlo_pvalue(sorted_values: np.ndarray, value: float) -> float:
    """Monte Carlo p-value: the share of simulated statistics at or above this one."""
    below = int(np.searchsorted(sorted_values, value))
    return (len(sorted_values) - below + 1) / (len(sorted_values) + 1)


def _simulate_histories(n: int, phi: float, count: int, rng: np.random.Generator) -> np.ndarray:
    """Simulate AR(1) histories without a change, shape (count, n)."""
    rows = rng.standard_normal((count, n))
    rows[:, 1:] *= math.sqrt(1 - phi**2)
    for t in range(1, n):
        rows[:, t] += phi * rows[:, t - 1]
    return rows


@cache
def _null_distribution(n: int, phi: float) -> tuple[np.ndarray, np.ndarray]:
    """Simulate the null distributions of the gains of one and of two changes, each sorted, and of
    the smaller p-value of the two.
    """
    rng = np.random.default_rng([n, round(100 * phi), 1])
    gains = np.empty((N_SIMULATIONS, 2))
    for row, y in enumerate(_simulate_histories(n, phi, N_SIMULATIONS, rng)):
        search = _search(y)
        gains[row] = [_f_ratio(y, [n], search.predict(n_bkps=more)) for more in (1, 2)]
    ordered = np.sort(gains, axis=0)
    shares = [
        min(_monte_carlo_pvalue(ordered[:, column], row[column]) for column in (0, 1))
        for row in gains
    ]
    return ordered, np.array(shares)


def _newest_pvalue(n: int, phi: float, statistic: float) -> float:
    """P-value of a rise at the newest revisions, interpolated between the two simulated
    autocorrelations around `phi`.
    """
    below = math.floor(round(20 * phi, 9)) / 20
    above = _rounded_up(phi)
    shares = [
        _monte_carlo_pvalue(_newest_null_distribution(n, simulated), statistic)
        for simulated in dict.fromkeys((below, above))
    ]
    return float(np.interp(20 * (phi - below), range(len(shares)), shares))


@cache
def _newest_null_distribution(n: int, phi: float) -> np.ndarray:
    """Simulate the null distribution of the largest rise, pooled with that of the largest fall by
    symmetry; sorted.
    """
    rng = np.random.default_rng([n, round(100 * phi), 2])
    rows = _simulate_histories(n, phi, N_SIMULATIONS_NEWEST, rng)
    statistics = _newest_statistics(rows)
    return np.sort(np.concatenate([statistics.max(axis=1), -statistics.min(axis=1)]))


def _newest_statistics(rows: np.ndarray) -> np.ndarray:
    """t statistics of a change at the last revision, the last but one, ..., by generalized least
    squares; shape (histories, `NEWEST`).
    """
    n, statistics = rows.shape[1], []
    for last in range(1, NEWEST + 1):
        at = n - last
        residual = np.concatenate(
            [part - part.mean(1, keepdims=True) for part in (rows[:, :at], rows[:, at:])], axis=1
        )
        phi = _autocorrelations(residual, 1 + (last > 1))[:, None]
        shift, error = _gls_step(rows, at, phi)
        statistics.append(shift / error)
    return np.stack(statistics, axis=1)


def _gls_step(rows: np.ndarray, at: int, phi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the level shift at a position and its standard error; `phi` of shape (histories, 1)."""
    n = rows.shape[1]
    first = np.sqrt(1 - phi**2)
    white = np.concatenate([first * rows[:, :1], rows[:, 1:] - phi * rows[:, :-1]], axis=1)
    level = np.concatenate([first, np.repeat(1 - phi, n - 1, axis=1)], axis=1)
    step = np.zeros_like(white)
    step[:, at], step[:, at + 1 :] = 1.0, 1 - phi
    aa, ab, bb = (level**2).sum(1), (level * step).sum(1), (step**2).sum(1)
    ya, yb = (level * white).sum(1), (step * white).sum(1)
    determinant = aa * bb - ab**2
    shift, base = (aa * yb - ab * ya) / determinant, (bb * ya - ab * yb) / determinant
    residual = white - base[:, None] * level - shift[:, None] * step
    noise = (residual**2).sum(1) / (n - 3)
    return shift, np.sqrt(np.maximum(noise * aa / determinant, 1e-300))


def _step(y: np.ndarray, at: int, position: int, phi: float, level: float) -> Step:
    shift, error = (float(v[0]) for v in _gls_step(y[None], at, np.array([[phi]])))
    half = float(special.stdtrit(max(len(y) - 3, 1), (1 + level) / 2)) * error
    return Step(position, *(math.exp(shift + sign * half) for sign in (0, -1, 1)))
