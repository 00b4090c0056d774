"""Data quality of each study: every run with its files, warm-up, audits and exclusions, its time series in small."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pandas as pd

from virtperf.exhibits import display
from virtperf.exhibits.display import Html, Table
from virtperf.exhibits.wording import breakable, escape, joined, plural, pretty, printable
from virtperf.render.site.gather import StudyFacts
from virtperf.render.site.shell import Section, page

PASSED = ("ok", "pass", "passed")
WIDTH, HEIGHT, STEPS = 160, 36, 80


def overview_page(studies: Sequence[StudyFacts]) -> str:
    """The list of the studies' pages."""
    lead = "<p>What was read, what was refused and why, and what the audits say of the rest: one page a study.</p>"
    rows = []
    for facts in studies:
        runs, refused = facts.data.index.get("runs", []), facts.data.index.get("quarantined", [])
        kinds = Counter(str(r["provenance"]) for r in runs)
        audits = facts.data.audits["status"].astype(str)
        rows.append((
            Html(f'<a href="{address(facts.id)}">{escape(printable(facts.title))}</a>'),
            joined(f"{n:,} {kind}" for kind, n in sorted(kinds.items())) or "none", str(len(refused)),
            f"{int(audits.isin(PASSED).sum()):,} of {len(audits):,}",
        ))  # fmt: skip
    table = Table(("Study", "Runs read", "Runs refused", "Audits passed"), tuple(rows), frozenset({2}), stacks=True)
    return page(
        "quality.html", "Data quality", lead, [Section("studies", "By study", display.table_html(table, "Studies"))]
    )


def address(study: str) -> str:
    """The file name of a study's data-quality page."""
    return f"quality-{study}.html"


def quality_page(facts: StudyFacts) -> str:
    """One study's page."""
    runs = list(facts.data.index.get("runs", []))
    lead = (
        f'<p><a href="{escape(facts.id)}.html">The report</a> of this study draws on {plural(len(runs), "run")}. '
        "A run is refused, never mended, where one of its files can't be read; the others go on without it.</p>"
    )
    sections = [
        Section(
            "overview", "Audits, warm-up, stationarity", f'<div class="vp-output">{facts.book.quality().html}</div>'
        )
    ]
    if runs:
        sections.append(Section("runs", "Every run", _runs(facts, runs)))
        sections.append(Section("series", "Time series", _thumbnails(facts, runs)))
    return page("quality.html", f"Data quality: {facts.title}", lead, sections, wide=True)


def _runs(facts: StudyFacts, runs: Sequence[dict[str, Any]]) -> str:
    audits, table = facts.data.audits, facts.data.runs
    warm = audits[audits["audit"].astype(str) == "warm-up"].set_index("run_id")["value"]
    failed = (
        audits[~audits["status"].astype(str).isin(PASSED)]
        .groupby("run_id")["audit"]
        .agg(lambda a: sorted(set(map(str, a))))
    )
    classes = (
        table.groupby("run_id")["stationarity"].agg(Counter) if "stationarity" in table else pd.Series(dtype=object)
    )
    rows = []
    for run in runs:
        name = str(run["run_id"])
        found = classes.get(name, Counter())
        cut = warm.get(name, math.nan)
        cut = float(cut.iloc[0] if isinstance(cut, pd.Series) else cut)
        warnings = [w for f in run["files"] for w in f.get("warnings", ())] + list(run.get("warnings", ()))
        rows.append((
            Html(f"<code>{breakable(name)}</code>{_files(run)}"), str(run["provenance"]), f"{run['samples']:,}",
            f"{pretty(run['warmup_s'])} s declared, {'none found' if math.isnan(cut) else f'{pretty(cut)} s found'}",
            ", ".join(f"{n} {word}" for word, n in sorted(found.items()) if word) or "totals only",
            joined(failed.get(name, [])) or "all passed", "; ".join(map(str, warnings)) or "none",
        ))  # fmt: skip
    columns = ("Run", "Provenance", "Samples", "Warm-up", "Series by class", "Audits not passed", "Warnings")
    return display.table_html(
        Table(columns, tuple(rows), frozenset({2}), tuple(f"run-{r['run_id']}" for r in runs), stacks=True), "Runs"
    )


def _files(run: dict[str, Any]) -> str:
    items = "".join(
        f"<li><code>{breakable(printable(str(f['path'])))}</code> "
        f"{escape(str(f['format']))}, {f['bytes']:,} bytes, {f['samples']:,} samples</li>"
        for f in run["files"]
    )
    return display.details(plural(len(run["files"]), "file"), f"<ul>{items}</ul>")


def _thumbnails(facts: StudyFacts, runs: Sequence[dict[str, Any]]) -> str:
    """The metric that most runs observe first, as one small line a run; scales differ from run to run."""
    wanted = list(dict.fromkeys(
        (source["metric"], source["entity_kind"])
        for kind in facts.data.study.quantities.values() for source in kind.observed.get("from", ())
    ))  # fmt: skip
    items = []
    for run in runs:
        metric = next((pair for pair in wanted if pair[0] in run["metrics"]), None)
        line = _line(facts, str(run["run_id"]), metric) if metric else ""
        if metric and line:
            items.append(
                f"<li>{line}<code>{breakable(str(run['run_id']))}</code><br>{escape(metric[0].replace('_', ' '))}</li>"
            )
    note = (
        '<p class="vp-where">Each line runs from 0 to its own highest value over the whole run, warm-up included.</p>'
    )
    return f'{note}<ul class="vp-thumbs">{"".join(items)}</ul>' if items else "<p>No run has a time series.</p>"


def _line(facts: StudyFacts, run_id: str, metric: tuple[str, str]) -> str:
    samples = pd.read_parquet(
        facts.data.samples / f"{run_id}.parquet", columns=["entity_kind", "metric", "t_s", "value"]
    )
    rows = samples[(samples["metric"] == metric[0]) & (samples["entity_kind"] == metric[1])].dropna()
    series = rows.groupby("t_s", sort=True)["value"].sum()
    if len(series) < 3 or series.max() <= 0:
        return ""
    if len(series) > STEPS:
        series = series.groupby((series.reset_index(drop=True).index * STEPS) // len(series)).mean()
    top, steps = float(series.max()), len(series) - 1
    points = " ".join(
        f"{k * WIDTH / steps:.0f},{HEIGHT - 2 - v / top * (HEIGHT - 4):.1f}" for k, v in enumerate(series)
    )
    label = f"{run_id}: {metric[0]} over time"
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}" fill="none" '
        f'stroke="currentColor" stroke-width="1.2" preserveAspectRatio="none"><polyline points="{points}"/></svg>'
    )
