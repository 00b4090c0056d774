"""Models of tidy frames: ``usl("value ~ guests", runs, by="series")`` and the like.

Each function takes a frame with one row per run (or point), and column names. Results have an
origin (`core.provenance`); a group whose rows allow no fit gives a `Missing` with the reason. An
empty frame gives an empty mapping.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from rawperf.core.errors import ParameterError
from virtperf.core.estimate import Estimate, Estimates, Missing
from virtperf.core.provenance import common_origin
from virtperf.models import ratio
from virtperf.models.diagnostics import RowNote
from virtperf.models.fits import (
    By,
    Fits,
    Levels,
    call_with_origin,
    groups,
    levels_of,
    names_of,
    require_columns,
    rows_at,
    source,
)
from virtperf.models.linear import fit_line, fit_robust_line
from virtperf.models.queueing import fit_closed
from virtperf.models.replication import explaining_column
from virtperf.models.result import FitResult
from virtperf.models.segmented import fit_segmented
from virtperf.models.usl import compare_usl, fit_usl

Weights = str | ArrayLike | None
"""A column, or an array with one number per row: proportional to one over the variance."""

MAX_NAMED_ROWS = 5


def usl(
    formula: str,
    frame: pd.DataFrame,
    *,
    by: By = None,
    weights: Weights = None,
    kind: str = "usl",
    bounded: bool = True,
    noise: str | None = None,
    robust: bool = False,
) -> Fits:
    """Fit the Universal Scalability Law per group: ``usl("value ~ guests", runs, by="series")``.

    Parameters
    ----------
    formula : str
        ``throughput ~ load``, column names.
    frame : DataFrame
        One row per run.
    by : str or sequence of str, optional
        One fit per level (or combination of levels).
    weights : str or array_like, optional
        A column, or one number per row: proportional to one over the variance; excludes `noise`.
    kind, bounded, noise, robust
        As in `virtperf.models.fit_usl`; the default noise is proportional.
    """
    options = {"kind": kind, "bounded": bounded, "noise": noise, "robust": robust}
    return _fits(fit_usl, formula, frame, by, {"weights": weights}, options)


def amdahl(
    formula: str,
    frame: pd.DataFrame,
    *,
    by: By = None,
    weights: Weights = None,
    bounded: bool = True,
    noise: str | None = None,
) -> Fits:
    """Fit Amdahl's law to each group; see `usl`."""
    options = {"kind": "amdahl", "bounded": bounded, "noise": noise}
    return _fits(fit_usl, formula, frame, by, {"weights": weights}, options)


def scaling(
    formula: str,
    frame: pd.DataFrame,
    *,
    by: By = None,
    weights: Weights = None,
    bounded: bool = True,
    noise: str | None = None,
    alpha: float = 0.05,
) -> Fits:
    """Fit the simplest adequate scaling law to each group: linear, Amdahl's or the USL, by F tests
    at `alpha`; see `usl` and `virtperf.models.compare_usl`.
    """

    def preferred(x: ArrayLike, y: ArrayLike, **named: Any) -> Any:
        return compare_usl(x, y, **named).preferred(alpha)

    return _fits(
        preferred, formula, frame, by, {"weights": weights}, {"bounded": bounded, "noise": noise}
    )


def line(
    formula: str,
    frame: pd.DataFrame,
    *,
    by: By = None,
    weights: Weights = None,
    noise: str | None = None,
) -> Fits:
    """Fit a straight line to each group; see `usl` and `virtperf.models.fit_line`.

    The default noise is constant: ordinary least squares.
    """
    return _fits(fit_line, formula, frame, by, {"weights": weights}, {"noise": noise})


def robust_line(formula: str, frame: pd.DataFrame, *, by: By = None) -> Fits:
    """Fit a straight line to each group, robust to outliers; see `usl` and
    `virtperf.models.fit_robust_line`.
    """
    return _fits(fit_robust_line, formula, frame, by, {}, {})


def segmented(
    formula: str,
    frame: pd.DataFrame,
    *,
    by: By = None,
    weights: Weights = None,
    form: str = "free",
    noise: str | None = None,
    robust: bool = False,
) -> Fits:
    """Fit a two-piece line to each group; see `usl` and `virtperf.models.fit_segmented`.

    The default noise is constant.
    """
    options = {"form": form, "noise": noise, "robust": robust}
    return _fits(fit_segmented, formula, frame, by, {"weights": weights}, options)


def closed(
    formula: str,
    frame: pd.DataFrame,
    *,
    by: By = None,
    think: str | float = 0.0,
    servers: str | int = 1,
    response: str | None = None,
    cv2: float | None = 1.0,
) -> Fits:
    """Fit a closed network with think time to each group: ``closed("throughput ~ clients", runs,
    think="think_s", servers="processors")``; see `usl` and `virtperf.models.fit_closed`.

    Parameters
    ----------
    think, servers : str or number
        Columns, or one number for all rows.
    response : str, optional
        A column of measured response times, checked against Little's law.
    cv2
        As in `virtperf.models.fit_closed`.
    """
    columns = {"think": think, "servers": servers, "response": response}
    return _fits(fit_closed, formula, frame, by, columns, {"cv2": cv2})


