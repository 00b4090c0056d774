"""`virtperf measure`: measure the missing runs of a study."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rawperf.core.errors import RawperfError, RunError
from virtperf.cli._shared import clean, console, print_line, print_table, repeatable, warn
from virtperf.core.grouping import grouped
from virtperf.core.paths import Layout

if TYPE_CHECKING:
    from rich.console import Console

    from virtperf.comparison.precision import Precision
    from virtperf.core.contrasts import Replicates
    from virtperf.measure.harness import Harness, MeasureEvent
    from virtperf.measure.overview import HypothesisOverview
    from virtperf.measure.plan import PlannedRun
    from virtperf.runs.ingest.folder import RunFolder
    from virtperf.study.definition import Study
    from virtperf.study.quantities import Quantity

EXIT_FAILED = 3


@click.command()
@click.argument("study_id", metavar="STUDY")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print the plan, its commands and its estimated duration, without measuring.",
)
@click.option(
    "--plan",
    "show_overview",
    is_flag=True,
    help="Print what there is to measure, and the difference that each hypothesis can detect, without "
    "measuring.",
)
@repeatable(
    "--only", "NAME|FACTOR=LEVEL", "Measure only this experiment, or runs at this factor level"
)
@click.option(
    "--replicates",
    type=click.IntRange(1, 1000),
    help="Number of runs per condition; overrides measure.yaml.",
)
@click.option(
    "--doctor",
    is_flag=True,
    help="Print facts about this machine and its hosts, the requirements of measure.yaml, and advice, "
    "without measuring.",
)
@click.option(
    "--aa",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="OUT",
    help="A/A test: measure one condition (--only) under two labels into this folder, for "
    "`virtperf compare --aa`.",
)
@click.pass_obj
def measure(
    layout: Layout,
    study_id: str,
    dry_run: bool,
    show_overview: bool,
    only: Sequence[str],
    replicates: int | None,
    doctor: bool,
    aa: Path | None,
) -> None:
    """Measure the missing runs of a study.

    data/measured/STUDY/measure.yaml defines the runs. By default, conditions are measured in
    randomised complete blocks. A run folder appears in data/measured/STUDY in one step, when the run is complete. The
    command may be interrupted or killed at any time: the next start cleans up and continues. A
    failed run is moved to .measure/failed there, the other runs continue, and the exit status is 3.
    Each run is read at once as `virtperf runs` reads it; the exit status is 3 too if one is not readable.
    Disturbed and unreadable runs are kept and flagged, or repeated (`on_disturbed`). New runs are refused if their
    protocol, machine or tools differ from those of the existing runs.

    measure.yaml is a program: its commands run with your permissions. Read it, or the output of
    --dry-run, before you measure somebody else's study.

    `virtperf power` computes the number of replicates that a question needs; docs/measure.md explains
    measure.yaml.
    """
    from virtperf.core.numbers import plural
    from virtperf.measure.definition import MEASURE_FILE
    from virtperf.measure.harness import Harness
    from virtperf.measure.plan import equal_runs, load_definition, plan
    from virtperf.measure.processes import Interrupted
    from virtperf.runs.packing import pack
    from virtperf.study.definition import load_study

    place = layout.measured(study_id)
    study = load_study(place if (place / "study.yaml").is_file() else layout.known(study_id))
    definition = load_definition(place / MEASURE_FILE, study)
    if doctor:
        harness = Harness(study, definition, place, layout.root)
        runs = plan(definition, study, replicates, only)
        _warn_of_missing(harness, runs)
        _show_requirements(harness, runs)
        return
    if aa is None:
        harness = Harness(study, definition, place, layout.root)
        runs = plan(definition, study, replicates, only)
    else:
        harness = Harness(study, definition, _output_folder(aa, layout), layout.root, place)
        runs = equal_runs(definition, study, replicates, only)
    missing = [run for run in runs if not harness.present(run)]
    tried = harness.attempts()
    given_up = [run for run in missing if tried[run.run_id] >= run.experiment.attempts]
    todo = [run for run in missing if run not in given_up]
    most = "at most " if replicates is None and any(r.experiment.until for r in todo) else ""
    words = f"{plural(len(runs), 'run')}, {len(runs) - len(missing)} measured, {most}{len(todo)} to measure"
    bound = "about" if harness.estimated(todo) else "at least"
    print_line(f"{words}, {bound} {_duration(harness.expected_s(*todo))}", style="bold")
    if show_overview:
        _show_overview(layout, study, harness, runs, todo)
        return
    if dry_run:
        _show_plan(harness, runs, todo)
        _warn_of_missing(harness, runs)
        _warn_of_refusal(harness, todo)
        return
    tracker = _PrecisionTracker(layout, study, adaptive=replicates is None and aa is None)
    adaptive = {run.experiment.name for run in todo if run.experiment.until}
    conditions = {(run.experiment.name, *run.levels.items()) for run in todo}
    for run in runs:
        condition = (run.experiment.name, *run.levels.items())
        if harness.present(run) and (run.experiment.name in adaptive or condition in conditions):
            tracker.add(run, harness.folder(run))
    try:
        with _progress(len(todo), harness.expected_s(*todo)) as tell:
            done = harness.measure(todo, tell, lambda line: print_line(line, err=True), tracker)
    except Interrupted as err:
        print_line("interrupted: the current run was removed, earlier runs are kept", err=True)
        raise SystemExit(128 + err.number) from None
    repeated = f", {plural(done.again, 'disturbed attempt')} repeated" if done.again else ""
    skipped = f", {done.not_needed} not needed" if done.not_needed else ""
    unreadable = f", {done.unreadable} not readable" if done.unreadable else ""
    print_line(
        f"{done.measured} measured ({done.disturbed} disturbed{unreadable}), {done.failed} failed{repeated}{skipped}",
        style="bold",
    )
    for run in given_up:
        where = f"{(aa or place) / '.measure' / 'failed' / run.run_id}-*"
        print_line(
            f"{run.run_id}: not retried after {tried[run.run_id]} failed attempts; remove {where} to retry",
            err=True,
        )
    if aa is None and (names := harness.complete(runs)):
        try:
            pack(place, study, names)
        except RunError as err:
            print_line(f"not packed: {err}", err=True)
    if aa is not None:
        print_line(f"virtperf compare --aa {aa}; virtperf compare '{aa}/a-*' '{aa}/b-*'")
    if done.failed or done.unreadable or given_up:
        raise SystemExit(EXIT_FAILED)


@dataclass
class _PrecisionTracker:
    """Precision of each experiment's main quantity, from `until` or the headline figure."""

    layout: Layout
    study: Study
    adaptive: bool
    precisions: dict[str, Precision] = field(default_factory=dict)

    def add(self, run: PlannedRun, folder: RunFolder) -> None:
        from virtperf.comparison.precision import Precision

        name, until = run.experiment.name, run.experiment.until
        headline = next(
            (e for e in self.study.exhibits if e.id == self.study.headline_figure), None
        )
        quantity = until.quantity if until else getattr(headline, "quantity", None)
        if quantity is None or not (
            folder.archive or folder.path.is_dir()
        ):  # DVC may have it elsewhere
            return
        if name not in self.precisions:
            rule = (until.half_width, until.at_most, until.to) if until else ()
            self.precisions[name] = Precision(self.layout, quantity, *rule)
        problem = self.precisions[name].add(name, run.levels, run.replicate, folder)
        if problem and until:
            print_line(f"{run.run_id} is ignored by until: {problem}", err=True)

    def words(self, run: PlannedRun) -> str:
        precision = self.precisions.get(run.experiment.name)
        return precision.words(run.experiment.name) if precision else ""

    def skip_reason(self, run: PlannedRun) -> str:
        precision = self.precisions.get(run.experiment.name)
        if not (precision and self.adaptive and run.experiment.until):
            return ""
        return precision.enough(run.experiment.name, run.replicate)


