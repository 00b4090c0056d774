"""Run plan: a randomised complete block design, one experiment after the other."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path, PurePosixPath

from rawperf.core.errors import (
    RawperfError,
    Report,
    StudyError,
    did_you_mean,
    raise_problem,
    require_known,
)
from rawperf.core.model import Level, load_model
from rawperf.core.yamlio import Document, load_yaml
from virtperf.core.grouping import grouped
from virtperf.measure.commands import Call, calls, filled_command
from virtperf.measure.definition import (
    FIELDS_FILE,
    PHASES,
    Command,
    Definition,
    Experiment,
    Phase,
    RemoteHost,
    Settings,
)
from virtperf.study.definition import Study
from virtperf.study.run_groups import AA_LABELS

Place = tuple[str | int, ...]
"""Key path of a setting in measure.yaml."""


@dataclass(frozen=True)
class PlannedRun:
    """A run to be measured; `levels` has the level of every factor."""

    run_id: str
    experiment: Experiment
    levels: Mapping[str, Level]
    replicate: int
    seed: int
    hosts: Mapping[str, RemoteHost] = field(default_factory=dict)
    token: str = "0" * 12  # distinguishes the remote files of one attempt at the run

    def values(self, here: Path, root: Path, folder: Path) -> dict[str, Level]:
        """Placeholder values for commands: levels, and properties of the run.

        `here` is the folder of measure.yaml, `root` the repository, `folder` that of the run.
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
        """The commands of a phase, filled in; raises `ValueError` as `commands.calls`."""
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
        """The commands of all phases, as returned by `calls`."""
        return [call for phase in PHASES for call in self.calls(phase, here, root, folder)]


def _short(number: float) -> Level:
    return int(number) if number == int(number) else number


def load_definition(path: Path, study: Study, report: Report = raise_problem) -> Definition:
    """Load and validate `measure.yaml`; every experiment of the result has all settings.

    Raises
    ------
    StudyError
        With file and line: schema violation, unknown factor, level or placeholder, no workload,
        duplicate run names.
    """
    definition, document = load_model(path, Definition, report, aliases=False)
    defaults = {name: getattr(definition, name) for name in Settings.model_fields}
    experiments: list[Experiment] = []
    for position, written in enumerate(definition.experiments):
        overrides = {name: getattr(written, name) for name in written.model_fields_set}
        above = {experiment.name: experiment for experiment in experiments}
        if written.like is None:
            base = defaults
        elif written.like in above:
            base = dict(above[written.like])
        else:
            words = f"like: no earlier experiment is named {written.like!r}"
            remedy = did_you_mean(written.like, above)
            report(document.error(words, "experiments", position, "like", remedy=remedy))
            base = defaults
        experiments.append(
            Experiment.model_construct(written.model_fields_set, **{**base, **overrides})
        )
    definition = definition.model_copy(update={"experiments": tuple(experiments)})
    for name, command in definition.tools.items():
        try:
            tool_calls(name, command, definition.hosts)
        except ValueError as err:
            report(document.error(f"{name}: {err}", "tools", name))
    problems = [
        problem
        for place, experiment in enumerate(experiments)
        for problem in _problems(experiment, place, study, document, definition.hosts)
    ]
    for problem in problems:
        report(problem)
    names = [run.run_id for run in plan(definition, study, 1)] if not problems else []
    for name in sorted({name for name in names if names.count(name) > 1}):
        report(document.error(f"two runs would be named {name}", "experiments"))
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
        for factor, level in ((f, level) for f, values in levels.items() for level in values):
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
    placeholder_names = {*replace(runs[0], levels={}).values(Path("/"), Path("/"), Path("/")), "n"}
    placeholder_names |= {"host"} if hosts else set()
    if conflicting := sorted(placeholder_names & study.factors.keys()):
        problem = f"factor {conflicting[0]!r} has the name of a placeholder of the harness"
        yield document.error(problem, *place)
    if experiment.until:
        yield from _until_problems(experiment, place, study, document)
    if experiment.order == "abba" and len(runs) != 2:
        problem = f"{experiment.name}: order abba needs two conditions; found {len(runs)}"
        yield document.error(problem, *place, remedy="order: blocks")
    if not experiment.workload:
        yield document.error(f"{experiment.name} has no workload", *place)
    elif experiment.window_s is None and all(command.stop for command in experiment.workload):
        problem = (
            f"{experiment.name} never ends: without window_s, "
            "a command of the workload must end without a stop signal"
        )
        yield document.error(problem, *place)
    for phase in PHASES:
        try:
            for run in runs:
                run.calls(phase, Path("/"), Path("/"), Path("/"))
        except ValueError as err:
            where = _setting_place(experiment, place, phase)
            yield document.error(f"{experiment.name}, {phase}: {err}", *where)


