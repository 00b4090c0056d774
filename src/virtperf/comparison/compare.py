"""`virtperf.compare`: compare sides of runs; a table of ratios of means or percentiles with a verbal
summary.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from rawperf.core.errors import ParameterError, RawperfError
from virtperf.comparison.comparison_table import ComparisonTable, DifferentFact
from virtperf.comparison.places import require_revisions
from virtperf.comparison.ratio_rows import (
    ContrastFunction,
    Pair,
    RatioRow,
    contrast,
    pairs_with_rows,
    ratio_rows,
)
from virtperf.comparison.side_reader import is_study, read_sides, require_raw
from virtperf.comparison.sides import (
    Side,
    TableOptions,
    equal_files_note,
    parse_factor,
    quantities_to_compare,
    rows_offer,
    side_notes,
    varied_names,
)
from virtperf.comparison.splits import equal_splits, unequal_quantities
from virtperf.core.grouping import grouped
from virtperf.core.levels import Level, parse_level
from virtperf.core.numbers import join_names
from virtperf.core.paths import Layout
from virtperf.runs.run_reader import FORMAT_IGNORED
from virtperf.runs.run_values import (
    ComparedQuantity,
    Condition,
    key_text,
)

SPLITS = 200
"""Default number of random splits of an A/A test."""
SEED = 20090131
NO_QUANTITY = (
    "a result is a column of numbers, with its unit in its name, such as latency (ms): texts, times, "
    "and numbers of rows are not compared"
)
MERGE_REMEDY = "keep single values or a histogram log, and compare by --percentile"


def compare(
    a: str | Path,
    b: str | Path | None = None,
    *others: str | Path,
    factor: Sequence[str] = (),
    revisions: Sequence[str] = (),
    where: Mapping[str, Level] | None = None,
    margin: float = 0.0,
    level: float = 0.95,
    paired: bool = False,
    quantities: Sequence[str] = (),
    higher: Sequence[str] = (),
    lower: Sequence[str] = (),
    percentiles: Sequence[float] = (),
    keys: Sequence[str] = (),
    over: Sequence[str] = (),
    rows: Literal["repetitions", "runs"] = "repetitions",
    zeros: bool = False,
    ranks: bool = False,
    format: str | None = None,  # noqa: A002 - users' word
    aa: bool = False,
    splits: int = SPLITS,
    root: str | Path = ".",
) -> ComparisonTable:
    """Compare sides of runs: is B slower than A?

    The unit of replication is a run. Runs in blocks are compared within blocks (`core.contrasts`);
    a side with a single run has no interval. Rows of result tables are matched by their keys, such as
    the name of a benchmark; repeated rows of one key are repetitions within a run.

    Parameters
    ----------
    a, b : str or Path
        Folders of runs (run folders or raw files, one per run), files, glob patterns, ids of studies
        of the repository, or ``REVISION:`` followed by one of these. Or `a` alone, with `factor` or
        `revisions`.
    *others : str or Path
        Further sides, each compared with `a`.
    factor : sequence of str
        ``["kernel=6.1", "kernel=6.6"]``, two levels of a factor of the runs of `a`, or two values
        (patterns) of a fact about their machines or tools, such as ``host``.
    revisions : sequence of str
        Two git revisions of `a`, or one to compare with the working tree.
    where : mapping, optional
        Restrict to runs at these factor levels, and to rows with these levels of a key.
    margin : float
        Equivalence margin: ratios from ``1 / (1 + margin)`` to ``1 + margin`` count as the same.
    level : float
        Confidence level of intervals, and family-wise level of the verdicts of the table (Holm).
    paired : bool
        Pair runs by name, else by position: the first of A with the first of B, and so on.
    quantities : sequence of str
        Names or patterns of quantities to compare; default: those with a known direction.
    higher, lower : sequence of str
        Quantities for which higher, or lower, is better; overrides the metric dictionary.
    percentiles : sequence of float
        ``[50, 99.9]``: compare these percentiles of single values (samples of requests, rows of
        tables, histograms), merged over drivers and files, instead of means.
    keys : sequence of str
        Columns that tell the rows of tables apart; default: texts that do, and equal settings.
    over : sequence of str
        Keys over whose levels values are averaged.
    rows : {"repetitions", "runs"}
        What repeated rows of one key are.
    zeros : bool
        Judge times and rates of 0 too, which otherwise are named as not measured.
    ranks : bool
        Add Hodges and Lehmann's estimate and the Mann-Whitney test.
    format : str, optional
        Format of raw files without `run.yaml`; detected by default.
    aa : bool
        A/A test of the runs of `a` alone: how often are random splits of equal runs called different?
        Runs at different factor levels are split separately; runs made by `virtperf measure --aa`
        under two labels are also compared by label.
    splits : int
        Number of random splits of an A/A test.
    root : str or Path
        The repository, for studies and for run folders of its studies.

    Raises
    ------
    RawperfError
        There are no such runs, or they can't be read; the sides have nothing in common; no runs can
        be split.
    ParameterError
        A parameter does not apply to this comparison, or two contradict each other.
    """
    layout = Layout(Path(root))
    where = where or {}
    settings = _Settings(quantities, higher, lower, where, margin, level, zeros, ranks)
    stored = [is_study(place, layout) for place in (a, b, *others) if place is not None]
    if percentiles and any(stored):
        raise RawperfError(
            "--percentile does not apply to a study's stored values",
            expected="folders of runs, or of raw files",
            remedy="give the folder of its runs, or a quantity with statistic: quantile in study.yaml",
        )
    if not revisions:
        require_raw(format, stored)
    tables = TableOptions(tuple(keys), tuple(over), rows_are_runs=rows == "runs")
    if aa:
        return _compare_equal(a, layout, format, settings, tables, splits)
    name, *levels = parse_factor(factor) if factor else ("",)
    if factor and stored[0]:
        from virtperf.comparison.studies import measured_study

        study = measured_study(layout, str(a), level, {name, *where})
        if name in study.study.factors:
            if paired:
                raise ParameterError(
                    "--paired does not apply to two levels of a study's factor",
                    remedy="leave it out: runs of one block are compared within it",
                )
            sides, pairs = study.level_sides(name, levels, where)
            selected = settings.of({p.quantity: study.quantities[p.quantity] for p in pairs})
            pairs = [pair for pair in pairs if pair.quantity in selected]
            return _table(sides, pairs, selected, settings, study.contrast)
    places = (a,) if factor else (*_revision_sides(a, b, revisions, layout), *others)
    sides = read_sides(
        places, layout, format, where, tables=tables, singles=bool(percentiles), level=level
    )
    if factor and name in {*sides[0].factor_levels, *sides[0].facts} - {*sides[0].key_levels}:
        sides = [sides[0].split(name, text) for text in levels]
    elif factor:  # a column of tables
        at = [{**where, name: parse_level(text)} for text in levels]
        parts = read_sides(
            (a, a), layout, format, at, tables=tables, singles=bool(percentiles), level=level
        )
        sides = [
            replace(side.without_key(name, text), name=f"{name}={text}")
            for side, text in zip(parts, levels, strict=True)
        ]
    if paired:
        sides = _paired_sides(sides)
    return _compare_sides(sides, percentiles, settings, tables)


@dataclass(frozen=True)
class _Settings:
    """Which quantities and levels are compared, and how rows are judged."""

    quantities: Sequence[str]
    higher: Sequence[str]
    lower: Sequence[str]
    where: Mapping[str, Level]
    margin: float
    level: float
    zeros: bool
    ranks: bool

    @property
    def patterns(self) -> tuple[str, ...]:
        return (*self.quantities, *self.higher, *self.lower)

    def of(self, known: Mapping[str, ComparedQuantity]) -> dict[str, ComparedQuantity]:
        return quantities_to_compare(known, self.quantities, self.higher, self.lower)


def _compare_sides(
    sides: Sequence[Side],
    percentiles: Sequence[float],
    settings: _Settings,
    tables: TableOptions,
) -> ComparisonTable:
    """Compare each side with the first, by the runs' own values, or by percentiles."""
    undirected = {n for side in sides for n, kind in side.quantities.items() if not kind.better}
    if percentiles:
        from virtperf.comparison.percentiles import replace_by_percentiles

        sides = replace_by_percentiles(sides, percentiles)
    _require_comparable(sides, settings.patterns)
    both: dict[str, ComparedQuantity] = {}
    for side in sides:
        both = {**side.quantities, **both}
    common = set.intersection(*({*side.quantity_names} for side in sides))
    # percentiles are of single values, which some drivers of a side may lack
    left_out = [] if percentiles else _one_sided_notes(sides, settings.of(both), common)
    if not settings.patterns:  # quantities of one side only can't be compared
        both = {name: both[name] for name in both if name in common} or both
    selected = settings.of(both)
    with_total = [] if settings.patterns else _with_total(sides, selected)
    selected = {name: kind for name, kind in selected.items() if name not in with_total}
    varied = varied_names(sides)
    assumed = [
        name
        for name, kind in selected.items()
        if percentiles
        and kind.better
        and kind is both[name]
        and name.partition(" of ")[2] in undirected
    ]
    pairs = [p for side in sides[1:] for p in _common_pairs(sides[0], side, selected, varied)]
    from virtperf.comparison.unequal_loads import unequal_load_notes

    unequal_loads = dict.fromkeys(
        note
        for side in sides[1:]
        for note in unequal_load_notes(sides[0], side, [p for p in pairs if p.side == side.name])
    )
    not_selected = [
        name for name in both if name in common and name not in (*selected, *with_total)
    ]
    why = (
        "not selected"
        if settings.patterns
        else "neither high nor low is known to be better: --quantity NAME compares them"
    )
    notes = [
        *equal_files_note(sides),
        *_missing_value_notes(sides, pairs, varied),
        *left_out,
        *(
            [
                f"lower is taken to be better: {join_names(assumed)}; --higher-is-better NAME reverses it"
            ]
            if assumed
            else ()
        ),
        *(
            [f"not compared: {join_names(with_total)} (the files have the total of the whole run)"]
            if with_total
            else ()
        ),
        *([f"not compared: {join_names(not_selected)} ({why})"] if not_selected else ()),
        *_rows_notes(sides, tables),
    ]
    table = _table(sides, pairs, selected, settings, contrast, notes, [*unequal_loads])
    return replace(table, offer=_offer_rows(sides, tables, table.rows))


