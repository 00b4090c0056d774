"""Pages over all studies: the studies as cards, what papers say against themselves, how numbers are
made.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from rawperf.core.metrics import Metric
from virtperf.core.provenance import Provenance
from virtperf.report.html.markdown import Writer
from virtperf.report.html.record import Place, distinct, record_html
from virtperf.report.html.site.gather import MEASURED, StudyFacts
from virtperf.report.html.templating import page
from virtperf.report.key_numbers import TEXT_VERDICTS
from virtperf.report.kinds.contradictions import of_the_paper
from virtperf.report.records import Record

EXPLAINED = (Provenance.PUBLISHED, Provenance.RECONSTRUCTED, Provenance.MEASURED)


def index_page(studies: Sequence[StudyFacts], together: Record | None = None) -> str:
    """The page that a reviewer opens first; `together` is what all studies say, in one picture and
    some sentences.
    """
    taken: set[str] = {together.id} if together is not None else set()
    cards = []
    for facts in studies:
        headline_figure = facts.headline_figure
        # Ids within a picture begin with the record's, and a page has an id once.
        picture = (
            "image" if headline_figure is not None and headline_figure.id in taken else "inline"
        )
        taken |= {headline_figure.id} if headline_figure is not None else set()
        bibliography = facts.data.study.bibliography
        origin = ", ".join(
            str(bibliography[name]) for name in ("publisher", "published") if bibliography.get(name)
        )
        cards.append((facts, headline_figure, picture, origin or "Measured for this repository"))
    return page(
        "index",
        "Studies",
        name="index.html",
        cards=cards,
        provenances=EXPLAINED,
        verdicts=(*TEXT_VERDICTS, *MEASURED),
        by_text=TEXT_VERDICTS,
        by_runs=MEASURED,
        together=together,
        together_html=record_html(together, place=Place(elsewhere=True))
        if together is not None
        else "",
    )


def contradictions_page(studies: Sequence[StudyFacts]) -> str:
    """One section a study, with the smallest sets of claims that cannot all hold."""
    records = distinct(
        (facts.record("contradictions") for facts in studies), taken=[facts.id for facts in studies]
    )
    sections = [
        (facts, len(of_the_paper(facts.data)), record_html(record, place=facts.place))
        for facts, record in zip(studies, records, strict=True)
    ]
    return page("contradictions", "Contradictions", name="contradictions.html", sections=sections)


DOCUMENTS = (
    ("methods.md", "Models and intervals"),
    ("certified-digits.md", "Certified digits"),
    ("calibration.md", "Measured coverage"),
)


def methods_page(docs: Path, metrics: dict[str, Metric]) -> str:
    """The page; it holds what `docs/` says, so that a reviewer needs no clone."""
    there = [(docs / name, title) for name, title in DOCUMENTS if (docs / name).is_file()]
    writer = Writer(taken=frozenset({"metrics", *(path.stem for path, _ in there)}))
    documents = [(path.stem, title, _written(path, writer)) for path, title in there]
    glossary = [(name, metric, _sources(metric)) for name, metric in sorted(metrics.items())]
    return page("methods", "Methods", name="methods.html", documents=documents, glossary=glossary)


def _written(path: Path, writer: Writer) -> Markup:
    """A document without its title; headings one level down, since it stands under one of the
    page.
    """
    lines = [
        line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("# ")
    ]
    text = "\n".join(f"#{line}" if line.startswith("#") else line for line in lines)
    for name, _ in DOCUMENTS:  # links between the documents stay on the page
        text = text.replace(f"]({name})", f"](#{name.removesuffix('.md')})")
    return writer.html(text)


def _sources(metric: Metric) -> str:
    """The raw fields that a metric is read from, each once."""
    fields = (
        f"{s.format}: {' '.join(filter(None, (s.report, s.field)))} ({s.entity_kind})"
        for s in metric.sources
    )
    return "; ".join(dict.fromkeys(fields)) or "formats that are declared"
