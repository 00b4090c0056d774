"""Ranges of quantities under a paper's statements, by scipy.optimize.linprog.

Where statements contradict each other, a range is the union over all smallest sets of sentences
whose removal leaves the rest consistent, without the assumptions that take part in a conflict.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import product

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from tests.oracle.statements import INF, Number, Paper, Quantity, Row, Statement, Sum, plus

Range = tuple[float, float]


class Program:
    """Rows over the quantities that they name; natural bounds are bounds of the variables."""

    def __init__(self, paper: Paper, rows: Sequence[Row], named: Iterable[Quantity] = ()) -> None:
        self.rows = list(rows)
        self.columns = {
            q: k
            for k, q in enumerate(dict.fromkeys([*named, *(q for row in rows for q in row.terms)]))
        }
        at = [(i, self.columns[q], c) for i, row in enumerate(rows) for q, c in row.terms.items()]
        i, j, c = (np.array(x) for x in zip(*at, strict=True)) if at else ([], [], [])
        self.A = csr_array((c, (i, j)), shape=(len(rows), len(self.columns)), dtype=float)
        self.b = np.array([row.bound for row in rows])
        size = np.maximum(abs(self.A).max(axis=1).toarray().ravel(), 1e-12) if at else np.ones(0)
        self.A = csr_array(self.A.multiply(1 / size[:, None])) if at else self.A
        self.b = self.b / size
        self.bounds = np.array([paper.bounds(q) for q in self.columns]).reshape(-1, 2)

    def vector(self, of: Sum) -> np.ndarray:
        c = np.zeros(len(self.columns))
        for q, value in of.items():
            c[self.columns[q]] += value
        return c

    def least(self, of: Sum) -> float:
        """The minimum of a sum; the rows must be feasible."""
        found = linprog(self.vector(of), A_ub=self.A, b_ub=self.b, bounds=self.bounds)
        if found.status == 0:
            return float(found.fun)
        assert found.status in (3, 4), found.message  # the rows are feasible: unbounded
        return -INF

    def range(self, of: Sum) -> Range:
        return self.least(of), -self.least({q: -c for q, c in of.items()})

    def feasible(self) -> bool:
        zero = np.zeros(len(self.columns))
        return linprog(zero, A_ub=self.A, b_ub=self.b, bounds=self.bounds).status == 0

    def violated(self) -> set[str]:
        """Claims that prove the rows infeasible: those with a price in the smallest violation."""
        n, m = len(self.columns), len(self.rows)
        found = linprog(
            np.append(np.zeros(n), 1.0),
            A_ub=csr_array(np.hstack([self.A.toarray(), -np.ones((m, 1))])),
            b_ub=self.b,
            bounds=[*self.bounds, (0, None)],
        )
        price = np.abs(found.ineqlin.marginals) > 1e-9
        return {row.claim for row, has in zip(self.rows, price, strict=True) if has}

    def quotient(self, of: Sum, to: Sum, *, positive_bounds: bool = True) -> Range | None:
        """Range of ``of / to`` over the values with ``to > 0``; None if there are none.

        ``y = x t`` with ``to(y) = 1``: a linear program in y and t. Without `positive_bounds`,
        lower bounds above 0 do not limit the largest quotient.
        """
        ends = []
        for sign in (1.0, -1.0):
            low, high = self.bounds.T.copy()
            if sign < 0 and not positive_bounds:
                low = np.where((low > 0) & (low < high), -INF, low)
            n = len(low)
            limits = [
                np.hstack([direction * np.eye(n)[finite], -direction * ends_[finite, None]])
                for direction, ends_ in ((1.0, high), (-1.0, low))
                for finite in [np.isfinite(ends_)]
            ]
            A = np.vstack([np.hstack([self.A.toarray(), -self.b[:, None]]), *limits])
            found = linprog(
                sign * np.append(self.vector(of), 0.0),
                A_ub=csr_array(A),
                b_ub=np.zeros(len(A)),
                A_eq=np.append(self.vector(to), 0.0)[None, :],
                b_eq=[1.0],
                bounds=[(None, None)] * n + [(0, None)],
            )
            if found.status == 2:
                return None
            ends.append(sign * float(found.fun) if found.status == 0 else -sign * INF)
        return ends[0], ends[1]


class Text:
    """What a set of statements allows."""

    def __init__(self, paper: Paper, statements: Sequence[Statement]) -> None:
        self.paper = paper
        self.statements = {s.id: s for s in statements}
        self.rows = [row for s in statements for row in s.rows]
        if any(s.means for s in statements):
            without = Text(
                paper, [Statement(s.id, s.assumed, s.sentences, s.rows) for s in statements]
            )
            self.rows += [row for s in statements for row in _mean_rows(without, s)]
        self._programs: dict[tuple[frozenset[int], frozenset[str]], Program] = {}
        self._ranges: dict[Quantity, list[Range]] = {}

    @cached_property
    def components(self) -> dict[Quantity | str, int]:
        """Number of the component of each quantity and claim: those that rows connect."""
        return _components([[*row.terms, row.claim] for row in self.rows])

    @cached_property
    def rows_of(self) -> dict[int, list[Row]]:
        found: dict[int, list[Row]] = {}
        for row in self.rows:
            found.setdefault(self.components[row.claim], []).append(row)
        return found

    @cached_property
    def clusters(self) -> dict[int, list[int]]:
        """Components whose claims share sentences, by component."""
        owners = {k: {row.claim for row in rows} for k, rows in self.rows_of.items()}
        sentences = {
            k: [("s", s) for c in claims for s in self.statements[c].sentences]
            for k, claims in owners.items()
        }
        of = _components([[k, *keys] for k, keys in sentences.items()])
        groups: dict[int, list[int]] = {}
        for k in owners:
            groups.setdefault(of[k], []).append(k)
        return {k: groups[of[k]] for k in owners}

    @cached_property
    def _resolved(self) -> dict[int, list[frozenset[str]]]:
        return {}

    def resolutions(self, component: int) -> list[frozenset[str]]:
        """Claims that each smallest resolution of the component's cluster sets aside."""
        members = self.clusters[component]
        if members[0] not in self._resolved:
            self._resolved[members[0]] = _Resolver(self, members).resolutions()
        return self._resolved[members[0]]

    def programs(self, quantities: Iterable[Quantity]) -> Iterator[Program]:
        """The joint program of some quantities, under each resolution of their contradictions."""
        named = list(dict.fromkeys(quantities))
        of = sorted({self.components[q] for q in named if q in self.components})
        clusters = sorted({self.clusters[k][0] for k in of})
        members = {row.claim for k in of for row in self.rows_of[k]}
        for chosen in product(*(self.resolutions(k) for k in clusters)):
            aside = frozenset().union(*chosen) & members
            alone = frozenset(q for q in named if q not in self.components)
            key = (frozenset(of), aside, alone)
            if key not in self._programs:
                rows = [row for k in of for row in self.rows_of[k] if row.claim not in aside]
                every = [q for k in of for row in self.rows_of[k] for q in row.terms]
                self._programs[key] = Program(self.paper, rows, [*every, *named])
            yield self._programs[key]

    def ranges(self, quantity: Quantity) -> list[Range]:
        if quantity not in self._ranges:
            self._ranges[quantity] = [p.range({quantity: 1.0}) for p in self.programs([quantity])]
        return self._ranges[quantity]

    def hull(self, quantity: Quantity) -> Range:
        lows, highs = zip(*self.ranges(quantity), strict=True)
        return min(lows), max(highs)

    def number(self, asked: Number) -> list[Range] | list[str]:
        """Ranges of an exact derived number, or the levels at which a maximum can be."""
        parts, programs = asked.parts, list(self.programs(q for p in asked.parts for q in p))
        if asked.kind == "argmax":
            return [
                x
                for k, x in enumerate(asked.levels)
                if any(_largest(p, parts, k, self.paper) for p in programs)
            ]
        if asked.kind == "maximum":
            return [_maximum(p, parts, self.paper) for p in programs]
        if asked.kind in ("ratio", "percent_change"):
            of, to = parts
            signed = any(
                c < 0 or self.paper.bounds(q)[0] < 0 for part in parts for q, c in part.items()
            )
            least = -INF if signed else 0.0
            found = [f for f in (p.quotient(of, to) for p in programs) if f is not None]
            found = [(max(low, least), high) for low, high in found] or [(least, INF)]
            if asked.kind == "percent_change":
                return [(100 * (low - 1), 100 * (high - 1)) for low, high in found]
            return found
        found = [p.range(_weighted(asked)) for p in programs]
        single = all(len(part) == 1 and set(part.values()) == {1.0} for part in parts)
        if asked.gives != "intercept" or not single:
            return found
        bounds = [self.paper.bounds((q[0], ())) for part in parts for q in part]
        least, most = max(low for low, _ in bounds), min(high for _, high in bounds)
        cut = [(max(low, least), min(high, most)) for low, high in found]
        return [(low, high) for low, high in cut if low <= high] or found


