"""`virtperf what-if`: results of all studies at an overcommitment ratio."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rawperf.core.errors import RawperfError
from virtperf.core.paths import Layout

if TYPE_CHECKING:
    from collections.abc import Iterable

    from virtperf.report.frames import StudyData

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
    from virtperf.report.frames import load
    from virtperf.report.synthesis.capacity import at_ratios
    from virtperf.report.synthesis.definition import SYNTHESIS_FILE, load_file
    from virtperf.report.synthesis.numbers import curves_frame

    given = {"cpu": cpu_ratio, "memory": memory_ratio}
    ratios = {of: ratio for of, ratio in given.items() if ratio is not None}
    if not ratios:
        raise click.UsageError("give --cpu-ratio, --memory-ratio or both")
    layout.require()
    level = load_parameters(layout.parameters).level
    data = layout.root / "data"
    curves = [c for c in load_file(data / SYNTHESIS_FILE).curves if c.axes.keys() <= ratios.keys()]
    # load only what is needed: claims and figures take as long as the whole command
    named = {curve.study for curve in curves}
    studies = {
        name: load(name, data, with_claims=False) for name in layout.studies() if name in named
    }
    _require_stages(studies.values())
    results = curves_frame(studies, curves, level)
    places = {of: {of: ratio} for of, ratio in ratios.items()}
    if (results["of"] == "both").any():
        places = {"both": ratios, **places}
    for of, place in places.items():
        click.echo(_TITLES[of].format(**ratios))
        found = at_ratios(results[results["of"] == of], {"result": place})
        heads = ["system", "compared", "against", "study"]
        for (system, compared, against, study), rows in found.groupby(heads, sort=False):
            click.echo(f"  {system}: {compared} (1: {against}; {study})")
            for measure, result in zip(rows["measure"], rows["result"], strict=True):
                click.echo(f"      {measure}: {result}")


_TITLES = {
    "both": "CPU and memory together: CPUs {cpu:g}, memory {memory:g}",
    "cpu": "CPU overcommitment (virtual CPUs per real CPU): {cpu:g}",
    "memory": "memory overcommitment (needed or defined per byte of real memory): {memory:g}",
}


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
