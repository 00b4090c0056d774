"""`virtperf what-if`: results of all studies at an overcommitment ratio."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rawperf.core.errors import RawperfError
from virtperf.core.paths import Layout

if TYPE_CHECKING:
    from collections.abc import Iterable

    from virtperf.report.frames import StudyData
    from virtperf.report.synthesis.capacity import CurveValues
    from virtperf.report.synthesis.definition import Curve, JointGrid

_TITLES = {
    "cpu": "CPU overcommitment (virtual CPUs per real CPU):",
    "memory": "memory overcommitment (needed or defined per byte of real memory):",
}
_RATIO = click.FloatRange(min=0, min_open=True)


@click.command("what-if")
@click.option("--cpu-ratio", type=_RATIO, help="Virtual CPUs per real CPU, such as 2.")
@click.option(
    "--memory-ratio",
    type=_RATIO,
    help="Memory needed or defined per byte of real memory, such as 1.5.",
)
@click.pass_obj
def what_if(layout: Layout, cpu_ratio: float | None, memory_ratio: float | None) -> None:
    """Show the results of all studies at an overcommitment ratio.

    Throughput in total and per guest, response time, CPU cost and CPU load, as far as a study has
    them: ranges implied by a paper, or measured values. A heading names the system and its year, the
    varied resource, and after "1:" the reference condition. At a tested ratio, the value is its own
    range or interval; between two tested ratios, the union of their ranges and all values between
    them, which is valid if the curve is monotonic there. There is no extrapolation. With both
    ratios, studies that varied CPUs and memory together come first.

    \b
        virtperf what-if --cpu-ratio 2 --memory-ratio 1.5
    """
    from virtperf.core.params import load_parameters
    from virtperf.report.synthesis import capacity
    from virtperf.report.synthesis.definition import SYNTHESIS_FILE, load_file

    ratios = {"cpu": cpu_ratio, "memory": memory_ratio}
    if all(ratio is None for ratio in ratios.values()):
        raise click.UsageError("give --cpu-ratio, --memory-ratio or both")
    layout.require()
    level = load_parameters(layout.parameters).level
    data = layout.root / "data"
    file = load_file(data / SYNTHESIS_FILE)
    curves = [curve for curve in file.curves if ratios[curve.of] is not None]
    # load only what is needed: claims and figures take as long as the whole command
    both = file.grids if cpu_ratio is not None and memory_ratio is not None else ()
    studies = capacity.load_studies([*curves, *both], data)
    _require_stages(studies.values())
    if both and cpu_ratio is not None and memory_ratio is not None:
        click.echo(f"CPU and memory together: CPUs {cpu_ratio:g}, memory {memory_ratio:g}")
        for grid in capacity.grids(studies, both, level):
            click.echo(_head(grid.system, grid.grid))
            click.echo(f"      {grid.grid.measure}: {grid.at(cpu_ratio, memory_ratio)}")
    curve_values = capacity.curve_values(studies, curves, level)
    for of, ratio in ratios.items():
        if ratio is None:
            continue
        click.echo(f"{_TITLES[of]} {ratio:g}")
        groups: dict[str, list[CurveValues]] = {}
        for values in curve_values:
            if values.curve.of == of:
                groups.setdefault(_head(values.system, values.curve), []).append(values)
        for head, group in groups.items():
            click.echo(head)
            for values in group:
                click.echo(f"      {values.measure}: {values.at(ratio).words}")


def _require_stages(studies: Iterable[StudyData]) -> None:
    """Raise one `RawperfError` that names all studies with missing stage outputs."""
    errors: dict[str, RawperfError] = {}
    for each in studies:
        try:
            each.require_stages()
        except RawperfError as err:
            errors[each.study.id] = err
    if len(errors) == 1:
        raise next(iter(errors.values()))
    if errors:
        raise RawperfError(
            f"results of {len(errors)} studies are missing: {', '.join(errors)}",
            remedy="run `virtperf pipeline`",
        )


def _head(system: str, curve: Curve | JointGrid) -> str:
    """Heading of a curve: system, varied resource, and reference condition (1)."""
    return f"  {system or curve.study}: {curve.label} (1: {curve.against}; {curve.study})"
