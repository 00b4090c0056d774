"""A notebook with records of every kind of block, as if executed, built without kernel or study."""

from __future__ import annotations

import pandas as pd
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tests.report.toy import HOSTILE
from virtperf.core.provenance import Provenance
from virtperf.report import palette
from virtperf.report.loaded import ExhibitOutput, LoadedStudy
from virtperf.report.records import (
    Box,
    Diagram,
    Fact,
    Facts,
    Folded,
    Grid,
    Heading,
    Listing,
    Numbers,
    Paragraph,
    Record,
    Span,
)

INTRODUCTION = f"""# A toy study

What {HOSTILE} says, in `code` and in **words**; see [the source](https://example.org/paper), [the results](#results)
and [nothing](#nowhere).

<script>alert("markdown")</script>
"""
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 540 300">'
    f'<g id="{{id}}-axes"><path d="M60 20H520V250H60Z" style="fill:#ffffff"/>'
    f'<path d="M60 200H520" style="fill:none;stroke:{palette.GRID.light}"/>'
    f'<path d="M60 240L290 120L520 60" style="fill:none;stroke:{palette.SERIES_COLOURS[0].light}; stroke-width: 2"/>'
    f'<path d="M60 230L290 180L520 170" style="fill:none;stroke:{palette.SERIES_COLOURS[1].light}; stroke-width: 2"/>'
    f'<text x="290" y="280" style="font: 12px sans-serif; text-anchor: middle; fill: {palette.INK.light}">guests</text>'
    '<text x="70" y="40" style="font: 12px sans-serif">Throughput</text></g></svg>'
)


def summary() -> Record:
    """Headline numbers."""
    return Record(
        kind="summary",
        id="summary",
        study="toy",
        title="",
        blocks=(
            Facts(
                facts=(
                    Fact(value="12", label="statements", note=HOSTILE),
                    Fact(value="40 %", label="of points"),
                )
            ),
            Listing(items=("3 of them hold", ("2 ", Span(text="in conflict", style="verdict")))),
        ),
    )


def table() -> Record:
    """A printed table with a corrected cell."""
    printed, corrected = Span(text="10", style="deleted"), Span(text="12", style="inserted")
    return Record(
        kind="table",
        id="table-1",
        study="toy",
        name="Table 1",
        title=f"Software {HOSTILE}",
        provenance=(Provenance.PUBLISHED,),
        claims=("busy",),
        numbers=(
            Numbers(
                name="toy-table-1", columns=("part", "guests"), rows=(("=1+1", 12), ("b", None))
            ),
        ),
        blocks=(
            Grid(
                label="Table 1",
                columns=("part", "guests"),
                numeric=(1,),
                rows=(
                    (HOSTILE, (printed, " ", corrected, Span(text="a", style="mark"))),
                    ("b", empty()),
                ),
            ),
            Paragraph(
                words=(Span(text="File and lines", link="trace:toy/table-1"),), style="small"
            ),
            Folded(
                summary="Notes",
                blocks=(Heading(text="Corrections"), Paragraph(words="A misprint.", style="note")),
            ),
        ),
    )


def empty() -> tuple[Span, ...]:
    """An empty cell."""
    return (Span(text="not printed", style="empty"),)


def diagram() -> Record:
    """A set-up."""
    inner = ((Box(id="a", label="Guest 1"), Box(id="b", label=HOSTILE)),)
    return Record(
        kind="diagram",
        id="figure-1",
        study="toy",
        name="Figure 1",
        title="Set-up",
        caption="One machine.",
        provenance=(Provenance.PUBLISHED,),
        blocks=(
            Diagram(
                label="Set-up",
                rows=((Box(id="m", label="Machine", rows=inner), Box(id="d", label="Driver")),),
                edges=(("Driver", "Guest 1", "requests"),),
            ),
        ),
    )


def figure(name: str = "figure-2") -> Record:
    """A figure with its picture."""
    frame = pd.DataFrame(
        {"series": ["a", HOSTILE], "guests": [4, 8], "value": [1.23456789, float("nan")]}
    )
    return Record(
        kind="line",
        id=name,
        study="toy",
        name=name.replace("-", " ").capitalize(),
        title="Throughput over guests",
        caption=f"It rises until {HOSTILE}.",
        provenance=(Provenance.RECONSTRUCTED, Provenance.MEASURED),
        numbers=(Numbers.of(frame, f"toy-{name}"),),
        claims=("more-at-8",),
        blocks=(
            Paragraph(
                words=(Span(text="Runs and raw lines", link=f"trace:toy/{name}"),), style="small"
            ),
            Folded(
                summary="Numbers", blocks=(Grid(label="Numbers", columns=("x",), rows=(("1",),)),)
            ),
        ),
        drawing=SVG.format(id=name),
        description=f"Two lines, {HOSTILE}",
    )


