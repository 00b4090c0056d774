"""Fits by group of a tidy frame: ``usl("value ~ guests", runs, by="series")`` and the like.

Each function takes a frame with one row per run (or point), and column names. Results have an
origin (`core.provenance`); a group whose rows allow no fit gives a `Missing` with the reason. An
empty frame gives an empty mapping.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from rawperf.core.errors import ModelError, ParameterError, did_you_mean
from virtperf.core.estimate import Estimates, Missing
from virtperf.core.provenance import Origin, origin_of
from virtperf.core.schema import require_columns
from virtperf.models.diagnostics import RowNote
from virtperf.models.queueing import fit_closed
from virtperf.models.result import FitResult, call_with_origin
from virtperf.models.segmented import fit_segmented
from virtperf.models.straight_line import fit_line, fit_robust_line
from virtperf.models.usl import fit_scaling, fit_usl

Levels = Mapping[str, Any]
"""Row selection, column to level, for example ``{"series": "z/VM", "guests": 6}``."""
By = str | Sequence[str] | None
"""Grouping column or columns: one result per level or combination."""
PER_ROW = ("weights", "think", "servers")
"""Options with one number per row: a column, an array, or one number for all rows."""
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
