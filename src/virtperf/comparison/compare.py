"""`virtperf.compare`: compare two sides of runs; a table of ratios of means or percentiles with a
verbal summary.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from rawperf.core.errors import ParameterError, RawperfError, did_you_mean
from virtperf.comparison.places import require_revisions
from virtperf.comparison.ratio_rows import (
    CALLED_DIFFERENT,
    ComparedQuantity,
    ContrastFunction,
    Pair,
    RatioRow,
    RunRatio,
    condition_text,
    contrast,
    ratio_rows,
)
from virtperf.comparison.sides import (
    ComparedCell,
    RunValues,
    Side,
    quantities_to_compare,
    read_sides,
)
from virtperf.comparison.splits import SPLITS, EqualSplits, equal_splits, unequal_quantities
from virtperf.comparison.studies import MeasuredStudy, measured_study
from virtperf.comparison.unequal_loads import unequal_load_notes
from virtperf.core.contrasts import POOLED, Replicates, assign_blocks
from virtperf.core.levels import Level
from virtperf.core.numbers import as_precise, number
from virtperf.core.order_statistics import is_percentile
from virtperf.core.paths import Layout
from virtperf.models.percentiles import Distribution, percentile_ratio
from virtperf.study.run_groups import AA_LABELS

MIN_BEYOND = 10
"""Minimum number of values above a percentile; with fewer it is hardly more than the maximum."""
MERGE_REMEDY = "keep single values or a histogram log, and compare by --percentile"


def label(percent: float, name: str) -> str:
    """Format the name of a percentile: ``p99.9 of response_time``."""
    return f"p{percent:g} of {name}"


def replace_by_percentiles(
    sides: Sequence[Side], percents: Sequence[float]
) -> tuple[list[Side], Callable[[Pair], RunRatio]]:
    """Replace the quantities of all runs by their percentiles, and return the matching contrast.

    Raises
    ------
    RawperfError
        A run has neither single values nor a histogram, or only zeros.
    """
    kinds: dict[str, ComparedQuantity] = {}
    of_run: dict[tuple[str, str], tuple[float, Distribution]] = {}
    quantities = []
    for side in sides:
        runs = []
        too_few: dict[str, int] = {}
        for run in side.runs:
            _require_distribution(run)
            values = {}
            for name, distribution in run.distributions.items():
                kind = side.quantities.get(name, ComparedQuantity())
                for percent in percents:
                    named = label(percent, name)
                    values[named] = distribution.percentile(percent)
                    of_run[run.place, named] = percent, distribution
                    kinds[named] = ComparedQuantity(kind.unit, kind.better or "lower", named)
                    n_above = (1 - percent / 100) * distribution.total
                    too_few[named] = too_few.get(named, 0) + (n_above < MIN_BEYOND)
            runs.append(replace(run, values=values))
        notes = [
            f"{named}: {count} of {len(runs)} runs have fewer than {MIN_BEYOND} values above it"
            for named, count in too_few.items()
            if count
        ]
        quantities.append(replace(side, runs=tuple(runs), warnings=(*side.warnings, *notes)))
    sides = [replace(side, quantities=kinds) for side in quantities]

    def contrast_function(pair: Pair) -> RunRatio:
        if min(pair.a.values.min(), pair.b.values.min()) <= 0:
            return contrast(pair)
        b, a = assign_blocks(pair.b, pair.a)
        percent = of_run[a.run_ids[0], pair.quantity][0]
        above, below = ([of_run[run, pair.quantity][1] for run in side.run_ids] for side in (b, a))
        return percentile_ratio(above, below, percent, blocks_a=b.blocks, blocks_b=a.blocks)

    return sides, contrast_function


def _require_distribution(run: RunValues) -> None:
    if run.distributions:
        return
    printed = [name for name in (*run.values, *run.refused) if is_percentile(name)]
    only = f"only percentiles: {', '.join(printed[:3])}" if printed else ""
    raise RawperfError(
        "the run has neither single values nor a histogram to compute a percentile from"
        + ("; percentiles printed by its tool can't be merged" if printed else ""),
        file=run.place,
        expected="a histogram log, samples of single requests, or a table with one row per value",
        found=only or None,
        remedy="compare a percentile that the tool printed once per run by --quantity"
        if printed
        else None,
    )


def require_comparable(sides: Sequence[Side], patterns: Sequence[str]) -> None:
    """Raise `RawperfError` if a requested quantity was refused, as several percentiles of a run."""
    for side in sides:
        for run in side.runs:
            for name, reason in run.refused.items():
                if name in patterns:
                    raise RawperfError(
                        f"{name} can't be compared: {reason}", file=run.place, remedy=MERGE_REMEDY
                    )


SEED = 20090131
MAX_SENTENCES = 5
MIN_POSSIBLE_SPLITS = 100
"""Minimum number of distinct splits of a side for an A/A rate beside verdicts: six runs have ten
splits, so one is 10 %."""
MANY_ROWS = 20
"""Row count above which a note explains how to select quantities, if none has a direction."""
COLUMNS = ("quantity", "condition", "A", "B", "change", "interval", "p (Holm)", "verdict")
TIMES = frozenset({"s", "ms", "us", "µs", "ns", "min"})
RATES = frozenset({"1/s", "B/s", "MB/s", "MiB/s", "KiB/s", "Mbit/s"})


@dataclass(frozen=True)
class DifferentFact:
    """A fact about machine or tools that differs between the sides, with its values on each."""

    fact: str
    a: tuple[str, ...]
    b: tuple[str, ...]


@dataclass(frozen=True)
class ComparisonTable:
    """Result of a comparison of two sides or, for equal runs (`b` empty), the A/A false alarm rate.

    `margin` is a share; `level` applies to intervals and to Holm's method over `rows`.
    """

    a: str
    b: str
    margin: float
    level: float
    rows: tuple[RatioRow, ...] = ()
    equal_runs: tuple[EqualSplits, ...] = ()
    facts: tuple[DifferentFact, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def verdicts(self) -> frozenset[str]:
        return frozenset(row.verdict for row in self.rows)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Verbal summary: differences first, then throughputs; a geometric mean replaces its
        conditions.
        """
        if not self.b:
            return tuple(_aa_sentence(each) for each in self.equal_runs)
        without = {row.note for row in self.rows if row.low is None}
        if len(without) == 1 and all(row.low is None for row in self.rows):
            return (f"Whether {self.b} differs from {self.a} is undecided: {without.pop()}.",)
        means = [row for row in self.rows if row.is_mean]
        covered = {row.quantity for row in means}
        first = means + [
            row for row in self.rows if row.quantity.partition(" of ")[0] not in covered
        ]
        first.sort(key=lambda row: (row.verdict not in CALLED_DIFFERENT, row.better != "higher"))
        n_more = len(first) - MAX_SENTENCES
        sentences = [_sentence(row, self) for row in first[:MAX_SENTENCES]]
        return (*sentences, f"{n_more} more below.") if n_more > 0 else tuple(sentences)

    def to_dict(self) -> dict[str, Any]:
        """Convert to a JSON-compatible dictionary; missing numbers are null."""
        return {**asdict(self), "sentences": list(self.sentences)}

    def cells(self) -> list[tuple[str, ...]]:
        """Format the table's cells, in the order of `COLUMNS`."""
        return [_cells(row) for row in self.rows]

    def to_markdown(self) -> str:
        """Format sentences, table and remarks as Markdown."""
        lines = [f"- {sentence}" for sentence in self.sentences]
        if self.rows:
            lines += ["", _markdown_row(COLUMNS), _markdown_row("---" for _ in COLUMNS)]
            lines += [_markdown_row(cells) for cells in self.cells()]
        if self.facts:
            lines += ["", _markdown_row(("differs", "A", "B")), "| --- | --- | --- |"]
            lines += [_markdown_row(cells) for cells in self.fact_cells()]
        remarks = self.remarks()
        return "\n".join([*lines, *([""] if remarks else []), *(f"- {note}" for note in remarks)])

    def fact_cells(self) -> list[tuple[str, str, str]]:
        return [(fact.fact, _join_names(fact.a), _join_names(fact.b)) for fact in self.facts]

    def remarks(self) -> list[str]:
        """Deduplicated notes of rows, then those of the comparison."""
        notes = dict.fromkeys(row.note for row in self.rows if row.note)
        splits = [_aa_sentence(each) for each in self.equal_runs] if self.b else []
        return [*notes, *_pooling_notes(self.rows), *self.notes, *splits]

    def __str__(self) -> str:
        return self.to_markdown()


