"""Schema of `measure.yaml`: conditions, monitors, workload, timing, limits of disturbance.

Monitors are commands, or names of presets.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, Field, field_validator, model_validator

from rawperf.core.errors import did_you_mean
from rawperf.core.model import (
    Count,
    Flag,
    Integer,
    Level,
    Levels,
    Model,
    NonNegative,
    Number,
    Positive,
)
from virtperf.runs.ingest.runs import RawFile, Seconds
from virtperf.study.parts import Id

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

FIELDS_FILE = ".fields.yaml"
"""File of the run folder to which commands write fields of run.yaml known only afterwards."""
PRESETS_FILE = Path(__file__).with_name("presets.yaml")
PRESET_KEYS = ("preset", "every", "of")
CONTROL_GROUP = re.compile(r"[\w$][\w$@.:/-]*")
"""Name of a control group, without quotes, blanks or shell metacharacters."""


@cache
def presets() -> dict[str, dict[str, Any]]:
    """All presets by name: fields of a command, and `format`, the parser of its output."""
    presets: dict[str, dict[str, Any]] = yaml.safe_load(PRESETS_FILE.read_text(encoding="utf-8"))
    return presets


def expand_preset(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Expand an entry with `preset` to a command; other fields of the entry override the preset.

    Raises
    ------
    ValueError
        Unknown preset, or invalid options.
    """
    name = entry["preset"]
    if name not in presets():
        raise ValueError(f"unknown preset {name!r}: {did_you_mean(str(name), presets())}")
    command = {key: value for key, value in presets()[name].items() if key != "format"}
    every, group = entry.get("every", 1), entry.get("of")
    if isinstance(every, bool) or not isinstance(every, int) or not 1 <= every <= 3600:
        raise ValueError(f"every is {every!r}: expected a whole number of seconds from 1 to 3600")
    if ("{of}" in command["run"]) != (group is not None):
        problem = (
            "is missing: name the control group"
            if group is None
            else "does not apply to this preset"
        )
        raise ValueError(f"preset {name}: of {problem}")
    if group is not None and not (isinstance(group, str) and CONTROL_GROUP.fullmatch(group)):
        raise ValueError(f"of is {group!r}, which is not a valid name of a control group")
    if "on" in entry and "output" in command:
        # monitors of several hosts write to one folder per host
        command["output"] = command["output"].replace("host/", "{host}/", 1)
    command["run"] = command["run"].replace("{every}", str(every)).replace("{of}", group or "")
    return {**command, **{key: value for key, value in entry.items() if key not in PRESET_KEYS}}


MEASURE_FILE = "measure.yaml"
Signal = Literal["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGKILL"]
Phase = Literal["setup", "monitors", "workload", "collect", "teardown"]
PHASES: tuple[Phase, ...] = ("setup", "monitors", "workload", "collect", "teardown")


class RemoteHost(Model):
    """A machine reached over ssh; omitted settings come from ssh's own configuration."""

    ssh: Annotated[str, Field(pattern=r"^[^-\s]\S*$")]  # user@address, or a Host of ~/.ssh/config
    port: Annotated[Count, Field(le=65535)] | None = None
    key: Annotated[str, Field(min_length=1)] | None = None  # private key file
    config: Annotated[str, Field(min_length=1)] | None = None  # in place of ~/.ssh/config
    kind: Literal["host", "guest"] = "guest"  # role of the machine that its files describe
    folder: Annotated[str, Field(pattern=r"^(/[\w.-]+)+$")] = "/tmp"  # noqa: S108 - of a run's folder there
    connect_s: Positive = 20.0
    started_in_setup: Flag = False  # connect after the setup, or when the setup first needs it


