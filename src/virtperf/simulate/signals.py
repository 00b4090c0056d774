"""The numbers of one simulated run: everything that its expressions may name."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from typing import Any

import numpy as np

from rawperf.core.errors import StudyError
from virtperf.simulate.expressions import (
    FUNCTIONS,
    ExpressionError,
    UnknownTruth,
    Value,
    constant,
    evaluate,
    parse,
)
from virtperf.simulate.file import Declared, Place, Raw
from virtperf.simulate.plan import Condition, RunPlan

OWN_NAMES = ("t", "step", "n")
"""Names with a meaning of their own: seconds of the time grid, its step, an entity's number."""
CALLABLE = frozenset({*FUNCTIONS, "at", "normal", "ar1", "given", "reference"})
REQUIRED = ("start", "duration_s", "warmup_s", "window_s")
MOST = 1_000_000
"""Samples of one time grid, and entities of one kind."""


class Run:
    """A run to be written: its signals, time grids and entities, each computed once, when it is
    first asked for.

    Noise of a signal depends on the seed, on the run's id and on the signal's name, and on nothing
    else. Under another condition than the run's own, only numbers without noise can be asked for.
    """

    def __init__(
        self, raw: Raw, plan: RunPlan, seed: int, condition: Condition | None = None
    ) -> None:
        self.raw, self.plan, self.seed = raw, plan, seed
        self.condition = condition or plan.condition
        self.quiet = condition is not None
        self.declared = raw.declared(self.condition.levels)
        levels = {
            name: level
            for name, level in self.condition.levels.items()
            if isinstance(level, int | float)
        }
        self.numbers = {**raw.constants, **levels, **self.condition.truth}
        if missing := [fact for fact in REQUIRED if fact not in self.declared["run"]]:
            raise self.error(f"no block for it says {' and '.join(missing)}", ("blocks",))
        self._known: dict[tuple[str, str], Any] = {}
        self._asked: list[str] = []

    @property
    def start(self) -> datetime:
        """The run's t = 0 on the clock of the system under test."""
        return self.declared["run"]["start"].body

    def value(self, text: str | float, place: Place, times: str = "", entities: str = "") -> Value:
        """The value of an expression; raises `StudyError` with the run, and the file and line,
        where it has none.
        """
        try:
            return self._value(text, place, times, entities)
        except UnknownTruth as err:
            raise self.error(f"{text!r}: {err}", place) from err

    def number(self, text: str | float, place: Place) -> float:
        """The one number that an expression stands for, a whole one as an int."""
        found = self.value(text, place)
        if found.times or found.entities:
            raise self.error(f"{text!r} is not one number", place)
        number = float(found.data[0, 0])
        return int(number) if number.is_integer() else number

    def error(self, problem: str, place: Place) -> StudyError:
        return self.raw.document.error(f"run {self.plan.run_id}: {problem}", *place)

    def times(self, name: str) -> np.ndarray:
        """The seconds of a time grid, shape (m,)."""
        return self._once("times", name, self._times)

    def entities(self, name: str) -> list[dict[str, Any]]:
        """The attributes of every entity of a set: the first of each kind, then the second of each,
        and so on.
        """
        return self._once("entities", name, self._entities)

    def signal(self, name: str) -> Value:
        return self._once("signals", name, self._signal)

    def _once(self, part: str, name: str, compute: Any) -> Any:
        if (part, name) not in self._known:
            if name not in self.declared[part]:
                raise self.error(f"no block for it declares {name!r} among its {part}", ("blocks",))
            self._known[part, name] = compute(name, self.declared[part][name])
        return self._known[part, name]

    def _times(self, name: str, declared: Declared) -> np.ndarray:
        begin, end, step = (
            self.number(declared.body[k], (*declared.place, k)) for k in ("from", "to", "step")
        )
        if step <= 0 or not 0 <= (end - begin) / step < MOST:
            raise self.error(
                f"no times from {begin:g} to {end:g} in steps of {step:g}", declared.place
            )
        return begin + step * np.arange(np.floor((end - begin) / step + 1e-9) + 1)

    def _entities(self, name: str, declared: Declared) -> list[dict[str, Any]]:
        found = []
        for kind, member in enumerate(declared.body):
            place = (*declared.place, kind)
            first, count = (
                self.number(member.get(key, 1), (*place, key)) for key in ("from", "count")
            )
            if count % 1 or not 0 <= count < MOST:
                raise self.error(f"{count:g} entities", place)
            found += [(i, kind, member | {"n": first + i}) for i in range(int(count))]
        rows = [row for _, _, row in sorted(found, key=lambda entry: entry[:2])]
        return [
            {k: v.replace("{n}", str(r["n"])) if isinstance(v, str) else v for k, v in r.items()}
            for r in rows
        ]

    def _signal(self, name: str, declared: Declared) -> Value:
        if name in self._asked:
            raise self.error(
                f"a circle of signals: {' -> '.join([*self._asked, name])}", declared.place
            )
        body = declared.body if isinstance(declared.body, dict) else {"is": declared.body}
        self._asked.append(name)
        try:
            stream = "" if self.quiet else name
            return self._value(
                body["is"], declared.place, body.get("times", ""), body.get("of", ""), stream
            )
        finally:
            self._asked.pop()

    def _value(
        self, text: str | float, place: Place, times: str, entities: str, stream: str = ""
    ) -> Value:
        if isinstance(text, int | float):
            return constant(text)
        try:
            with np.errstate(divide="raise", invalid="raise", over="raise"):
                return evaluate(parse(text), _View(self, times, entities, stream))
        except UnknownTruth:  # which `given` may still mend
            raise
        except (ExpressionError, FloatingPointError) as err:
            raise self.error(f"{text!r}: {err}", place) from err


