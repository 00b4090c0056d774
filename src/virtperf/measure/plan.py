"""Which runs there are to be, in which order: complete blocks, each shuffled, one experiment after
the other.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path, PurePosixPath

from rawperf.core.errors import Report, StudyError, VirtperfError, did_you_mean, stop
from rawperf.core.model import Level, load_model
from rawperf.core.yamlio import Document, load_yaml
from virtperf.measure.commands import Call, calls, filled_command
from virtperf.measure.definition import (
    PHASES,
    Command,
    Definition,
    Experiment,
    Phase,
    RemoteHost,
    Settings,
)
from virtperf.study.definition import Study

LABELS = ("a", "b")
"""Names of the two sides of runs that are alike."""
Place = tuple[str | int, ...]
"""Keys that lead to a setting in measure.yaml."""
FIELDS_FILE = ".fields.yaml"
"""File of the run folder in which commands may say fields of run.yaml that are known only
afterwards.
"""


@dataclass(frozen=True)
class PlannedRun:
    """A run to be measured; `levels` has every factor's level."""

    run_id: str
    experiment: Experiment
    levels: Mapping[str, Level]
    replicate: int
    seed: int
    hosts: Mapping[str, RemoteHost] = field(default_factory=dict)
    token: str = "0" * 12  # tells what one attempt at the run leaves on hosts from all else there

    def values(self, here: Path, root: Path, folder: Path) -> dict[str, Level]:
        """What commands may name: levels, and what is known of the run.

        `here`, `root` and `folder` are those of measure.yaml, of the repository, of the run.
        """
        experiment = self.experiment
        window = experiment.window_s or 0.0
        return {
            **self.levels,
            "experiment": experiment.name,
            "run": self.run_id,
            "replicate": self.replicate,
            "seed": self.seed,
            "warmup_s": _short(experiment.warmup_s),
            "window_s": _short(window),
            "seconds": _short(experiment.warmup_s + window),
            "run_dir": str(folder),
            "here": str(here),
            "root": str(root),
            "fields": str(folder / FIELDS_FILE),
        }

    def calls(self, phase: Phase, here: Path, root: Path, folder: Path) -> list[Call]:
        """The commands of a phase with their values; raises `ValueError` as `commands.calls`
        does.
        """
        hosts = {}
        for name in self.hosts:
            there = Path(self.folder_on(name))
            copied = there / ".root"
            near = here.relative_to(root) if here.is_relative_to(root) else Path(here.name)
            hosts[name] = self.values(copied / near, copied, there)
        values = self.values(here, root, folder)
        return list(calls(phase, getattr(self.experiment, phase), values, hosts))

    def folder_on(self, host: str) -> str:
        """The run's folder on a host."""
        return f"{self.hosts[host].folder}/virtperf-{host}-{self.token}"

    def all_calls(self, here: Path, root: Path, folder: Path) -> list[Call]:
        """The commands of all phases, as `calls` has them."""
        return [call for phase in PHASES for call in self.calls(phase, here, root, folder)]


def _short(number: float) -> Level:
    return int(number) if number == int(number) else number


def load_definition(path: Path, study: Study, report: Report = stop) -> Definition:
    """Load `measure.yaml` of a study; every experiment of the result has all settings.

    Raises
    ------
    StudyError
        With file and line: against the model, an unknown factor, level or placeholder, no workload,
        a name given twice.
    """
    definition, document = load_model(path, Definition, report, aliases=False)
    given = {name: getattr(definition, name) for name in Settings.model_fields}
    experiments: list[Experiment] = []
    for position, written in enumerate(definition.experiments):
        own = {name: getattr(written, name) for name in written.model_fields_set}
        above = {experiment.name: experiment for experiment in experiments}
        if written.like is None:
            base = given
        elif written.like in above:
            base = dict(above[written.like])
        else:
            problem = f"no experiment further up is called {written.like!r}"
            place = ("experiments", position, "like")
            remedy = did_you_mean(written.like, above)
            report(document.error(problem, *place, remedy=remedy))
            base = given
        experiments.append(Experiment.model_construct(written.model_fields_set, **{**base, **own}))
    definition = definition.model_copy(update={"experiments": tuple(experiments)})
    for name, command in definition.tools.items():
        try:
            tool_calls(name, command, definition.hosts)
        except ValueError as err:
            report(document.error(f"{name}: {err}", "tools", name))
    found = [
        problem
        for place, experiment in enumerate(experiments)
        for problem in _problems(experiment, place, study, document, definition.hosts)
    ]
    for problem in found:
        report(problem)
    names = [run.run_id for run in plan(definition, study, 1)] if not found else []
    for name in sorted({name for name in names if names.count(name) > 1}):
        report(document.error(f"two runs would be called {name}", "experiments"))
    return definition