def compare(
    a: str | Path,
    b: str | Path | None = None,
    *,
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
    format: str | None = None,  # noqa: A002 - users' word
    splits: int = SPLITS,
    root: str | Path = ".",
) -> ComparisonTable:
    """Compare two sides of runs: is B slower than A?

    The unit of replication is a run. Runs in blocks are compared within blocks (`core.contrasts`);
    a side with a single run has no interval.

    Parameters
    ----------
    a, b : str or Path
        Folders of runs (run folders or raw files, one per run), glob patterns, ids of studies of
        the repository, or ``REVISION:`` followed by one of these. Or `a` alone, with `factor` or
        `revisions`.
    factor : sequence of str
        ``["kernel=6.1", "kernel=6.6"]``, two levels of a factor of the runs of `a`, or two values
        (patterns) of a fact about their machines or tools, such as ``host``.
    revisions : sequence of str
        Two git revisions of `a`, or one to compare with the working tree.
    where : mapping, optional
        Restrict to runs at these factor levels.
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
        There are no such runs, or they can't be read; both sides have the same runs, or nothing in
        common.
    ParameterError
        A parameter does not apply to this comparison, or two contradict each other.
    """
    layout = Layout(Path(root))
    where = where or {}
    stored = [_is_study(place, layout) for place in (a, b) if place is not None]
    if percentiles and any(stored):
        raise RawperfError(
            "--percentile does not apply to a study's stored values",
            expected="folders of runs, or of raw files",
            remedy="give the folder of its runs, or a quantity with statistic: quantile in study.yaml",
        )
    if not revisions:
        require_raw(format, stored)
    selection = _Selection(quantities, higher, lower, where)
    settings = _VerdictSettings(margin, level, splits)
    study = measured_study(layout, str(a), level) if factor and stored[0] else None
    if study and _factor_name(factor) in study.study.factors:
        if paired:
            raise ParameterError(
                "--paired does not apply to two levels of a study's factor",
                remedy="leave it out: runs of one block are compared within it",
            )
        return _compare_study_levels(study, factor, selection, settings)
    read = partial(
        _read_sides,
        layout=layout,
        format_name=format,
        where=where,
        level=level,
        distributions=bool(percentiles),
    )
    sides = (
        _split_by_factor(read((a,))[0], factor)
        if factor
        else read(_revision_sides(a, b, revisions, layout))
    )
    _require_factors(sides, where)
    return _compare_sides(
        list(_paired_sides(*sides)) if paired else sides, percentiles, selection, settings
    )


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
    splits: int

    @property
    def options(self) -> dict[str, Any]:
        return {"margin": self.margin, "level": self.level}


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
    pairs = [pair for pair in pairs if pair.quantity in selected]
    sides = [study.side(f"{name}={at}", name, at, pairs) for at in (first, second)]
    rows = ratio_rows(pairs, selected, contrast_function=study.contrast, **settings.options)
    return _comparison_table(sides, pairs, rows, selected, selection, settings)


