"""`virtperf keep-findings`: record the evidence of a finding beside its sentence."""

from __future__ import annotations

import click

from virtperf.core.paths import Layout


@click.command("keep-findings")
@click.argument("studies", nargs=-1, metavar="[STUDY]...")
@click.pass_obj
def keep_findings(layout: Layout, studies: tuple[str, ...]) -> None:
    """Mark the findings of studies as reviewed.

    Review the sentences first. Their numbers, the claims they rest on and the verdicts of runs are
    stored as written_for in study.yaml; if one of them changes, the report and `virtperf check`
    report it. Applies to the given studies, or to all; findings that are up to date are not changed.
    """
    from virtperf.core.params import load_parameters
    from virtperf.report.frames import load
    from virtperf.report.written_for import basis, changes
    from virtperf.study.yaml_edit import set_in_entry

    level = load_parameters(layout.parameters).level
    updated = 0
    for study_id in studies or layout.studies():
        data = load(study_id, layout.root / "data")
        for position, finding in enumerate(data.study.findings):
            if finding.numbers and data.observations.empty:  # no runs yet
                continue
            now = basis(data, finding, level)
            if now == finding.written_for:
                continue
            for words in changes(data, finding, level):
                click.echo(f"{study_id}, finding {position + 1}: {words}")
            path = data.study.document.path
            set_in_entry(path, "findings", position, "written_for", now)
            click.echo(f"{study_id}, finding {position + 1}: updated in {path.name}")
            updated += 1
    if not updated:
        click.echo("no finding to update")
