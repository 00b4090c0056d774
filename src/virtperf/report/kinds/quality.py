"""Data quality of a study's runs: exclusions, audits, warm-up and stationarity."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from virtperf.core.grouping import grouped
from virtperf.core.numbers import as_precise, join_words, plural, pretty
from virtperf.report.key_numbers import PERCENTS, point_precision
from virtperf.report.kinds import Context, ExhibitKind, register
from virtperf.report.records import (
    Block,
    Folded,
    Grid,
    Heading,
    Listing,
    Paragraph,
    Record,
    Span,
    Words,
    is_long,
)
from virtperf.study.conditions import (
    CONSTANT,
    DRIFT,
    NOT_TESTED,
    STEADY_MARGIN,
    UNDETERMINED,
    rows_by_quantity,
)
from virtperf.study.run_groups import RunGroup, run_groups

MAX_LISTED_RUNS = 100  # excluded runs named on the page
MAX_KINDS = 3  # of warnings named in a sentence
MAX_NAMED_RUNS = 4  # runs named in a sentence
MACHINE_FACTS = ("cpu", "processors", "memory_mb", "kernel")
FACT_SUFFIXES = {"mb": "MiB", "mhz": "MHz"}
"""Units by the last word of a fact's name."""
PASSED_STATUSES = ("ok", "pass", "passed")
_REPLICATE = re.compile(r"-r\d+$")
_STATIONARITY = {
    "constant": "no trend and no step within the window",
    "drift": "a linear trend within the window",
    "step": "a level shift within the window",
    "undetermined": "too few samples in the window for a test",
    "": "one number per run, or independent samples: not tested",
}


def record(context: Context) -> Record:
    """Build the tables of excluded runs, warnings, audits by kind with their exceptions, warm-up
    against the declared one, stationarity.

    Measured runs only; one line if there are none.
    """
    data = context.data
    quarantined, runs, left_out = (
        list(data.index.get(part, ())) for part in ("quarantined", "runs", "excluded")
    )
    if not runs and not quarantined and not left_out:
        return register(context, "quality", Paragraph(words=_without_runs(context)))
    warned = pd.DataFrame(
        [(run["run_id"], w) for run in runs for w in warnings_of(run)],
        columns=["run_id", "warning"],
    )
    kinds = Counter(run["provenance"] for run in runs)
    statuses = data.audits["status"].any()
    of = (
        f" ({join_words(f'{n:,} {kind}' for kind, n in sorted(kinds.items()))})"
        if len(kinds) > 1
        else ""
    )
    reasons = {"because of errors": len(quarantined), "by hand": len(left_out)}
    left = [f"{n:,} excluded {why}" for why, n in reasons.items() if n] or ["none excluded"]
    again = sum(bool(run.get("attempts")) for run in runs)
    left += [f"{again:,} repeated after a disturbance"] * bool(again)
    kept = sum(bool(run.get("disturbed")) for run in runs)
    left += [f"{kept:,} used though disturbed"] * bool(kept)
    words = (
        f"{plural(len(runs), 'run')}{of}, {', '.join(left)}, {_count_warnings(warned['warning'])}."
    )
    if statuses:
        words += f" {_count_checks(data.audits)}"
    elif not data.study.artifact:  # others cannot audit what they did not run
        words += " No run is audited yet."
    blocks: list[Block] = [Paragraph(words=words)]
    if artifact := data.study.artifact:
        blocks = [
            Paragraph(
                words=(
                    f"The runs are the paper's own published data: {artifact.words}. From ",
                    Span(text=artifact.origin, link=artifact.link),
                    f", {artifact.licence}.",
                )
            ),
            *blocks,
        ]
    if artifact and artifact.remarks:
        blocks += [
            Heading(text="The files compared with their description in the paper"),
            Listing(items=artifact.remarks),
        ]
    if quarantined:
        names = ("run", "file", "line", "problem", "expected", "found", "remedy")
        excluded = [
            tuple("" if q.get(n) is None else str(q[n]) for n in names)
            for q in quarantined[:MAX_LISTED_RUNS]
        ]
        blocks += _headed_table(
            "Runs excluded because of errors", tuple(name.capitalize() for name in names), excluded
        )
        if (more := len(quarantined) - MAX_LISTED_RUNS) > 0:
            blocks.append(
                Paragraph(words=f"{plural(more, 'more run')}; `virtperf runs` lists all of them.")
            )
    blocks += [*_excluded_by_hand(left_out), *_count_disturbed(runs, left_out)]
    blocks += [*_protocols(runs), *_clocks(runs)]
    if len(warned):
        grouped = [
            (str(warning), _run_list(group["run_id"]))
            for warning, group in warned.groupby("warning", sort=False)
        ]
        blocks += _headed_table("Warnings", ("Warning", "Runs"), grouped)
    blocks += [*_audits(data.audits), *_warm_up(data.audits), *_stationarity(data.series)]
    blocks += _trends(context)
    return register(context, "quality", *blocks)