def _setting_place(experiment: Experiment, place: Place, setting: str) -> Place:
    """Key path of an experiment's setting: its own, its `like`, or the top level."""
    if setting in experiment.model_fields_set:
        return (*place, setting)
    return (setting,) if experiment.like is None else (*place, "like")


def _until_problems(
    experiment: Experiment, place: Place, study: Study, document: Document
) -> Iterator[StudyError]:
    until = experiment.until
    assert until is not None
    where = _setting_place(experiment, place, "until")
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


PATH_PLACEHOLDERS = ("{here}/", "{root}/")
"""Prefixes of file names in commands, for files beside measure.yaml and in the repository."""


def missing_files(run: PlannedRun, here: Path, root: Path) -> Iterator[tuple[Phase, int, str]]:
    """Iterate over missing files that local commands (without shell) name by `PATH_PLACEHOLDERS`.

    Yields phase, 0-based number of the command, and the name as written in measure.yaml. Hidden
    files are skipped: runs create them for each other. Raises `ValueError` for an unknown
    placeholder.
    """
    values = {**run.values(here, root, here), "n": 1}
    for phase in PHASES:
        for number, command in enumerate(getattr(run.experiment, phase)):
            for part in () if command.on or command.shell else command.run:
                hidden = any(name.startswith(".") for name in PurePosixPath(part).parts)
                named = part.startswith(PATH_PLACEHOLDERS) and not hidden
                if named and not Path(filled_command(part, values)).exists():
                    yield phase, number, part


def missing_file_problems(
    path: Path, definition: Definition, study: Study, root: Path
) -> Iterator[StudyError]:
    """Errors for `missing_files` with their lines in `measure.yaml`; raises as it does."""
    document = load_yaml(path, aliases=False)
    for position, experiment in enumerate(definition.experiments):
        for run in _conditions(experiment, study, 1, 0, definition.hosts):
            for phase, number, file in missing_files(run, path.parent, root):
                where = _setting_place(experiment, ("experiments", position), phase)
                yield document.error(
                    f"{phase}: {file} does not exist",
                    *where,
                    number,
                    expected="a file of the repository",
                    remedy="add it, or correct the name",
                )


def tool_calls(name: str, tool: Command, hosts: Mapping[str, RemoteHost]) -> list[Call]:
    """Version commands of a tool, one per host; raises `ValueError`."""
    return list(calls(name, (tool,), {}, {host: {"root": ""} for host in hosts}))


