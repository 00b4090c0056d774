"""The result of a comparison: its rows, and what a reader sees of them in words and cells."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from virtperf.comparison.ratio_rows import CALLED_DIFFERENT, RatioRow
from virtperf.comparison.row import Rows, change_texts, size_texts
from virtperf.comparison.splits import EqualSplits
from virtperf.core.contrasts import POOLED
from virtperf.core.grouping import grouped
from virtperf.core.numbers import join_names, join_words, number, unsigned, with_unit
from virtperf.core.shown import Grid, Shown
from virtperf.runs.run_values import (
    FAILURES,
)

MAX_SENTENCES = 5
MAX_ROWS = 20
"""Rows shown as text and Markdown; pages and JSON have all."""
TIMES = frozenset({"s", "ms", "us", "µs", "ns", "min"})


@dataclass(frozen=True)
class DifferentFact:
    """A fact about machine, tools or results that differs between the sides, with its values on
    each.
    """

    fact: str
    values: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class ComparisonTable(Rows):
    """Result of a comparison of two or more sides or, of a single one, the A/A false alarm rate.

    `sides` are their names, the base first. `margin` is a share; `level` applies to intervals and to
    Holm's method over `rows`, which are sorted by importance.
    """

    sides: tuple[str, ...]
    margin: float
    level: float
    rows: tuple[RatioRow, ...] = ()
    equal_runs: tuple[EqualSplits, ...] = ()
    facts: tuple[DifferentFact, ...] = ()
    notes: tuple[str, ...] = ()
    offer: str = ""

    @property
    def a(self) -> str:
        """Name of the base."""
        return self.sides[0]

    @property
    def b(self) -> str:
        """Name of the second side; "" of an A/A test."""
        return self.sides[1] if len(self.sides) > 1 else ""

    @property
    def sentences(self) -> tuple[str, ...]:
        """Verbal summary: failures, what is not judged, then differences, those for the worse first.

        A geometric mean replaces its conditions if they agree.
        """
        if not self.b:
            return tuple(_aa_sentence(each) for each in self.equal_runs)
        offer = (self.offer,) if self.offer else ()
        without = {row.note for row in self.rows if row.low is None and not row.exact}
        if (
            len(without) == 1
            and without != {""}
            and all(row.low is None and row.verdict == "undecided" for row in self.rows)
        ):
            whole = f"Whether {join_words(self.sides[1:])} differs from {self.a} is undecided"
            return (f"{whole}: {without.pop()}.", *offer)
        first = _summary_rows(self.rows)
        n_more = len(first) - MAX_SENTENCES
        sentences = [_sentence(row, self) for row in first[:MAX_SENTENCES]]
        more = (f"{n_more} more below.",) if n_more > 0 else ()
        return (*sentences, *more, *offer)

    def to_dict(self) -> dict[str, Any]:
        return {"a": self.a, "b": self.b, **super().to_dict()}

    def shown(self, *, all_rows: bool = True) -> Shown:
        """Sentences, tables and remarks, as every medium shows them."""
        tables = []
        if self.rows:
            most = None if all_rows else MAX_ROWS
            tables.append(self._main_table(most))
        if any(row.ranks for row in self.rows):
            tables.append(self._rank_table())
        if self.facts:
            tables.append(
                Grid(
                    label="Machine, tools and labels",
                    columns=("differs", *self._headings),
                    rows=tuple((f.fact, *map(join_names, f.values)) for f in self.facts),
                )
            )
        title = (
            f"{join_words(self.sides[1:])} against {self.a}" if self.b else f"A/A test: {self.a}"
        )
        return Shown(title, self.sentences, tables, self.remarks(), self.to_dict())

    @property
    def _headings(self) -> tuple[str, ...]:
        return ("A", "B") if len(self.sides) == 2 else self.sides

    def _main_table(self, most: int | None) -> Grid:
        if len(self.sides) > 2:
            return self._table_of_sides(most)
        return Grid(
            label=f"A is {self.a}, B is {self.b}; change of B against A",
            columns=(
                "quantity",
                "condition",
                "A",
                "B",
                "change",
                "interval",
                "p (Holm)",
                "verdict",
            ),
            rows=tuple(map(_cells, self.rows)),
            numeric=(2, 3, 4, 5, 6),
            most=most,
            more=_rest_sentence(self.rows, most),
        )

    def _table_of_sides(self, most: int | None) -> Grid:
        """A column a side: the base's mean, and of the others the mean, change and verdict."""
        by_cell: dict[tuple[str, str], dict[str, RatioRow]] = {}
        for row in self.rows:
            by_cell.setdefault((row.quantity, row.condition), {})[row.side] = row
        rows = []
        for (quantity, condition), of_sides in by_cell.items():
            first = next(iter(of_sides.values()))
            base = _mean_texts(first)[0]
            others = [
                _side_cell(of_sides[name]) if name in of_sides else "" for name in self.sides[1:]
            ]
            rows.append((quantity, condition, base, *others))
        return Grid(
            label=f"Changes against {self.a}, with intervals; verdicts are tested jointly (Holm)",
            columns=("quantity", "condition", *self.sides),
            rows=tuple(rows),
            numeric=tuple(range(2, 2 + len(self.sides))),
            most=most,
            more=_rest_sentence(self.rows, most) if most and len(rows) > most else "",
        )

    def _rank_table(self) -> Grid:
        rows = []
        for row in self.rows:
            if row.ranks is not None:
                by, interval = _change_texts(row.ranks)
                known = interval if row.ranks.has_interval else "none (too few runs)"
                p = number(row.ranks.p or 0.0, 2)
                where = (row.quantity, row.condition, row.side)
                rows.append((*where, by, known, p, row.ranks.compared))
        return Grid(
            label="By ranks: Hodges and Lehmann's estimate; p-values are not adjusted",
            columns=("quantity", "condition", "side", "change", "interval", "p", "test"),
            rows=tuple(rows),
            numeric=(3, 4, 5),
        )

    def to_markdown(self) -> str:
        """Format sentences, tables and remarks as Markdown."""
        return self.shown(all_rows=False).to_markdown()

    def remarks(self) -> list[str]:
        """Deduplicated notes of rows, then those of the comparison."""
        notes = dict.fromkeys(
            row.note for row in self.rows if row.note and row.verdict != "not judged"
        )
        splits = [_aa_sentence(each) for each in self.equal_runs] if self.b else []
        return [*notes, *_pooling_notes(self.rows), *self.notes, *splits]

    def __str__(self) -> str:
        return self.to_markdown()