def _count_warnings(warnings: pd.Series) -> str:
    """Count the warnings, and those of the most frequent kinds: what is said after a file's name, up
    to a comma or semicolon.
    """
    if warnings.empty:
        return "no warning"
    kinds = Counter(re.split("[,;] ", str(warning))[0].split(": ", 1)[-1] for warning in warnings)
    frequent = kinds.most_common(MAX_KINDS)
    said = [f"{n:,} of “{kind}”" for kind, n in frequent]
    if rest := len(warnings) - sum(n for _, n in frequent):
        said.append(plural(rest, "other"))
    return f"{plural(len(warnings), 'warning')}: {join_words(said)}"


def _count_checks(audits: pd.DataFrame) -> str:
    """How many checks of the runs passed, and which failed."""
    failed = Counter(audits["audit"][~audits["status"].isin(PASSED_STATUSES)])
    words = f"{len(audits) - failed.total():,} of {plural(len(audits), 'check')} passed"
    if failed:
        words += f"; not passed: {join_words(f'{n:,} of {name}' for name, n in failed.items())}"
    return f"{words}."


def _without_runs(context: Context) -> str:
    """How well the text determines the plotted values, where there are no runs."""
    alone = point_precision(context.data, assumptions=False)
    if context.data.study.kind == "measured" or not alone.points:
        return "No measured run exists."
    bounded = alone.points - alone.open_ended - alone.within[0]
    words = (
        f"We have no run of this paper's set-up. Of {alone.points:,} plotted values the text alone gives "
        f"{alone.within[0]:,} to ±{PERCENTS[0]} %, bounds {bounded:,} more, and leaves "
        f"{alone.open_ended:,} without an upper limit."
    )
    points = context.data.points
    low, high = points["low_text"].fillna(-math.inf), points["high_text"].fillna(math.inf)
    narrowed = (points["low"] > low) | (points["high"] < high)
    if context.assumptions and (n := int(narrowed.sum())):
        assumed = point_precision(context.data, assumptions=True)
        words += f" Our assumptions narrow {plural(n, 'range')}"
        if (assumed.within[0], assumed.open_ended) == (alone.within[0], alone.open_ended):
            words += ", without changing these counts."
        else:
            words += (
                f": known to ±{PERCENTS[0]} % are then {assumed.within[0]:,}, and without an upper limit "
                f"{assumed.open_ended:,}."
            )
    return words


