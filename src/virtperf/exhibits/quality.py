"""Data quality of a study's runs: what was refused, and what audits, warm-up and stationarity say of the rest."""

from __future__ import annotations

import re
from collections import Counter

import pandas as pd

from virtperf.exhibits import display
from virtperf.exhibits.data import StudyData
from virtperf.exhibits.display import Html, Shown, Table
from virtperf.exhibits.wording import breakable, escape, joined, plural, pretty

PASSED = ("ok", "pass", "passed")
_REPLICATE = re.compile(r"-r\d+$")
_STATIONARITY = {
    "constant": "no trend and no step within the window",
    "drift": "a straight trend within the window",
    "step": "a jump within the window",
    "undetermined": "too few samples in the window to tell",
    "": "one number a run, so there is nothing to tell",
}


def quality_exhibit(data: StudyData) -> Shown:
    """Refused runs, warnings, audits by kind with their exceptions, warm-up against the declared one, stationarity."""
    quarantined = list(data.index.get("quarantined", []))
    runs = [r for r in data.index.get("runs", []) if isinstance(r, dict)]
    warned = [(str(r.get("run_id", r.get("run", ""))), str(w)) for r in runs for w in _warnings(r)]
    status = data.audits["status"].astype(str)
    counts = {word: int(n) for word, n in sorted(status.value_counts().items())}
    kinds = Counter(str(r.get("provenance", "of unknown provenance")) for r in runs)
    of = f" ({joined(f'{n:,} {escape(kind)}' for kind, n in sorted(kinds.items()))})" if runs else ""
    audited = joined(f"{n:,} {w}" for w, n in counts.items()) or "none yet"
    parts = [
        f"<p>{plural(len(runs), 'run')} read{of}, {plural(len(quarantined), 'run')} refused, "
        f"{plural(len(warned), 'warning')}. Audits of the runs: {escape(audited)}.</p>"
    ]
    if quarantined:
        columns = ("run", "file", "line", "problem", "expected", "found", "remedy")
        refused = tuple(tuple(_cell(q, c) for c in columns) for q in quarantined)
        parts.append(_titled("Refused runs", Table(tuple(c.capitalize() for c in columns), refused)))
    if warned:
        runs_by_warning: dict[str, list[str]] = {}
        for run, warning in warned:
            runs_by_warning.setdefault(warning, []).append(run)
        grouped = tuple((warning, _few(affected)) for warning, affected in runs_by_warning.items())
        parts.append(_titled("Warnings", Table(("Warning", "Runs"), grouped)))
    parts += [*_audits(data.audits), *_warm_up(data.audits), *_stationarity(data.runs)]
    text = [["runs read", str(len(runs))], ["runs refused", str(len(quarantined))], ["warnings", str(len(warned))]]
    text += [[f"audits: {w}", str(n)] for w, n in counts.items()]
    return Shown(
        f'<section class="vp-register" id="quality">{"".join(parts)}</section>',
        display.table_text(["what", "count"], text),
    )


def _audits(audits: pd.DataFrame) -> list[str]:
    """One row a kind of audit; then those that did not pass, replicates of one condition together."""
    if audits.empty:
        return []
    passed = audits["status"].astype(str).isin(PASSED)
    rows = []
    for name, group in audits.assign(passed=passed).groupby("audit", sort=False):
        found, expected = group["value"].astype(float), group["expected"].astype(float)
        # Where only an upper limit counts, the distance from it says nothing.
        share = ((found - expected).abs() / expected.abs()).where((expected != 0) & (group["low"] > 0)).max()
        rows.append(
            (
                str(name), str(group["run_id"].nunique()), f"{len(group):,}", f"{int(group['passed'].sum()):,}",
                "only a limit counts" if pd.isna(share) else f"{pretty(100 * float(share), 2)} %",
            )
        )  # fmt: skip
    columns = ("Audit", "Runs", "Checks", "Passed", "Largest distance from the expected value")
    parts = [_titled("Audits", Table(columns, tuple(rows), frozenset({1, 2, 3, 4})))]
    bad = audits[~passed]
    exceptions = []
    keys = [bad["audit"].astype(str), bad["run_id"].astype(str).str.replace(_REPLICATE, "", regex=True)]
    for key, group in bad.groupby(keys, sort=False):
        name, condition = map(str, key)
        note = str(group["note"].iloc[0] or "")
        others = len({str(n) for n in group["note"]}) - 1
        exceptions.append(
            (
                name, Html(f"{breakable(condition)} ({plural(len(group), 'run')})"), _span(group["value"]),
                _span(group["expected"]), f"{note}{' (first run)' if others else ''}",
            )
        )  # fmt: skip
    if exceptions:
        columns = ("Audit", "Condition", "Found", "Expected", "Note")
        parts.append(
            _titled("Audits that did not pass", Table(columns, tuple(exceptions), frozenset({2, 3}), stacks=True))
        )
    return parts


