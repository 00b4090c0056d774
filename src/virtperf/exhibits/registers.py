"""Registers of a study: contradictions of the paper, assumptions of ours, misprints."""

from __future__ import annotations

from collections import Counter

from virtperf.claims import Claim
from virtperf.exhibits import display
from virtperf.exhibits.data import StudyData, names
from virtperf.exhibits.display import Html, Shown, Table
from virtperf.exhibits.table import corrections
from virtperf.exhibits.words import breakable, escape, exhibit_name, joined, plural, pretty, printable


def contradictions_exhibit(data: StudyData) -> Shown:
    """Groups of statements that cannot all hold, and which of them the reconstruction sets aside."""
    conflicts = data.contradictions.get("conflicts", [])
    if not conflicts:
        return _nothing("contradictions", "No two statements of the paper exclude each other.", data)
    said = {c.id: c for c in data.claims} if data.claims else {}
    parts, text = [], []
    for k, conflict in enumerate(conflicts, 1):
        dropped = set(map(str, conflict.get("dropped", ())))
        items = "".join(_statement(said.get(str(c)), str(c), str(c) in dropped) for c in conflict["claims"])
        parts.append(f'<li id="contradiction-{k}"><ul>{items}</ul></li>')
        text.append([str(k), "; ".join(map(str, conflict["claims"])), "; ".join(sorted(dropped)) or "none"])
    html = (
        f'<section class="vp-register" id="contradictions"><p>{plural(len(conflicts), "group")} of statements that '
        f"cannot all hold:</p>"
        f"<ol>{''.join(parts)}</ol></section>"
    )
    return Shown(html, display.table_text(["group", "claims", "set aside"], text))


def _statement(claim: Claim | None, claim_id: str, dropped: bool) -> str:
    says = breakable(printable(claim.says)) if claim else "a claim that is no longer there"
    where = (
        f" <small class='vp-where'>{escape(printable('; '.join(claim.sections)))}</small>"
        if claim and claim.sections
        else ""
    )
    aside = " <strong>Set aside in the reconstruction.</strong>" if dropped else ""
    return f'<li>{says} <a href="#claim-{escape(claim_id)}"><code>{breakable(claim_id)}</code></a>.{aside}{where}</li>'


def assumptions_exhibit(data: StudyData, *, on: bool) -> Shown:
    """Assumptions of ours: what each says, why, and how many limits of plotted points it sets."""
    assumed = [c for c in data.claims if c.assumed] if data.claims else []
    if not assumed:
        return _nothing("assumptions", "No assumption of ours is used.", data)
    binds: Counter[str] = Counter()
    for column in ("low_by", "high_by"):
        for cell in data.points[column]:
            binds.update(names(cell))
    rows, text = [], []
    for claim in assumed:
        state = ("on" if claim.default_on else "off by default") if on else "off in this report"
        sets = f"{plural(binds[claim.id], 'limit')} of plotted points"
        says = Html(
            f"{breakable(printable(claim.says))}<small class='vp-where'><code>{breakable(claim.id)}</code></small>"
        )
        rows.append((says, claim.why, state, sets))
        text.append([claim.id, state, str(binds[claim.id])])
    table = Table(
        ("We assume", "Because", "Switched", "It sets"), tuple(rows), ids=tuple(f"claim-{c.id}" for c in assumed)
    )
    html = f'<section class="vp-register" id="assumptions">{display.table_html(table, "Assumptions")}</section>'
    return Shown(html, display.table_text(["assumption", "switched", "limits that it sets"], text))


def errata_exhibit(data: StudyData) -> Shown:
    """Misprints of the paper: cells with what must be meant and why, then everything else a reader should know."""
    wrong = corrections(data.study)
    remarks = [printable(remark) for remark in data.study.data.get("errata", ())]
    if not wrong and not remarks:
        return _nothing("errata", "No misprint is noted.", data)
    exhibits = {str(e.spec["table"]): e for e in data.study.exhibits if e.spec.get("table")}
    rows, text = [], []
    for c in wrong:
        exhibit = exhibits.get(c.table)
        place = f"{exhibit_name(exhibit.id, exhibit.kind) if exhibit else c.table}, row {c.position + 1}, {c.column}"
        where = Html(f'<a href="#{escape(exhibit.id)}">{breakable(place)}</a>') if exhibit else place
        rows.append((where, c.printed, c.corrected, c.reason))
        text.append([place, c.printed, c.corrected])
    table = Table(("Where", "Printed", "Meant", "Why"), tuple(rows))
    parts = [display.table_html(table, "Misprints")] if wrong else []
    parts += [f"<ul>{''.join(f'<li>{breakable(remark)}</li>' for remark in remarks)}</ul>"] if remarks else []
    listed = f"{display.table_text(['where', 'printed', 'meant'], text)}\n{plural(len(remarks), 'remark')}"
    return Shown(f'<section class="vp-register" id="errata">{"".join(parts)}</section>', listed)


def quality_exhibit(data: StudyData) -> Shown:
    """Data quality: runs that were refused, warnings of files that were read, audits that did not pass."""
    quarantined = list(data.index.get("quarantined", []))
    runs = [r for r in data.index.get("runs", []) if isinstance(r, dict)]
    warned = [(str(r.get("run_id", r.get("run", ""))), str(w)) for r in runs for w in _warnings(r)]
    status = data.audits["status"].astype(str)
    counts = {word: int(n) for word, n in sorted(status.value_counts().items())}
    bad = data.audits[~status.isin(("ok", "pass", "passed"))]
    words = joined(f"{n:,} {w}" for w, n in counts.items()) or "none yet"
    parts = [
        f"<p>{plural(len(runs), 'run')} read, {plural(len(quarantined), 'run')} refused. "
        f"Audits of the runs: {escape(words)}.</p>"
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
    if len(bad):
        rows = tuple(
            (str(r["run_id"]), str(r["audit"]), pretty(float(r["value"])),
             f"{pretty(float(r['low']))} to {pretty(float(r['high']))}", str(r["status"]),
             "" if r["note"] is None else str(r["note"]))
            for r in bad.to_dict("records")
        )  # fmt: skip
        parts.append(
            _titled(
                "Audits that did not pass",
                Table(("Run", "Audit", "Value", "Expected", "Status", "Note"), rows, frozenset({2, 3})),
            )
        )
    text = [["runs read", str(len(runs))], ["runs refused", str(len(quarantined))], ["warnings", str(len(warned))]]
    text += [[f"audits: {w}", str(n)] for w, n in counts.items()]
    return Shown(
        f'<section class="vp-register" id="quality">{"".join(parts)}</section>',
        display.table_text(["what", "count"], text),
    )


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


def _nothing(anchor: str, sentence: str, data: StudyData) -> Shown:
    if anchor == "contradictions" and not data.contradictions:
        sentence = "Contradictions are not computed yet."
    if anchor == "assumptions" and data.claims is None:
        sentence = "No claims are encoded yet."
    return Shown(f'<p class="vp-note" id="{anchor}">{escape(sentence)}</p>', sentence)