def _pooling_notes(rows: Sequence[RatioRow]) -> Iterator[str]:
    """Yield a note on rows whose error is pooled over conditions: ``error pooled over 4 conditions:
    throughput; sent, guests=2``; single rows of a quantity with their condition.
    """
    pooled = grouped(
        (row.compared[at:], row) for row in rows if (at := row.compared.find(POOLED)) >= 0
    )
    counts = Counter(row.quantity for row in rows if not row.is_mean)
    for pooling, its_rows in pooled.items():
        pooled_counts = Counter(row.quantity for row in its_rows)
        names = [
            row.quantity
            if pooled_counts[row.quantity] == counts[row.quantity] or not row.condition
            else f"{row.quantity}, {row.condition}"
            for row in its_rows
        ]
        yield f"{pooling}: {join_names(list(dict.fromkeys(names)), separator='; ')}"


def _change_texts(row: RatioRow) -> tuple[str, str]:
    """Format the change of a row and its interval: a ratio in %, a difference in points."""
    if row.change is None:
        return "n/a", "none"
    by, limits = change_texts(row.change, row.change_unit)
    without = "exact" if row.exact else "none"
    return by, f"{limits}{row.change_unit}" if row.has_interval else without


def _mean_texts(row: RatioRow) -> tuple[str, str]:
    """Format both means in units as people read them; shares of failures in %."""
    values: list[float | None] = [row.mean_a, row.mean_b]
    unit = "" if row.unit in ("1", "count") else row.unit
    if row.is_share:
        values, unit = [None if v is None else 100 * v for v in values], "%"
    a, b = with_unit(values, unit)
    return a, b


def _cells(row: RatioRow) -> tuple[str, ...]:
    by, interval = _change_texts(row)
    means = [
        f"{text} (n={n})" if text else ""
        for text, n in zip(_mean_texts(row), (row.runs_a, row.runs_b), strict=True)
    ]
    p = row.p_holm
    return (
        row.quantity,
        row.condition,
        *means,
        by,
        interval,
        "" if p is None else ("< 0.0001" if p < 1e-4 else number(p, 2)),
        _verdict_text(row),
    )


def _verdict_text(row: RatioRow) -> str:
    if row.without is not None:
        return f"{row.verdict} (without {_without_words(row)})"
    return row.verdict + (f" ({row.more_runs} more runs per side needed)" if row.more_runs else "")


def _side_cell(row: RatioRow) -> str:
    by, interval = _change_texts(row)
    limits = f" ({interval})" if row.has_interval else ""
    mean = _mean_texts(row)[1]
    return f"{mean}; {by}{limits}: {row.verdict}" if mean else f"{by}{limits}: {row.verdict}"


def _summary_rows(rows: Sequence[RatioRow]) -> list[RatioRow]:
    """Rows for sentences: of a group of conditions the geometric mean, if all conditions agree; else
    the conditions that differ, or the mean.
    """
    names = (row.quantity if row.is_mean else row.quantity.partition(" of ")[0] for row in rows)
    groups = grouped(((name, row.side), row) for name, row in zip(names, rows, strict=True))
    chosen = []
    for of_group in groups.values():
        means = [row for row in of_group if row.is_mean]
        single = [row for row in of_group if not row.is_mean]
        different = [
            row for row in single if row.verdict in (*CALLED_DIFFERENT, "not judged") or row.without
        ]
        agree = len({row.verdict for row in of_group}) == 1 and not any(r.without for r in single)
        chosen += means if means and (agree or not different) else different or single
    return sorted(chosen, key=lambda row: row.importance)