def _weighted(asked: Number) -> Sum:
    """The linear sum that a value, a difference or a coefficient of a regression line is."""
    if asked.kind == "line":
        x = np.array(asked.axis, dtype=float)
        lines = np.linalg.pinv(np.column_stack([np.ones(len(x)), x]))
        weights = lines[("intercept", "slope").index(asked.gives)]
    else:
        weights = np.array([1.0, -1.0])[: len(asked.parts)]
    total: Sum = {}
    for weight, part in zip(weights, asked.parts, strict=True):
        total = plus(total, part, float(weight))
    return total


def _largest(program: Program, parts: Sequence[Sum], place: int, paper: Paper) -> bool:
    rows = [
        Row("", plus(other, parts[place], -1), 0.0) for k, other in enumerate(parts) if k != place
    ]
    return Program(paper, [*program.rows, *rows], program.columns).feasible()


def _maximum(program: Program, parts: Sequence[Sum], paper: Paper) -> Range:
    """Smallest and largest value of the maximum of several sums."""
    n = len(program.columns)
    above = [np.append(program.vector(part), -1.0) for part in parts]
    A = np.vstack([np.hstack([program.A.toarray(), np.zeros((len(program.rows), 1))]), *above])
    found = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=csr_array(A),
        b_ub=np.append(program.b, np.zeros(len(parts))),
        bounds=[*program.bounds, (None, None)],
    )
    return float(found.fun) if found.status == 0 else -INF, max(program.range(p)[1] for p in parts)


