"""`virtperf calibrate`: how often intervals contain the truth."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from virtperf.core.paths import Layout

DESIGNS = "calibration.yaml"


@click.command()
@click.option("--replicates", type=click.IntRange(min=10), default=2000, show_default=True,
              help="Simulated data sets a cell.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=20, show_default=True)
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True,
              help="Processes; the result does not depend on them.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path),
              help="Default: docs/calibration.md of the repository.")  # fmt: skip
@click.pass_obj
def calibrate(layout: Layout, replicates: int, seed: int, jobs: int, output: Path | None) -> None:
    """Simulate data sets of every design and count how often intervals contain the truth.

    Reads data/calibration.yaml, writes a table of the coverage of 90 % and 95 % intervals with its Monte Carlo error.
    With the default number of data sets it takes some ten minutes on two processors.

    \b
        virtperf calibrate --jobs 2
        virtperf calibrate --replicates 200 -o coverage.md
    """
    from virtperf.cli._terminal import say
    from virtperf.core.files import write_atomically
    from virtperf.core.yamlio import load_yaml
    from virtperf.models import calibrate as engine
    from virtperf.models import calibrate_curves, calibrate_lines
    from virtperf.models.calibrate_designs import expand
    from virtperf.models.calibrate_table import outside, page
    from virtperf.summarize import calibrate_series

    cases = calibrate_curves.CASES | calibrate_lines.CASES | calibrate_series.CASES
    document = load_yaml(layout.root / "data" / DESIGNS)
    cells = expand(document.data, list(cases), file=document.path.name, line=document.line)
    with _bar(sum(engine.chunks(cell, replicates) for cell in cells)) as step:
        found = engine.run(cells, cases, replicates=replicates, seed=seed, jobs=jobs, step=step)
    target = output or layout.root / "docs" / "calibration.md"
    write_atomically(target, page(found, cells, document.data, replicates, seed))
    say(f"{len(cells)} cells, {len(outside(found))} default intervals outside the band: {target}")


@contextmanager
def _bar(total: int) -> Iterator[Callable[[], None]]:
    """A progress bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task("simulating", total=total)
        yield lambda: progress.advance(bar)
