"""`virtperf.compare`: compare sides of runs; a table of ratios of means or percentiles with a verbal
summary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rawperf.core.errors import ParameterError, RawperfError, did_you_mean
from virtperf.comparison.places import require_revisions
from virtperf.comparison.ratio_rows import (
    Pair,
    RatioRow,
    ratio_rows,
)
from virtperf.comparison.sides import (
    Side,
    TableOptions,
    equal_files_note,
    quantities_to_compare,
    read_sides,
    varied_names,
)
from virtperf.comparison.splits import EqualSplits, equal_splits, unequal_quantities
from virtperf.comparison.table import ComparisonTable, DifferentFact
from virtperf.core.contrasts import Replicates
from virtperf.core.levels import Level
from virtperf.core.paths import Layout
from virtperf.runs.run_values import (
    CellName,
    ComparedQuantity,
    Condition,
    join_names,
    key_text,
)

if TYPE_CHECKING:
    from virtperf.comparison.studies import MeasuredStudy

SPLITS = 200
"""Default number of random splits of an A/A test."""
SEED = 20090131
MERGE_REMEDY = "keep single values or a histogram log, and compare by --percentile"
MIN_POSSIBLE_SPLITS = 100
"""Minimum number of distinct splits of a side for an A/A rate beside verdicts: six runs have ten
splits, so one is 10 %."""


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
    splits: int = 0,
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
    splits : int
        Number of random splits of the equal runs of each side, for the A/A false alarm rate; 0
        disables them.
    root : str or Path
        The repository, for studies and for run folders of its studies.

    Raises
    ------
    RawperfError
        There are no such runs, or they can't be read; the sides have nothing in common.
    ParameterError
        A parameter does not apply to this comparison, or two contradict each other.
    """
    layout = Layout(Path(root))
    where = where or {}
    stored = [_is_study(place, layout) for place in (a, b, *others) if place is not None]
    if percentiles and any(stored):
        raise RawperfError(
            "--percentile does not apply to a study's stored values",
            expected="folders of runs, or of raw files",
            remedy="give the folder of its runs, or a quantity with statistic: quantile in study.yaml",
        )
    if not revisions:
        require_raw(format, stored)
    selection = _Selection(quantities, higher, lower, where)
    settings = _VerdictSettings(margin, level, splits, zeros, ranks)
    if factor and stored[0]:
        from virtperf.comparison.studies import measured_study

        named = {_factor_name(factor), *(where or {})}
        study = measured_study(layout, str(a), level, named)
        if _factor_name(factor) in study.study.factors:
            if paired:
                raise ParameterError(
                    "--paired does not apply to two levels of a study's factor",
                    remedy="leave it out: runs of one block are compared within it",
                )
            return _compare_study_levels(study, factor, selection, settings)
    tables = TableOptions(tuple(keys), tuple(over), rows_are_runs=rows == "runs")
    places = (a,) if factor else (*_revision_sides(a, b, revisions, layout), *others)
    sides = _read_sides(
        places, layout, format, where, level, tables=tables, singles=bool(percentiles)
    )
    if factor:
        sides = _split_by_factor(sides[0], factor)
    _require_factors(sides, where)
    if paired:
        sides = _paired_sides(sides)
    return _compare_sides(sides, percentiles, selection, settings, tables)


@dataclass(frozen=True)
class _Selection:
    """Selection of quantities and levels, from the arguments of `compare`."""

    quantities: Sequence[str]
    higher: Sequence[str]
    lower: Sequence[str]
    where: Mapping[str, Level]

    @property
    def patterns(self) -> tuple[str, ...]:
        return (*self.quantities, *self.higher, *self.lower)

    def of(self, known: Mapping[str, ComparedQuantity]) -> dict[str, ComparedQuantity]:
        return quantities_to_compare(known, self.quantities, self.higher, self.lower)


@dataclass(frozen=True)
class _VerdictSettings:
    """Settings of the verdicts and of the number of A/A splits."""

    margin: float
    level: float
    splits: int = 0
    zeros: bool = False
    ranks: bool = False

    @property
    def options(self) -> dict[str, Any]:
        return {"margin": self.margin, "level": self.level}

    @property
    def row_options(self) -> dict[str, Any]:
        return {**self.options, "zeros": self.zeros, "ranks": self.ranks}


def _compare_study_levels(
    study: MeasuredStudy, factor: Sequence[str], selection: _Selection, settings: _VerdictSettings
) -> ComparisonTable:
    """Compare two levels of a study's factor, from the values stored by its runs stage."""
    name, first, second = study.factor_levels(tuple(factor))
    pairs = study.pairs(name, first, second, selection.where)
    if not pairs:
        raise RawperfError(
            f"no condition was measured at both {name}={first} and {name}={second}",
            remedy="runs are compared at the same levels of all other factors",
        )
    selected = selection.of({pair.quantity: study.quantities[pair.quantity] for pair in pairs})
    sides = [study.side(f"{name}={at}", name, at, pairs) for at in (first, second)]
    pairs = [replace(p, side=sides[1].name) for p in pairs if p.quantity in selected]
    rows = ratio_rows(pairs, selected, contrast_function=study.contrast, **settings.row_options)
    return _comparison_table(sides, pairs, rows, selected, selection, settings)


