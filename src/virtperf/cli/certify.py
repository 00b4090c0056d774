"""`virtperf certify`: how many digits of NIST's certified results the models reach."""

from __future__ import annotations

from pathlib import Path

import click

from virtperf.core.paths import Layout


@click.command()
@click.option(
    "--reference", type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of reference files; default: tests/reference of the repository.",
)  # fmt: skip
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, allow_dash=True),
    help="The page's file; default: docs/certified-digits.md of the repository; - writes to standard output.",
)  # fmt: skip
@click.pass_obj
def certify(layout: Layout, reference: Path | None, output: str | None) -> None:
    """Fit NIST's certified regression problems and write how many digits are reached.

    Takes every reference file that is certified by NIST, nonlinear ones from both prescribed starts. The page is the
    same whenever it is made on the same machine.
    """
    from virtperf.cli._terminal import say
    from virtperf.core.files import write_atomically
    from virtperf.models.certified import certified_page, certified_references

    folder = reference or layout.root / "tests" / "reference"
    page = certified_page(folder)
    if output == "-":
        click.echo(page, nl=False)
        return
    target = Path(output) if output else layout.root / "docs" / "certified-digits.md"
    write_atomically(target, page)
    say(f"{target}: {len(certified_references(folder))} certified sets")