def ratios(
    value: str,
    frame: pd.DataFrame,
    *,
    of: Levels,
    to: Levels,
    by: By = None,
    label: str | None = None,
    method: str = "log-ratio",
    alpha: float = 0.05,
) -> Estimates:
    """Estimate ratios of two means: ``ratios("value", runs, of={"series": "z/VM"}, to={"series":
    "Xen"}, by="guests")``.

    Rows of one side are independent replicates; for paired rows, say of one load or of one block of
    runs, use `pairs`. A warning names a column, such as a load, that explains most of the variation
    within the sides: its rows are not replicates.

    Parameters
    ----------
    value : str
        The column of the values.
    of, to : mapping
        Rows of the numerator and of the denominator: column to level.
    by : str or sequence of str, optional
        One ratio per level; `Missing` where one side has no rows.
    label : str, optional
        Format string of the labels, with the columns of `by` and ``of`` and ``to``, for example
        ``"{of} / {to} at {guests} guests"``. Default: the level of `by`, or ``"{of} / {to}"``
        without `by`.
    method, alpha
        As in `virtperf.models.ratio_of_means`.
    """
    function = functools.partial(ratio.ratio_of_means, method=method, alpha=alpha)
    return _compare_sides(function, value, frame, of, to, by, label, pooled="ratio")


def differences(
    value: str,
    frame: pd.DataFrame,
    *,
    of: Levels,
    to: Levels,
    by: By = None,
    label: str | None = None,
    alpha: float = 0.05,
) -> Estimates:
    """Estimate differences of two means, `of` minus `to`; see `ratios` and
    `virtperf.models.difference_of_means`.
    """
    function = functools.partial(ratio.difference_of_means, alpha=alpha)
    label = label or (None if by else "{of} - {to}")
    return _compare_sides(function, value, frame, of, to, by, label, pooled="difference")


def pairs(
    value: str,
    frame: pd.DataFrame,
    *,
    of: Levels,
    to: Levels,
    on: By,
    by: By = None,
    label: str | None = None,
    alpha: float = 0.05,
) -> Estimates:
    """Estimate the typical ratio of pairs: rows are matched on equal levels of the columns `on`,
    for example a replicate, which is a block of runs; see `ratios`.

    Raises
    ------
    ParameterError
        Several rows of a side have the same levels of `on`; names the rows.
    """

    def paired(a: pd.DataFrame, b: pd.DataFrame) -> Any:
        for side, levels in ((a, of), (b, to)):
            _require_single_rows(side, names_of(on), ", ".join(map(str, levels.values())))
        both = a.merge(b, on=list(names_of(on)), suffixes=("", " below"))
        return ratio.ratio_of_pairs(both[value], both[f"{value} below"], alpha=alpha)

    require_columns(frame, *names_of(on))
    return _compare_sides(paired, [value, *names_of(on)], frame, of, to, by, label)


def ratios_over(
    value: str,
    frame: pd.DataFrame,
    *,
    of: Levels,
    to: Levels,
    over: By,
    by: By = None,
    label: str | None = None,
    alpha: float = 0.05,
) -> Estimates:
    """Estimate ratios that hold over sessions or machines, the levels of the columns `over`: a
    random effect; see `ratios`.

    The rows of a side at each level are averaged. The estimate is the typical ratio of these means
    at the k levels that both sides have, with Student's t of the k log ratios (k - 1 degrees of
    freedom): what differs between levels counts as error, however many rows a level has. It
    estimates the ratio at another level of the same kind.
    """

    def averaged(a: pd.DataFrame, b: pd.DataFrame) -> Any:
        above, below = (rows.groupby(list(names_of(over)))[value].mean() for rows in (a, b))
        common = above.index.intersection(below.index)
        return ratio.ratio_of_pairs(above[common], below[common], alpha=alpha)

    require_columns(frame, *names_of(over))
    return _compare_sides(averaged, [value, *names_of(over)], frame, of, to, by, label)


def _require_single_rows(rows: pd.DataFrame, on: tuple[str, ...], side: str) -> None:
    """Raise `ParameterError` for the first level of `on` with several rows."""
    repeated = rows[rows.duplicated(list(on), keep=False)]
    if repeated.empty:
        return
    key, same = next(iter(repeated.groupby(list(on), sort=False, observed=True, dropna=False)))
    at = ", ".join(f"{name} = {level}" for name, level in zip(on, key, strict=True))
    labels = [str(label) for label in same.index[:MAX_NAMED_ROWS]]
    more = ", ..." if len(same) > MAX_NAMED_ROWS else ""
    index = "" if isinstance(same.index[0], str) else "index "
    raise ParameterError(
        f"rows can't be paired: {at} is repeated",
        expected=f"one row of {side} at each level of {', '.join(on)}",
        found=f"{len(same)} rows ({index}{', '.join(labels)}{more})",
        remedy="average the repeated rows, or add a column that distinguishes them to `on` (--on)",
    )


