"""Analysis of variance with one or two factors, by statsmodels (`OLS`, `anova_lm`); effects sum to
zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.anova import anova_lm

from rawperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.result import FTest, f_test

TYPES = (1, 2, 3)
RESIDUAL = "residual"
MAX_CELLS = 2000
"""Columns of measurements, rather than of levels, would give many more."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AnovaResult:
    """A fitted analysis of variance. Residuals are taken as independent and normal with one
    variance.

    Parameters
    ----------
    factors : dict of str to tuple
        The levels of each factor: sorted, or in the order of a categorical column or (if they can't
        be sorted) of appearance.
    typ : {1, 2, 3}
        Type of the sums of squares.
    table : DataFrame
        One row a term and one named "residual"; columns ``df, sum_sq, mean_sq, F, p, omega_sq``,
        the last one being partial omega squared: the share of variance that the term explains,
        beside the residual variance alone.
    """

    response: str
    factors: dict[str, tuple[Any, ...]]
    typ: int
    table: pd.DataFrame
    results: Any
    rows: pd.DataFrame
    warnings: tuple[str, ...] = ()

    @property
    def model(self) -> str:
        """What was fitted, in one line."""
        return f"Analysis of variance of {self.response} by {' and '.join(self.factors)}, sums of squares {self.typ}"

    @property
    def nobs(self) -> int:
        """Number of rows."""
        return int(self.results.nobs)

    @property
    def df_resid(self) -> int:
        """Rows minus parameters."""
        return int(self.results.df_resid)

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
        return f_test(
            row["sum_sq"],
            row["df"],
            self.scale * self.df_resid,
            self.df_resid,
            f"{term} has no effect",
        )

    def means(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return one row a cell: levels, ``n`` rows, their ``mean`` (NaN if empty), ``fitted``,
        ``se, low, high``.
        """
        names = list(self.factors)
        cells = pd.DataFrame(list(product(*self.factors.values())), columns=names)
        coded = pd.DataFrame(
            {name: pd.Categorical(cells[name], self.factors[name]) for name in names}
        )
        found = self.results.get_prediction(coded.add_prefix("level of ")).summary_frame(
            alpha=alpha
        )
        by_cell = self.rows.groupby(names, observed=True)[self.response].agg(["size", "mean"])
        index = pd.MultiIndex.from_frame(cells) if len(names) > 1 else pd.Index(cells[names[0]])
        seen = by_cell.reindex(index)
        return cells.assign(
            n=seen["size"].fillna(0).astype(int).to_numpy(),
            mean=seen["mean"].to_numpy(),
            fitted=found["mean"].to_numpy(),
            se=found["mean_se"].to_numpy(),
            low=found["mean_ci_lower"].to_numpy(),
            high=found["mean_ci_upper"].to_numpy(),
        )

    def summary(self, alpha: float = 0.05) -> str:
        """Return the analysis as plain text: the same bytes for the same data."""
        text = self.table.to_string(float_format=lambda v: f"{v:.6g}", na_rep="")
        head = f"{self.model}\nrows {self.nobs}, residual SD {math.sqrt(self.scale):.6g}\n"
        return f"{head}{text}\n" + "".join(f"warning: {w}\n" for w in self.warnings)


def fit_anova(
    frame: pd.DataFrame,
    response: str,
    factors: str | Sequence[str],
    *,
    interaction: bool = True,
    typ: int = 2,
) -> AnovaResult:
    """Fit ``response ~ a``, ``response ~ a * b`` or (without interaction) ``response ~ a + b``.

    Parameters
    ----------
    frame : DataFrame
        One row an observation: replicates stand in rows of their own.
    factors : str or sequence of str
        One or two columns of levels; numbers are levels too.
    typ : {2, 1, 3}
        Sums of squares: each term after all others that do not contain it (type II, Yates 1934); in
        the order of
        `factors` (I); after all others, the levels weighing the same (III). With equally many rows
        in all cells they are the same.

    Raises
    ------
    ModelError
        Naming the row and what is needed: a response that is not finite, a missing or single level,
        an empty cell (with interaction), effects that can't be told apart, no residual degrees of
        freedom, no spread.
    """
    names = (factors,) if isinstance(factors, str) else tuple(factors)
    if not 1 <= len(set(names)) == len(names) <= 2 or response in names or RESIDUAL in names:
        raise ModelError(
            "the factors are not two different columns beside the response",
            expected=f"one or two names, none of them {response!r} or {RESIDUAL!r}",
            found=", ".join(map(repr, names)),
        )
    if typ not in TYPES:
        raise checks.ArgumentError(
            "unknown type of sums of squares", expected="1, 2 or 3", found=repr(typ)
        )
    y = checks.column(_column(frame, response), response)
    made = {name: _factor(frame, name) for name in names}
    both = interaction and len(made) == 2
    sizes = [len(f.categories) for f in made.values()]
    if math.prod(sizes) > MAX_CELLS:
        raise ModelError(
            f"{' and '.join(names)} make {math.prod(sizes)} cells",
            expected=f"at most {MAX_CELLS}",
            remedy="use columns of levels, or group their values",
        )
    if both:
        _refuse_empty(made)
    # Quoted names: a formula is a program, and the name of a column could be one.
    coded = pd.DataFrame({"y": y, **{f"level of {name}": f for name, f in made.items()}})
    terms = [f"C(Q({f'level of {name}'!r}), Sum)" for name in names]
    formula = "y ~ " + (" * " if both else " + ").join(terms)
    model = OLS.from_formula(formula, coded)
    _refuse_undetermined(model.exog, names, both)
    # Deviations from a value of the sample are exact where the values share their leading digits.
    centre = float(y[np.argmin(np.abs(y - y.mean()))])
    fitted = OLS.from_formula(formula, coded.assign(y=y - centre)).fit()
    if np.abs(fitted.resid).max() <= 1e-13 * np.abs(y - centre).max():
        raise ModelError(
            f"rows with the same {' and '.join(names)} do not differ",
            remedy="a test needs replicates that differ",
        )
    spelled = dict(
        zip([*terms, ":".join(terms), "Residual"], [*names, ":".join(names), RESIDUAL], strict=True)
    )
    table = (
        anova_lm(fitted, typ=typ)
        .drop("Intercept", errors="ignore")
        .rename(index=spelled, columns={"PR(>F)": "p"})
    )
    table["df"] = table["df"].round().astype(int)
    table["mean_sq"] = table["sum_sq"] / table["df"]
    explained = table["df"] * (table["F"] - 1)
    table["omega_sq"] = (explained / (explained + len(y))).clip(lower=0)
    counts = np.unique(
        np.ravel_multi_index([f.codes for f in made.values()], sizes), return_counts=True
    )[1]
    uneven = len(made) == 2 and (len(counts) < math.prod(sizes) or len(set(counts)) > 1)
    note = "the cells have different numbers of rows: the sums of squares depend on their type"
    return AnovaResult(
        response=response,
        factors={name: tuple(f.categories) for name, f in made.items()},
        typ=typ,
        table=table[["df", "sum_sq", "mean_sq", "F", "p", "omega_sq"]],
        results=model.fit(),
        rows=frame,
        warnings=(note,) if uneven else (),
    )


def _column(frame: pd.DataFrame, name: str) -> pd.Series:
    found = list(frame.columns).count(name)
    if found != 1:
        known = ", ".join(str(c) for c in frame.columns)
        raise ModelError(
            f"the frame has {found} columns named {name!r}", expected=f"one of {known}"
        )
    return frame[name]


def _factor(frame: pd.DataFrame, name: str) -> pd.Categorical:
    values = _column(frame, name)
    missing = values.isna().to_numpy()
    if missing.any():
        raise ModelError(
            f"{name} in row {int(np.argmax(missing)) + 1} of {len(values)} is missing",
            remedy="drop the row or fill in its level",
        )
    levels = list(dict.fromkeys(values.tolist()))
    if isinstance(values.dtype, pd.CategoricalDtype):
        levels = [level for level in values.cat.categories if level in levels]
    elif len({isinstance(level, str) for level in levels}) == 1:
        levels = sorted(levels)
    if len(levels) < 2:
        raise ModelError(
            f"{name} has one level ({levels[0]})",
            expected="at least 2 levels",
            remedy=f"measure at more than one level of {name}, or leave it out",
        )
    return pd.Categorical(values.tolist(), levels)


def _refuse_empty(made: dict[str, pd.Categorical]) -> None:
    seen = set(zip(*made.values(), strict=True))
    empty = [cell for cell in product(*(f.categories for f in made.values())) if cell not in seen]
    if empty:
        where = " and ".join(
            f"{name} = {level}" for name, level in zip(made, empty[0], strict=True)
        )
        raise ModelError(
            f"{len(empty)} of {len(seen) + len(empty)} cells have no row, the first one being {where}",
            expected="rows in every cell, for an interaction",
            remedy="measure there, or fit without interaction",
        )


def _refuse_undetermined(design: np.ndarray, names: tuple[str, ...], interaction: bool) -> None:
    rows, params = design.shape
    if np.linalg.matrix_rank(design) < params:
        raise ModelError(
            f"the rows do not tell the effects of {' and '.join(names)} apart",
            expected="levels that are linked by cells they share",
            remedy="measure more combinations of levels",
        )
    if rows <= params:
        raise ModelError(
            f"no residual degrees of freedom are left: {rows} rows for {params} parameters",
            expected="more rows than parameters",
            remedy=f"repeat the runs{', or fit without interaction' if interaction else ''}",
        )
