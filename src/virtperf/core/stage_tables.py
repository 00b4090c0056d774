"""Every table that one stage writes and another reads. Each is one Parquet file a study, named by
its declaration.

The columns of a study's factors are typed as the study writes their levels. Ids in one cell are a
list, never joined text. Whatever the package draws or judges comes from these tables;
`report.frames` reads them all.
"""

from __future__ import annotations

from dataclasses import replace

from virtperf.core.schema import CellKind, TableSchema

TEXT, NUMBER, WHOLE, TRUTH, LEVEL, NAMES, NUMBERS = CellKind

# ---- reconstruct: data/reconstructed/<study>
# ------------------------------------------------------------------------

POINTS = TableSchema(
    "points.parquet",
    "reconstruct",
    {
        "exhibit": TEXT,
        "series": TEXT,
        "x": LEVEL,
        "quantity": TEXT,
        "low": NUMBER,
        "high": NUMBER,
        "low_text": NUMBER,
        "high_text": NUMBER,
        "pieces": NUMBERS,
        "pieces_text": NUMBERS,
        "low_by": NAMES,
        "high_by": NAMES,
        "low_text_by": NAMES,
        "high_text_by": NAMES,
    },
    digits=7,
)
"""One row a plotted point: the range that the claims and our assumptions allow (low, high), what
the text alone allows (low_text, high_text), the claims that set each of the four ends. Where
nothing sets a limit it is infinite. `pieces` and
`pieces_text` are the same ranges where they have gaps: low1, high1, low2, high2, ... in ascending
order, the union over all smallest ways to resolve contradictions."""

RANGES = TableSchema(
    "ranges.parquet",
    "reconstruct",
    {
        "derived": TEXT,
        "gives": TEXT,
        "label": TEXT,
        "exhibits": NAMES,
        "kind": TEXT,
        "unit": TEXT,
        "low": NUMBER,
        "high": NUMBER,
        "low_text": NUMBER,
        "high_text": NUMBER,
        "pieces": NUMBERS,
        "pieces_text": NUMBERS,
        "levels": NAMES,
        "levels_text": NAMES,
        "method": TEXT,
        "data_sets": WHOLE,
        "note": TEXT,
        "printed": NUMBERS,
    },
    digits=6,
)
"""One row a derived number (`derived` of study.yaml; `gives` where a declaration has several): its
range with and without our assumptions, as in `POINTS`. For an argmax, `levels` are those at which
the largest value can be. The method is "exact", or "searched" over so many data sets: the number
takes at least these values. `printed`: the paper's numbers for it."""

CLAIMS = TableSchema(
    "claims.parquet",
    "reconstruct",
    {
        "claim": TEXT,
        "kind": TEXT,
        "text_verdict": TEXT,
        "verdict_with_assumptions": TEXT,
        "value": NUMBER,
        "low": NUMBER,
        "high": NUMBER,
        "implied_low": NUMBER,
        "implied_high": NUMBER,
        "information": NUMBER,
        "conflicts": NAMES,
        "dropped": TRUTH,
    },
    digits=7,
)
"""One row a claim: its verdict by the text alone and with our assumptions, its own limits, those
that the other claims imply by the text alone, the claims that it contradicts, and whether it is set
aside. Limits that nothing sets are infinite; a value, low and high that a claim does not have are
missing."""

READINGS = TableSchema(
    "readings.parquet",
    "reconstruct",
    {
        "reading": TEXT,
        "kind": TEXT,
        "name": TEXT,
        "label": TEXT,
        "verdict": TEXT,
        "verdict_read": TEXT,
        "low": NUMBER,
        "high": NUMBER,
        "low_read": NUMBER,
        "high_read": NUMBER,
        "claims": NAMES,
    },
    digits=7,
)
"""One row for what differs, by the text alone, under a reading of words that is not in force: as it
is in force and as it would be read. By `kind`: "verdict" and "set aside" of a claim (`name`), "range"
of a plotted point's quantity, "derived" of a derived number (`name` its declaration, `label` its
own), for a place of the largest value its levels in `verdict`. `claims` are, of a derived number,
those with a word that is read otherwise among the claims that its quantities are connected by.
Infinite ends are open; what a row of another kind would have is empty or missing."""