def ratio_of_printed(
    value: str,
    frame: pd.DataFrame,
    *,
    of: Levels,
    to: Levels,
    half_width: str = "half_width",
    by: By = None,
    label: str | None = None,
) -> Estimates:
    """Bound ratios of printed numbers by their rounding errors; one row per side; see `ratios`."""

    def printed(a: pd.DataFrame, b: pd.DataFrame) -> Any:
        if len(a) != 1 or len(b) != 1:
            raise ParameterError(
                "a ratio of printed numbers needs one row per side", found=f"{len(a)} and {len(b)}"
            )
        top, bottom = (tuple(map(float, rows.iloc[0])) for rows in (a, b))
        return ratio.ratio_of_printed((top[0], top[1]), (bottom[0], bottom[1]))

    return _compare_sides(printed, [value, half_width], frame, of, to, by, label)


def _fits(
    function: Callable[..., Any],
    formula: str,
    frame: pd.DataFrame,
    by: By,
    columns: dict[str, Any],
    options: dict[str, Any],
) -> Fits:
    """Fit each group; `columns` are columns or per-row numbers (None: not given)."""
    y, x = _formula_sides(formula)
    require_columns(frame, y, x, *names_of(by))
    per_row = {name: _per_row(v, frame, name) for name, v in columns.items() if v is not None}
    fits: dict[Hashable, FitResult | Missing] = {}
    for label, group in groups(frame.reset_index(drop=True), by) if len(frame) else ():
        places = group.index.to_numpy()
        more = {name: values.iloc[places] for name, values in per_row.items()}
        x_of, y_of = frame[x].iloc[places], frame[y].iloc[places]
        fit = call_with_origin(source(group), function, x_of, y_of, **options, **more)
        if isinstance(fit, FitResult):
            named = _name_rows(fit.warnings, frame.iloc[places])
            fit = replace(fit, origin=source(group), warnings=named)
        fits[y if label is None else label] = fit
    return Fits(fits, formula, y, x, names_of(by))


def _per_row(values: Any, frame: pd.DataFrame, name: str) -> pd.Series:
    if isinstance(values, str):
        require_columns(frame, values)
        values = frame[values]
    if np.ndim(values) == 0:
        values = np.full(len(frame), values)
    if len(values) != len(frame):
        raise ParameterError(
            f"{name} needs one value per row",
            expected=f"{len(frame)} numbers",
            found=str(len(values)),
        )
    return pd.Series(np.asarray(values), index=frame.index)


def _name_rows(warnings: tuple[str, ...], rows: pd.DataFrame) -> tuple[str, ...]:
    """Name rows in warnings by run, or by index label, where strings are names."""

    def name(row: int) -> str:
        if "run_id" in rows.columns:
            return f"run {rows['run_id'].iloc[row]}"
        label = rows.index[row]
        return label if isinstance(label, str) else f"the row with index {label}"

    return tuple(w.named(name(w.row)) if isinstance(w, RowNote) else w for w in warnings)


def _formula_sides(formula: str) -> tuple[str, str]:
    left, tilde, right = formula.partition("~")
    if not (tilde and left.strip() and right.strip()):
        raise ParameterError(
            "the formula lacks a left or right side",
            expected='for example "value ~ guests"',
            found=repr(formula),
        )
    return left.strip(), right.strip()


def _compare_sides(
    function: Callable[..., Any],
    value: str | list[str],
    frame: pd.DataFrame,
    of: Levels,
    to: Levels,
    by: By,
    label: str | None,
    pooled: str = "",
) -> Estimates:
    """Compare two sides at each level of `by`; `Missing` where one of them has no rows.

    With `pooled`, "ratio" or "difference", the rows of a side are treated as replicates: a warning
    names a column that contradicts it.
    """
    require_columns(frame, *([value] if isinstance(value, str) else value), *names_of(by), *of, *to)
    if frame.empty:
        return Estimates()
    sides = [dict(groups(rows_at(frame, levels), by)) for levels in (of, to)]
    words = {
        side: ", ".join(map(str, levels.values())) for side, levels in (("of", of), ("to", to))
    }
    estimates = Estimates()
    for at in dict.fromkeys([*sides[0], *sides[1]]):
        above, below = (side.get(at, frame.iloc[:0]) for side in sides)
        name: Any = at
        if label is not None or by is None:
            name = (label or "{of} / {to}").format(**words, **levels_of(by, at))
        if above.empty or below.empty:
            side = "of" if above.empty else "to"
            estimates[name] = Missing(
                f"no rows of {words[side]}", source(below if above.empty else above)
            )
            continue
        origin = common_origin([source(above), source(below)])
        estimates[name] = call_with_origin(origin, function, above[value], below[value])
        if pooled and isinstance(estimates[name], Estimate) and isinstance(value, str):
            known = {value, *of, *to, *names_of(by)}
            others = [c for c in frame.columns[~frame.columns.duplicated(False)] if c not in known]
            column = explaining_column((above, below), value, others, log=pooled == "ratio")
            if column is not None:
                warnings = (*estimates[name].warnings, column.warning())
                estimates[name] = replace(estimates[name], warnings=warnings)
    return estimates
