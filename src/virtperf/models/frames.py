"""Models of tidy frames: ``usl("value ~ guests", runs, by="series")`` and the like.

Each function takes a frame with one row a run (or a point), and formulas of its columns. The result
knows what it rests on (`core.provenance`); a group whose rows allow no fit gives a `Missing` that
says why. A frame without rows gives an empty mapping, or None where one result is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import pandas as pd

from virtperf.core.provenance import Origin, together
from virtperf.models import linear, ratio, tost, usl_cost, variance
from virtperf.models import segmented as _segmented
from virtperf.models import usl as _usl
from virtperf.models.changepoints import find_changepoints
from virtperf.models.checks import ArgumentError
from virtperf.models.families import compare_families
from virtperf.models.fits import (
    By,
    Fit,
    Fits,
    Levels,
    attributed,
    columns,
    groups,
    levels_of,
    names_of,
    rows_at,
    source,
)
from virtperf.models.pairwise import compare_means
from virtperf.models.result import Missing


def usl(formula: str, frame: pd.DataFrame, *, by: By = None, **options: Any) -> Fits:
    """The Universal Scalability Law of each group: ``usl("value ~ guests", runs, by="series")``.

    Parameters
    ----------
    formula : str
        ``throughput ~ load``, names of columns.
    frame : DataFrame
        One row a run.
    by : str or sequence of str, optional
        One fit for each level (or combination of levels).
    **options
        Of `virtperf.models.usl.fit_usl`.
    """
    return _fits(_usl.fit_usl, formula, frame, by, options)


def amdahl(formula: str, frame: pd.DataFrame, *, by: By = None, **options: Any) -> Fits:
    """Amdahl's law of each group; see `usl`."""
    return _fits(_usl.fit_usl, formula, frame, by, {**options, "kind": "amdahl"})


def scaling(
    formula: str, frame: pd.DataFrame, *, by: By = None, alpha: float = 0.05, **options: Any
) -> Fits:
    """The simplest scaling law that fits each group: linear, Amdahl's or the USL, by F tests at
    `alpha`; see `usl`.
    """

    def preferred(x: Any, y: Any, **named: Any) -> Any:
        return _usl.compare_usl(x, y, **named).preferred(alpha)

    return _fits(preferred, formula, frame, by, options)


def line(formula: str, frame: pd.DataFrame, *, by: By = None, **options: Any) -> Fits:
    """A straight line through each group; see `usl` and `virtperf.models.linear.fit_line`."""
    return _fits(linear.fit_line, formula, frame, by, options)


def segmented(
    formula: str, frame: pd.DataFrame, *, by: By = None, form: str = "free", **options: Any
) -> Fits:
    """Two straight pieces for each group; see `usl` and
    `virtperf.models.segmented.fit_segmented`.
    """
    return _fits(_segmented.fit_segmented, formula, frame, by, {**options, "form": form})


def cost(formula: str, frame: pd.DataFrame, *, by: By = None, **options: Any) -> Fits:
    """Processors for each unit of throughput against the load; see `usl` and
    `virtperf.models.usl_cost`.
    """
    return _fits(usl_cost.fit_usl_cost, formula, frame, by, options)


def robust_line(formula: str, frame: pd.DataFrame, *, by: By = None) -> Fits:
    """A straight line that outliers hardly move, for each group; see `usl` and
    `virtperf.models.linear`.
    """
    return _fits(linear.fit_robust_line, formula, frame, by, {})


def changepoints(formula: str, frame: pd.DataFrame, *, by: By = None, **options: Any) -> Fits:
    """Where each series changes, in the order of its rows: ``changepoints("score ~ revision",
    results)``.
    """
    return _fits(find_changepoints, formula, frame, by, options)


def families(formula: str, frame: pd.DataFrame, **options: Any) -> pd.DataFrame:
    """One table of AICc and lack of fit across families of curves; see
    `virtperf.models.families`.
    """
    y, x = _sides(formula)
    columns(frame, y, x)
    source(frame)
    return compare_families(frame[x], frame[y], **options)


def pairwise(formula: str, frame: pd.DataFrame, **options: Any) -> dict[Hashable, Any]:
    """All pairs of means at one level: ``pairwise("value ~ series", runs)``; see
    `virtperf.models.pairwise`.

    Gives ``"a / b"`` (``"a - b"`` with ``noise="constant"``) to `Estimate` or `Missing`.
    """
    y, by = _sides(formula)
    columns(frame, y, by)
    if frame.empty:
        return {}
    samples = {label: rows[y] for label, rows in groups(frame, by)}
    found = attributed(source(frame), compare_means, samples, **options)
    sign = "-" if options.get("noise") == "constant" else "/"
    return (
        {formula: found}
        if isinstance(found, Missing)
        else {f"{a} {sign} {b}": e for (a, b), e in found.items()}
    )


def ratios(
    value: str,
    frame: pd.DataFrame,
    *,
    of: Levels,
    to: Levels,
    by: By = None,
    label: str | None = None,
    **options: Any,
) -> dict[Hashable, Any]:
    """Ratios of two means: ``ratios("value", runs, of={"series": "z/VM"}, to={"series": "Xen"},
    by="guests")``.

    Parameters
    ----------
    value : str
        The column of the values; rows of one side are replicates.
    of, to : mapping
        The rows of the numerator and of the denominator: column to level.
    by : str or sequence of str, optional
        One ratio for each level; `Missing` where one side has no rows.
    label : str, optional
        How the results are named: a format of the columns of `by` and of ``of`` and ``to``, for
        example
        ``"{of} / {to} at {guests} guests"``. Default: the level of `by`, or ``"{of} / {to}"``
            without `by`.
    **options
        Of `virtperf.models.ratio.ratio_of_means`: ``alpha``, ``method``, ...
    """
    return _compared(ratio.ratio_of_means, value, frame, of, to, by, label, options)


