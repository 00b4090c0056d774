"""`virtperf verify`: a replay compared with what is stored."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from virtperf.cli._comparison import options, progress, report, write
from virtperf.core.paths import Layout

DIFFERENT = 1


@click.command()
@click.argument("studies", metavar="[STUDY]...", nargs=-1)
@click.option(
    "--against",
    metavar="REV|FOLDER",
    help="Compare with a git revision, replayed by its own package, or with a folder of results (written with a "
    "slash, such as ./other), instead of with what is stored here.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where verify.html and verify.json go; default: reports.",
)
@options
@click.pass_obj
def verify(
    layout: Layout, studies: Sequence[str], against: str | None, output: Path | None, tolerances: Path | None,
    jobs: int, as_json: bool,
) -> None:  # fmt: skip
    """Replay studies from raw data in a clean place, and compare every number with what is stored.

    What people wrote (data/published, data/measured, the notebooks, params.yaml) is copied into a temporary folder and
    all stages run there; no stored result and no cache is used. Compared are the points of every figure with their
    intervals, every fitted parameter, every table and every verdict: identical, within tolerance, moved (by how many
    interval widths), missing or new. Each stored drawing is compared with the numbers beside it, each report with the
    notebook that it was made from: a stale, exchanged or changed figure is named.

    Writes a certificate, verify.html and verify.json: what was replayed, by which versions of which packages, and
    every item that is not identical. The same results give the same certificate.

    The status is 0 when everything is identical or within tolerance, 1 when it is not or a replay failed. Tolerances
    are declared in tolerances.yaml; a number that moves by no more than its kind allows there is the same.

    \b
        virtperf verify                          every study against what is stored
        virtperf verify STUDY --against v1.0     one study against a tag
        virtperf verify --against ../other       against another clone's results
    """
    from virtperf.verify.run import tolerances_of
    from virtperf.verify.run import verify as run

    with progress("verifying") as told:
        outcome = run(
            layout, studies, tolerances_of(layout, tolerances), against=against, jobs=jobs, progress=told
        )  # fmt: skip
    folder = output or layout.root / "reports"
    lead = (
        "<p>The studies were replayed from what people wrote: published tables and statements, measured runs, "
        "notebooks and parameters, without any stored result. Every number was then compared with what was stored.</p>"
    )
    file = folder / "verify.html"
    made = write(outcome, "verify", file, layout.root / "reports", title="Certificate of a replay", lead=lead)
    report(outcome, made, file, as_json=as_json)
    if not outcome.agrees:
        raise SystemExit(DIFFERENT)
