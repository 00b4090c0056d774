"""`measure.yaml`: what sets a condition, which monitors run (by a command or the name of a preset),
which workload, how long, and what disturbs a run.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, Field, field_validator, model_validator

from rawperf.core.errors import did_you_mean
from rawperf.core.model import (
    Count,
    Flag,
    Level,
    Levels,
    Model,
    NotNegative,
    Number,
    Positive,
    Whole,
)
from virtperf.runs.ingest.runs import RawFile, Seconds
from virtperf.study.parts import Id

PRESETS_FILE = Path(__file__).with_name("presets.yaml")
PRESET_KEYS = ("preset", "every", "of")
CONTROL_GROUP = re.compile(r"[\w$][\w$@.:/-]*")
"""A control group: no quote, blank or sign that a shell would take for more than a name."""


@cache
def presets() -> dict[str, dict[str, Any]]:
    """All presets by name: fields of a command, and `format`, the reader of what it writes."""
    found: dict[str, dict[str, Any]] = yaml.safe_load(PRESETS_FILE.read_text(encoding="utf-8"))
    return found


def expanded(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The command that an entry with `preset` stands for; what else the entry says replaces the
    preset's.

    Raises
    ------
    ValueError
        There is no such preset, or its options are no numbers and names.
    """
    name = entry["preset"]
    if name not in presets():
        raise ValueError(f"there is no preset {name!r}: {did_you_mean(str(name), presets())}")
    command = {key: value for key, value in presets()[name].items() if key != "format"}
    every, group = entry.get("every", 1), entry.get("of")
    if isinstance(every, bool) or not isinstance(every, int) or not 1 <= every <= 3600:
        raise ValueError(f"every is {every!r}, which is no whole number of seconds")
    if ("{of}" in command["run"]) != (group is not None):
        needed = "is missing: the control group" if group is None else "says nothing to this preset"
        raise ValueError(f"preset {name}: of {needed}")
    if group is not None and not (isinstance(group, str) and CONTROL_GROUP.fullmatch(group)):
        raise ValueError(f"of is {group!r}, which is no name of a control group")
    if "on" in entry and "output" in command:
        # monitors of several hosts stand in a folder each, whose name is the host's
        command["output"] = command["output"].replace("host/", "{host}/", 1)
    command["run"] = command["run"].replace("{every}", str(every)).replace("{of}", group or "")
    return {**command, **{key: value for key, value in entry.items() if key not in PRESET_KEYS}}


MEASURE_FILE = "measure.yaml"
Signal = Literal["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGKILL"]
Phase = Literal["setup", "monitors", "workload", "collect", "teardown"]
PHASES: tuple[Phase, ...] = ("setup", "monitors", "workload", "collect", "teardown")


class RemoteHost(Model):
    """A machine that commands run on over ssh; ssh's own configuration holds for what is left
    out.
    """

    ssh: Annotated[str, Field(pattern=r"^[^-\s]\S*$")]  # user@address, or a name of ~/.ssh/config
    port: Annotated[Count, Field(le=65535)] | None = None
    key: Annotated[str, Field(min_length=1)] | None = None  # file of the private key
    config: Annotated[str, Field(min_length=1)] | None = None  # in place of ~/.ssh/config
    kind: Literal["host", "guest"] = "guest"  # what its files speak of
    folder: Annotated[str, Field(pattern=r"^(/[\w.-]+)+$")] = "/tmp"  # noqa: S108 - of a run's folder there
    connect_s: Positive = 20.0
    started_in_setup: Flag = False  # it is connected to when the setup is over, or needs it


class Command(Model):
    """A program to start: a list of arguments, or text that is split as a shell would, but given to
    none.

    With `shell` the text goes to ``sh -c`` as it stands. Values reach it as environment variables,
    never as part of it.
    """

    run: Annotated[tuple[Annotated[Level, AfterValidator(str)], ...], Field(min_length=1)]
    shell: Flag = False
    output: Annotated[str, Field(min_length=1)] | None = (
        None  # file of the run folder that standard output goes to
    )
    files: tuple[RawFile, ...] = ()  # what run.yaml says of files that the command writes
    count: str | Count | None = (
        None  # start so many at once, or as many as this factor's level; {n} counts from 1
    )
    on: tuple[
        Annotated[str, Field(min_length=1)], ...
    ] = ()  # hosts, by name or pattern; none: here
    streams: Flag = True  # output on a host comes over while it is written, else after the run
    stop: Signal | None = None  # the signal that ends it; a workload without one ends by itself
    timeout_s: Positive = 600.0

    @model_validator(mode="before")
    @classmethod
    def _short(cls, entry: Any) -> Any:
        """A command that says nothing else may be its arguments alone; a preset stands for one."""
        entry = {"run": entry} if isinstance(entry, str | list) else entry
        if isinstance(entry, Mapping) and True in entry:  # YAML 1.1 takes the word `on` for true
            entry = {"on" if key is True else key: value for key, value in entry.items()}
        if isinstance(entry, Mapping) and isinstance(entry.get("on"), str):
            entry = {**entry, "on": [entry["on"]]}
        if isinstance(entry, Mapping) and "preset" in entry:
            entry = expanded(entry)
        if not isinstance(entry, Mapping) or not isinstance(run := entry.get("run"), str):
            return entry
        return {**entry, "run": [run] if entry.get("shell") else shlex.split(run)}

    @model_validator(mode="after")
    def _one_text(self) -> Command:
        if self.shell and len(self.run) > 1:
            raise ValueError("with shell: true, run is one text")
        if not self.streams and not (self.on and self.output):
            raise ValueError("streams says how the output of a command on a host comes over")
        return self