def _compare_sides(
    sides: Sequence[Side],
    percentiles: Sequence[float],
    selection: _Selection,
    settings: _VerdictSettings,
    tables: TableOptions,
) -> ComparisonTable:
    """Compare each side with the first, by the runs' own values, or by percentiles."""
    if percentiles:
        from virtperf.comparison.percentiles import replace_by_percentiles

        sides = replace_by_percentiles(sides, percentiles)
        settings = replace(settings, splits=0)  # splits apply to means only
    _require_comparable(sides, selection.patterns)
    both: dict[str, ComparedQuantity] = {}
    for side in sides:
        both = {**side.quantities, **both}
    left_out = _one_sided_note(sides, selection.of(both), of_each=bool(percentiles))
    if not selection.patterns:  # quantities of one side only can't be compared
        common = set.intersection(*({*side.quantity_names} for side in sides))
        both = {name: both[name] for name in both if name in common} or both
    selected = selection.of(both)
    varied = varied_names(sides)
    pairs = [p for side in sides[1:] for p in _common_pairs(sides[0], side, selected, varied)]
    rows = ratio_rows(pairs, selected, **settings.row_options)
    from virtperf.comparison.unequal_loads import unequal_load_notes

    unequal_loads = dict.fromkeys(
        note
        for side in sides[1:]
        for note in unequal_load_notes(sides[0], side, [p for p in pairs if p.side == side.name])
    )
    notes = [
        *equal_files_note(sides),
        *_missing_value_notes(sides, pairs, varied),
        *left_out,
        *_not_selected_note(sides, selected, both, "not selected" if selection.patterns else ""),
        *_rows_notes(sides, tables),
    ]
    table = _comparison_table(
        sides, pairs, rows, selected, selection, settings, notes, [*unequal_loads]
    )
    return replace(table, offer=_offer_rows(sides, tables, rows))


def _require_comparable(sides: Sequence[Side], patterns: Sequence[str]) -> None:
    """Raise `RawperfError` if a requested quantity was refused, as several percentiles of a run."""
    for side in sides:
        for run in side.runs:
            for name, reason in run.refused.items():
                if {name, side.quantities[name].field} & {*patterns}:
                    raise RawperfError(
                        f"{name} can't be compared: {reason}", file=run.place, remedy=MERGE_REMEDY
                    )


def _comparison_table(
    sides: Sequence[Side],
    pairs: Sequence[Pair],
    rows: Sequence[RatioRow],
    selected: Mapping[str, ComparedQuantity],
    selection: _Selection,
    settings: _VerdictSettings,
    left_out: Sequence[str] = (),
    unequal_loads: Sequence[str] = (),
) -> ComparisonTable:
    """Assemble the comparison table with its notes."""
    return ComparisonTable(
        tuple(side.name for side in sides),
        settings.margin,
        settings.level,
        tuple(sorted(rows, key=lambda row: row.importance)),
        tuple(_aa_splits(pairs, selected, settings.splits, settings.options)),
        tuple(_different_facts(sides)),
        (
            *_side_notes(sides),
            *left_out,
            *(_zero_note(pairs) if selection.patterns else ()),
            *_no_direction_note(rows, selected),
            *unequal_loads,
            *(_unequal_variance_notes(pairs, selected) if settings.splits else ()),
        ),
    )


def _offer_rows(sides: Sequence[Side], tables: TableOptions, rows: Sequence[RatioRow]) -> str:
    """Offer to take repeated rows as runs, where a side has a single file with such rows."""
    most = min((side.repetitions for side in sides), default=0)
    if tables.rows_are_runs or most < 2 or all(len(side.runs) > 1 for side in sides):
        return ""
    if any(row.verdict == "undecided" for row in rows):
        process = any(side.repeats == "process" for side in sides)
        but = ", without the variation between processes" if process else ""
        return (
            f"The files have up to {most} rows of one key: --rows runs compares them as runs{but}."
        )
    return ""


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


def _not_selected_note(
    sides: Sequence[Side],
    selected: Mapping[str, ComparedQuantity],
    both: Mapping[str, ComparedQuantity],
    reason: str,
) -> Iterator[str]:
    """Name the quantities of all sides that are not compared."""
    common = set.intersection(*({*side.quantity_names} for side in sides))
    names = [name for name in both if name in common and name not in selected]
    if names:
        why = reason or "neither high nor low is known to be better: --quantity NAME compares them"
        yield f"not compared: {join_names(names)} ({why})"


