"""`virtperf new`: create the files of a new study."""

from __future__ import annotations

import click

from virtperf.core.paths import Layout


@click.group()
def new() -> None:
    """Create a study."""


@new.command()
@click.argument("study_id", metavar="ID")
@click.option(
    "--title",
    default="",
    help="Title of the study; default: a placeholder.",
)
@click.option("--measured", is_flag=True, help="A study based on own measurements, not on a paper.")
@click.option(
    "--public-data",
    is_flag=True,
    help="The paper's authors published their data: add a script that converts tables to run folders.",
)
@click.pass_obj
def study(layout: Layout, study_id: str, title: str, measured: bool, public_data: bool) -> None:
    """Create the files of a new study.

    The pipeline can run the new files as they are. ID is permanent: lower-case letters, digits and
    hyphens, for example with the year. Placeholders in the files contain EXAMPLE; their contents are
    invented.
    """
    from virtperf.study.new.write import write_study

    if measured and public_data:
        raise click.UsageError("--public-data is for studies of a paper: leave out --measured.")
    for path in write_study(layout, study_id, title, measured=measured, artifact=public_data):
        click.echo(path.relative_to(layout.root))
    steps = ["check", *(["measure"] if measured else []), "pipeline", "keep-outputs", "pipeline"]
    click.echo(
        f"\nReplace the EXAMPLE placeholders, then: {'; '.join(f'virtperf {step} {study_id}' for step in steps)}"
    )