def _compare_sides(
    sides: Sequence[Side],
    percentiles: Sequence[float],
    selection: _Selection,
    settings: _VerdictSettings,
) -> ComparisonTable:
    """Compare two sides by the runs' own values, or by percentiles."""
    contrast_function: ContrastFunction = contrast
    if percentiles:
        sides, contrast_function = replace_by_percentiles(sides, percentiles)
        settings = replace(settings, splits=0)  # splits apply to means only
    require_comparable(sides, selection.patterns)
    both = {**sides[1].quantities, **sides[0].quantities}
    left_out = _one_sided_note(sides, selection.of(both), of_each=bool(percentiles))
    if not selection.patterns:  # quantities of one side only can't be compared
        common = {*_quantity_names(sides[0])} & {*_quantity_names(sides[1])}
        both = {name: both[name] for name in both if name in common} or both
    selected = selection.of(both)
    pairs = _common_pairs(sides[0], sides[1], selected)
    rows = ratio_rows(pairs, selected, contrast_function=contrast_function, **settings.options)
    unequal_loads = tuple(unequal_load_notes(sides[0], sides[1], pairs))
    notes = [*_missing_value_notes(sides, pairs), *left_out]
    return _comparison_table(
        sides, pairs, rows, selected, selection, settings, notes, unequal_loads
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
        sides[0].name,
        sides[1].name,
        settings.margin,
        settings.level,
        tuple(rows),
        tuple(_aa_splits(pairs, selected, settings.splits, settings.options)),
        tuple(_different_facts(*sides)),
        (
            *_side_notes(sides),
            *left_out,
            *(_zero_note(pairs) if selection.patterns else ()),
            *_many_rows_note(rows, selected),
            *unequal_loads,
            *(_unequal_variance_notes(pairs, selected) if settings.splits else ()),
        ),
    )


