"""`virtperf new`: create the files of a new study."""

from __future__ import annotations

import click

from virtperf.core.paths import Layout


@click.group()
def new() -> None:
    """Begin something new: a study."""


@new.command()
@click.argument("study_id", metavar="ID")
@click.option(
    "--title",
    default="",
    help="The study's title; default: one that says that it is to be replaced.",
)
@click.option(
    "--measured", is_flag=True, help="A study that begins with measurements, not with a paper."
)
@click.option(
    "--public-data",
    is_flag=True,
    help="The paper's authors published their data: adds a script that makes run folders of tables.",
)
@click.pass_obj
def study(layout: Layout, study_id: str, title: str, measured: bool, public_data: bool) -> None:
    """Write the files of a new study, which `dvc repro` runs through at once.

    ID is short and stays: lower-case letters, digits and hyphens, perhaps with the year. Everything
    in the files that has to be replaced says EXAMPLE; nothing in them was published by anybody.
    """
    from virtperf.study.new.write import write_study

    if measured and public_data:
        raise click.UsageError("--public-data is for a paper's data, --measured for one's own.")
    for path in write_study(layout, study_id, title, measured=measured, artifact=public_data):
        click.echo(path.relative_to(layout.root))
    steps = ["check", *(["measure"] if measured else []), "pipeline", "keep-outputs"]
    click.echo(
        f"\nReplace what says EXAMPLE, then: {'; '.join(f'virtperf {step} {study_id}' for step in steps)}"
    )