def _with_total(sides: Sequence[Side], selected: Mapping[str, ComparedQuantity]) -> list[str]:
    """Metrics of tools whose total of the run is compared too: the mean over the tool's intervals, which may be
    of unequal length, is not. Run folders have windows, so that both are different numbers there.
    """
    if any(run.day for side in sides for run in side.runs):
        return []
    totals = {name for name, kind in selected.items() if not kind.field}  # no columns of a table
    return [name for name in selected if f"{name}_total" in totals]


def _require_comparable(sides: Sequence[Side], patterns: Sequence[str]) -> None:
    """Raise `RawperfError` if a requested quantity was refused, as several percentiles of a run."""
    for side in sides:
        for run in side.runs:
            for name, reason in run.refused.items():
                if {name, side.quantities[name].field} & {*patterns}:
                    raise RawperfError(
                        f"{name} can't be compared: {reason}", file=run.place, remedy=MERGE_REMEDY
                    )


def _table(
    sides: Sequence[Side],
    pairs: Sequence[Pair],
    selected: Mapping[str, ComparedQuantity],
    settings: _Settings,
    contrast_function: ContrastFunction,
    left_out: Sequence[str] = (),
    unequal_loads: Sequence[str] = (),
) -> ComparisonTable:
    """Judge the pairs of the sides' runs, and assemble the table with its notes."""
    rows = ratio_rows(
        pairs,
        selected,
        margin=settings.margin,
        level=settings.level,
        contrast_function=contrast_function,
        zeros=settings.zeros,
        ranks=settings.ranks,
    )
    return ComparisonTable(
        tuple(side.name for side in sides),
        settings.margin,
        settings.level,
        tuple(sorted(rows, key=lambda row: row.importance)),
        (),
        tuple(_different_facts(sides)),
        (
            *side_notes(sides, _letters(sides)),
            *left_out,
            *(_zero_note(pairs, selected) if settings.patterns else ()),
            *_no_direction_note(rows, selected),
            *unequal_loads,
        ),
    )


