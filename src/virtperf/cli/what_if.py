"""`virtperf what-if`: what all studies allow or measured at an overcommitment ratio."""

from __future__ import annotations

import click

from virtperf.core.paths import Layout

_TITLES = {
    "cpu": "virtual CPUs for each real CPU:",
    "memory": "memory needed or defined for each byte of real memory:",
}
_RATIO = click.FloatRange(min=0, min_open=True)


@click.command("what-if")
@click.option("--cpu-ratio", type=_RATIO, help="Virtual CPUs for each real CPU, such as 2.")
@click.option(
    "--memory-ratio",
    type=_RATIO,
    help="Memory needed or defined for each byte of real memory, such as 1.5.",
)
@click.pass_obj
def what_if(layout: Layout, cpu_ratio: float | None, memory_ratio: float | None) -> None:
    """Say what every study allows or measured at an overcommitment ratio: throughput, CPU cost,
    response time.

    Values are relative to the condition that stands beside the system. Of a ratio that a study
    tested they are its own range or interval; of one between two tested ones, all values from the
    smallest to the largest on both sides, which holds if the curve runs one way between them.
    Beyond the tested ratios nothing is said.

    \b
        virtperf what-if --cpu-ratio 2 --memory-ratio 1.5
    """
    from virtperf.core.params import load_parameters
    from virtperf.report.synthesis.loaded import load_synthesis

    asked = {"cpu": cpu_ratio, "memory": memory_ratio}
    if all(ratio is None for ratio in asked.values()):
        raise click.UsageError("name a ratio: --cpu-ratio, --memory-ratio or both")
    synthesis = load_synthesis(layout.root / "data", level=load_parameters(layout.parameters).level)
    for of, ratio in asked.items():
        if ratio is None:
            continue
        click.echo(f"{_TITLES[of]} {ratio:g}")
        for course in synthesis.courses:
            curve = course.curve
            if curve.of == of:
                click.echo(f"  {curve.measure}, {curve.study}, {curve.label} (1: {curve.against})")
                click.echo(f"      {course.at(ratio).words}")
