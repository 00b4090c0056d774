"""The effect of a treatment over workloads (or other groups) that stand for many more: a mixed model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.cells import cells_of, grid_of
from virtperf.models.checks import Array
from virtperf.models.factors import Factor, level_weights, read_column, read_factor
from virtperf.models.ratio import Mean
from virtperf.models.reml import NAMES, CellMeans, RemlFit, fit_reml
from virtperf.models.result import Estimate, FTest, f_test, t_interval

ERRORS = ("pooled", "contrast")
Codes = NDArray[np.intp]
MAX_UNEVEN = 500  # the time grows with the third power: seconds at this number


@dataclass(frozen=True, eq=False, kw_only=True)
class MixedResult:
    """A treatment crossed with a random group: ``y = treatment + group + treatment x group + residual``.

    Parameters
    ----------
    response : str
    treatment, group : Factor
    cells : DataFrame
        One row a cell (treatment, group): ``n`` and ``mean`` of its rows (NaN if empty).
    components : dict of str to float
        Variances of the group, of treatment x group and of the residual (the last one stands for both without
        replicates).
    balanced : bool
        Whether all cells have the same number of rows: tests and intervals are then exact.
    mean_square : float
        Of treatment x group, if balanced (else NaN).
    reml : RemlFit or None
        If not balanced.
    """

    response: str
    treatment: Factor
    group: Factor
    cells: pd.DataFrame
    components: dict[str, float]
    balanced: bool
    mean_square: float
    reml: RemlFit | None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of treatments k, and of groups g."""
        return len(self.treatment.levels), len(self.group.levels)

    @property
    def cell_means(self) -> Array:
        """Means of the cells, shape (k, g)."""
        return self.cells["mean"].to_numpy().reshape(self.shape)

    @property
    def means(self) -> pd.Series:
        """Estimated treatment means."""
        values = self.cell_means.mean(axis=1) if self.reml is None else self.reml.beta
        return pd.Series(values, index=pd.Index(self.treatment.levels, name=self.treatment.name), name=self.response)

    def contrast(self, weights: Mapping[Any, float], *, alpha: float = 0.05, error: str = "pooled") -> Estimate:
        """Return a contrast of the treatment means, in the unit of the response, with a t interval.

        Parameters
        ----------
        weights : mapping
            Level of the treatment to weight: ``{new: 1, old: -1}``.
        alpha : float
        error : {"pooled", "contrast"}
            "pooled": balanced, from the mean square of treatment x group with (k - 1)(g - 1) degrees of freedom, which
            is exact if any two treatments differ between groups with the same variance; not balanced, from restricted
            likelihood with Kenward and Roger's (1997) standard error and degrees of freedom. "contrast": from the
            spread of the contrast between the groups that have all its levels, with one degree of freedom less than
            these groups; it allows unequal variances of the treatments. With two treatments and balance both are the
            paired t interval of the groups' means.

        Raises
        ------
        ModelError
            For an unknown level, weights that do not sum to zero, fewer than two groups with all levels of the
            contrast, or groups between which it does not vary.
        """
        checks.one_of(error, ERRORS, "error term")
        w = level_weights(weights, self.treatment)
        used = w != 0
        each = w[used] @ self.cell_means[used]
        whole = each[np.isfinite(each)]
        if len(whole) < 2:
            raise ModelError(
                f"{len(whole)} of {len(each)} levels of {self.group.name} have all levels of the contrast",
                expected="at least two",
                remedy=f"measure the same {self.group.name} under each {self.treatment.name}",
            )
        if error == "contrast":
            mean = Mean.of(whole, "contrast")
            value, variance, df, method = mean.value, mean.se**2, mean.df, "t (groups)"
        elif self.reml is None:
            k, g = self.shape
            rows = float(self.cells["n"].iloc[0])
            value, df, method = float(each.mean()), float((k - 1) * (g - 1)), "t (treatment x group)"
            variance = self.mean_square * float(w @ w) / (g * rows)
        else:
            value, variance = float(w @ self.reml.beta), float(w @ self.reml.adjusted @ w)
            df, method = self.reml.df(w), "t (Kenward-Roger)"
        if not variance > (1e-13 * float(np.nanmax(np.abs(self.cell_means)))) ** 2:
            raise ModelError(
                f"the contrast is the same at each {self.group.name}", remedy="an interval needs groups that differ"
            )
        return t_interval(value, math.sqrt(variance), df, alpha, method)

    def test(self) -> FTest:
        """Return the exact F test of all treatments together, against treatment x group.

        Raises
        ------
        ModelError
            If the cells have different numbers of rows; contrasts are possible then.
        """
        if not self.balanced:
            raise ModelError("an exact F test needs equally many rows in all cells", remedy="use contrasts")
        k, g = self.shape
        df = (k - 1) * (g - 1)
        explained = g * float(self.cells["n"].iloc[0]) * (k - 1) * float(np.var(self.means, ddof=1))
        return f_test(explained, k - 1, self.mean_square * df, df, f"{self.treatment.name} has no effect")