def plan(
    definition: Definition,
    study: Study,
    replicates: int | None = None,
    only: Sequence[str] = (),
    *,
    adaptive: bool = True,
) -> list[PlannedRun]:
    """All runs in the order of measurement, existing ones included; with `until` the maximum.

    Block k of an experiment has one run of each condition, shuffled by a seed that depends on
    `seed`, the experiment and k only: more replicates, or a selection by `only`, do not change the
    order of the others. With `interleave`, block k of all experiments is shuffled as one, and
    measured before block k + 1 of any.

    Parameters
    ----------
    replicates : int, optional
        Overrides the experiments' own number.
    adaptive : bool
        Whether `until` applies.
    only : sequence of str
        Names of experiments, or ``factor=level``; several of one kind are alternatives.

    Raises
    ------
    RawperfError
        `only` has an unknown experiment, factor or level.
    """
    is_chosen = _selection(definition, study, only)
    planned = []
    for experiment in definition.experiments:
        until = experiment.until if adaptive else None
        blocks = replicates or (until.at_most if until else experiment.replicates)
        for block in range(1, blocks + 1):
            runs = list(_conditions(experiment, study, block, definition.seed, definition.hosts))
            if experiment.order == "abba":
                planned += _abba(runs, block)
                continue
            random.Random(f"{definition.seed}/{experiment.name}/{block}").shuffle(runs)  # noqa: S311 - an order
            planned += runs
    if definition.interleave:
        planned = [run for block in _blocks(planned) for run in _shuffled(block, definition.seed)]
    return [run for run in planned if is_chosen(run)]


def _blocks(runs: Sequence[PlannedRun]) -> list[list[PlannedRun]]:
    """Runs by block, in the order of blocks."""
    blocks = grouped((run.replicate, run) for run in runs)
    return [blocks[number] for number in sorted(blocks)]


def _shuffled(runs: list[PlannedRun], seed: int) -> list[PlannedRun]:
    """The runs of one block in an order that depends on the seed and each run's name only."""
    return sorted(runs, key=lambda run: random.Random(f"{seed}/{run.run_id}").random())  # noqa: S311 - an order


def equal_runs(
    definition: Definition, study: Study, replicates: int | None, only: Sequence[str]
) -> list[PlannedRun]:
    """A/A test: runs of one condition under two labels, ``a-...`` and ``b-...``, in ABBA order.

    Differences between the labels are no effect of any factor.

    Raises
    ------
    RawperfError
        `only` does not select exactly one condition.
    """
    runs = plan(definition, study, replicates, only, adaptive=False)
    conditions = {(r.experiment.name, *r.levels.items()) for r in runs}
    if len(conditions) != 1:
        raise RawperfError(
            f"--aa needs exactly one condition; found {len(conditions)}",
            remedy="select one with --only, such as --only EXPERIMENT --only FACTOR=LEVEL",
        )
    planned: list[PlannedRun] = []
    for run in runs:
        named = [replace(run, run_id=f"{label}-{run.run_id}") for label in AA_LABELS]
        seeded = [replace(r, seed=_seed(definition.seed, r.run_id)) for r in named]
        planned += _abba(seeded, run.replicate)
    return planned


def _abba(runs: Sequence[PlannedRun], block: int) -> list[PlannedRun]:
    """Counterbalance two runs: AB in odd blocks, BA in even ones, so that linear drift cancels."""
    return list(runs if block % 2 else reversed(runs))


def _seed(seed: int, run_id: str) -> int:
    """Seed of a run."""
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
    """A level as part of a run id; numbers are prefixed by their factor."""
    text = level if isinstance(level, str) else f"{factor}-{level}"
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")


def _selection(
    definition: Definition, study: Study, only: Sequence[str]
) -> Callable[[PlannedRun], bool]:
    experiments = {text for text in only if "=" not in text}
    names = [experiment.name for experiment in definition.experiments]
    for name in sorted(experiments):
        require_known(name, names, f"--only: unknown experiment {name!r}")
    levels: dict[str, set[str]] = {}
    for text in (t for t in only if "=" in t):
        factor, level = text.split("=", 1)
        require_known(factor, study.factors, f"--only: unknown factor {factor!r}")
        known = list(map(str, study.factors[factor].levels))
        require_known(level, known, f"--only: unknown level {level!r} of {factor}")
        levels.setdefault(factor, set()).add(level)

    def is_chosen(run: PlannedRun) -> bool:
        matches = all(str(run.levels[factor]) in among for factor, among in levels.items())
        return matches and (not experiments or run.experiment.name in experiments)

    return is_chosen
