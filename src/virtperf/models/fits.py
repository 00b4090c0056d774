"""Fits and estimates of tidy frames: each knows what its rows rest on, and says why where there is
none.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from rawperf.core.errors import ModelError
from rawperf.core.near import did_you_mean
from virtperf.core.provenance import Origin, origin_of
from virtperf.models.checks import ArgumentError
from virtperf.models.result import Estimate, FTest, Missing

Levels = Mapping[str, Any]
"""Column to level: the rows that are meant, for example ``{"series": "z/VM", "guests": 6}``."""
By = str | Sequence[str] | None
"""Column or columns whose levels make one result each."""


class Fit:
    """One fit with the origin of its rows; it has all attributes and methods of the fit itself.

    Estimates and tests that it gives carry the origin. Where the fit has no answer (no degrees of
    freedom, say), the answer is a `Missing` with the reason; a wrong argument raises an error.
    """

    def __init__(self, fit: Any, origin: Origin | None) -> None:
        self.fit = fit
        self.origin = origin

    available = True

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in ("fit", "origin"):
            raise AttributeError(name)
        try:
            found = getattr(self.fit, name)
        except ModelError as err:
            return Missing(str(err), self.origin)
        except AttributeError:
            names = [*dir(self.fit), *getattr(self.fit, "param_names", ())]
            raise AttributeError(
                f"the fit has no {name!r}; {did_you_mean(name, [n for n in names if n[0] != '_'])}"
            ) from None
        if not callable(found):
            return attributed(self.origin, lambda: found)

        @functools.wraps(found)  # Jupyter shows the signature and docstring of the fit's method
        def method(*arguments: Any, **named: Any) -> Any:
            return attributed(self.origin, found, *arguments, **named)

        return method

    def __dir__(self) -> Iterable[str]:
        return sorted({*super().__dir__(), *dir(self.fit)})

    def __repr__(self) -> str:
        return f"<{getattr(self.fit, 'model', type(self.fit).__name__)}>"


class Fits(Mapping[Hashable, Any]):
    """One fit a label, in the order of the labels' first rows.

    Attributes
    ----------
    x, y : str
        The columns that the formula names.
    by : tuple of str
        The columns of the labels; empty for one fit of all rows, whose label is `y`.
    """

    def __init__(
        self,
        fits: Mapping[Hashable, Fit | Missing],
        formula: str,
        y: str,
        x: str,
        by: tuple[str, ...],
    ) -> None:
        self._fits = dict(fits)
        self.formula, self.y, self.x, self.by = formula, y, x, by

    def __getitem__(self, label: Hashable) -> Any:
        if label not in self._fits:
            raise ArgumentError(
                f"there is no fit {label!r}",
                expected=", ".join(map(repr, self._fits)) or "none",
                remedy=did_you_mean(label, self._fits),
            )
        return self._fits[label]

    def __contains__(self, label: object) -> bool:
        return label in self._fits

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._fits)

    def __len__(self) -> int:
        return len(self._fits)

    def __repr__(self) -> str:
        return "\n".join([f"{self.formula}", *(f"{label}: {fit!r}" for label, fit in self.items())])

    @property
    def only(self) -> Any:
        """The one fit; an error where there are several."""
        if len(self) > 1:
            raise ArgumentError(
                f"there are {len(self)} fits", expected="one", remedy="name it: fits[label]"
            )
        return next(iter(self.values()), Missing("there are no rows"))

    def estimates(self, name: str, *arguments: Any, **named: Any) -> dict[Hashable, Any]:
        """The same quantity of every fit, by label: `Estimate` (or what the method gives), or
        `Missing`.

        Parameters
        ----------
        name : str
            A method of the fits (``"peak_load"``, ``"linearity_test"``) or one of their parameters.
        *arguments, **named
            Passed on, for example ``alpha=0.1``.
        """
        return {label: _quantity(fit, name, arguments, named) for label, fit in self.items()}

    def predict(
        self, x: ArrayLike, interval: str | None = "mean", alpha: float = 0.05
    ) -> pd.DataFrame:
        """The curves of all fits at the given x.

        Returns
        -------
        DataFrame
            The columns of the labels, x, ``value`` and with `interval` also ``se``, ``low`` and
            ``high``; no rows for a fit that is missing.
        """
        tables = []
        for label, fit in self.items():
            found = fit.predict(x, interval=interval, alpha=alpha)
            if isinstance(found, Missing):
                continue
            values = found if isinstance(found, pd.DataFrame) else pd.DataFrame({"value": found})
            levels = levels_of(self.by, label)
            tables.append(
                values.assign(**{**levels, self.x: np.atleast_1d(x)})[
                    [*levels, self.x, *values.columns]
                ]
            )
        columns = [*self.by, self.x, "value"]
        return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=columns)

    def summary(self, alpha: float = 0.05) -> str:
        """The summaries of all fits below each other."""
        return "\n".join(f"{label}\n{fit.summary(alpha=alpha)}" for label, fit in self.items())


def _quantity(fit: Any, name: str, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    if isinstance(fit, Missing):
        return fit
    if name in getattr(fit.fit, "param_names", ()) and not hasattr(type(fit.fit), name):
        return fit.estimate(name, *arguments, **named)
    found = getattr(fit, name)
    return (
        found(*arguments, **named) if callable(found) and not isinstance(found, Missing) else found
    )


def attributed(
    origin: Origin | None, function: Callable[..., Any], *arguments: Any, **named: Any
) -> Any:
    """What the function gives, with the origin; `Missing` where the data allow no answer."""
    try:
        found = function(*arguments, **named)
    except ArgumentError:
        raise
    except ModelError as err:
        return Missing(str(err), origin)
    if isinstance(found, Estimate | FTest):
        return replace(found, origin=origin)
    if isinstance(found, dict):
        return {key: attributed(origin, lambda value=value: value) for key, value in found.items()}
    return found


def columns(frame: pd.DataFrame, *names: str) -> None:
    """Refuse a frame that lacks a column, by an ArgumentError that names those that there are."""
    for name in names:
        if name not in frame.columns:
            raise ArgumentError(
                f"the frame has no column {name!r}",
                expected=f"one of {', '.join(map(str, frame.columns))}",
                remedy=did_you_mean(name, frame.columns),
            )


def rows_at(frame: pd.DataFrame, levels: Levels) -> pd.DataFrame:
    """The rows at the given levels.

    Raises
    ------
    ArgumentError
        A column that is not there, or a level that a frame with rows does not have (nor its
        categories).
    """
    columns(frame, *levels)
    chosen = frame
    for name, level in levels.items():
        column = frame[name]
        known = list(
            column.cat.categories
            if isinstance(column.dtype, pd.CategoricalDtype)
            else column.unique()
        )
        if known and level not in known:
            raise ArgumentError(
                f"no row has {name} {level!r}",
                expected=f"one of {', '.join(map(repr, known[:20]))}",
                remedy=did_you_mean(level, known),
            )
        chosen = chosen[chosen[name] == level]
    return chosen


def groups(frame: pd.DataFrame, by: By) -> Iterator[tuple[Hashable, pd.DataFrame]]:
    """Label and rows of each group, in the order of first rows; one column gives plain labels,
    several give tuples.
    """
    names = names_of(by)
    columns(frame, *names)
    if not names:
        yield None, frame
        return
    key: Any = names[0] if len(names) == 1 else list(names)
    yield from frame.groupby(key, sort=False, observed=True)


def names_of(by: By) -> tuple[str, ...]:
    """The columns of `by`."""
    return () if by is None else (by,) if isinstance(by, str) else tuple(by)


def levels_of(by: By, label: Hashable) -> dict[str, Any]:
    """Column to level of a label that `groups` gives."""
    return dict(zip(names_of(by), label if isinstance(label, tuple) else (label,), strict=False))


def source(frame: pd.DataFrame) -> Origin | None:
    """The origin of the rows of one estimate, which must be of one quantity.

    Raises
    ------
    ProvenanceError
        Rows of several provenances.
    ArgumentError
        Rows of several quantities.
    """
    kinds = list(frame["quantity"].unique()) if "quantity" in frame.columns else []
    if len(kinds) > 1:
        raise ArgumentError(
            f"one estimate would mix the quantities {' and '.join(map(str, kinds))}",
            remedy=f"choose one, for example frame[frame['quantity'] == {kinds[0]!r}].",
        )
    return origin_of(frame)