class Command(Model):
    """A command: a list of arguments, or text split as by a shell, but run without one.

    With `shell` the text is passed to ``sh -c`` verbatim. Values are passed as environment
    variables, never interpolated.
    """

    short_forms = ("string", "array")
    run: Annotated[tuple[Annotated[Level, AfterValidator(str)], ...], Field(min_length=1)]
    shell: Flag = False
    output: Annotated[str, Field(min_length=1)] | None = None  # stdout file in the run folder
    files: tuple[RawFile, ...] = ()  # entries of run.yaml for the files it writes
    count: str | Count | None = (
        None  # parallel instances, or a factor that sets them; {n} counts from 1
    )
    on: tuple[
        Annotated[str, Field(min_length=1)], ...
    ] = ()  # hosts, by name or glob pattern; none: this machine
    streams: Flag = True  # transfer a host's output while it is written, else afterwards
    stop: Signal | None = None  # signal that ends it; a workload without one ends by itself
    timeout_s: Positive = 600.0

    @model_validator(mode="before")
    @classmethod
    def _short(cls, entry: Any) -> Any:
        """Normalise the short forms: arguments alone, a single host, a preset."""
        entry = {"run": entry} if isinstance(entry, str | list) else entry
        if isinstance(entry, Mapping) and True in entry:  # YAML 1.1 parses the key `on` as true
            entry = {"on" if key is True else key: value for key, value in entry.items()}
        if isinstance(entry, Mapping) and isinstance(entry.get("on"), str):
            entry = {**entry, "on": [entry["on"]]}
        if isinstance(entry, Mapping) and "preset" in entry:
            entry = expand_preset(entry)
        if not isinstance(entry, Mapping) or not isinstance(run := entry.get("run"), str):
            return entry
        return {**entry, "run": [run] if entry.get("shell") else shlex.split(run)}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        whole = super().__get_pydantic_json_schema__(core_schema, handler)
        made = handler.resolve_ref_schema(whole["anyOf"][-1])
        text = {"type": "string"}
        for name in ("run", "on"):
            made["properties"][name] = {"anyOf": [text, made["properties"][name]]}
        made["properties"] |= {"preset": text, "every": {"type": "integer"}, "of": text}
        del made["required"]  # run, or a preset
        return whole

    @model_validator(mode="after")
    def _one_text(self) -> Command:
        if self.shell and len(self.run) > 1:
            raise ValueError("with shell: true, run must be a single string")
        if not self.streams and not (self.on and self.output):
            raise ValueError("streams: false applies only to commands with on and output")
        return self


Commands = tuple[Command, ...]


class Quiet(Model):
    """Wait before a run until other processes use less than `cpus` processors for `for_s` s."""

    cpus: Positive
    for_s: Positive = 2.0
    timeout_s: Seconds = 600.0


class Rules(Model):
    """Limits of disturbance in the window; a run that exceeds one is flagged."""

    steal_percent: NonNegative | None = None  # share of processor time stolen by the hypervisor
    others_cpus: NonNegative | None = None  # processors busy with anything but the run
    thermal_throttles: NonNegative | None = None  # thermal throttling events
    quota_throttles: NonNegative | None = None  # CPU quota exhausted (nr_throttled), own groups


class FactLimits(Model):
    """Limits of a numeric fact about the machine."""

    at_least: Number | None = None
    at_most: Number | None = None

    @model_validator(mode="after")
    def _some_limit(self) -> FactLimits:
        if self.at_least is None and self.at_most is None:
            raise ValueError("neither at_least nor at_most is given")
        return self


RequiredFact = FactLimits | Levels | Level
"""Required value (a string is a glob pattern too), several alternatives, or numeric limits."""


class OnDisturbed(Model):
    """Policy for a disturbed run: keep and flag it, repeat it, or abort."""

    short_forms = ("string",)
    then: Literal["keep", "again", "abort"] = "keep"
    at_most: Annotated[Count, Field(le=100)] = 3  # maximum number of repetitions

    @model_validator(mode="before")
    @classmethod
    def _word(cls, entry: Any) -> Any:
        return {"then": entry} if isinstance(entry, str) else entry


