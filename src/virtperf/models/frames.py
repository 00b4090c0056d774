"""Models of tidy frames: ``usl("value ~ guests", runs, by="series")`` and the like.

Each function takes a frame with one row per run (or point), and column names. Results have an
origin (`core.provenance`); a group whose rows allow no fit gives a `Missing` with the reason. An
empty frame gives an empty mapping.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from rawperf.core.errors import ParameterError
from virtperf.core.estimate import Estimate, Estimates, Missing
from virtperf.core.schema import require_columns
from virtperf.models import ratio
from virtperf.models.diagnostics import RowNote
from virtperf.models.fits import (
    By,
    Fits,
    Levels,
    compare_sides,
    groups,
    names_of,
    source,
)
from virtperf.models.linear import fit_line, fit_robust_line
from virtperf.models.queueing import fit_closed
from virtperf.models.replication import explaining_column
from virtperf.models.result import FitResult, call_with_origin
from virtperf.models.segmented import fit_segmented
from virtperf.models.usl import fit_scaling, fit_usl

PER_ROW = ("weights", "think", "servers")
"""Options with one number per row: a column, an array, or one number for all rows."""
MAX_NAMED_ROWS = 5
DOCUMENTATION = """Fit {what} to each group of a frame: ``{name}("value ~ guests", runs, by="series")``.

Parameters
----------
formula : str
    ``y ~ x``, column names.
frame : DataFrame
    One row per run.
by : str or sequence of str, optional
    One fit per level (or combination of levels).
**options
    Of `virtperf.models.{fit}`. ``weights``, ``think`` and ``servers`` are a column, one number per
    row, or one number for all rows.

Raises
------
ParameterError
    A column is not in the frame, or the rows of a group have several quantities.
