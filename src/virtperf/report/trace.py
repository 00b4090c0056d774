"""Lineage of every plotted value: its formula, the runs and raw lines behind it, the claims that
set its limits.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from virtperf.core.estimate import Estimate
from virtperf.core.grouping import grouped
from virtperf.core.numbers import NO_BREAK, join_words, number, plural
from virtperf.core.provenance import RUN_KINDS
from virtperf.report import frames
from virtperf.report.frames import StudyData, allowed
from virtperf.report.wording import trace_key
from virtperf.study.claim_kinds.order import OrderClaim
from virtperf.study.claims import Claim
from virtperf.study.printed import corrections
from virtperf.study.quantities import Quantity

RawLines = Mapping[str, Mapping[str, Mapping[int, str]]]
"""Texts of raw lines by run, file and line; printable, and cut where they are long."""

STATISTIC_WORDS = {
    "mean": "mean of the steady",
    "median": "median over the",
    "max": "maximum over the",
    "sum": "sum over the",
    "quantile": "quantile over the",
    "interquartile": "interquartile range over the",
    "above": "share above a limit over the",
}


@dataclass(frozen=True)
class FileLines:
    """Samples of one raw file behind a value: line numbers from 1, or 0 if the format has none.

    `shown`: those of the lines in `RawLines` that show the value: its heading, the first and the
    last line.
    """

    path: str
    first_line: int
    last_line: int
    samples: int
    shown: tuple[int, ...] = ()

    @property
    def lines(self) -> str:
        """The line numbers in words."""
        if not self.last_line:
            return "no line numbers in this format"
        one = self.first_line == self.last_line
        return f"line {self.first_line}" if one else f"lines {self.first_line} to {self.last_line}"


@dataclass(frozen=True)
class RunTrace:
    """Contribution of one run to a value, with its raw lines; `window_s` is the evaluation window."""

    run: str
    provenance: str
    value: float
    metric: str
    source: str
    window_s: tuple[float | None, float | None]
    note: str
    files: tuple[FileLines, ...]


@dataclass(frozen=True)
class Limit:
    """Source of one end of a range.

    `claims`: ids of the paper's claims, `assumptions` of ours. `conventions`: in words, parts of
    the limit fixed by a convention of the study and not by the text. All are empty if the limit is
    a natural bound or the scale.
    """

    claims: tuple[str, ...]
    assumptions: tuple[str, ...]
    conventions: tuple[str, ...]

    @property
    def source(self) -> str:
        """Source of the limit in words."""
        named = [
            words
            for words, there in (
                ("the text", self.claims),
                ("an assumption of ours", self.assumptions),
                ("a convention of ours", self.conventions),
            )
            if there
        ]
        return join_words(named) if self.claims or self.assumptions else NO_CLAIM


NO_CLAIM = "a natural bound, or the scale by convention"


@dataclass(frozen=True)
class Trace:
    """Lineage of one plotted value; `key` is its permanent name.

    `low_text` to `high_text` is the range by the text alone, None for no limit, and `allowed_text`
    the same in words with its gaps; `low`, `high` and `allowed` are the plotted range, with our
    assumptions if enabled. `limits_text` and `limits` are the sources of their lower and upper
    ends. `means` are those plotted, one a provenance.
    """

    key: str
    exhibit: str
    series: str
    x: str
    quantity: str
    words: str
    unit: str
    formula: str
    printed: float | None
    printed_by: tuple[str, ...]
    low_text: float | None
    high_text: float | None
    allowed_text: str
    limits_text: tuple[Limit, Limit]
    low: float | None
    high: float | None
    allowed: str
    low_by: tuple[str, ...]
    high_by: tuple[str, ...]
    limits: tuple[Limit, Limit]
    means: tuple[Estimate, ...]
    runs: tuple[RunTrace, ...]
    excluded: tuple[tuple[str, str], ...]

    @property
    def assumed(self) -> bool:
        """Whether our assumptions change the range allowed by the text alone."""
        return self.allowed != self.allowed_text

    def to_dict(self) -> dict[str, Any]:
        """Convert to a JSON-compatible dictionary; unknown limits are null."""
        means = [
            {
                "provenance": str(mean.origin.provenance) if mean.origin else "",
                **{
                    name: _finite(getattr(mean, name)) for name in ("value", "low", "high", "level")
                },
                "n": mean.n,
                "what": "sample" if mean.of_samples else "run",
            }
            for mean in self.means
        ]
        return {**asdict(self), "means": means}


def traces(data: StudyData, *, assumptions: bool = True) -> Iterator[Trace]:
    """Yield the trace of every point of every figure, in the study's order; `assumptions` False
    uses the text alone.
    """
    lineage = grouped(
        ((row["run_id"], row["quantity"]), {str(name): cell for name, cell in row.items()})
        for row in data.lineage.to_dict("records")
    )
    headings = {(run, file, line): heading for run, file, line, heading, _ in _rows(data.raw_lines)}
    claims = {c.id: c for c in data.claims or ()}
    refused = tuple(
        (str(q["run"]), f"{q['problem']} ({q['file']}, line {q['line']})")
        for q in data.index.get("quarantined", [])
    )
    observations = data.observations.to_dict("records")
    for exhibit in data.study.exhibits:
        if not exhibit.series:
            continue
        rows = frames.points(data, exhibit, assumptions=assumptions).to_dict("records")
        for (series, x, quantity), row in zip(data.study.points(exhibit), rows, strict=True):
            observed = [observations[row] for row in data.observed.get(quantity, ())]
            used, unseen = _runs(data, quantity, observed, lineage, headings)
            means = (data.mean(quantity, kind) for kind in RUN_KINDS)
            ends = {
                name: limit(data, claims, row[name])
                for name in ("low_by", "high_by", "low_text_by", "high_text_by")
            }
            yield Trace(
                key=trace_key(data.study.id, exhibit.id, series.label, x),
                exhibit=exhibit.id,
                series=series.label,
                x=str(x),
                quantity=quantity.key(),
                words=data.study.show(quantity),
                unit=data.study.quantities[quantity.name].unit,
                formula=formula(data, quantity),
                printed=_finite(row["printed"]),
                printed_by=_printed_by(data, quantity, row["printed"]),
                low_text=_finite(row["low_text"]),
                high_text=_finite(row["high_text"]),
                allowed_text=allowed(row["pieces_text"]),
                limits_text=(ends["low_text_by"], ends["high_text_by"]),
                low=_finite(row["low"]),
                high=_finite(row["high"]),
                allowed=allowed(row["pieces"]),
                low_by=tuple(row["low_by"]),
                high_by=tuple(row["high_by"]),
                limits=(ends["low_by"], ends["high_by"]),
                means=tuple(mean for mean in means if mean is not None),
                runs=used,
                excluded=unseen + refused,
            )


def raw_lines(data: StudyData) -> RawLines:
    """All raw lines that the study's traces show."""
    found: dict[str, dict[str, dict[int, str]]] = {}
    for run, file, line, _, text in _rows(data.raw_lines):
        found.setdefault(run, {}).setdefault(file, {})[line] = text
    return found