def _excluded_by_hand(left_out: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Runs excluded by hand, with the reason."""
    if not left_out:
        return []
    rows = [
        (
            str(run["run_id"]),
            str(run["excluded"]["reason"]),
            "; ".join(run["disturbed"]) or "not disturbed",
        )
        for run in left_out[:MAX_LISTED_RUNS]
    ]
    return _headed_table("Runs excluded by hand", ("Run", "Reason", "Disturbed"), rows)


def _count_disturbed(
    runs: Sequence[Mapping[str, Any]], left_out: Sequence[Mapping[str, Any]]
) -> list[Block]:
    """Count disturbed runs by outcome: kept, made again, or excluded by hand."""
    marked = sum(bool(run.get("disturbed")) for run in runs)
    again = [run for run in runs if run.get("attempts")]
    attempts = [attempt for run in again for attempt in run["attempts"]]
    if not (marked or attempts or left_out):
        return []
    rows = [
        ("kept, not disturbed", f"{len(runs) - marked:,}", "used"),
        ("kept and marked as disturbed", f"{marked:,}", "used"),
        (
            "repeated",
            f"{len(again):,}",
            f"{plural(len(attempts), 'disturbed attempt')} before them, whose numbers are not kept",
        ),
        ("excluded by hand", f"{len(left_out):,}", "not used; raw files are kept"),
    ]
    reasons = Counter(reason for attempt in attempts for reason in attempt["disturbed"])
    remarks = [
        f"{_capitalize(reason)}: {plural(n, 'attempt')} repeated" for reason, n in reasons.items()
    ]
    return _headed_table(
        "Disturbed runs", ("Runs", "Number", "Meaning"), rows, remarks, numeric=(1,)
    )


def _protocols(runs: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Tables of machines, and of protocols: one row a protocol and machine of an experiment."""
    measured = [run for run in runs if run["provenance"] == "measured"]
    groups = run_groups(measured) if any(_has_description(run) for run in measured) else []
    if not groups:
        return []
    machines = grouped((_machine_key(group), group) for group in groups)
    numbers = {key: str(number) for number, key in enumerate(machines, start=1)}
    varied = _varying_facts([group.machine for group in groups])
    machine_rows = [
        (
            numbers[key],
            _machine_words(on_machine[0], varied),
            f"{sum(len(group.runs) for group in on_machine):,}",
        )
        for key, on_machine in machines.items()
    ]
    rows = [
        (
            group.experiment or "not recorded",
            group.protocol,
            ", ".join(group.commits) or "not recorded",
            numbers[_machine_key(group)],
            f"{len(group.runs):,}",
            str(group.boots) if group.boots else "not recorded",
        )
        for group in groups
    ]
    protocols = len({group.protocol for group in groups})
    words = (
        f"{plural(len(measured), 'measured run')} by {plural(protocols, 'protocol')} on "
        f"{plural(len(machines), 'machine')} (a host with other facts, such as another kernel, "
        "counts as another machine)."
    )
    columns = ("Experiment", "Protocol", "Commit", "Machine", "Runs", "Boots")
    return [
        *_headed_table(
            "Machines", ("Machine", "Facts", "Runs"), machine_rows, [words], numeric=(2,)
        ),
        *_headed_table("Protocols", columns, rows, numeric=(4, 5)),
    ]


def _machine_key(group: RunGroup) -> tuple[str, str]:
    return group.host, repr(sorted(group.machine.items()))


def _clocks(runs: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Clock offsets by which the files of each host were corrected, one row a host."""
    of_hosts = grouped(clock for run in runs for clock in (run.get("clocks") or {}).items())
    if not of_hosts:
        return []
    rows = []
    for host, clocks in sorted(of_hosts.items()):
        offsets = [clock["offset_s"] for clock in clocks]
        rows.append(
            (
                host,
                f"{len(clocks):,}",
                f"{min(offsets):+.3f} to {max(offsets):+.3f}",
                f"{max(clock['uncertainty_s'] for clock in clocks):.3f}",
                f"{max(abs(clock['drift_s']) for clock in clocks):.3f}",
            )
        )
    words = (
        "Timestamps in files of these hosts were corrected by the offset of their clock from that of "
        "the measuring machine."
    )
    columns = ("Host", "Runs", "Clock ahead by (s)", "Uncertainty (s)", "Drift in a run (s)")
    return _headed_table("Clocks of hosts", columns, rows, [words], numeric=(1, 2, 3, 4))


def _has_description(run: Mapping[str, Any]) -> bool:
    return bool(run.get("protocol") or run.get("machine"))


def _varying_facts(machines: Sequence[Mapping[str, Any]]) -> list[str]:
    """Names of the facts that differ between groups."""
    names = dict.fromkeys(name for machine in machines for name in machine)
    return [name for name in names if len({repr(machine.get(name)) for machine in machines}) > 1]


def _machine_words(group: RunGroup, varied: Sequence[str]) -> str:
    """Describe a machine by selected facts, and by the facts that differ between groups."""
    named = dict.fromkeys([*MACHINE_FACTS, *varied])
    facts = [_fact_words(name, group.machine[name]) for name in named if name in group.machine]
    return "; ".join([*facts, *([f"host {group.host}"] if group.host else [])]) or "not recorded"


def _fact_words(name: str, value: Any) -> str:
    """``memory 24,105 MiB`` for the fact ``memory_mb``."""
    stem, _, suffix = name.rpartition("_")
    unit = FACT_SUFFIXES.get(suffix, "") if stem else ""
    if unit and isinstance(value, int | float):
        return f"{stem.replace('_', ' ')} {value:,} {unit}"
    return f"{name.replace('_', ' ')} {value}"


def warnings_of(run: Mapping[str, Any]) -> list[str]:
    """Disturbances of a run, an entry of the index, what was warned of when it was added, and
    ingest warnings: of the run, then of its files by name, without the run id so that equal warnings
    of different runs match.
    """
    disturbed = [f"disturbed: {what}" for what in run.get("disturbed", ())]
    of_files = [
        f"{path}: {warning.removeprefix(f'{run_id}/{path}: ')}"
        for run_id, path, warnings in (
            (run["run_id"], file["path"], file["warnings"]) for file in run["files"]
        )
        for warning in warnings
    ]
    return [*disturbed, *run.get("warned", ()), *run["warnings"], *of_files]


def _audits(audits: pd.DataFrame) -> list[Block]:
    """Table of audits, one row a kind; then failed audits, grouped by condition over replicates."""
    if audits.empty:
        return []
    # with only an upper limit, the distance from the expected value has no meaning
    share = ((audits["value"] - audits["expected"]) / audits["expected"]).abs()
    compared = (audits["expected"] != 0) & (audits["low"] > 0)
    audits = audits.assign(
        passed=audits["status"].isin(PASSED_STATUSES), share=share.where(compared)
    )
    rows = []
    for name, group in audits.groupby("audit", sort=False):
        farthest, passed = group["share"].max(), f"{int(group['passed'].sum()):,}"
        far = "limit only" if pd.isna(farthest) else f"{pretty(100 * farthest, 2)} %"
        rows.append((str(name), str(group["run_id"].nunique()), f"{len(group):,}", passed, far))
    columns = ("Audit", "Runs", "Checks", "Passed", "Largest deviation from expected")
    blocks = _headed_table("Audits", columns, rows, numeric=(1, 2, 3, 4))
    bad = audits[~audits["passed"]]
    conditions = bad["run_id"].str.replace(_REPLICATE, "", regex=True)
    exceptions = [
        (
            str(name),
            f"{condition} ({plural(len(group), 'run')})",
            _value_range(group["value"]),
            _value_range(group["expected"]),
            f"{group['note'].iloc[0]}{' (first run)' if group['note'].nunique() > 1 else ''}",
        )
        for (name, condition), group in bad.groupby(["audit", conditions], sort=False)
    ]
    if exceptions:
        columns = ("Audit", "Condition", "Found", "Expected", "Note")
        blocks += _headed_table(
            "Audits that did not pass", columns, exceptions, numeric=(2, 3), stacks=True
        )
    return blocks


def _warm_up(audits: pd.DataFrame) -> list[Block]:
    """Detected warm-up time of throughput against the warm-up declared by the procedure."""
    warmup_audits = audits[(audits["audit"] == "warm-up") & audits["value"].notna()]
    if warmup_audits.empty:
        return []
    warmup_audits = warmup_audits.assign(later=warmup_audits["value"] > warmup_audits["expected"])
    rows = [
        (
            f"{pretty(float(str(declared)))} s",
            str(group["run_id"].nunique()),
            *(f"{pretty(cut)} s" for cut in group["value"].agg(["min", "median", "max"])),
            str(group["later"].sum()),
        )
        for declared, group in warmup_audits.groupby("expected")
    ]
    columns = ("Declared", "Runs", "Earliest", "Median", "Latest", "Runs later than declared")
    title = "Warm-up of throughput: detected and declared"
    later = warmup_audits[warmup_audits["later"]].groupby("note", sort=False)["run_id"]
    items = [f"{_capitalize(note or 'no remark')}: {_run_list(runs)}" for note, runs in later]
    return _headed_table(title, columns, rows, items, numeric=tuple(range(6)), stacks=True)


def _stationarity(series: pd.DataFrame) -> list[Block]:
    """Table of the stationarity classes of all series, and remarks on some."""
    if series.empty:
        return []
    counts = Counter(series["stationarity"].fillna(""))
    rows = [
        (
            word or "a total",
            f"{counts[word]:,}",
            f"{pretty(100 * counts[word] / len(series), 2)} %",
            meaning,
        )
        for word, meaning in _STATIONARITY.items()
        if counts[word]
    ]
    columns = ("Class", "Series", "Share", "Meaning")
    remarks = [
        f"{_capitalize(flag)}: {plural(len(group), 'series', 'series')} of "
        f"{_run_list(sorted(group['run_id'].unique()))}"
        f" ({join_words(sorted(group['metric'].unique()))})"
        for flag, group in series[series["flags"] != ""].groupby("flags", sort=False)
    ]
    return _headed_table("Stationarity of all series", columns, rows, remarks, numeric=(1, 2))


def _trends(context: Context) -> list[Block]:
    """Count measured conditions by their trend within the window over all runs; list those with a
    drift, or with an interval of their own beyond the margin.
    """
    data, study = context.data, context.study
    means = data.means[data.means["provenance"] == "measured"]
    classes = (CONSTANT, DRIFT, UNDETERMINED, NOT_TESTED)
    counts = Counter(means["steady"][means["steady"].isin(classes)])
    if not counts.keys() - {NOT_TESTED}:
        return []
    margin = pretty(100 * STEADY_MARGIN, 2)
    meanings = {
        CONSTANT: f"the interval of the mean change over the experiment's conditions lies within ±{margin} %",
        DRIFT: "its own change differs from 0, with Holm correction over all conditions: a transient",
        UNDETERMINED: f"neither is shown; listed below if its own interval lies outside ±{margin} %",
        NOT_TESTED: "no result of the workload, or one number per run",
    }
    rows = [
        (word, f"{counts[word]:,}", f"{pretty(100 * counts[word] / counts.total(), 2)} %", meaning)
        for word, meaning in meanings.items()
        if counts[word]
    ]
    columns = ("Class", "Quantities by condition", "Share", "Meaning")
    title = "Change within the window, over all runs of a condition"
    blocks = _headed_table(title, columns, rows, numeric=(1, 2))
    moving = []
    for position, quantity in rows_by_quantity(study, means):
        row = means.iloc[position]
        alone = row["trend_low"] > STEADY_MARGIN or row["trend_high"] < -STEADY_MARGIN
        if row["steady"] == DRIFT or alone:
            shown = "yes" if row["steady"] == DRIFT else "no"
            change = as_precise(*(100 * row[name] for name in ("trend", "trend_low", "trend_high")))
            words = "{} % ({} to {})".format(*change)
            moving.append((study.show(quantity), words, str(row["n"]), shown))
    if moving:
        heads = (
            "Quantity",
            f"Change within the window ({pretty(100 * context.level)} % interval)",
            "Runs",
            "Significant (Holm)",
        )
        blocks += _headed_table(
            "Conditions that change within the window", heads, moving, numeric=(2,)
        )
    return blocks


def _value_range(values: pd.Series) -> str:
    low, high = pretty(values.min(), 3), pretty(values.max(), 3)
    return low if low == high else f"{low} to {high}"


def _run_list(runs: Iterable[str]) -> str:
    named = list(runs)
    more = len(named) - MAX_NAMED_RUNS
    if more <= 0:
        return join_words(named)
    return f"{', '.join(named[:MAX_NAMED_RUNS])} and {plural(more, 'other')}"


def _capitalize(words: object) -> str:
    return f"{str(words)[:1].upper()}{str(words)[1:]}"


def _headed_table(
    title: str,
    columns: tuple[str, ...],
    rows: Sequence[tuple[Words, ...]],
    remarks: Sequence[str] = (),
    **more: Any,
) -> list[Block]:
    """Heading and table; a long table is folded."""
    table = Grid(label=title, columns=columns, rows=tuple(rows), **more)
    return [
        Heading(text=title),
        Folded(summary=plural(len(table.rows), "row"), blocks=(table,))
        if is_long("quality", table)
        else table,
        *([Listing(items=tuple(remarks))] if remarks else []),
    ]


KIND = ExhibitKind("quality", record)
