"""`virtperf measure`: measure the missing runs of a study."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rawperf.core.errors import VirtperfError
from virtperf.core.paths import Layout

if TYPE_CHECKING:
    from rich.console import Console

    from virtperf.comparison.precision import Precision
    from virtperf.measure.harness import Harness, MeasureEvent
    from virtperf.measure.plan import PlannedRun
    from virtperf.study.definition import Study

EXIT_FAILED = 3


@click.command()
@click.argument("study_id", metavar="STUDY")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print the plan, its commands and the time it takes; measure nothing.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="NAME|FACTOR=LEVEL",
    help="Only this experiment, or runs at this level; may be given several times.",
)
@click.option(
    "--replicates",
    type=click.IntRange(1, 1000),
    help="Runs of each condition, in place of measure.yaml's.",
)
@click.option(
    "--doctor",
    is_flag=True,
    help="Print facts about this machine and its hosts, what measure.yaml requires, and what to do; measure nothing.",
)
@click.option(
    "--aa",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="OUT",
    help="Measure one condition (--only) as two, into this folder; for `virtperf compare --aa`.",
)
@click.pass_obj
def measure(
    layout: Layout,
    study_id: str,
    dry_run: bool,
    only: Sequence[str],
    replicates: int | None,
    doctor: bool,
    aa: Path | None,
) -> None:
    """Measure the runs of a study that are missing, as data/measured/STUDY/measure.yaml says.

    Conditions come in shuffled complete blocks. Each run is set up, its monitors run around its
    workload, and its folder appears whole in data/measured/STUDY or not at all. It may be stopped
    or killed at any time: the next start clears away what was left and goes on. A run whose
    commands fail is kept in .measure/failed there, the others go on, and the command ends with
    status 3. Disturbed runs are kept and flagged, or made again (`on_disturbed`). Runs that would
    not be made as those that are there are refused.

    measure.yaml is a program: its commands run as you, with all that you may do. Read it, or what
    --dry-run prints, before you measure somebody else's study.

    `virtperf power` says how many replicates a question needs; docs/measure.md explains
    measure.yaml.
    """
    from virtperf.cli._terminal import say
    from virtperf.measure.definition import MEASURE_FILE
    from virtperf.measure.harness import Harness
    from virtperf.measure.plan import equal_runs, load_definition, plan
    from virtperf.measure.processes import Interrupted
    from virtperf.report.wording import plural
    from virtperf.study.definition import load_study

    place = layout.measured(study_id)
    study = load_study(place if (place / "study.yaml").is_file() else layout.known(study_id))
    definition = load_definition(place / MEASURE_FILE, study)
    if doctor:
        harness = Harness(study, definition, place, layout.root)
        runs = plan(definition, study, replicates, only)
        _warn_of_missing(harness, runs)
        _doctor(harness, runs)
        return
    if aa is None:
        harness = Harness(study, definition, place, layout.root)
        runs = plan(definition, study, replicates, only)
    else:
        harness = Harness(study, definition, _apart(aa, layout), layout.root, place)
        runs = equal_runs(definition, study, replicates, only)
    missing = [run for run in runs if not harness.present(run)]
    tried = harness.attempts()
    given_up = [run for run in missing if tried[run.run_id] >= run.experiment.attempts]
    todo = [run for run in missing if run not in given_up]
    most = "at most " if replicates is None and any(r.experiment.until for r in todo) else ""
    words = f"{plural(len(runs), 'run')}, {len(runs) - len(missing)} measured, {most}{len(todo)} to measure"
    sure = "about" if harness.estimated(todo) else "at least"
    say(f"{words}, {sure} {_duration(harness.expected_s(*todo))}", style="bold")
    if dry_run:
        _show(harness, runs, todo)
        _warn_of_missing(harness, runs)
        return
    so_far = _SoFar(layout, study, adaptive=replicates is None and aa is None)
    begun = {run.experiment.name for run in todo if run.experiment.until}
    conditions = {(run.experiment.name, *run.levels.items()) for run in todo}
    for run in runs:
        condition = (run.experiment.name, *run.levels.items())
        if harness.present(run) and (run.experiment.name in begun or condition in conditions):
            so_far.add(run, harness.runs / run.run_id)
    try:
        with _progress(len(todo), harness.expected_s(*todo)) as tell:
            done = harness.measure(todo, tell, lambda line: say(line, err=True), so_far)
    except Interrupted as err:
        say("stopped; the run under way was removed, those before it are kept", err=True)
        raise SystemExit(128 + err.number) from None
    again = f", {plural(done.again, 'disturbed attempt')} made again" if done.again else ""
    spared = f", {done.not_needed} not needed" if done.not_needed else ""
    say(
        f"{done.measured} measured ({done.disturbed} disturbed), {done.failed} failed{again}{spared}",
        style="bold",
    )
    for run in given_up:
        where = f"{(aa or place) / '.measure' / 'failed' / run.run_id}-*"
        say(
            f"{run.run_id}: given up after {tried[run.run_id]} attempts; remove {where} to try again",
            err=True,
        )
    if aa is not None:
        say(f"virtperf compare --aa {aa}; virtperf compare '{aa}/a-*' '{aa}/b-*'")
    if done.failed or given_up:
        raise SystemExit(EXIT_FAILED)


@dataclass
class _SoFar:
    """Precision of each experiment's main quantity, from `until` or the headline figure."""

    layout: Layout
    study: Study
    adaptive: bool
    known: dict[str, Precision] = field(default_factory=dict)

    def add(self, run: PlannedRun, folder: Path) -> None:
        from virtperf.cli._terminal import say
        from virtperf.comparison.precision import Precision

        name, until = run.experiment.name, run.experiment.until
        headline = next(
            (e for e in self.study.exhibits if e.id == self.study.headline_figure), None
        )
        quantity = until.quantity if until else getattr(headline, "quantity", None)
        if quantity is None or not folder.is_dir():  # DVC may track it without a local copy
            return
        if name not in self.known:
            rule = (until.half_width, until.at_most, until.to) if until else ()
            self.known[name] = Precision(self.layout, quantity, *rule)
        problem = self.known[name].add(name, run.levels, run.replicate, folder)
        if problem and until:
            say(f"{run.run_id} does not count for until: {problem}", err=True)

    def words(self, run: PlannedRun) -> str:
        known = self.known.get(run.experiment.name)
        return known.words(run.experiment.name) if known else ""

    def enough(self, run: PlannedRun) -> str:
        known = self.known.get(run.experiment.name)
        if not (known and self.adaptive and run.experiment.until):
            return ""
        return known.enough(run.experiment.name, run.replicate)