def _problems(
    experiment: Experiment,
    position: int,
    study: Study,
    document: Document,
    hosts: Mapping[str, RemoteHost],
) -> Iterator[StudyError]:
    place = ("experiments", position)
    fine = True
    for part, levels in (
        ("at", {f: (v,) for f, v in experiment.at.items()}),
        ("over", experiment.over),
    ):
        for factor, level in ((f, level) for f, listed in levels.items() for level in listed):
            if wrong := study.level_problem(factor, level):
                fine = False
                yield document.error(wrong.pop("problem"), *place, part, factor, **wrong)
    if not fine:
        return
    runs = list(_conditions(experiment, study, 1, 0, hosts))
    if missing := [factor for factor, level in runs[0].levels.items() if level is None]:
        yield document.error(
            f"{experiment.name}: no level for {', '.join(missing)}, which has no default", *place
        )
        return
    own = {*replace(runs[0], levels={}).values(Path("/"), Path("/"), Path("/")), "n"}
    own |= {"host"} if hosts else set()
    if taken := sorted(own & study.factors.keys()):
        problem = (
            f"the study has a factor {taken[0]!r}, which is the name of a value of the harness"
        )
        yield document.error(problem, *place)
    if experiment.until:
        yield from _until_problems(experiment, place, study, document)
    if experiment.order == "abba" and len(runs) != 2:
        problem = (
            f"{experiment.name}: order abba is for two conditions, of which it has {len(runs)}"
        )
        yield document.error(problem, *place, remedy="order: blocks")
    if not experiment.workload:
        yield document.error(f"{experiment.name} has no workload", *place)
    elif experiment.window_s is None and all(command.stop for command in experiment.workload):
        problem = f"{experiment.name} never ends: it has no window_s, and its whole workload is to be stopped"
        yield document.error(problem, *place)
    for phase in PHASES:
        try:
            for run in runs:
                run.calls(phase, Path("/"), Path("/"), Path("/"))
        except ValueError as err:
            where = _said_at(experiment, place, phase)
            yield document.error(f"{experiment.name}, {phase}: {err}", *where)


def _said_at(experiment: Experiment, place: Place, setting: str) -> Place:
    """Where measure.yaml says a setting of the experiment at `place`, or whom it is like."""
    if setting in experiment.model_fields_set:
        return (*place, setting)
    return (setting,) if experiment.like is None else (*place, "like")


def _until_problems(
    experiment: Experiment, place: Place, study: Study, document: Document
) -> Iterator[StudyError]:
    until = experiment.until
    assert until is not None
    where = _said_at(experiment, place, "until")
    if until.quantity not in study.quantities:
        yield document.error(
            f"the study has no quantity {until.quantity!r}",
            *where,
            remedy=did_you_mean(until.quantity, study.quantities),
        )
    for factor, level in until.to.items():
        if level not in experiment.over.get(factor, ()):
            problem = f"{experiment.name} has no condition with {factor} {level}"
            yield document.error(problem, *where, "to", factor)


FROM = ("{here}/", "{root}/")
"""How commands begin the names of files beside measure.yaml and of the repository."""


def missing_files(run: PlannedRun, here: Path, root: Path) -> Iterator[tuple[Phase, int, str]]:
    """Files that commands of a run on this machine name by `FROM` and that are not there: phase,
    number of the command from 0, the file as measure.yaml writes it.

    Hidden ones are what runs leave for each other. Raises `ValueError` for an unknown placeholder.
    """
    values = {**run.values(here, root, here), "n": 1}
    for phase in PHASES:
        for number, command in enumerate(getattr(run.experiment, phase)):
            for part in () if command.on or command.shell else command.run:
                hidden = any(name.startswith(".") for name in PurePosixPath(part).parts)
                named = part.startswith(FROM) and not hidden
                if named and not Path(filled_command(part, values)).exists():
                    yield phase, number, part


def missing_file_problems(
    path: Path, definition: Definition, study: Study, root: Path
) -> Iterator[StudyError]:
    """The files of `missing_files` as problems of the `measure.yaml` that `definition` was loaded
    from; raises as it does.
    """
    document = load_yaml(path, aliases=False)
    for position, experiment in enumerate(definition.experiments):
        for run in _conditions(experiment, study, 1, 0, definition.hosts):
            for phase, number, file in missing_files(run, path.parent, root):
                where = _said_at(experiment, ("experiments", position), phase)
                yield document.error(
                    f"{phase}: there is no {file}",
                    *where,
                    number,
                    expected="a file of the repository",
                    remedy="add it, or correct the name",
                )


def tool_calls(name: str, tool: Command, hosts: Mapping[str, RemoteHost]) -> list[Call]:
    """The commands that print the version of a tool, on each of its hosts; raises `ValueError`."""
    return list(calls(name, (tool,), {}, {host: {"root": ""} for host in hosts}))