def _offer_rows(sides: Sequence[Side], tables: TableOptions, rows: Sequence[RatioRow]) -> str:
    """Offer to take repeated rows as runs, where that may decide."""
    if all(row.verdict != "undecided" for row in rows):
        return ""
    return rows_offer(sides, tables)


def _rows_notes(sides: Sequence[Side], tables: TableOptions) -> Iterator[str]:
    if not tables.rows_are_runs:
        return
    if any(side.repeats == "process" for side in sides):
        yield (
            "rows are repetitions within one process: the intervals do not include the variation "
            "between processes"
        )
    elif any(side.repeats != "runs" for side in sides):
        yield (
            "rows of a file are taken as runs: the intervals include no variation that the rows of a "
            "file share"
        )


def _zero_note(pairs: Sequence[Pair], quantities: Mapping[str, ComparedQuantity]) -> Iterator[str]:
    """Yield a note on quantities that are zero in all runs and so have no ratio."""
    shown = {id(pair) for pair in pairs_with_rows(pairs, quantities)}
    names = [
        ", ".join(filter(None, (pair.quantity, key_text(pair.condition))))
        for pair in pairs
        if id(pair) not in shown
    ]
    if names:
        yield f"left out: {join_names(names)} (0 in all runs of both sides: no ratio is defined)"