def _apart(out: Path, layout: Layout) -> Path:
    """Create the output folder of an A/A test; refuses folders inside `data`."""
    data = (layout.root / "data").resolve()
    if out.resolve().is_relative_to(data):
        raise VirtperfError(
            "runs of --aa are none of a study",
            file=out,
            expected="a folder outside data",
            remedy="name another folder",
        )
    out.mkdir(parents=True, exist_ok=True)
    return out


def _warn_of_missing(harness: Harness, runs: Sequence[PlannedRun]) -> None:
    """Warn only: the measurement may be planned for another machine."""
    from virtperf.cli._terminal import warn

    if missing := harness.not_here(runs):
        warn([f"not found on this machine: {', '.join(missing)}"])


def _doctor(harness: Harness, runs: Sequence[PlannedRun]) -> None:
    """Print facts about the machine and its hosts for each set of requirements.

    Exits with status 3 if a requirement is not met.
    """
    from virtperf.cli._terminal import say, show
    from virtperf.measure.machine import machine, machine_state
    from virtperf.measure.requirements import fact_rows

    facts = {**machine(), **machine_state()}
    if harness.hosts.named(harness.hosts.calls(runs)):
        far, far_state, _ = harness.hosts.described(runs)
        facts |= {**far, **far_state}
    experiments = {run.experiment.name: run.experiment for run in runs}
    wanted: dict[str, list[str]] = {}
    for name, experiment in experiments.items():
        wanted.setdefault(repr(experiment.machine), []).append(name)
    unmet = 0
    for names in wanted.values():
        rows = fact_rows(experiments[names[0]].machine, facts)
        unmet += sum(not row.holds for row in rows)
        if len(wanted) > 1:
            say(f"experiments {', '.join(names)}", style="bold", before=1)
        cells = [
            (r.fact, r.found, r.declared if r.holds else f"{r.declared} (no)", r.advice)
            for r in rows
        ]
        show(("fact", "found", "declared", "advice"), cells)
    if unmet:
        raise SystemExit(EXIT_FAILED)