def _pooling_notes(rows: Sequence[RatioRow]) -> Iterator[str]:
    """Yield a note on rows whose error is pooled over conditions: ``error pooled over 4 conditions:
    throughput; sent, guests=2``; single rows of a quantity with their condition.
    """
    pooled: dict[str, list[RatioRow]] = {}
    for row in rows:
        if (at := row.compared.find(POOLED)) >= 0:
            pooled.setdefault(row.compared[at:], []).append(row)
    counts = Counter(row.quantity for row in rows if not row.is_mean)
    for pooling, its_rows in pooled.items():
        pooled_counts = Counter(row.quantity for row in its_rows)
        names = [
            row.quantity
            if pooled_counts[row.quantity] == counts[row.quantity] or not row.condition
            else f"{row.quantity}, {row.condition}"
            for row in its_rows
        ]
        yield f"{pooling}: {_join_names(list(dict.fromkeys(names)), separator='; ')}"


def _zero_note(pairs: Sequence[Pair]) -> Iterator[str]:
    """Yield a note on quantities that are zero in all runs and so have no ratio."""
    names = [
        f"{pair.quantity}, {condition}"
        if (condition := condition_text(pair.condition))
        else pair.quantity
        for pair in pairs
        if not (pair.a.values.any() or pair.b.values.any())
    ]
    if names:
        yield f"left out: {_join_names(names)} (0 in all runs of both sides: no ratio is defined)"


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
    cells: dict[ComparedCell, Replicates]
    side: Side | None
    require_raw(format, [_is_study(place, layout)])
    if _is_study(place, layout):
        study: MeasuredStudy = measured_study(layout, str(place), level)
        conditions = study.conditions(where or {})
        known = study.measured(conditions)
        cells = {(quantity.name, quantity.at): runs for quantity, runs in conditions.items()}
        notes: list[str] = []
        side = None
    else:
        side = read_sides((place,), layout, format, where)[0]
        cells, known, notes = side.cells(side.varied), side.quantities, list(side.warnings)
    selected = quantities_to_compare(known, quantities, higher, lower)
    options: dict[str, Any] = {"margin": margin, "level": level}
    results = equal_splits(cells, selected, splits=splits, seed=seed, **options)
    notes += _unequal_variance_note(cells, selected)
    labelled = _aa_sides(side) if side else None
    if labelled:
        rows = ratio_rows(_common_pairs(*labelled, selected), selected, **options)
        names = [each.name for each in labelled]
        return ComparisonTable(
            names[0], names[1], margin, level, tuple(rows), tuple(results), notes=tuple(notes)
        )
    if not results:
        raise RawperfError(
            "no runs can be split",
            file=str(place),
            expected="at least 4 runs of a condition, or blocks with several runs",
        )
    return ComparisonTable(
        str(place), "", margin, level, equal_runs=tuple(results), notes=tuple(notes)
    )


