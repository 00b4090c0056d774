"""`virtperf verify`: a replay compared with what is stored."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from virtperf.cli._comparison import options, report
from virtperf.cli._terminal import status
from virtperf.core.paths import Layout


@click.command()
@click.argument("studies", metavar="[STUDY]...", nargs=-1)
@click.option(
    "--against",
    metavar="REV|FOLDER",
    default="",
    help="Compare with a git revision, replayed by its own package, or with a folder of results (written with a "
    "slash, such as ./other), instead of with what is stored here.",
)
@options
@click.pass_obj
def verify(
    layout: Layout,
    studies: Sequence[str],
    against: str,
    output: Path | None,
    tolerances: Path | None,
    jobs: int,
    as_json: bool,
) -> None:
    """Replay studies from what people wrote in a clean place, and compare everything with what is
    stored.

    Published tables and claims, measured runs, notebooks and parameters are copied into a temporary
    folder and all stages run there; no stored result and no cache is used. Compared are the stages'
    tables, every number and word of the exhibits and their drawings (identical, within tolerance,
    moved, missing or new), and every output file. What dvc.lock records of stored files (hash,
    size, number) is compared with the files, and the outputs that notebooks keep with those of the
    replay.

    Writes verify.json: what was replayed, by which versions of which packages, and every item that
    is not identical. The same results give the same document.

    The status is 0 when everything is identical or within tolerance, 1 when it is not or a replay
    failed. Tolerances are declared in tolerances.yaml.

    \b
        virtperf verify                          every study against what is stored
        virtperf verify STUDY --against v1.0     one study against a tag
        virtperf verify --against ../other       against another clone's results
    """
    from virtperf.verify.run import tolerances_of
    from virtperf.verify.run import verify as run

    with status("verifying") as progress:
        limits = tolerances_of(layout, tolerances)
        outcome = run(layout, studies, limits, against=against, jobs=jobs, progress=progress)
    report(outcome, "verify", output or layout.root / "reports" / "verify.json", as_json=as_json)
    if not outcome.agrees:
        raise SystemExit(1)
