"""How the numbers are made: models, certified digits, measured coverage, and the glossary of metrics."""

from __future__ import annotations

from pathlib import Path

from virtperf.core.metrics import Metric
from virtperf.exhibits.wording import escape, printable
from virtperf.render.markdown import Writer
from virtperf.render.site.shell import Section, page

DOCUMENTS = (
    ("methods.md", "Models and intervals"),
    ("certified-digits.md", "Certified digits"),
    ("calibration.md", "Measured coverage"),
)


def methods_page(docs: Path, metrics: dict[str, Metric]) -> str:
    """The page; it holds what `docs/` says, so that a reviewer needs no clone."""
    lead = (
        "<p>Each model with its formula, the kind of its interval and its references; which certified problems it "
        "solves to how many digits; how often its intervals contain the truth in simulations; and what each metric "
        "means.</p>"
    )
    sections = []
    for name, title in DOCUMENTS:
        path = docs / name
        if path.is_file():
            text = "\n".join(
                line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("# ")
            )
            body = Writer().html(_lower(text))
            sections.append(Section(name.removesuffix(".md"), title, f'<div class="vp-prose">{body}</div>'))
    sections.append(Section("metrics", "Glossary of metrics", _glossary(metrics)))
    return page("methods.html", "Methods", lead, sections)


def _lower(text: str) -> str:
    """Headings one level down, since each document stands under one of the page; links between them stay on it."""
    for name, _ in DOCUMENTS:
        text = text.replace(f"]({name})", f"](#{name.removesuffix('.md')})")
    return "\n".join(f"#{line}" if line.startswith("#") else line for line in text.splitlines())


def _glossary(metrics: dict[str, Metric]) -> str:
    items = []
    for name, metric in sorted(metrics.items()):
        sources = "; ".join(
            dict.fromkeys(
                f"{s.format}: {' '.join(filter(None, (s.report, s.field)))} ({s.entity_kind})" for s in metric.sources
            )
        )
        unit = "no unit" if metric.unit == "1" else metric.unit
        term = f'<code>{escape(name)}</code> <span class="vp-where">{escape(unit)}</span>'
        items.append(
            f'<dt id="metric-{escape(name)}">{term}</dt>'
            f"<dd>{escape(printable(metric.definition))}"
            f'<span class="vp-where"> Read from {escape(printable(sources))}.</span></dd>'
        )
    return f'<dl class="vp-glossary">{"".join(items)}</dl>'