def _aa_sides(side: Side) -> tuple[Side, Side] | None:
    """Return both halves of the runs of `virtperf measure --aa` (``a-...`` and ``b-...``, in
    pairs); None for other runs.
    """
    halves = []
    for label in AA_LABELS:
        runs = tuple(run for run in side.runs if run.run_id.startswith(f"{label}-"))
        halves.append(replace(side, name=f"{side.name}/{label}-*", runs=runs))
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
    level: float = 0.95,
    distributions: bool = False,
) -> list[Side]:
    """Read the sides in order; those of studies as stored by the runs stage."""
    others = [place for place in places if not _is_study(place, layout)]
    read = iter(
        read_sides(others, layout, format_name, where, distributions=distributions)
        if others
        else ()
    )
    return [
        measured_study(layout, str(place), level).all_runs(str(place), where)
        if _is_study(place, layout)
        else next(read)
        for place in places
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
    """Raise `RawperfError` for a factor in `where` that no run has."""
    known = {name for side in sides for run in side.runs for name in run.factors}
    for name in where:
        if name not in known:
            raise RawperfError(
                f"no run has a factor {name!r}",
                expected=", ".join(sorted(known)) or None,
                remedy=did_you_mean(name, known),
            )


def _common_pairs(a: Side, b: Side, selected: Mapping[str, ComparedQuantity]) -> list[Pair]:
    varied = a.varied | b.varied
    second = {(name, frozenset(at)): runs for (name, at), runs in b.cells(varied).items()}
    pairs = [
        Pair(quantity, condition, runs, second[quantity, frozenset(condition)])
        for name in selected
        for (quantity, condition), runs in a.cells(varied).items()
        if quantity == name and (quantity, frozenset(condition)) in second
    ]
    if not pairs:
        raise RawperfError(
            "the sides have no quantity at the same condition in common",
            expected=f"a quantity of {a.name}: {', '.join(_quantity_names(a)[:10]) or 'none'}",
            found=", ".join(_quantity_names(b)[:10]) or "none",
            remedy="runs are compared at the same levels of the factors that vary within a side",
        )
    return pairs


def _quantity_names(side: Side) -> list[str]:
    """Quantities of any run of a side, in order of first occurrence."""
    return list(dict.fromkeys(name for run in side.runs for name in run.values))


def _one_sided_note(sides: Sequence[Side], selected: Iterable[str], *, of_each: bool) -> list[str]:
    """Return a note on quantities of one side only; none for percentiles of single values."""
    if of_each:
        return []
    first, second = (set(_quantity_names(side)) for side in sides)
    alone = (("A", first - second), ("B", second - first))
    parts = [
        f"{_join_names(names)} (only in {letter})"
        for letter, quantities in alone
        if (names := [name for name in selected if name in quantities])
    ]
    return [f"left out: {'; '.join(parts)}"] if parts else []


def _many_rows_note(
    rows: Sequence[object], selected: Mapping[str, ComparedQuantity]
) -> Iterator[str]:
    if len(rows) > MANY_ROWS and not any(kind.better for kind in selected.values()):
        yield (
            "no direction (higher or lower is better) is known for these quantities, so all are "
            "compared: select some by --quantity, --higher-is-better or --lower-is-better NAME"
        )


def _paired_sides(a: Side, b: Side) -> tuple[Side, Side]:
    """Assign a block to each pair of runs: by equal names, else by position in order of names."""
    if len(a.runs) != len(b.runs):
        raise RawperfError(
            "the two sides have different numbers of runs and can't be paired",
            expected=str(len(a.runs)),
            found=str(len(b.runs)),
        )
    first, second = ({run.run_id: run for run in side.runs} for side in (a, b))
    names = sorted(first)
    if set(first) == set(second) and len(first) == len(a.runs):
        matched = [(first[name], second[name]) for name in names]
    else:
        matched = list(zip(a.runs, b.runs, strict=True))
    sides = []
    for side, place in ((a, 0), (b, 1)):
        runs = tuple(replace(two[place], block=f"pair {k}") for k, two in enumerate(matched, 1))
        sides.append(replace(side, runs=runs))
    return sides[0], sides[1]


def _unequal_variance_note(
    cells: Mapping[ComparedCell, Replicates], selected: Mapping[str, ComparedQuantity]
) -> Iterable[str]:
    """Yield a note on quantities left out of the A/A test within blocks."""
    if names := unequal_quantities(cells, selected):
        yield (
            f"A/A within blocks leaves out {_join_names(names)}: the variances of the conditions differ "
            "(Bartlett)"
        )


def _aa_splits(
    pairs: Sequence[Pair],
    selected: Mapping[str, ComparedQuantity],
    splits: int,
    options: Mapping[str, Any],
) -> Iterable[EqualSplits]:
    """Yield the A/A splits of each side for the remarks, if there are enough distinct splits."""
    for letter in "AB" if splits else "":
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


def _cells_of(pairs: Sequence[Pair], letter: str) -> dict[ComparedCell, Replicates]:
    return {(p.quantity, p.condition): p.a if letter == "A" else p.b for p in pairs}


def _different_facts(a: Side, b: Side) -> Iterable[DifferentFact]:
    first, second = a.facts, b.facts
    for name in sorted({*first, *second}):
        of_a, of_b = first.get(name, frozenset()), second.get(name, frozenset())
        if of_a != of_b:
            yield DifferentFact(name, tuple(sorted(of_a)), tuple(sorted(of_b)))


def _missing_value_notes(sides: Sequence[Side], pairs: Sequence[Pair]) -> Iterator[str]:
    """Yield a note on runs of a side that have no value of a compared quantity at the condition of
    others that have: ``B: 1 of 3 runs has no lat: t2.csv``.
    """
    varied = sides[0].varied | sides[1].varied
    for letter, side in zip("AB", sides, strict=True):
        quantities_of: dict[tuple[str, ...], list[str]] = {}
        for quantity in dict.fromkeys(pair.quantity for pair in pairs):
            conditions = {frozenset(p.condition) for p in pairs if p.quantity == quantity}
            lacking = tuple(
                run.run_id
                for run in side.runs
                if quantity not in run.values
                and quantity not in run.refused
                and frozenset((n, at) for n, at in run.factors.items() if n in varied) in conditions
            )
            if lacking:
                quantities_of.setdefault(lacking, []).append(quantity)
        for runs, quantities in quantities_of.items():
            has = "has" if len(runs) == 1 else "have"
            yield (
                f"{letter}: {len(runs)} of {len(side.runs)} runs {has} no {_join_names(quantities)}: "
                f"{_join_names(runs)}"
            )


def _side_notes(sides: Sequence[Side]) -> Iterable[str]:
    for letter, side in zip("AB", sides, strict=True):
        yield from (f"{letter}: {warning}" for warning in side.warnings)
        if side.disturbed:
            yield f"{letter}: {side.disturbed} of {len(side.runs)} runs were disturbed"


def change(ratio: float | None, low: float | None = None, high: float | None = None) -> list[str]:
    """Format a ratio and its limits as signed changes in %: ``-2.8 %``."""
    percent = [math.nan if v is None else 100 * (v - 1) for v in (ratio, low, high)]
    limits = percent if low is not None and high is not None else [percent[0]] * 3
    shown = as_precise(*limits) if low is not None else (number(percent[0], 3),) * 3
    signed = [
        f"+{text}" if value > 0 and not text.startswith(("+", "-", "−")) else text
        for text, value in zip(shown, limits, strict=True)
    ]
    return [text.replace("−", "-") for text in signed]


def _cells(row: RatioRow) -> tuple[str, ...]:
    by, low, high = change(row.ratio, row.low, row.high)
    unit = f" {row.unit}" if row.unit and row.unit != "1" else ""
    means = (f"{number(v)}{unit} (n={n})" if v is not None else "" for v, n in _means(row))
    more = f" ({row.more_runs} more runs per side needed)" if row.more_runs else ""
    return (
        row.quantity,
        row.condition,
        *means,
        f"{by} %" if row.ratio is not None else "n/a",
        f"{low} to {high} %" if row.low is not None and row.high is not None else "none",
        "" if row.p_holm is None else ("< 0.0001" if row.p_holm < 1e-4 else number(row.p_holm, 2)),
        row.verdict + more,
    )


def _means(row: RatioRow) -> tuple[tuple[float | None, int], tuple[float | None, int]]:
    return (row.mean_a, row.runs_a), (row.mean_b, row.runs_b)


def _sentence(row: RatioRow, table: ComparisonTable) -> str:
    """Summarize a row: ``B serves 2.8 % less than A, 1.8 to 3.8 % (throughput)``."""
    at = f", {row.condition}" if row.condition else ""
    of = f"({row.quantity}{at})"
    a, b = table.a, table.b
    if row.ratio is None:
        return f"{b} and {a} can't be compared {of}: a mean is zero."
    by, low, high = change(row.ratio, row.low, row.high)
    within = f", {low} to {high} %" if row.low is not None else ""
    if row.verdict == "undecided":
        more = f"; {row.more_runs} more runs per side needed" if row.more_runs else ""
        reason = f"; {row.note}" if row.note and row.low is None else ""
        return f"Whether {b} differs from {a} is undecided {of}: {by} %{within}{more}{reason}."
    if row.verdict == "same within the margin":
        return f"{b} is the same as {a} within {100 * table.margin:g} % {of}: {by} %{within}."
    down = row.ratio < 1
    ends = [text.lstrip("+-") if _excludes_one(row) else text for text in (low, high)]
    ends = ends[::-1] if down and _excludes_one(row) else ends
    reach = f", {ends[0]} to {ends[1]} %" if row.low is not None else ""
    amount = f"{by.lstrip('+-')} %"
    if row.better == "higher" and (row.unit in RATES or row.is_mean):
        return (
            f"{b} serves {amount} {'less' if down else 'more'} than {a}{reach} {of}: {row.verdict}."
        )
    if row.better == "lower" and (row.unit in TIMES or row.is_mean):
        words = f"{amount} {'less time' if down else 'longer'}"
        return f"{b} takes {words} than {a}{reach} {of}: {row.verdict}."
    rest = f"{amount} {'lower' if down else 'higher'} on {b} than on {a}{reach}"
    return f"{row.quantity}{at} is {rest}" + (f": {row.verdict}." if row.better else ".")


def _excludes_one(row: RatioRow) -> bool:
    return row.low is not None and row.high is not None and (row.low > 1) == (row.high > 1)


def _aa_sentence(equal: EqualSplits) -> str:
    few = (
        f"; there are only {equal.possible} distinct splits"
        if equal.possible < equal.splits
        else ""
    )
    return (
        f"A/A, {equal.design}: {equal.called} of {equal.splits} splits had a row called "
        f"different ({100 * equal.share:.1f} %); {equal.outside} of {equal.rows * equal.splits} "
        f"unadjusted intervals exclude 1{few}."
    )


def _join_names(values: Sequence[str], separator: str = ", ") -> str:
    shown = separator.join(values[:3]) or "not known"
    return f"{shown} and {len(values) - 3} more" if len(values) > 3 else shown


def _markdown_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
