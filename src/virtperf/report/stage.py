"""The report stage: execute the notebook, then write the study's pages and metrics."""

from __future__ import annotations

from collections.abc import Callable

from rawperf.core.files import json_text, write_atomically
from virtperf.core.params import load_parameters, notebook_parameters
from virtperf.core.paths import Layout
from virtperf.report.frames import load
from virtperf.report.glossary import load_glossary
from virtperf.report.html.notebooks import execute
from virtperf.report.html.report import render
from virtperf.report.html.site.build import build_study_pages
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.key_numbers import key_numbers, means_table, width_table

EXAMPLES = "example-"
"""Prefix of the names of pages that show a study's example runs."""
NOTICE = (
    "This page shows example runs: synthetic files in the raw formats of this study, made up around "
    "known values. Nothing on it was measured; it demonstrates the processing of such files. The "
    "study's report is {report}."
)


def make_report(
    layout: Layout,
    study_id: str,
    progress: Callable[[str], None] = lambda _: None,
    *,
    examples: bool = False,
) -> None:
    """Execute a study's notebook and write its report, pages and metrics.

    Files: the executed notebook in build/; the report, and the pages of claims, data quality and
    traces in reports/; summary metrics in metrics/. Raises `RawperfError` if a cell of the
    notebook fails, or a table that it shows can't be read or is missing; nothing is written if one
    is missing.

    `examples` writes the same report with the example runs to reports/example-<study>.html, with
    its pages of data quality and traces; the notebook gets the parameter `show_examples`, and
    nothing else differs.
    """
    layout.known(study_id)
    parameters = load_parameters(layout.parameters)
    prefix, notice = "", ""
    if examples:
        report = parameters.report.model_copy(update={"show_examples": True})
        parameters = parameters.model_copy(update={"report": report})
        prefix, notice = EXAMPLES, NOTICE.format(report=layout.report(study_id).name)
    values = notebook_parameters(
        {"level": parameters.level, "seed": parameters.seed, **parameters.report.model_dump()}
    )
    name = prefix + study_id
    facts = StudyFacts(layout, parameters, study_id, prefix)
    facts.data.require_stages()
    study = facts.data.study
    progress("executing the notebook")
    executed = execute(layout.notebook(study_id), layout.executed(name), values.model_dump())
    progress("writing pages")
    title = f"{'Example runs: ' if examples else ''}{study.data['title']}"
    render(
        executed,
        layout.report(name),
        title=title,
        notice=notice,
        prefix=prefix,
        study=study,
        glossary=load_glossary(layout.glossary),
    )
    build_study_pages(layout, facts, layout.root / "reports")
    if examples:
        return
    data = facts.data
    if parameters.report.show_examples:  # key numbers are of measured runs only
        data = load(study_id, layout.root / "data")
    numbers = layout.key_numbers(study_id)
    write_atomically(numbers, json_text(key_numbers(data)))
    plotted = means_table(data) if study.kind == "measured" else width_table(data)
    table = plotted.to_csv(index=False, lineterminator="\n")
    write_atomically(numbers.with_suffix(".csv"), table)


def make_synthesis(layout: Layout, name: str = "synthesis") -> None:
    """Execute the notebook over all studies and render its page; raises as `make_report` does."""
    parameters = load_parameters(layout.parameters)
    executed = execute(layout.notebook(name), layout.executed(name), {"level": parameters.level})
    render(executed, layout.report(name), glossary=load_glossary(layout.glossary))
