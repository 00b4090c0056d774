"""Systems of linear inequalities: feasibility, and minimum and maximum of an expression."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

import highspy
import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csc_array

from virtperf.study.constraints import Inequality
from virtperf.study.quantities import Expression, Quantity

DUAL_ZERO = 1e-9
FEASIBILITY_TOLERANCE = 1e-5
"""Feasibility tolerance of a (scaled) row, relative to its bound; it covers the solver's."""
DUAL, PRIMAL = 1, 4
"""HiGHS codes of the dual and the primal simplex method."""
OPTIMAL = highspy.HighsModelStatus.kOptimal
UNBOUNDED = highspy.HighsModelStatus.kUnbounded
INFEASIBLE = highspy.HighsModelStatus.kInfeasible


@dataclass(frozen=True)
class LPResult:
    """Result of a linear program: status, minimum, minimiser `x` (shape (n,)), and binding rows
    (non-zero duals).
    """

    status: highspy.HighsModelStatus
    value: float
    x: np.ndarray
    binding: tuple[int, ...]


@dataclass(frozen=True)
class Extreme:
    """One end of an interval, and the claims whose rows bind it (non-zero dual values)."""

    value: float
    binding_claims: tuple[str, ...]


class LinearSystem:
    """Linear inequalities over the quantities that they name."""

    def __init__(self, rows: Sequence[Inequality]) -> None:
        self.rows = tuple(rows)
        self.quantities = tuple(dict.fromkeys(q for row in rows for q, _ in row.terms))
        self.index = {quantity: i for i, quantity in enumerate(self.quantities)}
        self.A = np.zeros((len(rows), len(self.quantities)))
        self.b = np.array([row.bound for row in rows])
        for i, row in enumerate(rows):
            for quantity, coefficient in row.terms:
                self.A[i, self.index[quantity]] += coefficient
        self.scale = np.maximum(np.abs(self.A).max(axis=1, initial=0.0), 1e-12)
        self._scaled = self.A / self.scale[:, None], self.b / self.scale
        self.owner = np.array([row.claim for row in rows], dtype=object)
        self._owners = list(dict.fromkeys(row.claim for row in rows))
        self._place = {owner: k for k, owner in enumerate(self._owners)}
        self._owner_index = np.array([self._place[row.claim] for row in rows], dtype=np.int64)
        self.claims = frozenset(filter(None, self._owners))
        self._ranges: dict[bytes, dict[Quantity, tuple[Extreme, Extreme]]] = {}

    def vector(self, expression: Expression) -> np.ndarray | None:
        """Coefficient vector over `quantities`, or None if a quantity occurs in no row."""
        c = np.zeros(len(self.quantities))
        for coefficient, quantity in expression.terms:
            if quantity not in self.index:
                return None
            c[self.index[quantity]] += coefficient
        return c

    def _solve(self, c: np.ndarray, mask: np.ndarray | None) -> LPResult:
        """Minimise ``c x`` over the (masked) rows."""
        self._program.activate(mask)
        return self._program.minimum(c)

    @cached_property
    def _program(self) -> Program:
        return Program(*self._scaled)

    def mask_of(self, claims: Iterable[str]) -> np.ndarray:
        """Boolean mask of the rows of the given claims and of the natural bounds."""
        active = claims if isinstance(claims, Set) else {*claims}
        on = [not owner or owner in active for owner in self._owners]
        return np.array(on, dtype=bool)[self._owner_index]

    def rows_of(self, claim: str) -> np.ndarray:
        """Boolean mask of the rows of one claim."""
        return self._owner_index == self._place.get(claim, -1)

    @cached_property
    def natural_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and largest value of each quantity by the rows that belong to no claim.

        Such a row has one term: it bounds one quantity.
        """
        low, high = (np.full(len(self.quantities), end) for end in (-np.inf, np.inf))
        for row in (row for row in self.rows if not row.claim):
            ((quantity, coefficient),) = row.terms
            i, end = self.index[quantity], row.bound / coefficient
            if coefficient > 0:
                high[i] = min(high[i], end)
            else:
                low[i] = max(low[i], end)
        return low, high

    def feasible(self, mask: np.ndarray | None = None) -> bool:
        """Whether the (masked) rows are feasible."""
        return self._solve(np.zeros(len(self.quantities)), mask).status == OPTIMAL

    def can_exceed(self, c: np.ndarray, limit: float, mask: np.ndarray | None = None) -> bool:
        """Whether ``c @ x`` can exceed a limit for some x that satisfies the (masked) rows."""
        result = self._solve(-c, mask)
        return result.status != OPTIMAL or -result.value > limit

    def vertex(self, c: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray | None:
        """A vertex that minimises ``c @ x``; None if unbounded or infeasible."""
        result = self._solve(c, mask)
        return result.x if result.status == OPTIMAL else None

    def feasible_points(self, points: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
        """The points, shape (m, n), that satisfy all (masked) rows."""
        A, b = self._scaled if mask is None else (self._scaled[0][mask], self._scaled[1][mask])
        return points[
            np.all(points @ A.T <= b + FEASIBILITY_TOLERANCE * np.maximum(1.0, np.abs(b)), axis=1)
        ]

    def minimum(self, expression: Expression, mask: np.ndarray | None = None) -> Extreme:
        """Minimum of the expression: -inf if it is unbounded."""
        c = self.vector(expression)
        if c is None:
            return Extreme(-np.inf, ())
        result = self._solve(c, mask)
        if result.status != OPTIMAL:
            return Extreme(-np.inf, ())
        return Extreme(
            result.value, tuple(dict.fromkeys(o for o in self.owner[list(result.binding)] if o))
        )

    def maximum(self, expression: Expression, mask: np.ndarray | None = None) -> Extreme:
        """Maximum of the expression: inf if it is unbounded."""
        extreme = self.minimum(Expression(()).minus(expression), mask)
        return Extreme(-extreme.value, extreme.binding_claims)

    def interval(
        self, expression: Expression, mask: np.ndarray | None = None
    ) -> tuple[Extreme, Extreme]:
        """Minimum and maximum of the expression."""
        return self.minimum(expression, mask), self.maximum(expression, mask)

    def intervals(
        self, expressions: Sequence[Expression], mask: np.ndarray | None = None
    ) -> list[tuple[Extreme, Extreme]]:
        """Intervals of several expressions: all minima first, then all maxima, for warm starts."""
        low = [self.minimum(expression, mask) for expression in expressions]
        return list(
            zip(low, [self.maximum(expression, mask) for expression in expressions], strict=True)
        )

    def ranges_of(
        self, quantities: Sequence[Quantity], mask: np.ndarray
    ) -> list[tuple[Extreme, Extreme]]:
        """Ranges of single quantities under a row mask; computed once, then cached."""
        known = self._ranges.setdefault(mask.tobytes(), {})
        new = [q for q in quantities if q not in known]
        single = [Expression(((1.0, q),)) for q in new]
        known.update(zip(new, self.intervals(single, mask), strict=True))
        return [known[q] for q in quantities]

    def ratio_interval(
        self, of: Expression, to: Expression, mask: np.ndarray | None = None
    ) -> tuple[float, float]:
        """Range of ``of / to`` for ``to > 0``; ``(inf, -inf)`` if ``to`` is never above 0.

        A linear-fractional program, solved as a linear one by the transformation of Charnes and
        Cooper (1962), Naval Research Logistics Quarterly 9: variables ``y = x t`` and ``t``, with
        ``to(y) = 1``.
        """
        c, d = self.vector(of), self.vector(to)
        if c is None or d is None:
            return -np.inf, np.inf
        low, high = (self._ratio(end, d, mask) for end in (c, -c))
        if INFEASIBLE in (low.status, high.status):
            return np.inf, -np.inf
        return (low.value if low.status == OPTIMAL else -np.inf), -(
            high.value if high.status == OPTIMAL else -np.inf
        )

    def _ratio(self, c: np.ndarray, d: np.ndarray, mask: np.ndarray | None) -> LPResult:
        """Minimise ``c @ x / d @ x``; x is returned as ``(x t, t)``."""
        program, divisor = self._ratio_program
        program.activate(mask)
        for i in np.flatnonzero(d != divisor):
            program.model.changeCoeff(len(self.rows), int(i), float(d[i]))
        divisor[:] = d
        return program.minimum(np.append(c, 0.0))

    @cached_property
    def _ratio_program(self) -> tuple[Program, np.ndarray]:
        """The Charnes-Cooper program, and the divisor in its last row."""
        A, b = self._scaled
        program = Program(np.column_stack([A, -b]), np.zeros(len(b)))
        program.model.changeColBounds(len(self.quantities), 0.0, np.inf)
        program.model.addRow(1.0, 1.0, 0, np.empty(0, dtype=np.int32), np.empty(0))
        return program, np.zeros(len(self.quantities))

    def infeasible_rows(self, mask: np.ndarray) -> np.ndarray:
        """Indices of an infeasible subset of the rows (not yet irreducible), from phase-one duals.

        Phase one minimises the largest violation of the (scaled) rows; the rows with non-zero duals
        prove infeasibility.
        """
        rows = np.flatnonzero(mask)
        A, b = self._scaled[0][rows], self._scaled[1][rows]
        c = np.append(np.zeros(A.shape[1]), 1.0)
        bounds = [(None, None)] * A.shape[1] + [(0, None)]
        result = linprog(
            c,
            A_ub=csc_array(np.column_stack([A, -np.ones(len(rows))])),
            b_ub=b,
            bounds=bounds,
            method="highs-ds",
        )
        return rows[np.abs(result.ineqlin.marginals) > DUAL_ZERO]


class Program:
    """A reusable HiGHS model with the rows ``A x <= b`` over free variables.

    Each solve starts from the previous basis (warm start), which is many times faster.
    """

    def __init__(self, A: np.ndarray, b: np.ndarray) -> None:
        rows, columns = A.shape
        self.b, self.active = b, np.ones(rows, dtype=bool)
        lp = highspy.HighsLp()
        lp.num_row_, lp.num_col_ = rows, columns
        lp.col_cost_ = np.zeros(columns)
        lp.col_lower_, lp.col_upper_ = np.full(columns, -np.inf), np.full(columns, np.inf)
        lp.row_lower_, lp.row_upper_ = np.full(rows, -np.inf), b
        by_column = csc_array(A)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_, lp.a_matrix_.index_ = by_column.indptr, by_column.indices
        lp.a_matrix_.value_ = by_column.data
        self.model = highspy.Highs()
        self.model.setOptionValue("output_flag", False)
        self.model.setOptionValue("threads", 1)
        self.model.setOptionValue("presolve", "off")
        self.model.setOptionValue("solver", "simplex")
        self.model.passModel(lp)

    def activate(self, mask: np.ndarray | None) -> None:
        """Activate the rows of the mask (None: all); inactive rows get an infinite bound."""
        active = np.ones(len(self.b), dtype=bool) if mask is None else mask.copy()
        other = np.flatnonzero(active != self.active)
        # new bounds keep the last basis dual feasible; a new objective alone keeps it primal
        # feasible
        self.model.setOptionValue("simplex_strategy", DUAL if len(other) else PRIMAL)
        for i in other:
            self.model.changeRowBounds(int(i), -np.inf, float(self.b[i]) if active[i] else np.inf)
        self.active = active

    def minimum(self, c: np.ndarray) -> LPResult:
        """Minimise ``c @ x``, and return the binding rows (non-zero duals) too."""
        model = self.model
        model.changeColsCost(len(c), np.arange(len(c), dtype=np.int32), c)
        model.run()
        if (
            model.getModelStatus() == highspy.HighsModelStatus.kUnknown
        ):  # solver stuck at this basis: retry without it
            model.clearSolver()
            model.run()
        status = model.getModelStatus()
        if status != OPTIMAL:
            return LPResult(status, np.inf if status == INFEASIBLE else -np.inf, np.zeros(0), ())
        solution = model.getSolution()
        binding = np.flatnonzero(np.abs(np.asarray(solution.row_dual)[: len(self.b)]) > DUAL_ZERO)
        value = model.getInfo().objective_function_value
        return LPResult(status, value, np.asarray(solution.col_value), tuple(binding.tolist()))
