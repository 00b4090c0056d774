"""Pages over all studies: contradictions within papers, methods, glossary."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from rawperf.core.metrics import Metric
from virtperf.report.glossary import EMPTY_GLOSSARY, Glossary
from virtperf.report.html.markdown import Writer
from virtperf.report.html.record import make_ids_distinct, record_html
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.html.templating import page


def contradictions_page(studies: Sequence[StudyFacts], glossary: Glossary = EMPTY_GLOSSARY) -> str:
    """Render one section a study, with the smallest sets of claims that cannot all hold."""
    records = make_ids_distinct(
        (facts.record("contradictions") for facts in studies),
        used_ids=[facts.id for facts in studies],
    )
    sections = [
        (facts, record_html(record, place=facts.place))
        for facts, record in zip(studies, records, strict=True)
    ]
    named = {claim for record in records for claim in record.claims}
    sentences = (c.says for facts in studies for c in facts.data.claims or () if c.id in named)
    return page(
        "contradictions",
        "Contradictions",
        name="contradictions.html",
        words=glossary.used_in(" ".join(sentences)),
        sections=sections,
    )


def glossary_page(glossary: Glossary) -> str:
    """Render the terms of the field, of verdicts and of provenance."""
    return page("glossary", "Glossary", name="glossary.html", groups=glossary.groups)


PART_LEVEL = 3
"""Level on the page of the headings of a document, which its contents list."""
DOCUMENTS = (
    ("methods.md", "Models and intervals"),
    ("certified-digits.md", "Certified digits"),
    ("calibration.md", "Measured coverage"),
    ("calibration-further.md", "Measured coverage of further designs"),
)


def methods_page(docs: Path, metrics: dict[str, Metric]) -> str:
    """Render the documents of `docs/`, so that readers need no clone, and the metrics."""
    there = [(docs / name, title) for name, title in DOCUMENTS if (docs / name).is_file()]
    writer = Writer(taken=frozenset({"metrics", *(path.stem for path, _ in there)}))
    documents = []
    for path, title in there:
        before = len(writer.headings)
        body = _render_document(path, writer)
        documents.append(
            (
                path.stem,
                title,
                body,
                [part for part in writer.headings[before:] if part.level == PART_LEVEL],
            )
        )
    glossary = [(name, metric, _sources(metric)) for name, metric in sorted(metrics.items())]
    return page("methods", "Methods", name="methods.html", documents=documents, glossary=glossary)


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