def _rows(frame: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    return zip(*(frame[name].tolist() for name in frame), strict=True)


def lines_behind(trace: Trace, lines_of: RawLines) -> RawLines:
    """The raw lines that one trace shows."""
    found: dict[str, dict[str, dict[int, str]]] = {}
    for run in trace.runs:
        for file in run.files:
            texts = found.setdefault(run.run, {}).setdefault(file.path, {})
            texts |= {line: lines_of[run.run][file.path][line] for line in file.shown}
    return found


def limit(data: StudyData, claims: Mapping[str, Claim], by: Sequence[str]) -> Limit:
    """Group the claims that set an end by source; unknown ids count as the text's."""
    known = [claims[name] for name in by if name in claims]
    return Limit(
        claims=tuple(name for name in by if name not in claims or not claims[name].assumed),
        assumptions=tuple(claim.id for claim in known if claim.assumed),
        conventions=tuple(
            dict.fromkeys(words for claim in known for words in _conventions(data, claim))
        ),
    )


def _conventions(data: StudyData, claim: Claim) -> Iterator[str]:
    """Conventions in a claim's limit: words read as numbers, and the smallest difference that
    counts as an order, whatever its true size.
    """
    if claim.reading and not claim.assumed:
        yield f"read as: {claim.reading}"
    if not (isinstance(claim, OrderClaim) and claim.is_strict):
        return
    names = dict.fromkeys(
        part.terms[0][1].name for i in claim.instances for part in i.parts if part.terms
    )
    for kind in (data.study.quantities[name] for name in names):
        if kind.resolution:
            unit = "" if kind.unit in ("", "1") else f"{NO_BREAK}{kind.unit}"
            yield (
                f"larger or smaller means a difference of at least {number(kind.resolution)}{unit}, "
                "the resolution of the study"
            )


def _printed_by(data: StudyData, quantity: Quantity, printed: float) -> tuple[str, ...]:
    """Claims that print this very value."""
    if not math.isfinite(printed):
        return ()
    return tuple(
        c.id
        for c in data.claims or ()
        if c.prints_level
        and not c.assumed
        and any(
            len(i.parts[0].terms) == 1 and i.parts[0].terms[0] == (1.0, quantity)
            for i in c.instances
        )
    )


def _runs(
    data: StudyData,
    quantity: Quantity,
    observations: Sequence[Mapping[Any, Any]],
    lineage: Mapping[Any, list[Any]],
    headings: Mapping[tuple[str, str, int], int],
) -> tuple[tuple[RunTrace, ...], tuple[tuple[str, str], ...]]:
    """Runs that observed the quantity on the figure's scale, of all its observations; other runs with
    the reason.
    """
    # runs without a run of their reference have no relative value
    column = "relative" if data.study.quantities[quantity.name].references else "value"
    used, unseen = [], []
    for row in sorted(
        observations, key=lambda row: (RUN_KINDS.index(row["provenance"]), row["run_id"])
    ):
        if _finite(row[column]) is None:
            unseen.append((str(row["run_id"]), str(row["note"])))
            continue
        parts = lineage.get((row["run_id"], quantity.name), [])
        of: dict[str, Any] = next((part for part in parts if part["role"] == "of"), {})
        used.append(
            RunTrace(
                str(row["run_id"]),
                str(row["provenance"]),
                float(row[column]),
                str(row["metric"]),
                str(row["source"]),
                (_finite(of.get("begin_s")), _finite(of.get("end_s"))),
                str(row["note"]),
                tuple(
                    FileLines(
                        str(part["file"]),
                        int(part["first_line"]),
                        int(part["last_line"]),
                        int(part["samples"]),
                        _shown(part, headings),
                    )
                    for part in parts
                ),
            )
        )
    return tuple(used), tuple(unseen)


def _shown(
    part: Mapping[str, Any], headings: Mapping[tuple[str, str, int], int]
) -> tuple[int, ...]:
    run, file, first, last = (part[name] for name in ("run_id", "file", "first_line", "last_line"))
    lines = {headings.get((run, file, first), 0), first, last}
    return tuple(sorted(line for line in lines if (run, file, line) in headings))


def formula(data: StudyData, quantity: Quantity) -> str:
    """Formula from a run's samples to the value, in words."""
    kind = data.study.quantities[quantity.name]
    rule = kind.observed
    if not rule:
        return "not observed in runs: computed from the set-up, or printed"
    parts = [_source(source) for source in rule["from"]]
    how = "the sum over all entities" if rule["combine"] == "sum" else "the mean over all entities"
    words = f"{how} of the {STATISTIC_WORDS[rule.get('statistic', 'mean')]} window of "
    words += " or, if a run has none, ".join(parts)
    if "per" in rule:
        words += f", divided by the same statistic of {_source(rule['per'])}"
    if "cpus" in rule:
        words += f", as a share of {rule['cpus']} processors"
    if "share" in rule:
        words += f", quantile level {rule['share']:g}"
    if "limit" in rule:
        words += f", limit {rule['limit']['value']:g} {rule['limit']['unit']}"
    if "less" in rule:
        words += f", less {data.study.factors[rule['less']].label}"
    if kind.unit and not rule.get("relative"):
        words += f", in {kind.unit}"
    reference = data.study.reference_for(quantity)
    if reference is not None:
        words += f", relative to the mean of the runs at {data.study.show(reference[0])}, which is {reference[1]:g}"
    return f"{words}. Plotted: the mean over runs."


def _source(source: Mapping[str, str]) -> str:
    named = f" {source['entity']}" if "entity" in source else ""
    return f"{source['metric']} ({source['entity_kind']}{named})"


def _finite(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


@dataclass(frozen=True)
class TableTrace:
    """Lineage of a printed table: key (``study/table-4``), file, line and first cell of every row,
    corrected cells with the reasons, claims about it.
    """

    key: str
    exhibit: str
    title: str
    section: str
    file: str
    reworded: bool
    lines: tuple[tuple[int, str], ...]
    corrected: tuple[tuple[str, str], ...]
    claims: tuple[str, ...]


def table_traces(data: StudyData) -> Iterator[TableTrace]:
    """Yield the trace of every printed table, in the study's order; raises `StudyError` as its kind
    does.
    """
    study = data.study
    for exhibit in study.exhibits:
        name = exhibit.spec.get("table")
        if not name:
            continue
        wrong = corrections(study, str(name))
        with (study.folder / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file)
            next(reader, None)
            lines, last = [], reader.line_num
            for row in reader:
                lines.append((last + 1, row[0] if row else ""))
                last = reader.line_num
        yield TableTrace(
            key=f"{study.id}/{exhibit.id}",
            exhibit=exhibit.id,
            title=exhibit.title,
            section=exhibit.section,
            file=f"data/published/{study.id}/tables/{name}.csv",
            reworded=bool(exhibit.spec.get("reworded")),
            lines=tuple(lines),
            corrected=tuple(
                (
                    f"{c.row}, {c.column}: printed {c.printed or 'nothing'}, corrected {c.corrected}",
                    c.reason,
                )
                for c in wrong
            ),
            claims=data.claims_about(exhibit.id),
        )


def table_text(trace: TableTrace, claims: dict[str, str]) -> str:
    """Format the trace as plain text."""
    lines = [
        trace.key,
        f"  value    {trace.title}, {'reworded, numbers ' * trace.reworded}as printed"
        + (f" in section {trace.section!r}" if trace.section else ""),
        f"  file     {trace.file}",
    ]
    lines += [f"    line {line}: {cell}" for line, cell in trace.lines]
    lines += [f"  corrected {cell}; {reason}" for cell, reason in trace.corrected]
    lines += [f"  claim    {c}: {claims[c]}" for c in trace.claims]
    return "\n".join(lines)


def numbered(shown: Sequence[int], lines_of: RawLines, run: str, file: str) -> list[str]:
    """Raw lines of a file after their right-aligned numbers."""
    width = len(str(max(shown, default=0)))
    return [f"{line:>{width}}  {lines_of[run][file][line]}" for line in shown]


def _limit_lines(
    ends: tuple[float | None, float | None],
    limits: tuple[Limit, Limit],
    claims: Mapping[str, str],
) -> Iterator[str]:
    for end, value, limit in zip(("lower", "upper"), ends, limits, strict=True):
        if value is None:
            yield f"    no {end} limit"
            continue
        yield f"    {end} limit, by {limit.source}"
        for name in (*limit.claims, *limit.assumptions):
            yield f"      {name}: {claims[name]}" if name in claims else f"      {name}"
        yield from (f"      convention: {words}" for words in limit.conventions)


def trace_text(
    trace: Trace, claims: dict[str, str], *, paper: bool = True, lines_of: RawLines | None = None
) -> str:
    """Format the trace as plain text; without a `paper` the range by the text is left out.

    With `lines_of`, the raw lines are included.
    """
    lines = [trace.key, f"  value    {trace.words}, in {trace.unit}", f"  formula  {trace.formula}"]
    if trace.printed is not None:
        lines.append(f"  printed  {number(trace.printed)}, by {', '.join(trace.printed_by)}")
    if paper:
        lines.append(f"  by the text alone  {trace.allowed_text}")
        lines += _limit_lines((trace.low_text, trace.high_text), trace.limits_text, claims)
    if paper and trace.assumed:
        lines.append(f"  with our assumptions  {trace.allowed}")
        lines += _limit_lines((trace.low, trace.high), trace.limits, claims)
    for mean in trace.means:
        assert mean.origin is not None  # `StudyData.mean` gives every mean its origin
        ends = f"{number(mean.low)} to {number(mean.high)}"
        limits = f", {mean.level:.0%} interval {ends}" if mean.bounded else ""
        word, what = ("value", "sample") if mean.of_samples else ("mean", "run")
        counted = f"{number(mean.value)} over {plural(mean.n, what)}"
        lines.append(f"  {word:<8} {counted}{limits} ({mean.origin.provenance})")
    for run in trace.runs:
        since, until = run.window_s
        window = (
            "all samples"
            if since is None or until is None
            else f"window {number(since)} to {number(until)} s"
        )
        lines.append(
            f"  run      {run.run} ({run.provenance}): {number(run.value, 6)}; {run.metric}, {window}"
        )
        for f in run.files:
            lines.append(f"    {f.path}: {f.lines}, {plural(f.samples, 'sample')}")
            if lines_of is not None:
                lines += [f"    {row}" for row in numbered(f.shown, lines_of, run.run, f.path)]
        lines += [f"    note: {run.note}"] if run.note else []
    lines += [f"  not used {run}: {why}" for run, why in trace.excluded]
    return "\n".join(lines)
