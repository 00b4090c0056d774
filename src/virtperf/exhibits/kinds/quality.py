"""Data quality of a study's runs: what was excluded, and what audits, warm-up and stationarity say of the rest."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from virtperf.exhibits.kinds import Context, Kind
from virtperf.exhibits.records import Block, Grid, Heading, Listing, Numbers, Paragraph, Record, Words
from virtperf.exhibits.text import table_text
from virtperf.exhibits.wording import joined, plural, pretty

PASSED = ("ok", "pass", "passed")
_REPLICATE = re.compile(r"-r\d+$")
_STATIONARITY = {
    "constant": "no trend and no step within the window",
    "drift": "a straight trend within the window",
    "step": "a jump within the window",
    "undetermined": "too few samples in the window to tell",
    "": "one number a run, so there is nothing to tell",
}


def record(context: Context) -> Record:
    """Excluded runs, warnings, audits by kind with their exceptions, warm-up against the declared one, stationarity."""
    data = context.data
    quarantined = list(data.index.get("quarantined", []))
    runs = [r for r in data.index.get("runs", []) if isinstance(r, dict)]
    warned = [(str(r.get("run_id", r.get("run", ""))), str(w)) for r in runs for w in _warnings(r)]
    status = data.audits["status"].astype(str)
    counts = {word: int(n) for word, n in sorted(status.value_counts().items())}
    origins = Counter(str(r.get("provenance", "of unknown provenance")) for r in runs)
    of = f" ({joined(f'{n:,} {origin}' for origin, n in sorted(origins.items()))})" if runs else ""
    audited = joined(f"{n:,} {w}" for w, n in counts.items()) or "none yet"
    words = (
        f"{plural(len(runs), 'run')} read{of}, {plural(len(quarantined), 'run')} excluded, "
        f"{plural(len(warned), 'warning')}. Audits of the runs: {audited}."
    )
    blocks: list[Block] = [Paragraph(words=words)]
    if quarantined:
        names = ("run", "file", "line", "problem", "expected", "found", "remedy")
        excluded = [tuple(_cell(q, c) for c in names) for q in quarantined]
        blocks += _titled("Excluded runs", tuple(c.capitalize() for c in names), excluded)
    if warned:
        by_warning: dict[str, list[str]] = {}
        for run, warning in warned:
            by_warning.setdefault(warning, []).append(run)
        grouped = [(warning, _few(affected)) for warning, affected in by_warning.items()]
        blocks += _titled("Warnings", ("Warning", "Runs"), grouped)
    blocks += [*_audits(data.audits), *_warm_up(data.audits), *_stationarity(data.series)]
    text = [["runs read", str(len(runs))], ["runs excluded", str(len(quarantined))], ["warnings", str(len(warned))]]
    text += [[f"audits: {w}", str(n)] for w, n in counts.items()]
    frame = pd.DataFrame([(what, int(n)) for what, n in text], columns=["what", "count"])
    return Record(
        kind="quality", id="quality", study=data.study.id, title="", blocks=tuple(blocks),
        numbers=(Numbers.of(frame, f"{data.study.id}-quality", words=""),), text=table_text(["what", "count"], text),
    )  # fmt: skip


def _audits(audits: pd.DataFrame) -> list[Block]:
    """One row a kind of audit; then those that did not pass, replicates of one condition together."""
    if audits.empty:
        return []
    passed = audits["status"].astype(str).isin(PASSED)
    rows = []
    for name, group in audits.assign(passed=passed).groupby("audit", sort=False):
        found, expected = group["value"].astype(float), group["expected"].astype(float)
        # Where only an upper limit counts, the distance from it says nothing.
        share = ((found - expected).abs() / expected.abs()).where((expected != 0) & (group["low"] > 0)).max()
        far = "only a limit counts" if pd.isna(share) else f"{pretty(100 * float(share), 2)} %"
        rows.append(
            (str(name), str(group["run_id"].nunique()), f"{len(group):,}", f"{int(group['passed'].sum()):,}", far)
        )
    columns = ("Audit", "Runs", "Checks", "Passed", "Largest distance from the expected value")
    blocks = _titled("Audits", columns, rows, numeric=(1, 2, 3, 4))
    bad = audits[~passed]
    exceptions = []
    keys = [bad["audit"].astype(str), bad["run_id"].astype(str).str.replace(_REPLICATE, "", regex=True)]
    for key, group in bad.groupby(keys, sort=False):
        name, condition = map(str, key)
        note = str(group["note"].iloc[0] or "")
        others = len({str(n) for n in group["note"]}) - 1
        exceptions.append((
            name, f"{condition} ({plural(len(group), 'run')})", _span(group["value"]), _span(group["expected"]),
            f"{note}{' (first run)' if others else ''}",
        ))  # fmt: skip
    if exceptions:
        columns = ("Audit", "Condition", "Found", "Expected", "Note")
        blocks += _titled("Audits that did not pass", columns, exceptions, numeric=(2, 3), stacks=True)
    return blocks


def _warm_up(audits: pd.DataFrame) -> list[Block]:
    """Where throughput became steady, against the warm-up that the procedure declares."""
    found = audits[(audits["audit"].astype(str) == "warm-up") & audits["value"].notna()]
    if found.empty:
        return []
    rows = []
    for declared in sorted(found["expected"].astype(float).unique()):
        group = found[found["expected"] == declared]
        cut = group["value"].astype(float)
        rows.append((
            f"{pretty(float(declared))} s", str(group["run_id"].nunique()),
            f"{pretty(float(cut.min()))} s", f"{pretty(float(cut.median()))} s", f"{pretty(float(cut.max()))} s",
            str(int((cut > float(declared)).sum())),
        ))  # fmt: skip
    columns = ("Declared", "Runs", "Earliest", "Median", "Latest", "Runs later than declared")
    title = "Warm-up of throughput: found against declared"
    later = found[found["value"].astype(float) > found["expected"].astype(float)]
    notes: dict[str, list[str]] = {}
    for row in later.to_dict("records"):
        notes.setdefault(str(row["note"] or "no remark"), []).append(str(row["run_id"]))
    items = [f"{note[:1].upper() + note[1:]}: {_few(affected)}" for note, affected in notes.items()]
    return [*_titled(title, columns, rows, numeric=tuple(range(6)), stacks=True), *_listed(items)]


def _stationarity(series: pd.DataFrame) -> list[Block]:
    """Classes of all series, and the remarks on some of them."""
    if "stationarity" not in series.columns or series.empty:
        return []
    classes = series["stationarity"].fillna("").astype(str)
    counts = Counter(classes)
    rows = [
        (word or "a total", f"{counts[word]:,}", f"{pretty(100 * counts[word] / len(classes), 2)} %", meaning)
        for word, meaning in _STATIONARITY.items()
        if counts[word]
    ]
    columns = ("Class", "Series", "Share", "Meaning")
    flags = series["flags"].fillna("").astype(str) if "flags" in series.columns else pd.Series(dtype=str)
    flagged = series[flags.str.len() > 0] if len(flags) else series.iloc[:0]
    remarks = []
    for flag, group in flagged.groupby(flags[flags.str.len() > 0], sort=False):
        of = f"{plural(len(group), 'series', 'series')} of {_few(sorted(group['run_id'].astype(str).unique()))}"
        metrics = joined(sorted(group["metric"].astype(str).unique())) if "metric" in group else ""
        remarks.append(f"{str(flag)[:1].upper()}{str(flag)[1:]}: {of}{f' ({metrics})' if metrics else ''}")
    return [*_titled("Stationarity of all series", columns, rows, numeric=(1, 2)), *_listed(remarks)]


def _span(values: pd.Series) -> str:
    low, high = pretty(float(values.min()), 3), pretty(float(values.max()), 3)
    return low if low == high else f"{low} to {high}"


def _warnings(run: Mapping[str, Any]) -> list[str]:
    found = list(run.get("warnings", ()))
    for file in run.get("files", ()):
        if isinstance(file, dict):
            found += [f"{file.get('path', file.get('file', ''))}: {w}" for w in file.get("warnings", ())]
    return [str(w) for w in found]


def _few(runs: list[str], most: int = 4) -> str:
    more = len(runs) - most
    return joined(runs) if more <= 0 else f"{', '.join(runs[:most])} and {plural(more, 'other')}"


def _cell(entry: Mapping[str, Any], column: str) -> str:
    value = entry.get(column, entry.get("run_id") if column == "run" else None)
    return "" if value is None else str(value)


def _titled(
    title: str, columns: tuple[str, ...], rows: Sequence[tuple[Words, ...]], *, numeric: tuple[int, ...] = (),
    stacks: bool = False,
) -> list[Block]:  # fmt: skip
    return [
        Heading(text=title),
        Grid(label=title, columns=columns, rows=tuple(rows), numeric=numeric, stacks=stacks),
    ]


def _listed(items: list[str]) -> list[Block]:
    return [Listing(items=tuple(items))] if items else []


KIND = Kind("quality", record)
