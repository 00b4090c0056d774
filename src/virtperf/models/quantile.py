"""Quantile regression by statsmodels, on independent rows or over blocks of rows.

    models.quantile_regression("np.log(time) ~ guests", requests, share=0.99, over="run_id")

A row of single values (the time of one request) is not independent of the other rows of its run, so
an interval from all rows together is too short. With `over`, the regression is fitted at each level
of a column, such as a run or a block of runs that holds all conditions, and a coefficient is the
mean over the levels with Student's t.

References
----------
Koenker, R., Bassett, G. (1978). Regression quantiles. Econometrica 46, 33-50. Koenker, R. (2005).
Quantile Regression, sections 3.4 and 4.10. Cambridge University Press.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from rawperf.core.errors import ModelError
from virtperf.core.estimate import Estimates, mean_over_runs
from virtperf.core.schema import require_columns
from virtperf.models import checks
from virtperf.models.fits import By, groups, names_of, source
from virtperf.models.result import t_interval

MIN_LEVELS = 3
MAX_ITERATIONS = 5000
REPEATED = "several rows have the same run_id: they are not independent; set over='run_id'"


def quantile_regression(
    formula: str,
    frame: pd.DataFrame,
    *,
    share: float = 0.5,
    over: By = None,
    alpha: float = 0.05,
) -> Estimates:
    """Estimate the coefficients of a linear model of a quantile.

    Parameters
    ----------
    formula : str
        Of statsmodels, such as ``"time ~ guests"``.
    frame : DataFrame
        One row per value.
    share : float
        The quantile, between 0 and 1: 0.99 is the 99th percentile.
    over : str or sequence of str, optional
        Columns whose levels are independent, such as ``run_id`` or ``block``. Each level needs rows
        of all conditions of the formula. Without it, the rows are the independent units.
    alpha : float
        One minus the confidence level.

    Returns
    -------
    Estimates
        `Estimate` by term of the formula, in the unit of the response per unit of the term:
        Student's t over levels, or with statsmodels' robust standard errors (Koenker 2005, section
        3.4) and residual degrees of freedom.

    Raises
    ------
    ModelError
        A share outside 0 to 1, fewer than `MIN_LEVELS` levels, or a level that does not determine
        all coefficients.
    """
    checks.level(alpha)
    if not 0 < share < 1:
        raise ModelError(
            "the share of a quantile is out of range",
            expected="a number between 0 and 1, such as 0.99",
            found=f"{share:g}",
        )
    origin = source(frame)
    if over is None:
        fit = _fitted(formula, frame, share)
        repeated = "run_id" in frame and frame["run_id"].duplicated().any()
        return Estimates(
            {
                term: replace(
                    t_interval(fit.params[term], fit.bse[term], fit.df_resid, alpha, "t"),
                    warnings=(REPEATED,) if repeated else (),
                    origin=origin,
                )
                for term in fit.params.index
            }
        )
    require_columns(frame, names_of(over))
    fits = [_fitted(formula, rows, share) for _, rows in groups(frame, over)]
    if len(fits) < MIN_LEVELS:
        raise ModelError(
            f"there are too few levels of {', '.join(names_of(over))}",
            expected=f"at least {MIN_LEVELS}",
            found=str(len(fits)),
        )
    table = pd.DataFrame([fit.params for fit in fits])
    if table.isna().any(axis=None):
        raise ModelError(
            f"a level of {', '.join(names_of(over))} lacks rows of some term of the formula",
            expected=f"rows that determine {', '.join(table.columns)} at each level",
        )
    found = Estimates()
    for term in table.columns:
        mean = mean_over_runs(table[term].tolist(), level=checks.level(alpha))
        found[term] = replace(mean, method="t", origin=origin)
    return found


def _fitted(formula: str, frame: pd.DataFrame, share: float) -> Any:
    import statsmodels.formula.api as smf
    from statsmodels.tools.sm_exceptions import IterationLimitWarning

    model = smf.quantreg(formula, frame)
    if np.linalg.matrix_rank(model.exog) < model.exog.shape[1]:
        raise ModelError(
            "the rows do not determine all coefficients",
            expected=f"rows at different levels of each term of {formula!r}",
            found=f"{len(frame)} rows",
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the bandwidth, where residuals are equal
        warnings.simplefilter("error", IterationLimitWarning)
        try:
            return model.fit(q=share, max_iter=MAX_ITERATIONS)
        except IterationLimitWarning as err:
            raise ModelError(
                "the quantile regression did not converge", found=f"{len(frame)} rows"
            ) from err