Commands = tuple[Command, ...]


class Quiet(Model):
    """Wait before a run until other processes use less than `cpus` processors for `for_s`
    seconds.
    """

    cpus: Positive
    for_s: Positive = 2.0
    timeout_s: Seconds = 600.0


class Rules(Model):
    """The most that may be observed in the window; above it the run is flagged."""

    steal_percent: NotNegative | None = (
        None  # of all processor time, what the hypervisor gave to others
    )
    others_cpus: NotNegative | None = None  # processors that were busy with anything but the run
    thermal_throttles: NotNegative | None = None  # how often processors were slowed down for heat
    quota_throttles: NotNegative | None = (
        None  # how often the harness's own control group had used up its quota
    )


class FactLimits(Model):
    """Limits of a fact about the machine that is a number."""

    at_least: Number | None = None
    at_most: Number | None = None

    @model_validator(mode="after")
    def _some_limit(self) -> FactLimits:
        if self.at_least is None and self.at_most is None:
            raise ValueError("neither at_least nor at_most is given")
        return self


RequiredFact = FactLimits | Levels | Level
"""A number or text is the fact itself (of a text also a pattern), of a list one is it."""


class OnDisturbed(Model):
    """What becomes of a disturbed run: kept and marked, measured again, or the end of the
    session.
    """

    then: Literal["keep", "again", "abort"] = "keep"
    at_most: Annotated[Count, Field(le=100)] = 3  # how often it is measured again

    @model_validator(mode="before")
    @classmethod
    def _word(cls, entry: Any) -> Any:
        return {"then": entry} if isinstance(entry, str) else entry


class Until(Model):
    """Measure blocks until a quantity is known well enough, of every condition of an experiment.

    `half_width` of its 95 % interval is a share of the mean over blocks, or, with `to`, of the
    ratio within blocks to the condition with those levels.
    """

    quantity: Id
    half_width: Annotated[float, Field(gt=0, lt=1)] = 0.02
    at_most: Annotated[Count, Field(ge=6, le=1000)] = 20  # blocks; none is looked at before six
    to: dict[str, Level] = {}

    @field_validator("half_width", mode="before")
    @classmethod
    def _percent(cls, written: Any) -> Any:
        """``2 %`` is 0.02."""
        if isinstance(written, str) and (found := re.fullmatch(r"([\d.]+) ?%", written)):
            return float(found[1]) / 100
        return written


class Settings(Model):
    """How runs are made. An experiment replaces what it says itself; times are seconds."""

    replicates: Annotated[Count, Field(le=1000)] = 3
    until: Until | None = None  # in place of replicates
    attempts: Count = 2  # at a run that fails, one each time the harness is started
    lead_s: Seconds = (
        0.0  # between the start of the monitors, which is t = 0, and that of the workload
    )
    warmup_s: Seconds = 0.0  # from the start of the workload
    window_s: Annotated[Seconds, Field(gt=0)] | None = (
        None  # without it the window ends when the workload does
    )
    grace_s: Positive = 5.0  # what a monitor may take to end after its signal; then it is killed
    wait_quiet: Quiet | None = None
    disturbed: Rules = Rules()
    on_disturbed: OnDisturbed = OnDisturbed()
    on_lost_host: Literal["continue", "abort"] = "continue"  # with the next run, or not at all
    clock_drift_s: Seconds = 0.1  # that a host's clock may move within a run
    machine: dict[str, RequiredFact] = {}
    order: Literal["blocks", "abba"] = "blocks"
    testbed: tuple[Annotated[str, Field(min_length=1)], ...] | None = (
        None  # patterns of files, in place of those that commands name
    )
    not_part_of_runs: tuple[
        Annotated[str, Field(min_length=1)], ...
    ] = ()  # patterns of files that stand among those of the testbed, and that no run reads
    setup: Commands = ()
    monitors: Commands = ()
    workload: Commands = ()
    collect: Commands = ()
    teardown: Commands = ()

    @property
    def expected_s(self) -> float:
        """Length of a run by what is declared alone."""
        quiet = self.wait_quiet.for_s if self.wait_quiet else 0.0
        return quiet + self.lead_s + self.warmup_s + (self.window_s or 0.0)


class Experiment(Settings, extra="forbid"):
    """Conditions that are compared with each other: every combination of `over` at `at`."""

    name: Id
    like: Id | None = None  # an experiment further up; what this one does not say is as there
    at: dict[str, Level] = {}
    over: dict[str, Levels] = {}


class Definition(Settings):
    """All of `measure.yaml`. Once loaded, every experiment has all settings."""

    seed: Annotated[Whole, Field(ge=0)]  # of the order of runs, and of every run's own {seed}
    hosts: dict[Id, RemoteHost] = {}
    tools: dict[str, Command] = {}  # commands that print a version
    experiments: tuple[Experiment, ...] = Field(min_length=1)

    @field_validator("hosts")
    @classmethod
    def _one_host(cls, hosts: dict[str, RemoteHost]) -> dict[str, RemoteHost]:
        named = [name for name, host in hosts.items() if host.kind == "host"]
        if len(named) > 1:
            raise ValueError(f"{' and '.join(named)} are both of kind host, which is one machine")
        return hosts
