"""Diagrams of nested boxes and edges, redrawn from what a paper's text says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from virtperf.core.errors import StudyError
from virtperf.exhibits import display
from virtperf.exhibits.display import Shown
from virtperf.exhibits.layout_svg import draw_diagram
from virtperf.exhibits.seal import sealed
from virtperf.exhibits.topology import Diagram, Edge, read_diagram
from virtperf.exhibits.wording import escape, exhibit_name, joined, printable
from virtperf.study.definition import Exhibit, Study


@dataclass(frozen=True)
class _Words:
    """Labels by id."""

    labels: Mapping[str, str]

    def edge(self, edge: Edge) -> str:
        label = f" ({edge.label})" if edge.label else ""
        return f"{self.labels[edge.start]} to {self.labels[edge.end]}{label}"


def diagram_exhibit(study: Study, exhibit: Exhibit) -> Shown:
    """A diagram of the setup, redrawn from what the paper's text says.

    Raises
    ------
    StudyError
        `study.yaml` has no topology of that name; an id is unknown or given twice; a node lies within itself.
    """
    name = str(exhibit.spec.get("diagram", ""))
    topology: Mapping[str, Any] = study.data.get("topology", {})
    if name not in topology:
        known = ", ".join(topology) or "none"
        raise StudyError(
            f"{exhibit.id} has no diagram {name!r}", file="study.yaml", expected=f"a name in topology ({known})"
        )
    diagram = read_diagram(exhibit.id, topology[name])
    title = f"{exhibit_name(exhibit.id, 'figure')}: {exhibit.title}"
    words = _Words({node.id: node.label for node in diagram.nodes})
    rows = [[words.labels[e.start], words.labels[e.end], e.label] for e in diagram.edges]
    table = pd.DataFrame(rows, columns=["from", "to", "connection"])
    boxes = pd.DataFrame([(node.label, " in ".join(diagram.path(node.id))) for node in diagram.nodes])
    said = _describe(diagram, words)
    drawings = "".join(
        sealed(
            draw_diagram(diagram, prefix=f"{exhibit.id}-{kind}", title=title, description=said, kind=kind), table, boxes
        )
        for kind in ("wide", "narrow")
    )
    section = f"section “{escape(printable(exhibit.section))}”" if exhibit.section else "the paper"
    source = f"<p>Redrawn from what {section} says; the layout is ours.</p>"
    after = [
        display.badges(["published"]),
        display.more(
            display.details("Where this comes from", source),
            display.download(table, f"{study.id}-{exhibit.id}", "Download the connections (CSV)"),
        ),
    ]
    html = display.block(
        exhibit.id, exhibit_name(exhibit.id, "figure"), exhibit.title, drawings, after=after,
        finding="Redrawn from the text; the layout is ours.",
    )  # fmt: skip
    return Shown(html, f"{title}\n{display.table_text(list(table.columns), rows)}")


def _describe(diagram: Diagram, words: _Words) -> str:
    parts = []
    for node in diagram.nodes:
        held = [child.label for child in diagram.children(node.id)]
        if held:
            parts.append(f"{node.label} holds {joined(held)}.")
    edges = "; ".join(words.edge(e) for e in diagram.edges)
    return " ".join([*parts, f"Connections: {edges or 'none'}."])