# ---- runs: data/samples/<study>/<run_id>.parquet
# ------------------------------------------------------------------

SAMPLES = TableSchema(
    "<run_id>.parquet",
    "runs",
    {
        "run_id": TEXT,
        "source": TEXT,
        "entity_kind": TEXT,
        "entity": TEXT,
        "metric": TEXT,
        "t_s": NUMBER,
        "value": NUMBER,
        "file": TEXT,
        "line": WHOLE,
    },
    digits=None,
)
"""One row a sample, sorted by these columns: `t_s` in seconds from the run's start, missing for a
total of the run;
`file` within the run's folder; `line` the line that holds the number, 0 where the format does not
say. A rate has the line of its later counter, a sum that of its first part."""

# ---- runs: data/runs/<study>
# -----------------------------------------------------------------------------------

SERIES = TableSchema(
    "series.parquet",
    "runs",
    {
        "run_id": TEXT,
        "provenance": TEXT,
        "replicate": WHOLE,
        "source": TEXT,
        "entity_kind": TEXT,
        "entity": TEXT,
        "metric": TEXT,
        "unit": TEXT,
        "n": WHOLE,
        "value": NUMBER,
        "se": NUMBER,
        "df": NUMBER,
        "low": NUMBER,
        "high": NUMBER,
        "method": TEXT,
        "declared_warmup_s": NUMBER,
        "warmup_s": NUMBER,
        "begin_s": NUMBER,
        "stationarity": TEXT,
        "flags": TEXT,
    },
    factors_before="source",
)
"""One row a run, entity and metric: its steady-state mean over `n` samples from `begin_s` on."""

OBSERVATIONS = TableSchema(
    "observations.parquet",
    "runs",
    {
        "run_id": TEXT,
        "provenance": TEXT,
        "replicate": WHOLE,
        "block": TEXT,
        "day": TEXT,
        "quantity": TEXT,
        "value": NUMBER,
        "se": NUMBER,
        "df": NUMBER,
        "low": NUMBER,
        "high": NUMBER,
        "n": WHOLE,
        "method": TEXT,
        "begin_s": NUMBER,
        "relative": NUMBER,
        "relative_se": NUMBER,
        "relative_df": NUMBER,
        "metric": TEXT,
        "source": TEXT,
        "entity_kind": TEXT,
        "entities": WHOLE,
        "stationarity": TEXT,
        "trend": NUMBER,
        "note": TEXT,
    },
    factors_before="quantity",
)
"""One row a run and quantity, in the quantity's unit. `trend` is the change from the begin of the
window to its end as a share of the mean, by a straight line. `relative` is in the unit of the quantity's
reference points, missing for a quantity without them. Runs of one `block` were made one after
another; it is empty where that is not known. `day` is the date on which the run began. Where the
run can't tell, value is missing and `note` says why."""

MEANS = TableSchema(
    "means.parquet",
    "runs",
    {
        "quantity": TEXT,
        "provenance": TEXT,
        "scale": TEXT,
        "value": NUMBER,
        "se": NUMBER,
        "df": NUMBER,
        "low": NUMBER,
        "high": NUMBER,
        "level": NUMBER,
        "n": WHOLE,
        "method": TEXT,
        "trend": NUMBER,
        "trend_low": NUMBER,
        "trend_high": NUMBER,
        "steady": TEXT,
        "runs": NAMES,
    },
    factors_before="provenance",
)
"""One row a quantity, its factor levels, a provenance and a scale: the mean over `n` runs
(`core.mean`). The scale is "own" (the unit in which runs observe it) or "relative" (that of the
quantity's reference points). `trend` is the mean of the runs' own with its interval, `steady` what
it says (`study.conditions`)."""

LINEAGE = TableSchema(
    "lineage.parquet",
    "runs",
    {
        "run_id": TEXT,
        "quantity": TEXT,
        "metric": TEXT,
        "source": TEXT,
        "entity_kind": TEXT,
        "entities": NAMES,
        "role": TEXT,
        "begin_s": NUMBER,
        "end_s": NUMBER,
        "file": TEXT,
        "first_line": WHOLE,
        "last_line": WHOLE,
        "samples": WHOLE,
    },
)
"""One row a run, quantity and raw file: the samples that an observation rests on. Role "of" is the
observed metric, "per" the one that it is divided by. Samples count after `begin_s` up to `end_s`; a
total has the declared window. Lines are 0 where the format does not say."""

