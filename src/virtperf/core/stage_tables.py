"""Schemas of all tables that one stage writes and another reads: one Parquet file per study each.

Columns of a study's factors are typed like the levels in the study. Several ids in one cell are a
list, never joined text. All figures and verdicts of the package are computed from these tables;
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
"""One row per plotted point: the range allowed by the claims with our assumptions (low, high) and
by the text alone (low_text, high_text), with the claims that set each of the four ends. Unlimited
ends are infinite. `pieces` and `pieces_text` are the same ranges with gaps: low1, high1, low2,
high2, ... in ascending order, the union over all minimal resolutions of contradictions."""

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
"""One row per derived number (`derived` of study.yaml; `gives` where a declaration has several):
its range with and without our assumptions, as in `POINTS`. For an argmax, `levels` are the possible
positions of the maximum. The method is "exact", or "searched" over `data_sets` data sets: an inner
range of attained values. `printed`: the paper's numbers for it."""

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
"""One row per claim: its verdict by the text alone and with our assumptions, its own limits, those
implied by the other claims in the text alone, the claims it contradicts, and whether it is set
aside. Unlimited ends are infinite; value, low and high are missing where a claim has none."""

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
"""One row per difference, by the text alone, between the reading of words in force and another one,
with both results. By `kind`: "verdict" and "set aside" of a claim (`name`), "range" of a plotted
point's quantity, "derived" of a derived number (`name` its declaration, `label` its own); for an
argmax, `verdict` holds its levels. `claims` of a derived number are those with a reinterpreted word
among the claims connected to its quantities. Unlimited ends are infinite; cells that do not apply
to a kind are empty or missing."""

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
"""One row per sample, sorted by these columns: `t_s` in seconds from the run's start, missing for a
total of the run; `file` relative to the run's folder; `line` of the number, 0 where the format does
not record it. A rate has the line of its later counter, a sum that of its first term."""

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
"""One row per run, entity and metric: its steady-state mean over `n` samples from `begin_s` on."""

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
"""One row per run and quantity, in the quantity's unit. `trend` is the relative change over the
window by a straight-line fit, as a share of the mean. `relative` is in the unit of the quantity's
reference points, missing for a quantity without them. Runs of one `block` were made one after
another; it is empty where unknown. `day` is the date on which the run began. Where a run does not
give a value, it is missing and `note` gives the reason."""

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
"""One row per quantity, combination of factor levels, provenance and scale: the mean over `n` runs
(`core.estimate`). The scale is "own" (the unit in which runs observe it) or "relative" (that of the
quantity's reference points). `trend` is the mean of the runs' trends with its interval, `steady`
its classification (`study.conditions`)."""

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
"""One row per run, quantity and raw file: the samples behind an observation. Role "of" is the
observed metric, "per" the divisor. Samples count that cover a part of the time from `begin_s` to
`end_s`; a total has the declared window. Lines are 0 where the format does not record them."""

RAW_LINES = TableSchema(
    "raw_lines.parquet",
    "runs",
    {
        "run_id": TEXT,
        "file": TEXT,
        "line": WHOLE,
        "heading": WHOLE,
        "text": TEXT,
    },
)
"""One row per raw line that a trace shows: the first and the last line of each row of `LINEAGE`, and
the heading of the first: the nearest line above it with letters and without a number that stands
alone, 0 if there is none, and for other lines. `text` has at most 300 bytes of the line, with control characters and
bytes that are not UTF-8 escaped, and a note where the line was cut."""

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
"""One row per sample of a figure over time, summed over its entities: for each provenance the first
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
"""One row per independent sample of a figure of distributions, ascending within its series, in the
unit of the series' quantity, with `lower` equal to the value and `count` 1; or one row per
histogram bucket, from `lower` to `value`."""

THUMBNAILS = TableSchema(
    "thumbnails.parquet",
    "runs",
    {
        "run_id": TEXT,
        "metric": TEXT,
        "step": WHOLE,
        "t_s": NUMBER,
        "value": NUMBER,
    },
    digits=5,
)
"""At most 80 steps per run over its whole length, at the mean time of their samples, of the first
metric that the study's responses, else its other quantities, observe in it."""

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
"""One row per run and audit: the value found, the expected value and its tolerance limits."""

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
        "allowed_low": NUMBER,
        "allowed_high": NUMBER,
        "runs_needed": NUMBER,
        "detectable": NUMBER,
        "detectable_unit": TEXT,
        "reason": TEXT,
    },
    digits=7,
)
"""One row per claim: its verdicts by the text and by measured runs, its estimate from measured runs
with the deciding interval and the limits of the claim for it, tolerance included, the runs per
condition needed to decide an undecided one (infinite above 1,000), the distance from a limit that
the runs would have detected with a power of 80 %, the reason. Limits are missing without replicated
runs, and infinite where a divisor is not clearly different from zero."""

VERDICTS_BY_LEVEL = TableSchema(
    "verdicts-by-level.parquet",
    "runs",
    {
        "claim": TEXT,
        "level": LEVEL,
        "measured_verdict": TEXT,
        "estimate": NUMBER,
        "estimate_low": NUMBER,
        "estimate_high": NUMBER,
        "allowed_low": NUMBER,
        "allowed_high": NUMBER,
        "reason": TEXT,
    },
    digits=7,
)
"""One row per claim and level of the factor named by the study in `judged_over`: the verdict by the
runs at that level alone; level "every" is the verdict over all levels. Empty where a study names
none."""

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
"""One row per claim and alternative reading of words that changes its verdict by measured runs: the
verdict in force, the alternative one, and the reason of the latter."""

EXAMPLE_VERDICTS = replace(VERDICTS, file="example-verdicts.parquet")
"""`VERDICTS` by example runs, shown only by reports with `show_examples`."""

TABLES_WITH_FACTORS = (SERIES, OBSERVATIONS, MEANS)
"""Tables with a column for each factor of the study."""
