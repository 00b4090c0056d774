"""How the numbers are made: models, certified digits, measured coverage, and the glossary of metrics."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from virtperf.core.metrics import Metric
from virtperf.render.markdown import Writer
from virtperf.render.site.shell import page

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
    return page("methods", "methods.html", "Methods", documents=documents, glossary=glossary)


def _written(path: Path, writer: Writer) -> Markup:
    """A document without its title; headings one level down, since it stands under one of the page."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("# ")]
    text = "\n".join(f"#{line}" if line.startswith("#") else line for line in lines)
    for name, _ in DOCUMENTS:  # links between the documents stay on the page
        text = text.replace(f"]({name})", f"](#{name.removesuffix('.md')})")
    return writer.html(text)


def _sources(metric: Metric) -> str:
    """The raw fields that a metric is read from, each once."""
    fields = (f"{s.format}: {' '.join(filter(None, (s.report, s.field)))} ({s.entity_kind})" for s in metric.sources)
    return "; ".join(dict.fromkeys(fields)) or "formats that are declared"