def plan(
    definition: Definition,
    study: Study,
    replicates: int | None = None,
    only: Sequence[str] = (),
    *,
    adaptive: bool = True,
) -> list[PlannedRun]:
    """All runs in the order in which they are measured, whether or not they are there; with `until`
    the most that there may be.

    Block k of an experiment is one run of each of its conditions in an order that depends on the
    seed, the experiment and k alone: more replicates, or fewer conditions, leave the order of the
    others as it is.

    Parameters
    ----------
    replicates : int, optional
        In place of what the experiments say.
    adaptive : bool
        Whether `until` counts.
    only : sequence of str
        Names of experiments, or ``factor=level``; several of one kind are alternatives.

    Raises
    ------
    VirtperfError
        `only` names an experiment, factor or level that there is not.
    """
    chosen = _chosen(definition, study, only)
    planned = []
    for experiment in definition.experiments:
        until = experiment.until if adaptive else None
        blocks = replicates or (until.at_most if until else experiment.replicates)
        for block in range(1, blocks + 1):
            runs = list(_conditions(experiment, study, block, definition.seed, definition.hosts))
            if experiment.order == "abba":
                planned += [run for run in _abba(runs, block) if chosen(run)]
                continue
            random.Random(f"{definition.seed}/{experiment.name}/{block}").shuffle(runs)  # noqa: S311 - an order
            planned += [run for run in runs if chosen(run)]
    return planned


def equal_runs(
    definition: Definition, study: Study, replicates: int | None, only: Sequence[str]
) -> list[PlannedRun]:
    """Runs of one condition under two names, ``a-...`` and ``b-...``, in the order ABBA: whatever
    differs between them is no effect.

    Raises
    ------
    VirtperfError
        `only` does not choose exactly one condition.
    """
    runs = plan(definition, study, replicates, only, adaptive=False)
    conditions = {(r.experiment.name, *r.levels.items()) for r in runs}
    if len(conditions) != 1:
        raise VirtperfError(
            f"--aa measures one condition twice, and {len(conditions)} are chosen",
            remedy="choose one by --only, such as --only EXPERIMENT --only FACTOR=LEVEL",
        )
    planned: list[PlannedRun] = []
    for run in runs:
        named = [replace(run, run_id=f"{label}-{run.run_id}") for label in LABELS]
        own = [replace(r, seed=_seed(definition.seed, r.run_id)) for r in named]
        planned += _abba(own, run.replicate)
    return planned


def _abba(runs: Sequence[PlannedRun], block: int) -> list[PlannedRun]:
    """Two runs of a block in the order AB, of the next block BA: a steady drift of the machine
    cancels.
    """
    return list(runs if block % 2 else reversed(runs))


def _seed(seed: int, run_id: str) -> int:
    """A run's own seed."""
    return random.Random(f"{seed}/{run_id}").getrandbits(31)  # noqa: S311 - no secret


def _conditions(
    experiment: Experiment, study: Study, block: int, seed: int, hosts: Mapping[str, RemoteHost]
) -> Iterator[PlannedRun]:
    for combination in product(*experiment.over.values()):
        written = {**experiment.at, **dict(zip(experiment.over, combination, strict=True))}
        named = [_slug(factor, written[factor]) for factor in experiment.over]
        run_id = "-".join([experiment.name, *named, f"r{block}"])
        levels: dict[str, Level] = study.filled(written)  # type: ignore[assignment]
        yield PlannedRun(run_id, experiment, levels, block, _seed(seed, run_id), hosts)


def _slug(factor: str, level: Level) -> str:
    """A level as part of a run's name: numbers need their factor's name beside them."""
    text = level if isinstance(level, str) else f"{factor}-{level}"
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")


def _chosen(
    definition: Definition, study: Study, only: Sequence[str]
) -> Callable[[PlannedRun], bool]:
    experiments = {text for text in only if "=" not in text}
    names = [experiment.name for experiment in definition.experiments]
    if unknown := sorted(experiments - set(names)):
        raise VirtperfError(
            f"--only: there is no experiment {unknown[0]!r}", remedy=did_you_mean(unknown[0], names)
        )
    levels: dict[str, set[str]] = {}
    for text in (t for t in only if "=" in t):
        factor, level = text.split("=", 1)
        known = list(map(str, study.factors[factor].levels)) if factor in study.factors else []
        if level not in known:
            what, among = (
                (f"level {level!r} of {factor}", known)
                if known
                else (f"factor {factor!r}", [*study.factors])
            )
            raise VirtperfError(
                f"--only: there is no {what}",
                remedy=did_you_mean(level if known else factor, among),
            )
        levels.setdefault(factor, set()).add(level)

    def chosen(run: PlannedRun) -> bool:
        wanted = all(str(run.levels[factor]) in among for factor, among in levels.items())
        return wanted and (not experiments or run.experiment.name in experiments)

    return chosen