TIMELINES = TableSchema(
    "timelines.parquet",
    "runs",
    {
        "exhibit": TEXT,
        "series": TEXT,
        "unit": TEXT,
        "provenance": TEXT,
        "run_id": TEXT,
        "t_s": NUMBER,
        "value": NUMBER,
    },
)
"""One row a sample of a figure over time, summed over its entities: of every provenance the first
run at the figure's condition, in the order measured, example."""

DISTRIBUTIONS = TableSchema(
    "distributions.parquet",
    "runs",
    {
        "exhibit": TEXT,
        "series": TEXT,
        "unit": TEXT,
        "provenance": TEXT,
        "run_id": TEXT,
        "lower": NUMBER,
        "value": NUMBER,
        "count": NUMBER,
    },
)
"""One row an independent sample of a figure of distributions, ascending within its series, in the
unit of the series' quantity: `lower` is the value and `count` 1. Or a row a bucket of a histogram,
from `lower` to `value`."""

THUMBNAILS = TableSchema(
    "thumbnails.parquet",
    "runs",
    {
        "run_id": TEXT,
        "metric": TEXT,
        "step": WHOLE,
        "value": NUMBER,
    },
    digits=5,
)
"""At most 80 steps a run over its whole length: the first metric that the study's quantities
observe in it.
"""

AUDITS = TableSchema(
    "audits.parquet",
    "runs",
    {
        "run_id": TEXT,
        "provenance": TEXT,
        "audit": TEXT,
        "value": NUMBER,
        "expected": NUMBER,
        "low": NUMBER,
        "high": NUMBER,
        "status": TEXT,
        "note": TEXT,
    },
)
"""One row a run and audit: what was found, what was expected, between which limits it may lie."""

# ---- runs: data/verdicts/<study>
# -----------------------------------------------------------------------------------

VERDICTS = TableSchema(
    "verdicts.parquet",
    "runs",
    {
        "claim": TEXT,
        "text_verdict": TEXT,
        "measured_verdict": TEXT,
        "estimate": NUMBER,
        "estimate_low": NUMBER,
        "estimate_high": NUMBER,
        "runs_needed": NUMBER,
        "detectable": NUMBER,
        "detectable_unit": TEXT,
        "reason": TEXT,
    },
    digits=7,
)
"""One row a claim: its verdict by the text and by measured runs, its number from measured runs with
the interval that decides, how many runs of every condition would decide where it is undecided
(infinite for more than 1,000), the distance from a limit that the runs would have shown with a
probability of 80 %, the reason. Limits are missing where runs were not repeated, and
infinite where a divisor is not clearly different from zero."""

VERDICTS_ELSEWHERE = TableSchema(
    "verdicts-elsewhere.parquet",
    "runs",
    {
        "claim": TEXT,
        "level": LEVEL,
        "measured_verdict": TEXT,
        "estimate": NUMBER,
        "estimate_low": NUMBER,
        "estimate_high": NUMBER,
        "reason": TEXT,
    },
    digits=7,
)
"""One row a claim and other level of the factor that the study names in `judged_over`: the verdict
by the runs there. Empty where a study names none."""

VERDICTS_READ = TableSchema(
    "verdicts-readings.parquet",
    "runs",
    {
        "reading": TEXT,
        "claim": TEXT,
        "measured_verdict": TEXT,
        "measured_verdict_read": TEXT,
        "reason": TEXT,
    },
)
"""One row a claim and reading of words that is not in force, where measured runs would have another
verdict on it: the one in force, the other, and the reason of the other."""

EXAMPLE_VERDICTS = replace(VERDICTS, file="example-verdicts.parquet")

TABLES_WITH_FACTORS = (SERIES, OBSERVATIONS, MEANS)
"""Tables with a column for each factor of the study."""
"""The same of example runs, shown by reports with `show_examples` only."""
