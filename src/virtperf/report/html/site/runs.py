"""The runs of a study: each with its files, warm-up, audits and exclusions, and a sparkline of its
time series.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from virtperf.core.grouping import grouped
from virtperf.core.numbers import join_words, plural, pretty
from virtperf.report.html.record import make_ids_distinct, record_html
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.kinds.quality import PASSED_STATUSES, warnings_of
from virtperf.study.run_groups import experiment_of

WIDTH, HEIGHT = 160, 36
ALL_PASSED, NO_WARNINGS = "all passed", "none"
MAX_LISTED_RUNS = 1000  # listed runs; runs with a warning or a failed audit have precedence


def run_values(facts: StudyFacts) -> dict[str, Any]:
    """Values of the template: what a study's page of data shows of its runs."""
    runs = list(facts.data.index.get("runs", []))
    (record,) = make_ids_distinct([facts.record("quality")], used_ids=["runs", "values"])
    shown = _select_runs(facts, runs)
    count = facts.data.series["run_id"].nunique()
    return {
        "count": count,
        "empty": len(runs) - count,
        "overview": record_html(record, place=facts.place),
        "listed": len(shown),
        "groups": _groups(facts, shown),
        "size": (WIDTH, HEIGHT),
    }


@dataclass(frozen=True)
class _RunGroup:
    """Runs of one experiment: each with its cells, and the sparklines of their time series."""

    experiment: str
    rows: list[tuple[dict[str, Any], dict[str, str]]]
    thumbnails: list[tuple[str, str, str]]

    @property
    def words(self) -> str:
        """``Experiment a: 48 runs, 2 with warnings``."""
        warned = sum(cells["warnings"] != NO_WARNINGS for _, cells in self.rows)
        failed = sum(cells["failed"] != ALL_PASSED for _, cells in self.rows)
        experiment = f"Experiment {self.experiment}: " if self.experiment else ""
        return ", ".join(
            [
                f"{experiment}{plural(len(self.rows), 'run')}",
                *([f"{warned} with warnings"] if warned else []),
                *([f"{failed} with audits not passed"] if failed else []),
            ]
        )


def _groups(facts: StudyFacts, runs: Sequence[dict[str, Any]]) -> list[_RunGroup]:
    """Group runs by experiment, in the order of the first run of each."""
    series, audits = (
        dict(list(frame.groupby("run_id"))) for frame in (facts.data.series, facts.data.audits)
    )
    experiments = sorted({run["protocol"]["experiment"] for run in runs if run.get("protocol")})
    members = grouped((experiment_of(run, experiments), run) for run in runs)
    return [
        _RunGroup(
            name,
            [
                (run, _run_cells(run, series.get(run["run_id"]), audits.get(run["run_id"])))
                for run in group
            ],
            _thumbnails(facts, group),
        )
        for name, group in members.items()
    ]


def _select_runs(facts: StudyFacts, runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Select the runs of the page, in order: all, or at most `MAX_LISTED_RUNS`, preferring runs
    with warnings or failed audits.
    """
    if len(runs) <= MAX_LISTED_RUNS:
        return runs
    audits = facts.data.audits
    failed = set(audits.loc[~audits["status"].isin(PASSED_STATUSES), "run_id"])
    by_relevance = sorted(
        range(len(runs)), key=lambda k: not (warnings_of(runs[k]) or runs[k]["run_id"] in failed)
    )
    return [runs[k] for k in sorted(by_relevance[:MAX_LISTED_RUNS])]


def _run_cells(
    run: Mapping[str, Any], series: pd.DataFrame | None, audits: pd.DataFrame | None
) -> dict[str, str]:
    """Describe the audits and the evaluation of a run."""
    cut = (
        pd.Series(dtype=float)
        if audits is None
        else audits.loc[audits["audit"] == "warm-up", "value"].dropna()
    )
    failed = (
        []
        if audits is None
        else sorted(set(audits.loc[~audits["status"].isin(PASSED_STATUSES), "audit"]))
    )
    classes = (
        []
        if series is None
        else sorted(Counter(word for word in series["stationarity"] if word).items())
    )
    return {
        "warm_up": "no clock"
        if run["warmup_s"] is None
        else f"{pretty(run['warmup_s'])} s declared, "
        f"{'none detected' if cut.empty else f'{pretty(cut.iloc[0])} s detected'}",
        "classes": ", ".join(f"{n} {word}" for word, n in classes) or "totals only",
        "failed": join_words(failed) or ALL_PASSED,
        "warnings": "; ".join(warnings_of(run)) or NO_WARNINGS,
    }


def _thumbnails(facts: StudyFacts, runs: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    """Run, metric and sparkline points, scaled from 0 to its own maximum; runs without a time
    series are left out.
    """
    stored = dict(list(facts.data.thumbnails.groupby("run_id")))
    thumbnails = []
    for run in runs:
        steps = stored.get(run["run_id"])
        if steps is None or len(steps) < 3 or not steps["value"].max() > 0:
            continue
        values = steps.sort_values("step")["value"].to_numpy()
        top, last = float(values.max()), len(values) - 1
        points = " ".join(
            f"{k * WIDTH / last:.0f},{HEIGHT - 2 - v / top * (HEIGHT - 4):.1f}"
            for k, v in enumerate(values)
        )
        thumbnails.append((str(run["run_id"]), str(steps["metric"].iloc[0]), points))
    return thumbnails
