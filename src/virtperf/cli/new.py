"""`virtperf new`: create the files of a new study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from virtperf.cli._shared import print_line, print_table, repeatable
from virtperf.core.paths import Layout

if TYPE_CHECKING:
    from virtperf.artifact.draft import Draft

MAX_SHOWN_LEVELS = 6
MAX_CLAIMS_BYTES = 4 * 1024**2


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
    "--artifact",
    type=click.Path(exists=True, path_type=Path),
    metavar="PATH",
    help="Published data of a paper, a folder or a zip file: draft the study and its run folders.",
)
@repeatable(
    "--factor",
    "OLD=NEW",
    "With --artifact: another name for a proposed factor",
    parameter="renamed",
)
@click.option(
    "--input-format",
    "declarations",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    multiple=True,
    metavar="FILE.yaml",
    help="With --artifact: a declaration of files that no format reads, with `match`; repeatable.",
)
@click.option(
    "--claims",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="TEXT",
    help="With --artifact: a text whose printed numbers are looked for in the data.",
)
@click.option("--dry-run", is_flag=True, help="With --artifact: print the proposal, write nothing.")
@click.pass_obj
def study(
    layout: Layout,
    study_id: str,
    title: str,
    measured: bool,
    artifact: Path | None,
    renamed: Sequence[str],
    declarations: Sequence[Path],
    claims: Path | None,
    dry_run: bool,
) -> None:
    """Create the files of a new study.

    The pipeline can run the new files as they are. ID is permanent: lower-case letters, digits and
    hyphens, for example with the year. Placeholders in the files contain EXAMPLE; their contents are
    invented, except with --artifact: there they stand for what the artifact does not state.

    A published artifact is only read: nothing in it is run. Every file is recognised by its content,
    the parts of paths and the columns of tables that vary become factors, and the files of each
    condition a run folder. testbeds/ID/draft.md lists what was proposed, and what can't be read, with
    declarations to start from.
    """
    from virtperf.study.new.write import write_study

    if measured and artifact:
        raise click.UsageError("--artifact is for studies of a paper: leave out --measured.")
    if artifact is None and (renamed or declarations or claims or dry_run):
        raise click.UsageError("--factor, --input-format, --claims and --dry-run need --artifact.")
    if artifact is not None:
        from virtperf.artifact.draft import draft_study

        text = _read_claims(claims) if claims else ""
        names = dict(map(_renaming, renamed))
        draft = draft_study(
            layout,
            study_id,
            artifact,
            title,
            renamed=names,
            claims=text,
            declarations=declarations,
            dry_run=dry_run,
        )
        written: Sequence[Path] = draft.written
    else:
        draft, written = None, write_study(layout, study_id, title, measured=measured)
    for path in written:
        click.echo(path.relative_to(layout.root))
    if draft is not None:
        _show(draft, study_id)
    if dry_run:
        click.echo("\nNothing was written.")
        return
    steps = ["check", *(["measure"] if measured else []), "pipeline", "keep-outputs", "pipeline"]
    click.echo(
        f"\nReplace the EXAMPLE placeholders, then: {'; '.join(f'virtperf {step} {study_id}' for step in steps)}"
    )


def _renaming(text: str) -> tuple[str, str]:
    old, equals, new_name = text.partition("=")
    if not equals:
        raise click.UsageError(f"{text!r}: expected --factor OLD=NEW")
    return old, new_name


def _read_claims(path: Path) -> str:
    if path.stat().st_size > MAX_CLAIMS_BYTES:
        raise click.UsageError(f"{path}: too large for a text of claims.")
    return path.read_text(encoding="utf-8", errors="replace")


def _show(draft: Draft, study_id: str) -> None:
    from virtperf.core.numbers import plural

    runs = draft.layout.runs
    print_line(
        f"{plural(len(runs), 'run')}, {plural(len(draft.quantities), 'quantity', 'quantities')}",
        before=1,
    )
    rows = []
    for name, words in draft.layout.sources.items():
        levels = list(dict.fromkeys(str(r.factors[name]) for r in runs if name in r.factors))
        more = ", ..." if len(levels) > MAX_SHOWN_LEVELS else ""
        rows.append((name, len(levels), ", ".join(levels[:MAX_SHOWN_LEVELS]) + more, words))
    print_table(("factor", "levels", "such as", "from"), rows, right=("levels",))
    if unnamed := draft.layout.unnamed:
        print_line(f"without a name: {', '.join(unnamed)}; give one by --factor {unnamed[0]}=NAME")
    if draft.unread:
        where = f"testbeds/{study_id}/draft.md"
        print_line(f"{plural(len(draft.unread), 'file')} not read: {where} lists them")
    if draft.occurrences:
        found = sum(bool(each.found) for each in draft.occurrences)
        print_line(
            f"printed numbers: {found} of {len(draft.occurrences)} occur in the data, some by chance"
        )
    if not draft.licence:
        print_line("no known licence was found: do not commit the run folders", style="yellow")
