"""The page of method: glossary, models and intervals, metrics."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from rawperf.core.metrics import Metric
from virtperf.report.glossary import EMPTY_GLOSSARY, Glossary
from virtperf.report.html.markdown import Writer
from virtperf.report.html.templating import page
from virtperf.report.wording import slug

PART_LEVEL = 3
"""Level on the page of the headings of a document, which its contents list."""
DOCUMENTS = (
    ("methods.md", "Models and intervals"),
    ("certified-digits.md", "Certified digits"),
    ("calibration.md", "Measured coverage"),
    ("calibration-further.md", "Measured coverage of further designs"),
)


def method_page(docs: Path, metrics: dict[str, Metric], glossary: Glossary = EMPTY_GLOSSARY) -> str:
    """Render the terms of the field, of verdicts and of provenance; the documents of `docs/`, so
    that readers need no clone; and the metrics.
    """
    there = [(docs / name, title) for name, title in DOCUMENTS if (docs / name).is_file()]
    groups = [(f"terms-{slug(group.title)}", group) for group in glossary.groups]
    own = {"glossary", "verdicts", "provenance", "metrics"}
    anchors = {term.anchor for _, group in groups for term in group.terms}
    taken = own | anchors | {name for name, _ in groups} | {path.stem for path, _ in there}
    writer = Writer(taken=frozenset(taken))
    documents = []
    for path, title in there:
        before = len(writer.headings)
        body = _render_document(path, writer)
        parts = [part for part in writer.headings[before:] if part.level == PART_LEVEL]
        documents.append((path.stem, title, body, parts))
    rows = [(name, metric, _sources(metric)) for name, metric in sorted(metrics.items())]
    return page(
        "methods", "Method", name="methods.html", documents=documents, groups=groups, metrics=rows
    )


def _render_document(path: Path, writer: Writer) -> Markup:
    """Render a document without its title, with headings demoted one level below the page's own."""
    lines = [
        line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("# ")
    ]
    text = "\n".join(f"#{line}" if line.startswith("#") else line for line in lines)
    for name, _ in DOCUMENTS:  # links between the documents stay on the page
        text = text.replace(f"]({name})", f"](#{name.removesuffix('.md')})")
    return writer.html(text)


def _sources(metric: Metric) -> str:
    """Raw fields from which a metric is read, without duplicates."""
    fields = (
        f"{s.format}: {' '.join(filter(None, (s.report, s.field)))} ({s.entity_kind})"
        for s in metric.sources
    )
    return "; ".join(dict.fromkeys(fields)) or "declared formats"
