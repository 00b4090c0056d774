"""Regression diagnostics: outliers, and autocorrelated residuals.

Both are based on the fit's tangent: residuals and Jacobian of the curve, scaled by the standard
deviation of each row.

References
----------
Cook, R. D., Weisberg, S. (1982). Residuals and Influence in Regression. Chapters 2 and 3.
Durbin, J., Watson, G. S. (1971). Testing for serial correlation in least squares regression III.
Biometrika 58, 1-19 (the beta approximation).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rawperf.core.errors import ModelError
from virtperf.core.statistics import t_pvalue
from virtperf.models.checks import Array
from virtperf.models.result import FitResult, column_basis

Fitted = TypeVar("Fitted", bound=FitResult)

OUTLIER_LEVEL = 0.0075
"""Bonferroni-adjusted p-value (times the number of rows) below which a row is an outlier."""
MAX_REFITS = 24
"""Maximum number of rows for leave-one-out refits of all rows; with more, only half as many rows
with the largest studentized residuals are refitted, since a single row then has little leverage."""
EQUAL_FIT_THRESHOLD = 9.0
"""Squared standard errors within which leaving out another row fits equally well, so that it may be
the outlier instead."""
MAX_SUSPECTS = 3
AUTOCORRELATION_LEVEL = 0.01
"""P-value below which residuals count as autocorrelated."""
MIN_AUTOCORRELATION_ROWS = 6


class RowNote(str):
    """A warning about one row, prefixed with the row's name; `row` counts from 0."""

    row: int

    def __new__(cls, row: int, text: str, name: str = "") -> RowNote:
        note = super().__new__(cls, f"{name or f'row {row + 1}'} {text}")
        note.row, note.text = row, text
        return note

    text: str

    def named(self, name: str) -> RowNote:
        """Return the same warning with another row name."""
        return RowNote(self.row, self.text, name)


def fit_with_notes(fit_rows: Callable[..., Fitted], *columns: Array) -> Fitted:
    """Fit the rows of `columns`, with warnings of outliers and of autocorrelated residuals; without
    degrees of freedom or noise there are none.
    """
    fit = fit_rows(*columns)
    if fit.df_resid <= 0 or fit.exact:
        return fit
    outliers = outlier_notes(fit, lambda kept: fit_rows(*(column[kept] for column in columns)))
    return replace(fit, warnings=(*fit.warnings, *outliers, *autocorrelation_notes(fit)))


def outlier_notes(
    fit: FitResult, refit: Callable[[NDArray[np.bool_]], FitResult]
) -> tuple[RowNote, ...]:
    """Warn of an outlier: the row with the largest studentized deletion residual, if significant (t
    test, Bonferroni-adjusted over the rows), with the estimate without it.

    Other rows whose deletion fits equally well, say the other one of two at the last load, are
    named too.

    Parameters
    ----------
    refit : callable
        Repeats the fit with a subset of rows.
    """
    if fit.df_resid < 2:
        return ()
    rows, deviances = _leave_one_out_deviances(fit)
    if not len(rows):
        return ()
    df, best = fit.df_resid - 1, int(np.argmin(deviances))
    with np.errstate(divide="ignore"):
        size = np.sqrt(np.maximum(fit.deviance - deviances, 0.0) * df / deviances)
    p = fit.nobs * t_pvalue(size, df)
    if not p[best] < OUTLIER_LEVEL:
        return ()
    equal_fit = (p < OUTLIER_LEVEL) & (
        deviances - deviances[best] <= EQUAL_FIT_THRESHOLD * deviances[best] / df
    )
    suspects = np.flatnonzero(equal_fit)
    if len(suspects) > MAX_SUSPECTS:
        suspects = np.array([best])
    suspects = suspects[np.argsort(deviances[suspects], kind="stable")]
    return tuple(
        _outlier_note(fit, refit, int(rows[k]), float(size[k]), [int(i) for i in rows[suspects]])
        for k in suspects
    )


