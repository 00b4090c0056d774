"""Diagrams of a set-up: boxes in rows, declared in study.yaml from the paper's text.

- id: figure-1
  kind: diagram
  title: Test environment
  rows:
    - [{id: client, label: Workload driver}]
    - [{id: host, label: Host, rows: [[{id: web, label: Web server}, {id: lan, label: Guest LAN}]]}]
  edges:
    - {from: client, to: web, label: HTTP}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Self

import pandas as pd
from pydantic import Field, model_validator

from rawperf.core.errors import did_you_mean
from rawperf.core.model import Model
from virtperf.core.numbers import join_words
from virtperf.core.provenance import Provenance
from virtperf.report.kinds import Context, ExhibitKind, ExhibitSpec, Figure, parse_spec, source
from virtperf.report.kinds._figure import exhibit_record
from virtperf.report.records import Box, Diagram, Folded, Numbers, Record
from virtperf.report.wording import exhibit_name
from virtperf.study.definition import Exhibit


class Edge(Model):
    """A connection between two boxes."""

    start: str = Field(alias="from")
    end: str = Field(alias="to")
    label: str = ""


class Spec(ExhibitSpec):
    """Rows of boxes, which may hold rows themselves, and connections by box ids."""

    rows: tuple[tuple[Box, ...], ...] = Field(min_length=1)
    edges: tuple[Edge, ...] = ()

    @model_validator(mode="after")
    def _known(self) -> Self:
        ids = [box.id for box in nested_boxes(self.rows)]
        twice = next((i for i in ids if ids.count(i) > 1), None)
        if twice is not None:
            raise ValueError(f"duplicate box {twice!r}")
        for name in (name for edge in self.edges for name in (edge.start, edge.end)):
            if name not in ids:
                raise ValueError(
                    f"a connection names {name!r}, which is not a box; {did_you_mean(name, ids)}"
                )
        return self


def nested_boxes(rows: Iterable[Iterable[Box]]) -> Iterator[Box]:
    """Yield all boxes in pre-order."""
    for box in (box for row in rows for box in row):
        yield box
        yield from nested_boxes(box.rows)


def record(
    context: Context, exhibit: Exhibit, figure: Figure | None = None, *shown: object
) -> Record:
    """Build the diagram as nested boxes, with its connections in words; folded below a `figure` from a
    notebook, such as one to scale.
    """
    study, spec = context.study, parse_spec(exhibit)
    every = list(nested_boxes(spec.rows))
    around = {inner.id: box.label for box in every for row in box.rows for inner in row}
    count = Counter(box.label for box in every)  # equal labels are qualified by the enclosing box
    labels = {
        b.id: f"{b.label} ({around[b.id]})" if count[b.label] > 1 and b.id in around else b.label
        for b in every
    }
    edges = [(labels[e.start], labels[e.end], e.label) for e in spec.edges]
    table = pd.DataFrame(edges, columns=["from", "to", "connection"])
    contents = [(box.label, [inner.label for row in box.rows for inner in row]) for box in every]
    sentence = " ".join(f"{label} holds {join_words(inner)}." for label, inner in contents if inner)
    label = f"{exhibit_name(exhibit.id, exhibit.kind)}: {exhibit.title}. {sentence}".strip()
    boxes = Diagram(label=label, rows=spec.rows, edges=tuple(edges))
    return exhibit_record(
        context,
        exhibit,
        figure,
        "",
        (Numbers.of(table, f"{study.id}-{exhibit.id}", words="Connections (CSV)"),),
        provenance=(Provenance.REDRAWN,),
        blocks=(
            boxes if figure is None else Folded(summary="Parts and connections", blocks=(boxes,)),
            source(study, exhibit, "Redrawn from the description in ", "; the layout is ours."),
        ),
        description=label,
    )


KIND = ExhibitKind("diagram", record, spec=Spec)
