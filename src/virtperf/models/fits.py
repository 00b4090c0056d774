"""Fits and estimates by group of a tidy frame: each has an origin, or a reason why it is missing."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from rawperf.core.errors import ModelError, ParameterError, did_you_mean, require_known
from virtperf.core.estimate import Estimates, Missing
from virtperf.core.provenance import Origin, common_origin, origin_of
from virtperf.core.schema import require_columns
from virtperf.models.result import FitResult, call_with_origin

Levels = Mapping[str, Any]
"""Row selection, column to level, for example ``{"series": "z/VM", "guests": 6}``."""
By = str | Sequence[str] | None
"""Grouping column or columns: one result per level or combination."""


class Fits(dict[Hashable, Any]):
    """Fits by label, in order of the labels' first rows; a `Missing` with the reason where the rows
    of a label allow none.

    Attributes
    ----------
    x, y : str
        Column names from the formula.
    by : tuple of str
        Grouping columns; empty for one fit of all rows, with the label `y`.
    """

    def __init__(
        self,
        fits: Mapping[Hashable, FitResult | Missing],
        formula: str,
        y: str,
        x: str,
        by: tuple[str, ...],
    ) -> None:
        super().__init__(fits)
        self.formula, self.y, self.x, self.by = formula, y, x, by

    def __missing__(self, label: Hashable) -> Any:
        raise ParameterError(
            f"there is no fit {label!r}",
            expected=", ".join(map(repr, self)) or "none",
            remedy=did_you_mean(label, self),
        )

    def __repr__(self) -> str:
        return "\n".join([f"{self.formula}", *(f"{label}: {fit!r}" for label, fit in self.items())])

    @property
    def only(self) -> Any:
        """The single fit; raises `ParameterError` for several."""
        if len(self) > 1:
            raise ParameterError(
                f"there are {len(self)} fits", expected="one", remedy="select one: fits[label]"
            )
        return next(iter(self.values()), Missing("there are no rows"))

    @property
    def params(self) -> pd.DataFrame:
        """Parameters, one row per fit; missing fits are left out."""
        known = {label: fit.params for label, fit in self.items() if fit.available}
        return pd.DataFrame(list(known.values()), index=list(known))

    def estimates(self, name: str, *arguments: Any, **named: Any) -> Estimates:
        """Compute the same quantity for every fit, by label: `Estimate` (or the method's result),
        or `Missing` with the reason.

        Parameters
        ----------
        name : str
            A method of the fits (``"peak_load"``, ``"linearity_test"``) or a parameter.
        *arguments, **named
            Passed to the method, for example ``alpha=0.1``.
        """
        return Estimates(
            (label, quantity(fit, name, *arguments, **named)) for label, fit in self.items()
        )

    def predict(
        self, x: ArrayLike, interval: str | None = "mean", alpha: float = 0.05
    ) -> pd.DataFrame:
        """Evaluate the curves of all fits at the given x.

        Returns
        -------
        DataFrame
            The label columns, x, ``value`` and with `interval` also ``se``, ``low`` and ``high``;
            no rows for a fit that is missing, or has no such interval; ``attrs["warnings"]`` gives
            the reasons.

        Raises
        ------
        ParameterError
            An x is not finite, or outside the domain of the curves.
        """
        tables, warnings = [], []
        for label, fit in self.items():
            if not fit.available:
                continue
            try:
                predicted = fit.predict(x, interval, alpha)
            except ModelError as err:
                warnings.append(f"{label}: no prediction: {err}")
                continue
            levels = {**levels_of(self.by, label), self.x: np.atleast_1d(x)}
            values = dict(predicted) if interval else {"value": predicted}
            tables.append(pd.DataFrame({**levels, **values}))
        none = [pd.DataFrame(columns=[*self.by, self.x, "value"])]
        joined = pd.concat(tables or none, ignore_index=True)
        joined.attrs["warnings"] = warnings
        return joined

    def summary(self, alpha: float = 0.05) -> str:
        """Concatenate the summaries of all fits."""
        return "\n".join(
            f"{label}\n" + (f"{fit}\n" if isinstance(fit, Missing) else fit.summary(alpha))
            for label, fit in self.items()
        )


def quantity(fit: FitResult | Missing, name: str, *arguments: Any, **named: Any) -> Any:
    """Return the result of a method of a fit, or the estimate of its parameter `name`; `Missing` with
    the reason for a missing fit, or where the rows do not determine the quantity.
    """
    if isinstance(fit, Missing):
        return fit
    method = getattr(fit, name, None)
    if not callable(method):
        if name not in fit.param_names:
            known = [n for n in (*dir(type(fit)), *fit.param_names) if n[0] != "_"]
            raise AttributeError(f"the fit has no {name!r}; {did_you_mean(name, known)}")
        method, arguments = fit.estimate, (name, *arguments)
    return call_with_origin(fit.origin, method, *arguments, **named)


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


def groups(frame: pd.DataFrame, by: By) -> Iterator[tuple[Hashable, pd.DataFrame]]:
    """Iterate over label and rows of each group, in order of first rows; one column gives plain
    labels, several give tuples.
    """
    names = names_of(by)
    require_columns(frame, names)
    if not names:
        yield None, frame
        return
    key: Any = names[0] if len(names) == 1 else list(names)
    yield from frame.groupby(key, sort=False, observed=True)


def names_of(by: By) -> tuple[str, ...]:
    """Normalize `by` to a tuple of column names."""
    return () if by is None else (by,) if isinstance(by, str) else tuple(by)


def levels_of(by: By, label: Hashable) -> dict[str, Any]:
    """Map the columns of `by` to the levels of a label from `groups`."""
    return dict(zip(names_of(by), label if isinstance(label, tuple) else (label,), strict=False))


def source(frame: pd.DataFrame) -> Origin | None:
    """Return the origin of the rows of one estimate; raises `ProvenanceError` for several provenances,
    and `ParameterError` for several quantities.
    """
    kinds = list(frame["quantity"].unique()) if "quantity" in frame.columns else []
    if len(kinds) > 1:
        raise ParameterError(
            f"one estimate would mix the quantities {' and '.join(map(str, kinds))}",
            remedy=f"choose one, for example frame[frame['quantity'] == {kinds[0]!r}], "
            f"or --where quantity={kinds[0]} of the command.",
        )
    return origin_of(frame)


def compare_sides(
    function: Callable[[pd.DataFrame, pd.DataFrame, dict[str, Any]], Any],
    frame: pd.DataFrame,
    of: Levels,
    to: Levels,
    by: By,
    label: str | None,
    columns: Sequence[str] = (),
) -> Estimates:
    """Compare two sides of a frame at each level of `by`; `Missing` where one of them has no rows.

    `function` takes the rows of both sides, and the columns of `by` with their level; it needs the
    `columns`. `label` is that of `virtperf.models.ratios`.
    """
    require_columns(frame, (*columns, *names_of(by), *of, *to))
    estimates = Estimates()
    if frame.empty:
        return estimates
    first, second = (dict(groups(rows_at(frame, levels), by)) for levels in (of, to))
    words = {
        side: ", ".join(map(str, levels.values())) for side, levels in (("of", of), ("to", to))
    }
    for at in first | second:
        above, below = (side.get(at, frame.iloc[:0]) for side in (first, second))
        fixed = levels_of(by, at)
        name: Any = at
        if label is not None or by is None:
            name = (label or "{of} / {to}").format(**words, **fixed)
        if above.empty or below.empty:
            side, rows = ("of", below) if above.empty else ("to", above)
            estimates[name] = Missing(f"no rows of {words[side]}", source(rows))
            continue
        origin = common_origin([source(above), source(below)])
        estimates[name] = call_with_origin(origin, function, above, below, fixed)
    return estimates
