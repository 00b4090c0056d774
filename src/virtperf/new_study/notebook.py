"""The notebook of a new study: what was found, each exhibit, how it was measured, what concerns all of it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from virtperf.core.params import Parameters
from virtperf.study.definition import Study


def notebook_text(study: Study, parameters: Parameters) -> str:
    """A notebook without outputs, as a file's text: the same bytes for the same study and parameters."""
    sources = _measured(study, parameters) if study.kind == "measured" else _paper(study, parameters)
    cells = [_cell(number, kind, source) for number, (kind, source) in enumerate(sources)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    made = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _paper(study: Study, parameters: Parameters) -> Iterator[tuple[str, str]]:
    yield "markdown", f"# {study.title}\n\nEXAMPLE, replace this text: what the paper is about."
    yield from _begin(study, parameters)
    yield from _parts(("What was found", "summary()"))
    yield "markdown", "## Results"
    for exhibit in study.exhibits:
        name = exhibit.id.replace("-", " ").capitalize()
        yield "markdown", f"### {name}. {exhibit.title}"
        yield "code", f'study.show("{exhibit.id}")'
        yield "code", f'study.claims("{exhibit.id}")'
    yield from _parts(
        ("How it was measured", "setup()"), ("What the paper says elsewhere", 'claims("text")'),
        ("Contradictions", "contradictions()"), ("Readings of words", "readings()"), ("Assumptions", "assumptions()"),
        ("Errata", "errata()"), ("Data quality", "quality()"),
    )  # fmt: skip


def _measured(study: Study, parameters: Parameters) -> Iterator[tuple[str, str]]:
    """The title, figures, fits and comparisons come from study.yaml: a new figure needs no new cell."""
    yield from _begin(study, parameters)
    yield from _parts(("What was found", "summary()"), ("Hypotheses", "hypotheses()"))
    yield "markdown", "## Results"
    yield "code", "from IPython.display import display\n\nfor result in study.results():\n    display(result)"
    yield from _parts(("How it was measured", "setup()"), ("Data quality", "quality()"))


def _begin(study: Study, parameters: Parameters) -> Iterator[tuple[str, str]]:
    yield "parameters", _parameters(parameters)
    yield (
        "code",
        (
            "import virtperf as vp\n\n"
            f'study = vp.load_study("{study.id}", data, level=level, seed=seed, assumptions=assumptions, '
            "show_examples=show_examples)"
        ),
    )


def _parts(*parts: tuple[str, str]) -> Iterator[tuple[str, str]]:
    for title, method in parts:
        yield "markdown", f"## {title}"
        yield "code", f"study.{method}"


def _cell(number: int, kind: str, source: str) -> dict[str, object]:
    cell = {"id": f"cell-{number:03d}", "metadata": {}, "source": source.splitlines(keepends=True)}
    if kind == "markdown":
        return {"cell_type": "markdown", **cell}
    tags = {"metadata": {"tags": ["parameters"]}} if kind == "parameters" else {}
    return {"cell_type": "code", "execution_count": None, "outputs": [], **cell, **tags}


def _parameters(parameters: Parameters) -> str:
    report = parameters.report
    return "\n".join([
        'data = ""  # the repository\'s data folder; empty: found from here upwards',
        f"level = {parameters.level!r}  # confidence level of every interval",
        f"seed = {parameters.seed!r}  # of everything that draws random numbers",
        f"assumptions = {report.assumptions!r}  # False: what a paper's text allows without our assumptions",
        f"show_examples = {report.show_examples!r}  # True: draw made-up example runs too, with their own marker",
    ])  # fmt: skip