def _mean_rows(text: Text, statement: Statement) -> Iterator[Row]:
    """A mean of quotients lies between the means of their least and largest values."""
    for whole, pairs in statement.means:
        low, high = 100 * np.mean([_quotient(text, *pair) for pair in pairs], axis=0)
        for sign, end in ((-1.0, low), (1.0, high)):
            if math.isfinite(end):
                yield Row(statement.id, {q: sign * c for q, c in whole.items()}, sign * end)


def _quotient(text: Text, of: Quantity, to: Quantity) -> Range:
    bottom, top = text.hull(to)
    low, high = text.hull(of)
    if bottom == top:
        return low / top, high / top
    joined = of in text.components and text.components.get(to) == text.components[of]
    if not joined:
        return (low / top if low >= 0 else -INF), INF
    found = [
        p.quotient({of: 1.0}, {to: 1.0}, positive_bounds=False) for p in text.programs([of, to])
    ]
    known = [f for f in found if f is not None]
    return min(low for low, _ in known), max(high for _, high in known)


class _Resolver:
    """Smallest sets of sentences that restore the consistency of some components."""

    def __init__(self, text: Text, components: Sequence[int]) -> None:
        self.text = text
        self.rows = [text.rows_of[k] for k in components]
        members = dict.fromkeys(row.claim for rows in self.rows for row in rows)
        self.claims = [text.statements[c] for c in members]
        self._known: dict[tuple[int, frozenset[str]], bool] = {}

    def resolutions(self) -> list[frozenset[str]]:
        stated = {s.id: s.sentences for s in self.claims if not s.assumed}
        ours = frozenset(s.id for s in self.claims if s.assumed)
        conflicts: list[frozenset[str]] = []
        while True:
            answers = []
            for keys in _hitting_sets([[stated[c] for c in conflict] for conflict in conflicts]):
                aside = frozenset(c for c, sentences in stated.items() if sentences <= keys)
                conflict = self.conflict(frozenset(stated) - aside)
                if conflict is not None:
                    conflicts.append(conflict)
                    break
                answers.append(aside)
            else:
                break
        dropped = {
            c for a in answers for c in self._in_conflict(frozenset(stated) - a, ours, set())
        }
        return [answer | dropped for answer in dict.fromkeys(answers)]

    def _in_conflict(
        self, hard: frozenset[str], ours: frozenset[str], seen: set[frozenset[str]]
    ) -> set[str]:
        """Assumptions that are part of some smallest conflict with the kept statements."""
        if ours in seen or self.consistent(hard | ours):
            return set()
        seen.add(ours)
        members = ours
        for one in sorted(ours):
            if not self.consistent(hard | (members - {one})):
                members -= {one}
        found = set(members)
        for one in members:
            found |= self._in_conflict(hard, ours - {one}, seen)
        return found

    def consistent(self, claims: frozenset[str]) -> bool:
        return all(self._feasible(k, claims) for k in range(len(self.rows)))

    def _feasible(self, k: int, claims: frozenset[str]) -> bool:
        key = k, claims & frozenset(row.claim for row in self.rows[k])
        if key not in self._known:
            self._known[key] = self._program(k, claims).feasible()
        return self._known[key]

    def _program(self, k: int, claims: frozenset[str]) -> Program:
        return Program(self.text.paper, [row for row in self.rows[k] if row.claim in claims])

    def conflict(self, claims: frozenset[str]) -> frozenset[str] | None:
        """An irreducible inconsistent subset of the claims; None if they are consistent."""
        for k in range(len(self.rows)):
            if self._feasible(k, claims):
                continue
            suspects = frozenset(self._program(k, claims).violated())
            if self._feasible(k, suspects):
                suspects = claims & frozenset(row.claim for row in self.rows[k])
            for claim in sorted(suspects):
                if not self._feasible(k, suspects - {claim}):
                    suspects -= {claim}
            return suspects
        return None