class _View:
    """What one expression may name: the run's numbers, and the times and entities that it stands
    for.
    """

    def __init__(self, run: Run, times: str, entities: str, stream: str) -> None:
        self.run, self.times, self.entities, self.stream = run, times, entities, stream

    def value(self, name: str) -> Value:
        run = self.run
        if self.times and name in ("t", "step"):
            grid = run.times(self.times)
            step = (run.declared["times"][self.times].body["step"], ("blocks",))
            return Value(grid[:, None], self.times) if name == "t" else constant(run.number(*step))
        rows = run.entities(self.entities) if self.entities else []
        if rows and all(isinstance(row.get(name), int | float) for row in rows):
            return Value(np.array([[row[name] for row in rows]], dtype=float), "", self.entities)
        if name in run.declared["signals"]:
            return run.signal(name)
        if name in run.numbers:
            return constant(run.numbers[name])
        if name in run.raw.quantities:
            raise UnknownTruth(
                f"the text gives no {name} under the run's condition; see given(...) and borrow"
            )
        raise ExpressionError(
            f"nothing is called {name!r} in this run, for these times and entities"
        )

    def call(self, name: str, arguments: Sequence[ast.expr]) -> Value:
        function = (
            getattr(self, f"_{name}")
            if name not in FUNCTIONS and name in CALLABLE
            else FUNCTIONS.get(name)
        )
        if function is None:
            raise ExpressionError(
                f"there is no function {name!r}; known are {', '.join(sorted(CALLABLE))}"
            )
        try:
            unevaluated = name in ("given", "reference")
            return function(
                *(
                    arguments
                    if unevaluated
                    else [evaluate(argument, self) for argument in arguments]
                )
            )
        except TypeError as err:
            raise ExpressionError(f"{name} does not take {len(arguments)} argument(s)") from err

    def _at(self, x: Value, when: Value | None = None) -> Value:
        """Values at the times of the expression, NaN at those that `x` lacks; or at one time that
        `x` has.
        """
        if not x.times:
            return x
        if when is None and not self.times:
            raise ExpressionError(
                "at(x) needs `times` beside the expression, at(x, seconds) does not"
            )
        have = self.run.times(x.times)
        wanted = self.run.times(self.times) if when is None else np.array([when.number])
        place = np.minimum(np.searchsorted(have, wanted - 1e-6), len(have) - 1)
        there = np.abs(have[place] - wanted) < 1e-6
        if when is not None and not there[0]:
            raise ExpressionError(f"{x.times} has no sample at {when.number:g} s")
        return Value(
            np.where(there[:, None], x.data[place], np.nan),
            self.times if when is None else "",
            x.entities,
        )

    @cached_property
    def _generator(self) -> np.random.Generator:
        if not self.stream:
            raise ExpressionError(
                "noise belongs to a signal with a name, and to the run's own condition"
            )
        return np.random.default_rng(
            [self.run.seed, *self.run.plan.run_id.encode(), 0, *self.stream.encode()]
        )

    def _ar1(self, correlation: Value) -> Value:
        """Standard normal noise with that correlation of neighbours in time, one series for each
        entity.
        """
        times = len(self.run.times(self.times)) if self.times else 1
        entities = len(self.run.entities(self.entities)) if self.entities else 1
        noise = autocorrelated(self._generator, (times, entities), correlation.number)
        return Value(noise, self.times, self.entities)

    def _normal(self) -> Value:
        return self._ar1(constant(0))

    def _given(self, wanted: ast.expr, otherwise: ast.expr) -> Value:
        """The first, or the second where the text has no value of a quantity that the first
        needs.
        """
        try:
            return evaluate(wanted, self)
        except UnknownTruth:
            return evaluate(otherwise, self)

    def _reference(self, quantity: ast.expr, wanted: ast.expr) -> Value:
        """A number under the condition at which a quantity without absolute scale has its reference
        point.
        """
        condition = self.run.condition.references.get(ast.unparse(quantity))
        if condition is None:
            raise ExpressionError(
                f"{ast.unparse(quantity)!r} is no quantity with a reference point"
            )
        return evaluate(
            wanted, _View(Run(self.run.raw, self.run.plan, self.run.seed, condition), "", "", "")
        )


def autocorrelated(
    rng: np.random.Generator, shape: tuple[int, int], correlation: float
) -> np.ndarray:
    """Standard normal noise, shape (times, entities): AR(1) over time with that correlation of
    neighbours.
    """
    noise = rng.standard_normal(shape)
    spread = np.sqrt(1 - correlation**2)
    for i in range(1, len(noise)):
        noise[i] = correlation * noise[i - 1] + spread * noise[i]
    return noise
