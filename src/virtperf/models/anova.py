"""Analysis of variance with one or two factors, on top of statsmodels: tests, effect sizes, contrasts of means."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.anova import anova_lm

from virtperf.core.errors import ModelError
from virtperf.models import checks, noncentral
from virtperf.models.cells import cells_of, grid_of, refuse_empty, refuse_exact, refuse_undetermined
from virtperf.models.checks import Array
from virtperf.models.factors import Factor, contrast_weights, level_weights, read_column, read_factor
from virtperf.models.result import Estimate, FTest, f_test, t_interval, t_quantile

TYPES = (1, 2, 3)
RESIDUAL = "residual"


@dataclass(frozen=True, eq=False, kw_only=True)
class AnovaResult:
    """A fitted analysis of variance. Residuals are taken as independent and normal with one variance.

    Parameters
    ----------
    response : str
    factors : tuple of Factor, length 1 or 2
    interaction : bool
        Whether the two factors may act together; without it their effects add.
    typ : {1, 2, 3}
        Type of the sums of squares.
    table : DataFrame
        One row a term and one named "residual"; columns ``df, sum_sq, mean_sq, F, p``.
    cells : DataFrame
        One row a cell (combination of levels): the factors, ``n``, ``mean`` of its rows (NaN if empty) and ``fitted``.
    cell_covariance : ndarray, shape (c, c)
        Covariance of the fitted cell means, in the order of `cells`.
    rsquared : float
        Share of the variation around the mean that the model explains.
    warnings : tuple of str
    """

    response: str
    factors: tuple[Factor, ...]
    interaction: bool
    typ: int
    table: pd.DataFrame
    cells: pd.DataFrame
    cell_covariance: Array
    rsquared: float
    warnings: tuple[str, ...] = ()

    @property
    def nobs(self) -> int:
        """Number of rows."""
        return int(self.cells["n"].sum())

    @property
    def df_resid(self) -> int:
        """Rows minus parameters."""
        return int(self.table.loc[RESIDUAL, "df"])  # type: ignore[arg-type]

    @property
    def scale(self) -> float:
        """Residual variance."""
        return float(self.table.loc[RESIDUAL, "mean_sq"])  # type: ignore[arg-type]

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of the effects, for example ``("processors", "memory", "processors:memory")``."""
        return tuple(str(name) for name in self.table.index if name != RESIDUAL)

    def test(self, term: str) -> FTest:
        """Return the F test of a term."""
        row = self.table.loc[checks.one_of(term, self.terms, "term")].to_dict()
        return f_test(row["sum_sq"], row["df"], self.scale * self.df_resid, self.df_resid, f"{term} has no effect")

    def effect_size(self, term: str, alpha: float = 0.05, kind: str = "omega") -> Estimate:
        """Return partial omega squared (or ``kind="eta"``) of a term; see `noncentral.effect_size`."""
        return noncentral.effect_size(self.test(term), self.nobs, kind=kind, alpha=alpha)

    def means(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return the fitted cell means with their t intervals: `cells` and columns ``se, low, high``."""
        se = np.sqrt(np.diag(self.cell_covariance))
        half = t_quantile(self.df_resid, alpha) * se
        return self.cells.assign(se=se, low=self.cells["fitted"] - half, high=self.cells["fitted"] + half)

    def contrast(
        self, weights: Mapping[Any, float], *, factor: str | None = None, at: object = None, alpha: float = 0.05
    ) -> Estimate:
        """Return a weighted sum of means, in the unit of the response, with its t interval.

        Parameters
        ----------
        weights : mapping
            Level of `factor` to weight, for example ``{8: 1, 4: -1}``; without `factor`, cells ``(level, level)`` of
            both factors. They sum to zero; levels that are not named weigh zero.
        factor : str, optional
            Needed only if there are two. The means are averaged over the other factor's levels, all weighing the same
            whatever their number of rows, or
        at : level, optional
            taken at this level of the other factor alone: a simple effect.
        alpha : float

        Raises
        ------
        ModelError
            For a factor or level that is not in the model, or weights that do not sum to zero.
        """
        return self._estimate(self._weights(weights, factor, at), alpha)

    def simple_effects(
        self, factor: str, *, reference: object = None, alpha: float = 0.05, adjust: str = "none"
    ) -> pd.DataFrame:
        """Return the differences between a factor's levels and a reference, at each level of the other factor.

        Parameters
        ----------
        factor : str
        reference : level, optional
            Default the first.
        alpha : float
        adjust : {"none", "bonferroni"}
            With "bonferroni" all intervals hold together with probability of at least 1 - alpha.

        Returns
        -------
        DataFrame
            Columns: the other factor (if any), the factor, ``reference, difference, low, high, level``; the unit of the
            response.
        """
        checks.one_of(adjust, ("none", "bonferroni"), "adjustment")
        own, other = self._pair(factor)
        base = own.levels[0 if reference is None else own.position(reference)]
        places = [None] if other is None else list(other.levels)
        pairs = [(at, level) for at in places for level in own.levels if level != base]
        share = alpha / len(pairs) if adjust == "bonferroni" else alpha
        rows = []
        for at, level in pairs:
            e = self.contrast({level: 1.0, base: -1.0}, factor=factor, at=at, alpha=share)
            where = {} if other is None else {other.name: at}
            rows.append(
                {**where, factor: level, "reference": base, "difference": e.value, "low": e.low, "high": e.high}
            )
        return pd.DataFrame(rows).assign(level=1 - share)

    def summary(self, alpha: float = 0.05) -> str:
        """Return the analysis as plain text: the same bytes for the same data."""
        names = " and ".join(f.name for f in self.factors)
        how = "" if len(self.factors) == 1 else " with interaction" if self.interaction else " without interaction"
        lines = [
            f"Analysis of variance of {self.response} by {names}{how}, sums of squares of type {self.typ}",
            f"rows {self.nobs}, residual SD {math.sqrt(self.scale):.6g}, R squared {self.rsquared:.6g}",
            f"{'':<24}{'df':>6}{'sum of sq':>14}{'mean sq':>14}{'F':>12}{'p':>12}  partial omega squared, "
            f"{100 * (1 - alpha):g} % noncentral F",
        ]
        for name, row in self.table.iterrows():
            text = f"{name!s:<24}{row['df']:>6g}{row['sum_sq']:>14.6g}{row['mean_sq']:>14.6g}"
            if name != RESIDUAL:
                size = self.effect_size(str(name), alpha)
                text += f"{row['F']:>12.5g}{row['p']:>12.4g}  {size.value:.4g} ({size.low:.4g} to {size.high:.4g})"
            lines.append(text)
        return "\n".join([*lines, *(f"warning: {w}" for w in self.warnings)]) + "\n"

    def _pair(self, factor: str | None) -> tuple[Factor, Factor | None]:
        """Return the named factor (or the only one) and the other one."""
        names = [f.name for f in self.factors]
        i = 0 if factor is None else names.index(checks.one_of(factor, names, "factor"))
        return self.factors[i], self.factors[1 - i] if len(self.factors) == 2 else None

    def _weights(self, weights: Mapping[Any, float], factor: str | None, at: object) -> Array:
        """Return the weights of the cells, shape (c,)."""
        sizes = tuple(len(f.levels) for f in self.factors)
        if factor is None and len(sizes) == 2:
            grid = np.zeros(sizes)
            for cell, weight in weights.items():
                if not (isinstance(cell, tuple) and len(cell) == 2):
                    raise ModelError(
                        "a contrast of cells names a level of both factors",
                        expected=f"({self.factors[0].name}, {self.factors[1].name}), or factor=...",
                        found=repr(cell),
                    )
                grid[self.factors[0].position(cell[0]), self.factors[1].position(cell[1])] = weight
            return contrast_weights(grid.ravel())
        own, other = self._pair(factor)
        line = level_weights(weights, own)
        if other is None:
            return line
        across = np.full(len(other.levels), 1 / len(other.levels))
        if at is not None:
            across = np.zeros(len(other.levels))
            across[other.position(at)] = 1.0
        grid = np.outer(line, across)
        return (grid if own is self.factors[0] else grid.T).ravel()

    def _estimate(self, weights: Array, alpha: float) -> Estimate:
        value = float(weights @ self.cells["fitted"].to_numpy())
        return t_interval(value, math.sqrt(weights @ self.cell_covariance @ weights), self.df_resid, alpha)


def fit_anova(
    frame: pd.DataFrame, response: str, factors: str | Sequence[str], *, interaction: bool = True, typ: int = 2
) -> AnovaResult:
    """Fit ``response ~ a``, ``response ~ a * b`` or (without interaction) ``response ~ a + b``.

    Parameters
    ----------
    frame : DataFrame
        One row an observation: replicates stand in rows of their own.
    response : str
        Column of numbers.
    factors : str or sequence of str
        One or two columns of levels; numbers are levels too.
    interaction : bool
        Of two factors.
    typ : {2, 1, 3}
        Sums of squares: each term after all others that do not contain it (type II, Yates 1934); in the order of
        `factors` (I); after all others, the levels weighing the same (III). With equally many rows in all cells they
        are the same.

    Raises
    ------
    ModelError
        Naming the row and what is needed: a response that is not finite, a missing or single level, an empty cell
        (with interaction), effects that can't be told apart, no residual degrees of freedom, no spread.
    """
    names = (factors,) if isinstance(factors, str) else tuple(factors)
    if not 1 <= len(set(names)) == len(names) <= 2 or response in names or RESIDUAL in names:
        raise ModelError(
            "the factors are not two different columns beside the response",
            expected=f"one or two names, none of them {response!r} or {RESIDUAL!r}",
            found=", ".join(repr(name) for name in names),
        )
    if typ not in TYPES:
        raise ModelError("unknown type of sums of squares", expected="1, 2 or 3", found=repr(typ))
    y = checks.column(read_column(frame, response), response)
    made = tuple(read_factor(frame, name) for name in names)
    both = interaction and len(made) == 2
    grid = grid_of(made)
    # Deviations from a value of the sample are exact where the values share their leading digits.
    centre = float(y[np.argmin(np.abs(y - y.mean()))])
    cells = cells_of(y - centre, made, grid)
    if both:
        refuse_empty(cells, names)
    # The columns get names of our own: a formula is a program, and a column's name could be one.
    formula = "y ~ " + (" * " if both else " + ").join(f"C(f{i}, Sum)" for i in range(len(made)))
    model = OLS.from_formula(formula, pd.DataFrame({"y": y - centre, **{f"f{i}": f.codes for i, f in enumerate(made)}}))
    refuse_undetermined(model.exog, names, both)
    fitted = model.fit()
    refuse_exact(fitted.resid.to_numpy(), y - centre, names)
    design = OLS.from_formula(formula, grid.assign(y=0.0)).exog
    spelled = {"Residual": RESIDUAL, "C(f0, Sum):C(f1, Sum)": ":".join(names)}
    spelled |= {f"C(f{i}, Sum)": name for i, name in enumerate(names)}
    table = anova_lm(fitted, typ=typ).drop("Intercept", errors="ignore").rename(index=spelled, columns={"PR(>F)": "p"})
    table["df"] = table["df"].round().astype(int)
    table["mean_sq"] = table["sum_sq"] / table["df"]
    uneven = len(made) == 2 and cells["n"].nunique() > 1
    note = "the cells have different numbers of rows: the sums of squares depend on their type"
    return AnovaResult(
        response=response,
        factors=made,
        interaction=both,
        typ=typ,
        table=table[["df", "sum_sq", "mean_sq", "F", "p"]],
        cells=cells.assign(mean=centre + cells["mean"], fitted=centre + design @ fitted.params.to_numpy()),
        cell_covariance=design @ fitted.cov_params().to_numpy() @ design.T,
        rsquared=float(fitted.rsquared),
        warnings=(note,) if uneven else (),
    )