"""


def _by_group(
    name: str, fit: Callable[..., FitResult], what: str, **fixed: Any
) -> Callable[..., Fits]:
    """Make a function of frames from one of arrays; `fixed` are options that it sets."""

    def model(formula: str, frame: pd.DataFrame, *, by: By = None, **options: Any) -> Fits:
        return _fits(fit, formula, frame, by, {**options, **fixed})

    model.__name__ = model.__qualname__ = name
    model.__doc__ = DOCUMENTATION.format(what=what, name=name, fit=fit.__name__)
    return model


usl = _by_group("usl", fit_usl, "the Universal Scalability Law")
amdahl = _by_group("amdahl", fit_usl, "Amdahl's law", kind="amdahl")
scaling = _by_group("scaling", fit_scaling, "the simplest adequate scaling law, by F tests,")
line = _by_group("line", fit_line, "a straight line")
robust_line = _by_group("robust_line", fit_robust_line, "a straight line, robust to outliers,")
segmented = _by_group("segmented", fit_segmented, "a two-piece line")
closed = _by_group("closed", fit_closed, "a closed network of clients with think time")


def ratios(
    value: str,
    frame: pd.DataFrame,
    *,
    of: Levels,
    to: Levels,
    by: By = None,
    label: str | None = None,
    check_replicates: bool = False,
    alpha: float = 0.05,
) -> Estimates:
    """Estimate ratios of two means: ``ratios("value", runs, of={"series": "z/VM"}, to={"series":
    "Xen"}, by="guests")``; see `virtperf.models.ratio_of_means`.

    Rows of one side are independent replicates; for paired rows, say of one load or of one block of
    runs, use `pairs`.

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
    check_replicates : bool
        Whether to test if another column, such as a load, explains most of the variation within the
        sides: its rows are not replicates, and a warning names it (docs/methods.md).
    alpha : float
        One minus the confidence level.
    """
    compared = ratio.ratio_of_means, check_replicates, alpha
    return _compare_means(value, frame, of, to, by, label, *compared)


def differences(
    value: str,
    frame: pd.DataFrame,
    *,
    of: Levels,
    to: Levels,
    by: By = None,
    label: str | None = None,
    check_replicates: bool = False,
    alpha: float = 0.05,
) -> Estimates:
    """Estimate differences of two means, `of` minus `to`; see `ratios` and
    `virtperf.models.difference_of_means`.
    """
    compared = ratio.difference_of_means, check_replicates, alpha
    return _compare_means(
        value, frame, of, to, by, label or (None if by else "{of} - {to}"), *compared
    )


def _compare_means(
    value: str,
    frame: pd.DataFrame,
    of: Levels,
    to: Levels,
    by: By,
    label: str | None,
    function: Callable[..., Estimate],
    check_replicates: bool,
    alpha: float,
) -> Estimates:
    def compared(above: pd.DataFrame, below: pd.DataFrame, _: Any) -> Estimate:
        estimate = function(above[value], below[value], alpha=alpha)
        if not check_replicates:
            return estimate
        unique = frame.columns[~frame.columns.duplicated(False)]
        others = [name for name in unique if name not in {value, *of, *to, *names_of(by)}]
        is_log = function is ratio.ratio_of_means
        column = explaining_column((above, below), value, others, log=is_log)
        return estimate.noted(column.warning()) if column else estimate

    return compare_sides(compared, frame, of, to, by, label, [value])


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
    keys = list(names_of(on))

    def paired(above: pd.DataFrame, below: pd.DataFrame, _: Any) -> Estimate:
        for side, levels in ((above, of), (below, to)):
            _require_single_rows(side, keys, ", ".join(map(str, levels.values())))
        both = above[[value, *keys]].merge(below[[value, *keys]], on=keys, suffixes=("", " below"))
        return ratio.ratio_of_pairs(both[value], both[f"{value} below"], alpha=alpha)

    return compare_sides(paired, frame, of, to, by, label, [value, *keys])


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
    keys = list(names_of(over))

    def averaged(above: pd.DataFrame, below: pd.DataFrame, _: Any) -> Estimate:
        first, second = (rows.groupby(keys)[value].mean() for rows in (above, below))
        common = first.index.intersection(second.index)
        return ratio.ratio_of_pairs(first[common], second[common], alpha=alpha)

    return compare_sides(averaged, frame, of, to, by, label, [value, *keys])


def _require_single_rows(rows: pd.DataFrame, on: list[str], side: str) -> None:
    """Raise `ParameterError` for the first level of `on` with several rows."""
    repeated = rows[rows.duplicated(on, keep=False)]
    if repeated.empty:
        return
    key, same = next(iter(repeated.groupby(on, sort=False, observed=True, dropna=False)))
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

    def printed(above: pd.DataFrame, below: pd.DataFrame, _: Any) -> Estimate:
        if len(above) != 1 or len(below) != 1:
            raise ParameterError(
                "a ratio of printed numbers needs one row per side",
                found=f"{len(above)} and {len(below)}",
            )
        (top, top_half), (bottom, bottom_half) = (
            map(float, rows[[value, half_width]].iloc[0]) for rows in (above, below)
        )
        return ratio.ratio_of_printed((top, top_half), (bottom, bottom_half))

    return compare_sides(printed, frame, of, to, by, label, [value, half_width])


def _fits(
    function: Callable[..., FitResult],
    formula: str,
    frame: pd.DataFrame,
    by: By,
    options: dict[str, Any],
) -> Fits:
    """Fit each group; options named in `PER_ROW` are columns or per-row numbers."""
    y, x = _formula_sides(formula)
    require_columns(frame, (y, x, *names_of(by)))
    per_row = {
        name: _per_row(options.pop(name), frame, name)
        for name in PER_ROW
        if options.get(name) is not None
    }
    fits: dict[Hashable, FitResult | Missing] = {}
    for label, group in groups(frame.reset_index(drop=True), by) if len(frame) else ():
        rows = frame.iloc[group.index]
        more = {name: values.iloc[group.index] for name, values in per_row.items()}
        fit = call_with_origin(source(group), function, rows[x], rows[y], **options, **more)
        if isinstance(fit, FitResult):
            fit = replace(fit, warnings=_name_rows(fit.warnings, rows))
        fits[y if label is None else label] = fit
    return Fits(fits, formula, y, x, names_of(by))


def _per_row(values: Any, frame: pd.DataFrame, name: str) -> pd.Series:
    if isinstance(values, str):
        require_columns(frame, [values])
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
