"""The notebook of a new study: the paper's order, each exhibit with its claims, what concerns all of it at the end."""

from __future__ import annotations

import json

from virtperf.core.params import Parameters
from virtperf.study.definition import Study


def notebook_text(study: Study, parameters: Parameters) -> str:
    """A notebook without outputs, as a file's text: the same bytes for the same study and parameters."""
    sources: list[tuple[str, str]] = [
        ("markdown", f"# {study.title}\n\nEXAMPLE, replace this text: what the paper is about, and what a "
                     "reader finds here."),
        ("parameters", _parameters(parameters)),
        ("code", "import virtperf as vp\n\n"
                 f'study = vp.load_study("{study.id}", data, level=level, seed=seed, assumptions=assumptions, '
                 "show_examples=show_examples)"),
        ("markdown", "## Summary"), ("code", "study.summary()"),
        ("markdown", "## Results"),
    ]  # fmt: skip
    for exhibit in study.exhibits:
        name = exhibit.id.replace("-", " ").capitalize()
        sources.append(("markdown", f"### {name}. {exhibit.title}"))
        sources += [("code", f'study.show("{exhibit.id}")'), ("code", f'study.claims("{exhibit.id}")')]
    for title, method in (
        ("What the paper says elsewhere", 'claims("text")'), ("Contradictions", "contradictions()"),
        ("Assumptions", "assumptions()"), ("Errata", "errata()"), ("Data quality", "quality()"),
    ):  # fmt: skip
        sources += [("markdown", f"## {title}"), ("code", f"study.{method}")]
    cells = [_cell(number, kind, source) for number, (kind, source) in enumerate(sources)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    made = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


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
        f"assumptions = {report.assumptions!r}  # False: what the paper's text allows without our assumptions",
        f"show_examples = {report.show_examples!r}  # True: draw made-up example runs too, with their own marker",
    ])  # fmt: skip