def _show(harness: Harness, runs: Sequence[PlannedRun], todo: Sequence[PlannedRun]) -> None:
    """Print the runs in order, and the commands of each experiment's first run."""
    import shlex

    from virtperf.cli._terminal import say, show
    from virtperf.measure.definition import PHASES
    from virtperf.measure.harness import STATE_FOLDER

    waiting = {run.run_id for run in todo}
    states = [
        "to measure" if r.run_id in waiting else "measured" if harness.present(r) else "given up"
        for r in runs
    ]
    rows = [
        (n, run.run_id, state, _duration(harness.expected_s(run)))
        for n, (run, state) in enumerate(zip(runs, states, strict=True), start=1)
    ]
    show(("", "run", "state", "takes"), rows, right=("", "takes"))
    for experiment in dict.fromkeys(run.experiment.name for run in runs):
        run = next(run for run in runs if run.experiment.name == experiment)
        folder = harness.runs / STATE_FOLDER / "running" / run.run_id
        say(f"commands of {run.run_id}", style="bold", before=1)
        for call in (
            call
            for phase in PHASES
            for call in run.calls(phase, harness.here, harness.root, folder)
        ):
            where = f" on {call.host}" if call.host else ""
            into = f" > {call.output}" if call.output else ""
            say(f"{call.name}{where}: {shlex.join(call.argv)}{into}")


def _duration(seconds: float) -> str:
    """Format a duration: ``45 s``, ``3 min 20 s``, ``2 h 05 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


@contextmanager
def _progress(of: int, left_s: float) -> Iterator[Callable[[MeasureEvent], None]]:
    """Context manager for a progress bar on a terminal, else one line per run.

    Yields a function that receives events.
    """
    from rich.text import Text

    from virtperf.cli._terminal import clean, console

    def line(event: MeasureEvent, console: Console) -> None:
        if event.words:
            words = "; ".join(filter(None, (event.words, event.precision)))
            text = f"{event.run_id} ({event.number} of {event.of}) {words}"
            console.print(Text(clean(text), style="" if event.fine else "yellow"), soft_wrap=True)

    if not sys.stderr.isatty():
        yield lambda event: line(event, console())
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
    )

    class Left(ProgressColumn):
        """Column with the estimated time left, from the durations of runs so far."""

        def render(self, task: Task) -> Text:
            return Text(f"{_duration(max(0.0, task.fields['until'] - time.monotonic()))} left")

    columns = (MofNCompleteColumn(), BarColumn(), Left(), TextColumn("{task.description}"))
    # frequent redraws would disturb the measurement
    with Progress(*columns, console=console(err=True), refresh_per_second=1, transient=True) as bar:
        task = bar.add_task("", total=of, until=time.monotonic() + left_s)
        known = ""

        def tell(event: MeasureEvent) -> None:
            nonlocal known
            known = event.precision or known
            words = f"block {event.block}: {event.run_id}", known
            bar.update(
                task,
                completed=event.number - (not event.words),
                description=", ".join(filter(None, words)),
                until=time.monotonic() + event.left_s,
            )
            if not event.fine:
                line(event, bar.console)

        yield tell