def _compare_equal(
    place: str | Path,
    layout: Layout,
    format_name: str | None,
    settings: _Settings,
    tables: TableOptions,
    splits: int,
) -> ComparisonTable:
    """A/A test of the runs of a folder or a study."""
    labelled: tuple[Side, Side] | None = None
    notes: list[str] = []
    if is_study(place, layout):
        from virtperf.comparison.studies import measured_study

        study = measured_study(layout, str(place), settings.level, settings.where)
        study.require_factors(settings.where)
        conditions = study.conditions(settings.where)
        known = study.measured(conditions)
        cells = {(quantity.name, quantity.at): runs for quantity, runs in conditions.items()}
    else:
        side = read_sides((place,), layout, format_name, settings.where, tables=tables)[0]
        cells, known = side.cells(varied_names([side])), side.quantities
        notes += [*side.notes, *side.warnings]
        labelled = _aa_sides(side)
    selected = {name: kind for name, kind in settings.of(known).items() if not kind.is_failure}
    judged: dict[str, Any] = {"margin": settings.margin, "level": settings.level}
    results = equal_splits(cells, selected, splits=splits, seed=SEED, **judged)
    if names := unequal_quantities(cells, selected):
        notes.append(
            f"A/A within blocks leaves out {join_names(names)}: the variances of the conditions "
            "differ (Bartlett)"
        )
    found: list[RatioRow] = []
    if labelled:
        pairs = _common_pairs(*labelled, selected, varied_names(labelled))
        found = ratio_rows(pairs, selected, **judged)
    elif not results:
        raise RawperfError(
            "no runs can be split",
            file=str(place),
            expected="at least 4 runs of a condition, or blocks with several runs",
        )
    return ComparisonTable(
        tuple(each.name for each in labelled or ()) or (str(place),),
        rows=tuple(found),
        equal_runs=tuple(results),
        notes=tuple(notes),
        **judged,
    )


