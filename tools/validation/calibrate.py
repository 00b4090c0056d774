"""Simulates data sets of every design in `calibration.yaml` and writes docs/calibration.md, with the
numbers beside it in docs/calibration.csv.

python -m tools.validation.calibrate --jobs 2
python -m tools.validation.calibrate --model ratio        # these cells again, the others as they were
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pandas as pd

from rawperf.core.errors import RawperfError
from rawperf.core.files import write_atomically
from rawperf.core.yamlio import load_yaml
from tools.validation import coverage, curves, designed, lines, results, series, verdicts
from tools.validation.designs import expand
from tools.validation.table import outside, page

HERE = Path(__file__).parent
CASES = curves.CASES | lines.CASES | designed.CASES | series.CASES | verdicts.CASES


@click.command()
@click.option(
    "--replicates",
    type=click.IntRange(min=10),
    default=2000,
    show_default=True,
    help="Simulated data sets a cell.",
)
@click.option("--seed", type=click.IntRange(min=0), default=20, show_default=True)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Processes; the result does not depend on them.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    default="",
    help="A running Dask cluster in place of processes.",
)
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="MODEL",
    help="Simulate only the cells of this model; the page keeps the stored results of the others.",
)
@click.option("--designs", type=click.Path(path_type=Path), default=HERE / "calibration.yaml")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=HERE.parents[1] / "docs" / "calibration.md",
)
def calibrate(
    replicates: int,
    seed: int,
    jobs: int,
    scheduler: str,
    models: tuple[str, ...],
    designs: Path,
    output: Path,
) -> None:
    """Estimate the coverage of 90 % and 95 % intervals; all cells take hours of processor time."""
    try:
        document = load_yaml(designs)
        cells = expand(document, list(CASES))
        chosen = [cell for cell in cells if not models or cell.model in models]
        stored = results.load(output.with_suffix(".csv"), cells, CASES, seed)
        with _bar(sum(coverage.chunks(cell, replicates) for cell in chosen)) as step:
            found = coverage.run(
                chosen,
                CASES,
                replicates=replicates,
                seed=seed,
                jobs=jobs,
                scheduler=scheduler,
                step=step,
            )
        found["cell"] = [cells.index(chosen[place]) for place in found["cell"]]
        if len(stored):
            found = pd.concat([stored[~stored["cell"].isin(found["cell"])], found])
        found = found.sort_values("cell", kind="stable", ignore_index=True)
        results.save(output.with_suffix(".csv"), found, cells, seed)
        found = results.load(output.with_suffix(".csv"), cells, CASES, seed)
        write_atomically(output, page(found, cells, document.data, seed, designs.name))
    except RawperfError as err:
        raise click.ClickException(str(err)) from err
    click.echo(
        f"{len(chosen)} cells, {len(outside(found))} default intervals outside the band: {output}"
    )


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


if __name__ == "__main__":
    calibrate()