class Until(Model):
    """Sequential stopping rule: measure blocks until every condition reaches a precision.

    `half_width` of the quantity's 95 % confidence interval is relative to the mean over blocks, or,
    with `to`, to the ratio within blocks to the condition with those levels.
    """

    quantity: Id
    half_width: Annotated[float, Field(gt=0, lt=1)] = 0.02
    at_most: Annotated[Count, Field(ge=6, le=1000)] = 20  # blocks; first checked after six
    to: dict[str, Level] = {}

    @field_validator("half_width", mode="before")
    @classmethod
    def _percent(cls, written: Any) -> Any:
        """``2 %`` is 0.02."""
        if isinstance(written, str) and (match := re.fullmatch(r"([\d.]+) ?%", written)):
            return float(match[1]) / 100
        return written


class Settings(Model):
    """Settings of runs, which an experiment can override; times are in seconds."""

    replicates: Annotated[Count, Field(le=1000)] = 3
    until: Until | None = None  # replaces `replicates`
    attempts: Count = 2  # per failing run, one each time the harness is started
    lead_s: Seconds = 0.0  # from the start of the monitors (t = 0) to that of the workload
    warmup_s: Seconds = 0.0  # from the start of the workload
    window_s: Annotated[Seconds, Field(gt=0)] | None = None  # default: until the workload ends
    grace_s: Positive = 5.0  # from a monitor's stop signal to SIGKILL
    wait_quiet: Quiet | None = None
    disturbed: Rules = Rules()
    on_disturbed: OnDisturbed = OnDisturbed()
    on_lost_host: Literal["continue", "abort"] = "continue"  # with the next run, or stop
    clock_drift_s: Seconds = 0.1  # maximum drift of a host's clock within a run
    machine: dict[str, RequiredFact] = {}
    order: Literal["blocks", "abba"] = "blocks"
    testbed: tuple[Annotated[str, Field(min_length=1)], ...] | None = (
        None  # glob patterns of files, in place of those that commands name
    )
    not_part_of_runs: tuple[
        Annotated[str, Field(min_length=1)], ...
    ] = ()  # glob patterns of files to exclude from the testbed: no run reads them
    setup: Commands = ()
    monitors: Commands = ()
    workload: Commands = ()
    collect: Commands = ()
    teardown: Commands = ()

    @property
    def expected_s(self) -> float:
        """Minimum length of a run, from the declared times alone."""
        quiet = self.wait_quiet.for_s if self.wait_quiet else 0.0
        return quiet + self.lead_s + self.warmup_s + (self.window_s or 0.0)


class Experiment(Settings, extra="forbid"):
    """Conditions compared with each other: the full factorial of `over`, at fixed `at`."""

    name: Id
    like: Id | None = None  # an earlier experiment, from which omitted settings are inherited
    at: dict[str, Level] = {}
    over: dict[str, Levels] = {}


class Definition(Settings):
    """Schema of `measure.yaml`. After loading, every experiment has all settings."""

    seed: Annotated[Integer, Field(ge=0)]  # of the run order, and of each run's own {seed}
    interleave: Flag = False  # whether a block has the runs of all experiments, shuffled
    hosts: dict[Id, RemoteHost] = {}
    tools: dict[str, Command] = {}  # commands that print a version
    experiments: tuple[Experiment, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _one_order(self) -> Definition:
        if self.interleave and any(experiment.order == "abba" for experiment in self.experiments):
            raise ValueError("interleave shuffles the runs of a block: leave out order: abba")
        return self

    @field_validator("hosts")
    @classmethod
    def _one_host(cls, hosts: dict[str, RemoteHost]) -> dict[str, RemoteHost]:
        named = [name for name, host in hosts.items() if host.kind == "host"]
        if len(named) > 1:
            raise ValueError(f"only one host may be of kind host; found {', '.join(named)}")
        return hosts