def _hitting_sets(conflicts: Sequence[Sequence[frozenset[str]]]) -> list[frozenset[str]]:
    """All smallest sets of sentences that contain those of a member of every conflict."""
    of = _components([[("conflict", k), *frozenset().union(*c)] for k, c in enumerate(conflicts)])
    groups: dict[int, list[Sequence[frozenset[str]]]] = {}
    for k, conflict in enumerate(conflicts):
        groups.setdefault(of["conflict", k], []).append(conflict)
    smallest = []
    for group in groups.values():
        size = 1
        while not (found := set(_hitting(group, frozenset(), size))):
            size += 1
        smallest.append(sorted(found, key=sorted))
    return [frozenset().union(*chosen) for chosen in product(*smallest)]


def _hitting(
    conflicts: Sequence[Sequence[frozenset[str]]], chosen: frozenset[str], size: int
) -> Iterator[frozenset[str]]:
    open_ = [c for c in conflicts if not any(keys <= chosen for keys in c)]
    if not open_:
        yield chosen
        return
    for keys in min(open_, key=len):
        if len(chosen | keys) <= size:
            yield from _hitting(conflicts, chosen | keys, size)


def _components(groups: Sequence[Sequence[object]]) -> dict[object, int]:
    """Connected components of items that occur in the same group."""
    parent: dict[object, object] = {}

    def root(item: object) -> object:
        while parent.setdefault(item, item) != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    for group in groups:
        first = root(group[0])
        for item in group[1:]:
            parent[root(item)] = first
    number: dict[object, int] = {}
    return {item: number.setdefault(root(item), len(number)) for item in list(parent)}