def _output_folder(out: Path, layout: Layout) -> Path:
    """Create the output folder of an A/A test; refuses folders inside `data`."""
    data = (layout.root / "data").resolve()
    if out.resolve().is_relative_to(data):
        raise RawperfError(
            "runs of --aa are not part of a study",
            file=out,
            expected="a folder outside data",
            remedy="choose another folder",
        )
    out.mkdir(parents=True, exist_ok=True)
    return out


def _warn_of_missing(harness: Harness, runs: Sequence[PlannedRun]) -> None:
    """Warn only: the measurement may be planned for another machine."""

    if missing := harness.missing_locally(runs):
        warn([f"not found on this machine: {', '.join(missing)}"])


def _show_requirements(harness: Harness, runs: Sequence[PlannedRun]) -> None:
    """Print facts about the machine and its hosts for each set of requirements.

    Exits with status 3 if a requirement is not met.
    """
    from virtperf.measure.machine import machine, machine_state
    from virtperf.measure.requirements import fact_rows

    facts = {**machine(), **machine_state()}
    if harness.hosts.named(harness.hosts.calls(runs)):
        far, far_state, _ = harness.hosts.described(runs)
        facts |= {**far, **far_state}
    experiments = {run.experiment.name: run.experiment for run in runs}
    by_requirement = grouped((repr(each.machine), name) for name, each in experiments.items())
    unmet = 0
    for names in by_requirement.values():
        rows = fact_rows(experiments[names[0]].machine, facts)
        unmet += sum(not row.holds for row in rows)
        if len(by_requirement) > 1:
            print_line(f"experiments {', '.join(names)}", style="bold", before=1)
        cells = [
            (r.fact, r.found, r.declared if r.holds else f"{r.declared} (not met)", r.advice)
            for r in rows
        ]
        print_table(("fact", "found", "required", "advice"), cells)
    if unmet:
        raise SystemExit(EXIT_FAILED)