def _rest_sentence(rows: Sequence[RatioRow], most: int | None) -> str:
    """Count the rows beyond those shown, by verdict."""
    rest = Counter(row.verdict for row in rows[most:]) if most is not None else Counter()
    if not rest:
        return ""
    counted = ", ".join(f"{count} {verdict}" for verdict, count in rest.items())
    return f"{sum(rest.values())} more rows: {counted}. --all shows them, JSON and HTML have them."


def _sentence(row: RatioRow, table: ComparisonTable) -> str:
    """Summarize a row: ``B serves 2.8 % less than A, 1.8 to 3.8 % (throughput)``."""
    at = f", {row.condition}" if row.condition else ""
    of = f"({row.quantity}{at})"
    a, b = table.a, row.side or table.b
    if row.change is None:
        return f"{row.quantity}{at} of {b} and {a} is not judged: {row.note}."
    if row.is_failure:
        return _failure_sentence(row, a, b)
    if row.verdict == "the same, exactly":
        value = _mean_texts(row)[0]
        each = f"{value} in every run" if value else "equal in every run"
        return f"{b} is exactly the same as {a} {of}: {each}."
    by, interval = _change_texts(row)
    within = f", {interval}" if row.has_interval else ""
    matters = row.without is not None and row.without.verdict != row.verdict
    alone = f" {_without_sentence(row)}" if matters else ""
    if row.verdict == "undecided":
        more = f"; {row.more_runs} more runs per side needed" if row.more_runs else ""
        reason = f"; {row.note}" if row.note and row.low is None else ""
        whole = f"Whether {b} differs from {a} is undecided {of}: {by}{within}{more}{reason}."
        return whole + alone
    if row.verdict == "same within the margin":
        return f"{b} is the same as {a} within {number(100 * row.margin, 2)} % {of}: {by}{within}.{alone}"
    down = row.change.value < 0
    amount, limits = size_texts(row.change, row.change_unit)
    reach = f", {limits}" if row.has_interval else ""
    reach += ", in every run" if row.exact else ""
    is_time = (row.unit in TIMES and (row.mean_a or 0) >= 0) or row.is_mean
    if (
        row.better == "higher"
        and not row.is_difference
        and (row.unit.endswith("/s") or row.is_mean)
    ):
        less = "less" if down else "more"
        return f"{b} serves {amount} {less} than {a}{reach} {of}: {row.verdict}.{alone}"
    if row.better == "lower" and not row.is_difference and is_time:
        words = f"{amount} {'less time' if down else 'longer'}"
        return f"{b} takes {words} than {a}{reach} {of}: {row.verdict}.{alone}"
    rest = f"{amount} {'lower' if down else 'higher'} on {b} than on {a}{reach}"
    return f"{row.quantity}{at} is {rest}" + (f": {row.verdict}." if row.better else ".") + alone


def _failure_sentence(row: RatioRow, a: str, b: str) -> str:
    """Summarize failures: ``36.4 % of the requests of new failed, 0 % of those of old: worse``."""
    first, second = _mean_texts(row)
    name = "" if row.quantity in (FAILURES, "failure_rate") else row.quantity
    of = ", ".join(filter(None, (name, row.condition)))
    at = f" ({of})" if of else ""
    by, interval = _change_texts(row)
    limits = f", {interval}" if row.has_interval else ""
    verb = f"{second} of {b} failed" if row.is_share else f"{b} has {second}"
    other = f"{first} of {a}" if row.is_share else f"{a} has {first}"
    word = "Successes" if row.better == "higher" else "Failures"
    return f"{word}{at}: {verb}, {other}; {by}{limits}: {row.verdict}."


def _without_words(row: RatioRow) -> str:
    """Format the result without the outlying runs: ``r2.csv: +3 %, 1 to 5 %: slower``."""
    assert row.without is not None and row.outlier is not None
    by, interval = _change_texts(row.without)
    limits = f", {interval}" if row.without.has_interval else ""
    return f"{row.outlier.name}: {by}{limits}: {row.without.verdict}"


def _without_sentence(row: RatioRow) -> str:
    """Describe the outlying runs, and the result without them."""
    assert row.outlier is not None
    one = row.outlier
    away, _ = unsigned(100 * (one.deviation - 1), math.nan, math.nan)
    where = "above" if one.deviation > 1 else "below"
    count = len(one.places)
    what = "One run is" if count == 1 else f"{count} runs are"
    are = "is" if count == 1 else "are"
    apart = (
        f"{what} apart from the others: {one.name} of {one.side} {are} {away} % {where} them."
        if one.side
        else f"One block is apart from the others: in {one.name} the ratio is {away} % {where} theirs."
    )
    return f"{apart} Without {'it' if count == 1 else 'them'}: {_without_words(row).removeprefix(f'{one.name}: ')}."


def _aa_sentence(equal: EqualSplits) -> str:
    few = (
        f"; there are only {equal.possible} distinct splits"
        if equal.possible < equal.splits
        else ""
    )
    return (
        f"A/A, {equal.condition}: {equal.called} of {equal.splits} splits had a row called "
        f"different ({100 * equal.called / equal.splits:.1f} %); {equal.outside} of {equal.rows * equal.splits} "
        f"unadjusted intervals exclude 1{few}."
    )