def fit_mixed(frame: pd.DataFrame, response: str, treatment: str, group: str) -> MixedResult:
    """Fit a treatment (fixed) that is crossed with a group (random), with their interaction.

    Parameters
    ----------
    frame : DataFrame
        One row a run: replicates stand in rows of their own.
    response, treatment, group : str
        Columns: of numbers; of the levels to compare; of the workloads (machines, days) that stand for others.

    Raises
    ------
    ModelError
        Naming the row and what is needed: a response that is not finite, a missing or single level, groups that are
        not crossed with the treatment, replicates that do not differ.
    """
    if len({response, treatment, group}) < 3:
        found = ", ".join((response, treatment, group))
        raise ModelError("response, treatment and group are not three different columns", found=found)
    y = checks.column(read_column(frame, response), response)
    made = (read_factor(frame, treatment), read_factor(frame, group))
    centre = float(y[np.argmin(np.abs(y - y.mean()))])
    cells = cells_of(y - centre, made, grid_of(made))
    n, mean = cells["n"].to_numpy(), cells["mean"].to_numpy()
    place = made[0].codes * len(made[1].levels) + made[1].codes
    within = float(np.sum((y - centre - mean[place]) ** 2))
    balanced = bool(n.min() == n.max())
    shape = (len(made[0].levels), len(made[1].levels))
    square, reml = math.nan, None
    if balanced:
        components, square = _components(mean.reshape(shape), int(n[0]), within)
    else:
        if np.ptp(y) == 0 or (n.max() > 1 and within <= (1e-13 * np.abs(y - centre).max()) ** 2):
            raise ModelError("replicates do not differ", remedy="an interval needs replicates that differ")
        kept = np.flatnonzero(n)
        codes, others = np.unravel_index(kept, shape)
        if len(kept) > MAX_UNEVEN:
            raise ModelError(f"{len(kept)} cells of unequal size are too many", expected=f"at most {MAX_UNEVEN}")
        _crossed(codes, others, made)
        reml = fit_reml(CellMeans(mean[kept], n[kept].astype(float), codes, others, within))
        reml = replace(reml, beta=centre + reml.beta)
        components = reml.components
    return MixedResult(
        response=response,
        treatment=made[0],
        group=made[1],
        cells=cells.assign(mean=centre + mean),
        components=components,
        balanced=balanced,
        mean_square=square,
        reml=reml,
    )


def _crossed(codes: Codes, others: Codes, made: tuple[Factor, Factor]) -> None:
    """Refuse cells that additive effects fit exactly: nothing tells how the effect varies between groups."""
    additive = np.column_stack([np.eye(len(f.levels))[place] for f, place in zip(made, (codes, others), strict=True)])
    if np.linalg.matrix_rank(additive) == len(codes):
        treatment, group = (f.name for f in made)
        raise ModelError(
            f"nothing shows how the effect of {treatment} varies between levels of {group}",
            expected=f"at least two levels of {group} under the same two of {treatment}",
            remedy=f"measure the same {group} under each {treatment}",
        )


def _components(means: Array, rows: int, within: float) -> tuple[dict[str, float], float]:
    """Return the components of variance and the mean square of treatment x group of a balanced design."""
    k, g = means.shape
    left = means - means.mean(axis=1, keepdims=True) - means.mean(axis=0) + means.mean()
    square = rows * float(np.sum(left**2)) / ((k - 1) * (g - 1))
    group = max((rows * k * float(np.var(means.mean(axis=0), ddof=1)) - square) / (k * rows), 0.0)
    if rows == 1:
        return {NAMES[0]: group, NAMES[2]: square}, square
    noise = within / (k * g * (rows - 1))
    return dict(zip(NAMES, (group, max((square - noise) / rows, 0.0), noise), strict=True)), square


def overall_effect(
    frame: pd.DataFrame,
    response: str,
    treatment: str,
    group: str,
    alpha: float = 0.05,
    *,
    levels: tuple[Any, Any] | None = None,
    log: bool = False,
    error: str = "pooled",
) -> Estimate:
    """Estimate what a treatment changes over all groups: those measured, and those that they stand for.

    Parameters
    ----------
    frame, response, treatment, group
        See `fit_mixed`.
    alpha : float
    levels : (from, to), optional
        The two levels of the treatment to compare; needed if there are more than two.
    log : bool
        Fit the logarithms, and return the ratio of geometric means ``to / from``: the choice for groups whose
        responses differ in unit or size. Without it, the difference ``to - from``.
    error : {"pooled", "contrast"}
        See `MixedResult.contrast`.

    Raises
    ------
    ModelError
        As `fit_mixed` and `MixedResult.contrast`; or a response that is not positive, with `log`.
    """
    if log:
        values = checks.column(read_column(frame, response), response, positive=True)
        frame = frame.assign(**{response: np.log(values)})
    fit = fit_mixed(frame, response, treatment, group)
    if levels is None:
        if len(fit.treatment.levels) > 2:
            raise ModelError(
                f"{treatment} has {len(fit.treatment.levels)} levels",
                remedy=f"name the two to compare: levels=({fit.treatment.levels[0]!r}, {fit.treatment.levels[1]!r})",
            )
        levels = (fit.treatment.levels[0], fit.treatment.levels[1])
    effect = fit.contrast({levels[0]: -1.0, levels[1]: 1.0}, alpha=alpha, error=error)
    return effect.map(_exp) if log else effect


def _exp(value: float) -> float:
    return math.exp(value) if value < 709 else math.inf