def pairs(
    value: str,
    frame: pd.DataFrame,
    *,
    of: Levels,
    to: Levels,
    on: By,
    by: By = None,
    label: str | None = None,
    **options: Any,
) -> dict[Hashable, Any]:
    """Typical ratio of pairs: rows belong together that have the same levels of the columns `on`;
    see `ratios`.
    """

    def paired(a: pd.DataFrame, b: pd.DataFrame, **named: Any) -> Any:
        both = a.merge(b, on=list(names_of(on)), suffixes=("", " below"), validate="one_to_one")
        return ratio.ratio_of_pairs(both[value], both[f"{value} below"], **named)

    columns(frame, *names_of(on))
    return _compared(paired, [value, *names_of(on)], frame, of, to, by, label, options)


def ratio_of_printed(
    value: str,
    frame: pd.DataFrame,
    *,
    of: Levels,
    to: Levels,
    half_width: str = "half_width",
    by: By = None,
    label: str | None = None,
) -> dict[Hashable, Any]:
    """Ratios of printed numbers, between the extremes that rounding leaves; one row a side; see
    `ratios`.
    """

    def printed(a: pd.DataFrame, b: pd.DataFrame) -> Any:
        if len(a) != 1 or len(b) != 1:
            raise ArgumentError(
                "a ratio of printed numbers needs one row a side", found=f"{len(a)} and {len(b)}"
            )
        top, bottom = (tuple(map(float, rows.iloc[0])) for rows in (a, b))
        return ratio.ratio_of_printed((top[0], top[1]), (bottom[0], bottom[1]))

    return _compared(printed, [value, half_width], frame, of, to, by, label, {})


def equivalence(
    value: str,
    frame: pd.DataFrame,
    *,
    of: Levels,
    to: Levels,
    margin: float | tuple[float, float],
    by: By = None,
    **options: Any,
) -> Any:
    """Test whether a ratio of means lies within a margin; see `ratios` and
    `virtperf.models.tost.tost_ratio`.

    Gives an `Equivalence`, `Missing`, or None for a frame without rows; with `by` a dict of them by
    level.

    Parameters
    ----------
    margin : float or (low, high)
        Of the ratio; a number m above 1 stands for (1/m, m).
    """
    found = _compared(
        tost.tost_ratio, value, frame, of, to, by, None, {**options, "margin": margin}
    )
    return found if by is not None else next(iter(found.values()), None)


def anova(formula: str, frame: pd.DataFrame, *, by: By = None, **options: Any) -> Any:
    """Analysis of variance: ``anova("value ~ processors * memory", runs)``; see
    `virtperf.models.variance`.
    """
    y, right = _sides(formula)
    interaction = "*" in right or ":" in right
    factors = [part.strip() for part in right.replace("*", "+").split("+")]
    columns(frame, y, *factors)

    def fitted(rows: pd.DataFrame) -> Any:
        return variance.fit_anova(rows, y, factors, interaction=interaction, **options)

    fits = {
        y if label is None else label: _fit(fitted, source(rows), rows)
        for label, rows in groups(frame, by)
    }
    return fits[y] if by is None else Fits(fits, formula, y, right, names_of(by))


def _fits(
    function: Callable[..., Any], formula: str, frame: pd.DataFrame, by: By, options: dict[str, Any]
) -> Fits:
    y, x = _sides(formula)
    columns(frame, y, x, *names_of(by))
    fits: dict[Hashable, Fit | Missing] = {}
    for label, rows in groups(frame, by) if len(frame) else ():
        fits[y if label is None else label] = _fit(
            function, source(rows), rows[x], rows[y], **options
        )
    return Fits(fits, formula, y, x, names_of(by))


def _fit(
    function: Callable[..., Any], origin: Origin | None, *arguments: Any, **options: Any
) -> Fit | Missing:
    if not len(arguments[0]):
        return Missing("there are no rows", origin)
    found = attributed(origin, function, *arguments, **options)
    return found if isinstance(found, Missing) else Fit(found, origin)


def _sides(formula: str) -> tuple[str, str]:
    left, tilde, right = formula.partition("~")
    if not (tilde and left.strip() and right.strip()):
        raise ArgumentError(
            "the formula has no two sides",
            expected='for example "value ~ guests"',
            found=repr(formula),
        )
    return left.strip(), right.strip()


def _compared(
    function: Callable[..., Any],
    value: str | list[str],
    frame: pd.DataFrame,
    of: Levels,
    to: Levels,
    by: By,
    label: str | None,
    options: dict[str, Any],
) -> dict[Hashable, Any]:
    """A comparison of two sides at each level of `by`; `Missing` where one of them has no rows."""
    columns(frame, *([value] if isinstance(value, str) else value), *names_of(by), *of, *to)
    if frame.empty:
        return {}
    sides = [dict(groups(rows_at(frame, levels), by)) for levels in (of, to)]
    words = {
        side: ", ".join(map(str, levels.values())) for side, levels in (("of", of), ("to", to))
    }
    found: dict[Hashable, Any] = {}
    for at in dict.fromkeys([*sides[0], *sides[1]]):
        above, below = (side.get(at, frame.iloc[:0]) for side in sides)
        name: Any = at
        if label is not None or by is None:
            name = (label or "{of} / {to}").format(**words, **levels_of(by, at))
        if above.empty or below.empty:
            side = "of" if above.empty else "to"
            found[name] = Missing(
                f"no rows of {words[side]}", source(below if above.empty else above)
            )
            continue
        origin = together([source(above), source(below)])
        found[name] = attributed(origin, function, above[value], below[value], **options)
    return found