def _aa_sides(side: Side) -> tuple[Side, Side] | None:
    """Return both halves of the runs of `virtperf measure --aa` (``a-...`` and ``b-...``, in
    pairs); None for other runs.
    """
    from virtperf.study.run_groups import AA_LABELS

    halves = []
    for label_ in AA_LABELS:
        runs = tuple(run for run in side.runs if run.run_id.startswith(f"{label_}-"))
        halves.append(replace(side, name=f"{side.name}/{label_}-*", runs=runs))
    named = [{run.run_id.partition("-")[2] for run in half.runs} for half in halves]
    if not named[0] & named[1] or sum(len(half.runs) for half in halves) < len(side.runs):
        return None
    return halves[0], halves[1]


def _revision_sides(
    a: str | Path, b: str | Path | None, revisions: Sequence[str], layout: Layout
) -> tuple[str | Path, str | Path]:
    if b is not None:
        return a, b
    if not 1 <= len(revisions) <= 2:
        raise RawperfError(
            "two sides are needed",
            expected="two places, two values of a factor, or one or two revisions",
        )
    require_revisions(layout, revisions)
    of = [f"{revision}:{a}" for revision in revisions]
    if len(of) == 2:
        return of[0], of[1]
    return of[0], layout.measured(str(a)) if is_study(a, layout) else a


def _common_pairs(
    a: Side, b: Side, selected: Mapping[str, ComparedQuantity], varied: frozenset[str]
) -> list[Pair]:
    second = {(name, frozenset(at)): runs for (name, at), runs in b.cells(varied).items()}
    first = a.cells(varied)
    pairs = [
        Pair(
            quantity,
            condition,
            runs,
            second[quantity, frozenset(condition)],
            _request_counts(a, b, quantity, condition),
            b.name,
        )
        for name in selected
        for (quantity, condition), runs in first.items()
        if quantity == name and (quantity, frozenset(condition)) in second
    ]
    if not pairs:
        shared = [name for name in a.quantity_names if name in b.quantity_names]
        if shared:
            conditions = [
                [key_text(at) for (name, at) in cells if name == shared[0]]
                for cells in (first, b.cells(varied))
            ]
            raise RawperfError(
                f"{a.name} and {b.name} have no condition of {shared[0]} in common",
                expected=f"a condition of {a.name}: {join_names(conditions[0], most=5)}",
                found=join_names(conditions[1], most=5),
                remedy="runs are compared at the same levels of factors and keys: name the columns "
                "that tell results apart by --key, or average over a column by --over NAME",
            )
        raise RawperfError(
            "the sides have no quantity in common",
            expected=f"a quantity of {a.name}: {', '.join(a.quantity_names[:10]) or 'none'}",
            found=", ".join(b.quantity_names[:10]) or "none",
            remedy=next((w for side in (a, b) for w in side.warnings if FORMAT_IGNORED in w), None)
            or (None if a.quantity_names and b.quantity_names else NO_QUANTITY),
        )
    return pairs