def _warn_of_refusal(harness: Harness, todo: Sequence[PlannedRun]) -> None:
    """Warn if the runs would not be comparable with the earlier ones."""

    try:
        harness.describe_comparable(todo)
    except RawperfError as err:
        warn([f"these runs would be refused: {err}"])


def _show_overview(
    layout: Layout,
    study: Study,
    harness: Harness,
    runs: Sequence[PlannedRun],
    todo: Sequence[PlannedRun],
) -> None:
    """Print each experiment of the plan, and what each hypothesis can detect with it."""
    from virtperf.measure.overview import (
        POWER,
        ExperimentOverview,
        experiment_overviews,
        hypothesis_overviews,
    )
    from virtperf.study.hypotheses import load_hypotheses

    waiting = {run.run_id for run in todo}

    def row(experiment: ExperimentOverview) -> tuple[str, ...]:
        left = [run for run in experiment.runs if run.run_id in waiting]
        return (
            experiment.name,
            str(experiment.conditions),
            str(experiment.blocks),
            str(len(experiment.runs)),
            str(len(left)),
            _duration(harness.expected_s(*left)),
        )

    experiments = list(experiment_overviews(runs))
    heading = ("experiment", "conditions", "blocks", "runs", "to measure", "duration")
    print_table(heading, [row(experiment) for experiment in experiments], right=heading[1:])
    for experiment in experiments:
        print_line(experiment.name, style="bold", before=1)
        levels = [f"{name} {', '.join(map(str, of))}" for name, of in experiment.varied.items()]
        levels += [f"{name} {level}" for name, level in experiment.fixed.items()]
        print_line(f"conditions: {'; '.join(levels) or 'one'}")
        print_line(f"declared files: {', '.join(experiment.files) or 'none'}")
    if study.kind != "measured":
        return
    samples, problem = _earlier_samples(layout, study)
    print_line("hypotheses", style="bold", before=1)
    print_line(
        f"The smallest difference of two conditions that is detected with a power of {100 * POWER:g} %, as "
        "`virtperf power` computes it; comparisons within blocks may detect smaller ones."
        if samples
        else f"What they detect is unknown, since there are no results of earlier runs: {problem}."
    )
    for hypothesis in hypothesis_overviews(study, load_hypotheses(study), runs, samples):
        print_line(f"{hypothesis.id}: {hypothesis.compares}")
        print_line(f"  {_detectable(hypothesis)}")


def _earlier_samples(layout: Layout, study: Study) -> tuple[Mapping[Quantity, Replicates], str]:
    """Earlier runs of each quantity as stored by the runs stage, and why there are none."""
    from virtperf.comparison.studies import measured_study
    from virtperf.study.study_samples import DEFAULT_LEVEL

    try:
        return measured_study(layout, study.id, DEFAULT_LEVEL).samples, ""
    except RawperfError as err:
        return {}, err.problem


def _detectable(hypothesis: HypothesisOverview) -> str:
    from virtperf.core.numbers import plural, pretty

    if hypothesis.missing:
        return f"can't be decided: no run of {hypothesis.missing} is planned"
    runs = plural(hypothesis.blocks, "block")
    if not hypothesis.compared:
        return f"{runs}; one condition, compared with numbers"
    if hypothesis.cv is None:
        return f"{runs}; the difference that they detect is unknown"
    found = (
        "no difference"
        if hypothesis.effect is None
        else f"a difference of {pretty(100 * hypothesis.effect, 2)} %"
    )
    return (
        f"{runs}: {found} (spread between runs {pretty(100 * hypothesis.cv, 2)} %, "
        f"{plural(hypothesis.earlier, 'earlier run')})"
    )


def _show_plan(harness: Harness, runs: Sequence[PlannedRun], todo: Sequence[PlannedRun]) -> None:
    """Print the runs in order, and the commands of each experiment's first run."""
    import shlex

    from virtperf.measure.definition import PHASES
    from virtperf.measure.harness import STATE_FOLDER

    waiting = {run.run_id for run in todo}
    states = [
        "to measure" if r.run_id in waiting else "measured" if harness.present(r) else "failed"
        for r in runs
    ]
    rows = [
        (n, run.run_id, state, _duration(harness.expected_s(run)))
        for n, (run, state) in enumerate(zip(runs, states, strict=True), start=1)
    ]
    print_table(("", "run", "state", "duration"), rows, right=("", "duration"))
    for experiment in dict.fromkeys(run.experiment.name for run in runs):
        run = next(run for run in runs if run.experiment.name == experiment)
        folder = harness.runs / STATE_FOLDER / "running" / run.run_id
        print_line(f"commands of {run.run_id}", style="bold", before=1)
        for call in (
            call
            for phase in PHASES
            for call in run.calls(phase, harness.here, harness.root, folder)
        ):
            where = f" on {call.host}" if call.host else ""
            into = f" > {shlex.quote(call.output)}" if call.output else ""
            print_line(f"{call.name}{where}: {shlex.join(call.argv)}{into}")


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