def _zero_note(pairs: Sequence[Pair]) -> Iterator[str]:
    """Yield a note on quantities that are zero in all runs and so have no ratio."""
    names = [
        f"{pair.quantity}, {condition}"
        if (condition := key_text(pair.condition))
        else pair.quantity
        for pair in pairs
        if not (pair.a.values.any() or pair.b.values.any())
    ]
    if names:
        yield f"left out: {join_names(names)} (0 in all runs of both sides: no ratio is defined)"


def require_raw(format_name: str | None, stored: Sequence[bool]) -> None:
    """Raise `ParameterError` for a raw file format if no side has raw files."""
    if format_name is not None and all(stored):
        raise ParameterError(
            "--input-format does not apply to a study's stored values",
            remedy="leave it out, or give the folder of its runs",
        )


def compare_equal(
    place: str | Path,
    *,
    where: Mapping[str, Level] | None = None,
    margin: float = 0.0,
    level: float = 0.95,
    quantities: Sequence[str] = (),
    higher: Sequence[str] = (),
    lower: Sequence[str] = (),
    keys: Sequence[str] = (),
    over: Sequence[str] = (),
    rows: Literal["repetitions", "runs"] = "repetitions",
    format: str | None = None,  # noqa: A002 - users' word
    splits: int = SPLITS,
    seed: int = SEED,
    root: str | Path = ".",
) -> ComparisonTable:
    """A/A test: how often random splits of equal runs are called different.

    `place` is a folder as in `compare`, or the id of a study of the repository; runs at different
    factor levels are split separately. Runs made by `virtperf measure --aa` under two labels are
    also compared by label. Other parameters as in `compare`.

    Raises
    ------
    RawperfError
        There are no such runs, or none that can be split.
    """
    layout = Layout(Path(root))
    cells: dict[CellName, Replicates]
    side: Side | None
    require_raw(format, [_is_study(place, layout)])
    if _is_study(place, layout):
        from virtperf.comparison.studies import measured_study

        study: MeasuredStudy = measured_study(layout, str(place), level, where or ())
        conditions = study.conditions(where or {})
        known = study.measured(conditions)
        cells = {(quantity.name, quantity.at): runs for quantity, runs in conditions.items()}
        notes: list[str] = []
        side = None
    else:
        tables = TableOptions(tuple(keys), tuple(over), rows_are_runs=rows == "runs")
        side = read_sides((place,), layout, format, where, tables=tables)[0]
        cells, known = side.cells(varied_names([side])), side.quantities
        notes = [*side.notes, *side.warnings]
    selected = {
        name: kind
        for name, kind in quantities_to_compare(known, quantities, higher, lower).items()
        if not kind.is_failure
    }
    options: dict[str, Any] = {"margin": margin, "level": level}
    results = equal_splits(cells, selected, splits=splits, seed=seed, **options)
    notes += _unequal_variance_note(cells, selected)
    labelled = _aa_sides(side) if side else None
    if labelled:
        pairs = _common_pairs(*labelled, selected, varied_names(labelled))
        found = ratio_rows(pairs, selected, **options)
        names = tuple(each.name for each in labelled)
        return ComparisonTable(
            names, margin, level, tuple(found), tuple(results), notes=tuple(notes)
        )
    if not results:
        raise RawperfError(
            "no runs can be split",
            file=str(place),
            expected="at least 4 runs of a condition, or blocks with several runs",
        )
    return ComparisonTable(
        (str(place),), margin, level, equal_runs=tuple(results), notes=tuple(notes)
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


def _is_study(place: str | Path, layout: Layout) -> bool:
    return not Path(place).exists() and str(place) in layout.studies()


def _read_sides(
    places: Sequence[str | Path],
    layout: Layout,
    format_name: str | None,
    where: Mapping[str, Level],
    level: float,
    *,
    tables: TableOptions,
    singles: bool,
) -> list[Side]:
    """Read the sides in order; those of studies as stored by the runs stage."""
    others = [place for place in places if not _is_study(place, layout)]
    read = iter(
        read_sides(others, layout, format_name, where, tables=tables, singles=singles)
        if others
        else ()
    )
    sides = []
    for place in places:
        if _is_study(place, layout):
            from virtperf.comparison.studies import measured_study

            sides.append(
                measured_study(layout, str(place), level, where).all_runs(str(place), where)
            )
        else:
            sides.append(next(read))
    names = Counter(side.name for side in sides)
    return [
        replace(side, name=str(place)) if names[side.name] > 1 else side
        for side, place in zip(sides, places, strict=True)
    ]


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
    return of[0], layout.measured(str(a)) if _is_study(a, layout) else a


def _factor_name(factor: Sequence[str]) -> str:
    return factor[0].partition("=")[0].strip()


def _split_by_factor(side: Side, factor: Sequence[str]) -> list[Side]:
    split = [text.partition("=") for text in factor]
    if len(split) != 2 or len({name for name, _, _ in split}) != 1 or not all(s[2] for s in split):
        raise RawperfError(
            "two values of one factor or fact are needed",
            expected="--factor NAME=A --factor NAME=B",
            found=", ".join(factor),
        )
    name = split[0][0].strip()
    return [side.split(name, text.strip()) for _, _, text in split]


def _require_factors(sides: Sequence[Side], where: Mapping[str, Level]) -> None:
    """Raise `RawperfError` for a factor or key in `where` that no run has."""
    known = {name for side in sides for name in (*side.factor_levels, *side.key_levels)}
    for name in where:
        if name not in known:
            raise RawperfError(
                f"no run has a factor {name!r}, and no table a column of keys of that name",
                expected=", ".join(sorted(known)) or None,
                remedy=did_you_mean(name, known),
            )


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


def _one_sided_note(sides: Sequence[Side], selected: Iterable[str], *, of_each: bool) -> list[str]:
    """Return a note on quantities that a side lacks; none for percentiles of single values."""
    if of_each:
        return []
    names = {side.name: set(side.quantity_names) for side in sides}
    common = set.intersection(*names.values())
    parts = []
    for side in sides:
        lacking = [name for name in selected if name in names[side.name] and name not in common]
        if lacking and len(sides) == 2:
            parts.append(f"{join_names(lacking)} (only in {'AB'[[*sides].index(side)]})")
        elif lacking:
            parts.append(f"{join_names(lacking)} ({side.name}, not in all sides)")
    return [f"left out: {'; '.join(parts)}"] if parts else []


def _no_direction_note(
    rows: Sequence[object], selected: Mapping[str, ComparedQuantity]
) -> Iterator[str]:
    if len(rows) > 1 and not any(kind.better for kind in selected.values()):
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


def _unequal_variance_note(
    cells: Mapping[CellName, Replicates], selected: Mapping[str, ComparedQuantity]
) -> Iterable[str]:
    """Yield a note on quantities left out of the A/A test within blocks."""
    if names := unequal_quantities(cells, selected):
        yield (
            f"A/A within blocks leaves out {join_names(names)}: the variances of the conditions differ "
            "(Bartlett)"
        )


def _aa_splits(
    pairs: Sequence[Pair],
    selected: Mapping[str, ComparedQuantity],
    splits: int,
    options: Mapping[str, Any],
) -> Iterable[EqualSplits]:
    """Yield the A/A splits of each side for the remarks, if there are enough distinct splits."""
    if not splits:
        return
    for letter in "AB":
        cells = _cells_of(pairs, letter)
        for equal in equal_splits(cells, selected, splits=splits, seed=SEED, **options):
            if equal.possible >= MIN_POSSIBLE_SPLITS:
                yield replace(equal, design=f"{letter}: {equal.design}")


def _unequal_variance_notes(
    pairs: Sequence[Pair], selected: Mapping[str, ComparedQuantity]
) -> Iterable[str]:
    for letter in "AB":
        yield from (
            f"{letter}: {note}"
            for note in _unequal_variance_note(_cells_of(pairs, letter), selected)
        )


def _cells_of(pairs: Sequence[Pair], letter: str) -> dict[CellName, Replicates]:
    return {(p.quantity, p.condition): p.a if letter == "A" else p.b for p in pairs}


def _different_facts(sides: Sequence[Side]) -> Iterable[DifferentFact]:
    facts = [side.facts for side in sides]
    for name in sorted({name for of_side in facts for name in of_side}):
        values = [of_side.get(name, frozenset()) for of_side in facts]
        if len({*values}) > 1:
            yield DifferentFact(name, tuple(tuple(sorted(of_side)) for of_side in values))


def _missing_value_notes(
    sides: Sequence[Side], pairs: Sequence[Pair], varied: frozenset[str]
) -> Iterator[str]:
    """Yield a note on runs of a side that have no value of a compared quantity at the condition of
    others that have: ``B: 1 of 3 runs has no lat: t2.csv``; and on conditions of one side only.
    """
    quantities = dict.fromkeys(pair.quantity for pair in pairs)
    conditions: dict[str, set[frozenset[Any]]] = {}
    for pair in pairs:
        conditions.setdefault(pair.quantity, set()).add(frozenset(pair.condition))
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


def _side_notes(sides: Sequence[Side]) -> Iterable[str]:
    yield from dict.fromkeys(note for side in sides for note in side.notes)
    for letter, side in zip(_letters(sides), sides, strict=True):
        yield from (f"{letter}: {warning}" for warning in side.warnings)
        if side.disturbed:
            yield f"{letter}: {side.disturbed} of {len(side.runs)} runs were disturbed"