def _request_counts(
    a: Side, b: Side, quantity: str, condition: Condition
) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Sum the failed and all requests of each side at a condition; None where they are unknown."""
    at, sums = dict(condition), []
    for side in (a, b):
        counts = [
            count
            for run in side.runs
            for (name, key), count in run.counts.items()
            if name == quantity and all(at.get(k, level) == level for k, level in key)
        ]
        if len(counts) < len(side.runs):
            return None
        sums.append((sum(failed for failed, _ in counts), sum(total for _, total in counts)))
    return sums[0], sums[1]


def _one_sided_notes(
    sides: Sequence[Side], selected: Iterable[str], common: Container[str]
) -> list[str]:
    """Return a note on quantities that a side lacks."""
    parts = []
    for letter, side in zip(_letters(sides), sides, strict=True):
        names = {*side.quantity_names}
        alone = [name for name in selected if name in names and name not in common]
        if alone:
            where = f"only in {letter}" if len(sides) == 2 else f"{letter}, not in all sides"
            parts.append(f"{join_names(alone)} ({where})")
    return [f"left out: {'; '.join(parts)}"] if parts else []


def _no_direction_note(
    rows: Sequence[object], selected: Mapping[str, ComparedQuantity]
) -> Iterator[str]:
    speeds = [kind for kind in selected.values() if not kind.is_failure]
    if len(rows) > 1 and speeds and not any(kind.better for kind in speeds):
        yield (
            "no direction (higher or lower is better) is known for these quantities, so all are "
            "compared: select some by --quantity, --higher-is-better or --lower-is-better NAME"
        )


def _paired_sides(sides: Sequence[Side]) -> list[Side]:
    """Assign a block to each pair of runs: by equal names, else by position in order of names."""
    first = sides[0]
    for side in sides[1:]:
        if len(side.runs) != len(first.runs):
            raise RawperfError(
                "the sides have different numbers of runs and can't be paired",
                expected=str(len(first.runs)),
                found=str(len(side.runs)),
            )
    by_name = [{run.run_id: run for run in side.runs} for side in sides]
    names = sorted(by_name[0])
    if all({*of_side} == {*names} for of_side in by_name) and len(names) == len(first.runs):
        matched = [[of_side[name] for name in names] for of_side in by_name]
    else:
        matched = [[*side.runs] for side in sides]
    return [
        replace(
            side,
            runs=tuple(replace(run, block=f"pair {k}") for k, run in enumerate(runs, 1)),
        )
        for side, runs in zip(sides, matched, strict=True)
    ]


def _letters(sides: Sequence[Side]) -> list[str]:
    return ["A", "B"] if len(sides) == 2 else [side.name for side in sides]


def _different_facts(sides: Sequence[Side]) -> Iterable[DifferentFact]:
    facts = [side.facts for side in sides]
    for name in sorted({name for of_side in facts for name in of_side}):
        values = tuple(tuple(sorted(of_side.get(name, ()))) for of_side in facts)
        if len({*values}) > 1:
            yield DifferentFact(name, values)


def _missing_value_notes(
    sides: Sequence[Side], pairs: Sequence[Pair], varied: frozenset[str]
) -> Iterator[str]:
    """Yield a note on runs of a side that have no value of a compared quantity at the condition of
    others that have: ``B: 1 of 3 runs has no lat: t2.csv``; and on conditions of one side only.
    """
    quantities = dict.fromkeys(pair.quantity for pair in pairs)
    conditions = grouped((pair.quantity, frozenset(pair.condition)) for pair in pairs)
    for letter, side in zip(_letters(sides), sides, strict=True):
        quantities_of: dict[tuple[str, ...], list[str]] = {}
        alone: dict[str, None] = {}
        for quantity, at in side.cells(varied):
            if quantity in quantities and frozenset(at) not in conditions[quantity]:
                alone[key_text(at)] = None
        for quantity in quantities:
            lacking = tuple(
                run.run_id
                for run in side.runs
                if quantity not in run.refused
                and not any(name == quantity for name, _ in run.values)
                and any(
                    all(at.get(n, level) == level for n, level in run.factors.items())
                    for at in map(dict, conditions[quantity])
                )
            )
            if lacking:
                quantities_of.setdefault(lacking, []).append(quantity)
        for runs, names in quantities_of.items():
            has = "has" if len(runs) == 1 else "have"
            yield (
                f"{letter}: {len(runs)} of {len(side.runs)} runs {has} no {join_names(names)}: "
                f"{join_names(runs)}"
            )
        if alone:
            yield f"{letter}: left out, since not on both sides: {join_names([*alone], '; ')}"