def _leave_one_out_deviances(fit: FitResult) -> tuple[NDArray[np.intp], Array]:
    """Return candidate outliers, and the deviance of the fit without each of them."""
    rows = np.arange(fit.nobs)
    if fit.nobs > MAX_REFITS:
        size = np.nan_to_num(fit.influence()["studentized"].abs().to_numpy())
        rows = np.sort(np.argsort(-size, kind="stable")[: MAX_REFITS // 2])
    deviances = fit.deviances_without(rows)
    known = np.isfinite(deviances)
    return rows[known], np.maximum(deviances[known], 0.0)


def _outlier_note(
    fit: FitResult,
    refit: Callable[[NDArray[np.bool_]], FitResult],
    row: int,
    size: float,
    suspects: Sequence[int],
) -> RowNote:
    others = np.arange(fit.nobs) != row
    text = f"(x = {fit.x[row]:g}, y = {fit.y[row]:g}) has an absolute studentized residual of {size:.2g}"
    try:
        (name, value), (other, changed) = fit.headline(), refit(others).headline()
        if other == name:
            text += f": without it {name} is {changed:.4g} instead of {value:.4g}"
        else:  # a peak exists with or without the row only
            text += f": with it the fit gives {name} {value:.4g}, without it {other} {changed:.4g}"
    except ModelError:
        text += ": without it the fit fails"
    if instead := [f"x = {fit.x[i]:g}, y = {fit.y[i]:g}" for i in suspects if i != row]:
        text += f". The outlier may instead be {' or '.join(instead)}"
    return RowNote(row, text)


def autocorrelation_notes(fit: FitResult) -> tuple[str, ...]:
    """Warn of autocorrelated residuals in order of x (Durbin-Watson): the curve is misspecified,
    which without replicates no lack-of-fit test detects.
    """
    if fit.nobs < MIN_AUTOCORRELATION_ROWS or fit.df_resid < 2 or len(np.unique(fit.x)) < fit.nobs:
        return ()
    statistic, p = durbin_watson_test(fit)
    if not p < AUTOCORRELATION_LEVEL:
        return ()
    return (
        f"residuals are autocorrelated in order of x (Durbin-Watson {statistic:.2f}, p = {p:.2g}): the "
        "curve is misspecified, and its intervals are too narrow",
    )


def durbin_watson_test(fit: FitResult) -> tuple[float, float]:
    """Return the Durbin-Watson statistic of the residuals in order of x, and its one-sided p-value
    against positive autocorrelation.

    Its mean and variance under independent normal noise are exact for the fit's tangent; the
    distribution on 0 to 4 is approximated by a beta distribution with these moments.
    """
    from statsmodels.stats.stattools import durbin_watson

    residual, tangent = fit.tangent()
    order = np.argsort(fit.x, kind="stable")
    residual, q = residual[order], column_basis(tangent[order])
    size = float(residual @ residual)
    if not size > 0:
        return math.nan, 1.0
    n, df = len(residual), len(residual) - q.shape[1]
    differences = np.diff(q, axis=0)
    edge = np.zeros((1, q.shape[1]))
    aq = np.vstack((edge, differences)) - np.vstack((differences, edge))
    qaq = q.T @ aq
    trace = 2 * (n - 1) - float(np.trace(qaq))
    square = 6 * n - 8 - 2 * float(np.sum(aq**2)) + float(np.sum(qaq**2))
    mean = trace / df
    variance = 2 * (square - trace * mean) / (df * (df + 2))
    share, spread = mean / 4, variance / 16
    if not (0 < share < 1 and 0 < spread < share * (1 - share)):
        return float(durbin_watson(residual)), 1.0
    concentration = share * (1 - share) / spread - 1
    statistic = float(durbin_watson(residual))
    a, b = share * concentration, (1 - share) * concentration
    return statistic, float(special.betainc(a, b, min(statistic / 4, 1.0)))