def _warm_up(audits: pd.DataFrame) -> list[str]:
    """Where throughput became steady, against the warm-up that the procedure declares."""
    found = audits[(audits["audit"].astype(str) == "warm-up") & audits["value"].notna()]
    if found.empty:
        return []
    rows = []
    for declared in sorted(found["expected"].astype(float).unique()):
        group = found[found["expected"] == declared]
        cut = group["value"].astype(float)
        rows.append(
            (
                f"{pretty(float(declared))} s", str(group["run_id"].nunique()),
                f"{pretty(float(cut.min()))} s", f"{pretty(float(cut.median()))} s", f"{pretty(float(cut.max()))} s",
                str(int((cut > float(declared)).sum())),
            )
        )  # fmt: skip
    columns = ("Declared", "Runs", "Earliest", "Median", "Latest", "Runs later than declared")
    table = _titled(
        "Warm-up of throughput: found against declared", Table(columns, tuple(rows), frozenset(range(6)), stacks=True)
    )
    later = found[found["value"].astype(float) > found["expected"].astype(float)]
    notes: dict[str, list[str]] = {}
    for row in later.to_dict("records"):
        notes.setdefault(str(row["note"] or "no remark"), []).append(str(row["run_id"]))
    items = "".join(
        f"<li>{escape(note[:1].upper() + note[1:])}: {escape(_few(affected))}</li>" for note, affected in notes.items()
    )
    return [table, f"<ul>{items}</ul>" if items else ""]


def _stationarity(runs: pd.DataFrame) -> list[str]:
    """Classes of all series, and the remarks on some of them."""
    if "stationarity" not in runs.columns or runs.empty:
        return []
    classes = runs["stationarity"].fillna("").astype(str)
    counts = Counter(classes)
    rows = [
        (word or "a total", f"{counts[word]:,}", f"{pretty(100 * counts[word] / len(classes), 2)} %", meaning)
        for word, meaning in _STATIONARITY.items()
        if counts[word]
    ]
    columns = ("Class", "Series", "Share", "Meaning")
    parts = [_titled("Stationarity of all series", Table(columns, tuple(rows), frozenset({1, 2})))]
    flags = runs["flags"].fillna("").astype(str) if "flags" in runs.columns else pd.Series(dtype=str)
    flagged = runs[flags.str.len() > 0] if len(flags) else runs.iloc[:0]
    remarks = []
    for flag, group in flagged.groupby(flags[flags.str.len() > 0], sort=False):
        names = _few(sorted(group["run_id"].astype(str).unique()))
        series = f"{plural(len(group), 'series', 'series')} of {names}"
        metrics = joined(sorted(group["metric"].astype(str).unique())) if "metric" in group else ""
        said = f"{str(flag)[:1].upper()}{str(flag)[1:]}: {series}{f' ({metrics})' if metrics else ''}"
        remarks.append(f"<li>{escape(said)}</li>")
    return [*parts, f"<ul>{''.join(remarks)}</ul>" if remarks else ""]


def _span(values: pd.Series) -> str:
    low, high = pretty(float(values.min()), 3), pretty(float(values.max()), 3)
    return low if low == high else f"{low} to {high}"


def _warnings(run: dict) -> list[str]:
    found = list(run.get("warnings", ()))
    for file in run.get("files", ()):
        if isinstance(file, dict):
            found += [f"{file.get('path', file.get('file', ''))}: {w}" for w in file.get("warnings", ())]
    return [str(w) for w in found]


def _few(runs: list[str], most: int = 4) -> str:
    more = len(runs) - most
    return joined(runs) if more <= 0 else f"{', '.join(runs[:most])} and {plural(more, 'other')}"


def _cell(entry: dict, column: str) -> str:
    value = entry.get(column, entry.get("run_id") if column == "run" else None)
    return "" if value is None else str(value)


def _titled(title: str, table: Table) -> str:
    return f"<h4>{escape(title)}</h4>{display.table_html(table, title)}"
