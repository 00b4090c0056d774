"""Comparisons of two sides of a tidy frame: ``ratios("value", runs, of={"series": "z/VM"},
to={"series": "Xen"}, by="guests")`` and the like.

A side is the rows at given levels of columns. Results have an origin (`core.provenance`); where a
side has no rows, or they allow no comparison, there is a `Missing` with the reason. An empty frame
gives an empty mapping.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from rawperf.core.errors import ParameterError, require_known
from virtperf.core.estimate import Estimate, Estimates, Missing
from virtperf.core.provenance import common_origin
from virtperf.core.schema import require_columns
from virtperf.models import two_means
from virtperf.models.fits import By, Levels, groups, levels_of, names_of, source
from virtperf.models.replication import explaining_column
from virtperf.models.result import call_with_origin

MAX_NAMED_ROWS = 5


def rows_at(frame: pd.DataFrame, levels: Levels) -> pd.DataFrame:
    """Select the rows at the given levels; raises `ParameterError` for an unknown column, and for a
    level that occurs neither in the rows nor in the categories.
    """
    require_columns(frame, levels)
    rows = frame
    for name, level in levels.items():
        column = frame[name]
        known = list(
            column.cat.categories
            if isinstance(column.dtype, pd.CategoricalDtype)
            else column.unique()
        )
        if known:
            expected = f"one of {', '.join(map(repr, known[:20]))}"
            problem = f"no row has {name} {level!r}"
            require_known(level, known, problem, ParameterError, expected=expected)
        rows = rows[rows[name] == level]
    return rows


def compare_sides(
    function: Callable[[pd.DataFrame, pd.DataFrame, dict[str, Any]], Any],
    frame: pd.DataFrame,
    of: Levels,
    to: Levels,
    by: By,
    label: str | None,
    columns: Sequence[str] = (),
    default: str = "{of} / {to}",
) -> Estimates:
    """Compare two sides of a frame at each level of `by`; `Missing` where one of them has no rows.

    `function` takes the rows of both sides, and the columns of `by` with their level; it needs the
    `columns`. `label` is that of `ratios`, with its `default` without `by`.
    """
    names = names_of(by)
    require_columns(frame, (*columns, *names, *of, *to))
    estimates = Estimates()
    if frame.empty:
        return estimates
    first, second = (dict(groups(rows_at(frame, levels), by)) for levels in (of, to))
    words = {side: _words(levels) for side, levels in (("of", of), ("to", to))}
    for at in first | second:
        above, below = (side.get(at, frame.iloc[:0]) for side in (first, second))
        fixed = levels_of(by, at)
        name: Any = at
        if label is not None or not names:
            name = (label or default).format(**words, **fixed)
        if above.empty or below.empty:
            side, rows = ("of", below) if above.empty else ("to", above)
            estimates[name] = Missing(f"no rows of {words[side]}", source(rows))
            continue
        origin = common_origin([source(above), source(below)])
        estimates[name] = call_with_origin(origin, function, above, below, fixed)
    return estimates


def _words(levels: Levels) -> str:
    return ", ".join(map(str, levels.values()))


def _of_means(
    name: str, function: Callable[..., Estimate], default: str, documentation: str
) -> Callable[..., Estimates]:
    """Make a comparison of two means from one of arrays."""

    def compared(
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
        def estimate(above: pd.DataFrame, below: pd.DataFrame, _: Any) -> Estimate:
            found = function(above[value], below[value], alpha=alpha)
            if not check_replicates:
                return found
            unique = frame.columns[~frame.columns.duplicated(False)]
            others = [each for each in unique if each not in {value, *of, *to, *names_of(by)}]
            is_log = function is two_means.ratio_of_means
            column = explaining_column((above, below), value, others, log=is_log)
            return found.noted(column.warning()) if column else found

        return compare_sides(estimate, frame, of, to, by, label, [value], default)

    compared.__name__ = compared.__qualname__ = name
    compared.__doc__ = documentation
    return compared


ratios = _of_means(
    "ratios",
    two_means.ratio_of_means,
    "{of} / {to}",
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
    """,
)
differences = _of_means(
    "differences",
    two_means.difference_of_means,
    "{of} - {to}",
    """Estimate differences of two means, `of` minus `to`; see `ratios` and
    `virtperf.models.difference_of_means`.
    """,
)


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
            _require_single_rows(side, keys, _words(levels))
        both = above[[value, *keys]].merge(below[[value, *keys]], on=keys, suffixes=("", " below"))
        return two_means.ratio_of_pairs(both[value], both[f"{value} below"], alpha=alpha)

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
        return two_means.ratio_of_pairs(first[common], second[common], alpha=alpha)

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
        return two_means.ratio_of_printed((top, top_half), (bottom, bottom_half))

    return compare_sides(printed, frame, of, to, by, label, [value, half_width])