def claims(name: str = "claims-figure-2") -> Record:
    """Statements with both verdicts."""
    says = (
        "Throughput rises ",
        Span(text=HOSTILE, style="small"),
    )
    verdicts = (
        Span(text="follows from others", style="verdict"),
        " ",
        Span(text="no measurement", style="verdict"),
    )
    about = (
        Span(text="Figure 2", link="exhibit:figure-2"),
        " ",
        Span(text="Figure 9", link="exhibit:figure-9"),
        " ",
        Span(text="another", link="claim:busy"),
        " ",
        Span(text="gone", link="claim:nowhere"),
    )
    return Record(
        kind="claims",
        id=name,
        study="toy",
        title="",
        blocks=(
            Grid(
                label="Statements",
                columns=("Claim", "Verdict", "About"),
                stacks=True,
                rows=((says, verdicts, about), ("It is busy", verdicts, "")),
                ids=("claim-more-at-8", "claim-busy"),
            ),
        ),
    )


def estimates() -> Record:
    """Numbers computed from an exhibit and a run."""
    return Record(
        kind="estimates",
        id="estimates-peaks",
        study="toy",
        title="Peaks",
        provenance=(Provenance.MEASURED,),
        lineage=("exhibit:figure-2", "run:measured-a-4-r1"),
        blocks=(
            Grid(
                label="Peaks",
                columns=("system", "peak"),
                rows=(("a", "8.1 (7.9 to 8.3)"),),
                numeric=(1,),
            ),
        ),
    )


def cell(source: str, exhibit: Record | ExhibitOutput) -> NotebookNode:
    """A code cell with an exhibit as its output."""
    made = exhibit if isinstance(exhibit, ExhibitOutput) else ExhibitOutput(exhibit)
    outputs = [
        new_output("display_data", data=data, metadata=meta) for data, meta in made.bundles()
    ]
    return new_code_cell(source, execution_count=1, outputs=outputs)


def notebook_of(cells: list[NotebookNode]) -> NotebookNode:
    """A notebook of cells, which get ids."""
    for position, made in enumerate(cells):
        made["id"] = f"cell-{position}"
    return new_notebook(
        cells=cells,
        metadata={"kernelspec": {"name": "python3", "display_name": "any", "language": "python"}},
    )


def of_study(study: LoadedStudy) -> NotebookNode:
    """A notebook that shows every exhibit of a study, rendered by its kind."""
    cells = [new_markdown_cell(INTRODUCTION), cell("study.summary()", study.summary())]
    for exhibit in study.study.exhibits:
        cells += [
            new_markdown_cell(f"## {exhibit.id}"),
            cell(f'study.show("{exhibit.id}")', study.show(exhibit.id)),
            cell(f'study.claims("{exhibit.id}")', study.claims(exhibit.id)),
        ]
    cells.append(new_markdown_cell("## Registers"))
    for name in ("contradictions", "assumptions", "errata", "quality", "claims"):
        cells.append(cell(f"study.{name}()", getattr(study, name)()))
    return notebook_of(cells)


def executed() -> NotebookNode:
    """Every kind of block and of output."""
    cells = [
        new_markdown_cell(INTRODUCTION),
        new_code_cell(
            'data = "."\nlevel = 0.95', metadata={"tags": ["parameters"]}, execution_count=1
        ),
        cell("study.summary()", summary()),
        new_markdown_cell("## Setup\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"),
        cell('study.show("table-1")', table()),
        cell('study.show("figure-1")', diagram()),
        new_markdown_cell("## Results\n\n### Figure 2\n"),
        cell('# Throughput over guests\nstudy.show("figure-2")', figure()),
        cell('study.claims("figure-2")', claims()),
        new_markdown_cell("### Figure 3. *Utilization* of `CPU`\n"),
        cell('study.show("figure-3")', figure("figure-3")),
        cell("study.estimates(peaks)", estimates()),
        new_markdown_cell("## Registers\n"),
        cell("study.claims()", claims("claims")),
        cell('study.show("figure-2")', figure()),
        new_code_cell(
            "print('x')",
            execution_count=2,
            outputs=[new_output("stream", name="stdout", text=f"{HOSTILE} \x1b[31mred\x1b[0m\n")],
        ),
    ]
    return notebook_of(cells)
