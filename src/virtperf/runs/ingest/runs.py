"""Model of `run.yaml`, loaded and validated before any raw file is read."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    Strict,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from rawperf.core.errors import (
    RawperfError,
    Report,
    RunError,
    StudyError,
    did_you_mean,
    raise_problem,
)
from rawperf.core.model import Count, Flag, Level, Model, Number, load_model
from rawperf.core.yamlio import Document
from rawperf.registry import format_names
from virtperf.runs.ingest.folder import RUN_FILE, RunFolder, owner
from virtperf.study.definition import Study
from virtperf.study.parts import EVERY, Text

MAX_SECONDS = 1e12
MAX_RUN_S = 366 * 86400.0

ROOTS: Mapping[str, tuple[str, ...]] = {
    "measured": ("measured", "example"),
    "example": ("example",),
}
"""Provenances allowed by kind of folder: an example can't pass as measured."""


Seconds = Annotated[float, Strict(), Field(ge=0, le=MAX_RUN_S)]
SignedSeconds = Annotated[float, Strict(), Field(ge=-MAX_SECONDS, le=MAX_SECONDS)]
HASH_DIGITS = 12
Hash = Annotated[str, Field(pattern=rf"^[0-9a-f]{{{HASH_DIGITS}}}$")]
"""First digits of SHA-256, in hexadecimal."""


def local_time(value: Any) -> datetime:
    """Validate a date and time without zone, quoted or not."""
    if isinstance(value, str) and len(value) >= len("2009-01-31T14:00"):
        with contextlib.suppress(ValueError):
            value = datetime.fromisoformat(value)
    if not isinstance(value, datetime) or value.tzinfo is not None:
        raise PydanticCustomError(
            "start",
            "YYYY-MM-DDTHH:MM:SS without time zone, in the local time of the system under test",
        )
    return value


def _check_pair(value: Any) -> Any:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise PydanticCustomError("pair", "two numbers, the begin and the end in seconds")
    return value


class RawFile(Model):
    """A raw file of a run with its entry in `run.yaml`."""

    path: Annotated[str, Field(min_length=1, max_length=1000)]  # relative to the run folder, with /
    format: str | None = None  # None: detected by content
    entity: str | None = (
        None  # owner, "" for the host; set for every file of a loaded run, like entity_kind
    )
    entity_kind: Text | None = None  # kind of that entity where the format calls it "host"
    # for files without absolute times: seconds from the run's start
    start_s: SignedSeconds | None = None
    interval_s: Annotated[float, Strict(), Field(gt=0, le=MAX_SECONDS)] | None = None
    at_s: SignedSeconds | None = None
    clock_offset_s: SignedSeconds = 0.0  # added to the file's own clock
    host: Text | None = None  # host of the file's clock, one of the run's `clocks`
    lines: Count | None = None  # expected number of lines, to reject truncated files
    listed: bool = Field(False, alias="<listed>")  # has an entry in run.yaml


class Protocol(Model):
    """Experimental protocol: hashes of the inputs that determine the measurement, and its place and
    time.
    """

    fingerprint: Text
    experiment: Text
    settings: Text
    files: dict[str, Text] = {}
    commit: Text | None = None
    dirty: Flag | None = None
    utc_offset: Text | None = None
    host: Text | None = None
    boot: Text | None = None


class HostClock(Model):
    """Offset of a host's clock ahead of the run's, in seconds, with its uncertainty and its drift
    within the run.
    """

    offset_s: SignedSeconds
    uncertainty_s: Annotated[float, Strict(), Field(ge=0, le=1)]
    drift_s: SignedSeconds = 0.0


LocalTime = Annotated[datetime, BeforeValidator(local_time, json_schema_input_type=str)]


class Attempt(Model):
    """An earlier, disturbed attempt at a run, which was repeated."""

    start: LocalTime
    wall_s: Seconds
    disturbed: Annotated[tuple[Text, ...], Field(min_length=1)]


class Excluded(Model):
    """Reason for excluding a run that is kept."""

    reason: Annotated[str, Field(min_length=10)]


class Run(Model):
    """The contents of `run.yaml`. Once loaded, `factors` has every factor of the study, and `files`
    every raw file.

    A run without `duration_s`, `warmup_s` and `window_s` has no clock: its files hold numbers of
    the whole run, and independent samples that are only numbered. Only such a run may lack `start`.
    """

    study: str
    run_id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=100)] = Field(
        alias="run"
    )
    provenance: Literal["measured", "example"]
    factors: dict[str, Level]
    replicate: Annotated[int, Strict(), Field(ge=1, le=10**6)]
    block: Annotated[Level, AfterValidator(str)] = ""
    start: LocalTime | None = None
    duration_s: Annotated[float, Strict(), Field(gt=0, le=MAX_RUN_S)] | None = None
    warmup_s: Seconds | None = None
    window_s: Annotated[tuple[Seconds, Seconds], BeforeValidator(_check_pair)] | None = None
    clients: Count | None = None
    think_time_s: Seconds | None = None
    processors: Count | None = None
    tools: dict[str, Annotated[Level, AfterValidator(str)]] = {}
    machine: dict[str, Level] = {}
    machine_state: dict[str, Level] = {}
    protocol: Protocol | None = None
    wall_s: Seconds | None = None
    clocks: dict[str, HostClock] = {}
    disturbance: dict[str, Number] = {}
    disturbed: tuple[Text, ...] = ()
    warned: tuple[Text, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    excluded: Excluded | None = None
    notes: str = ""
    files: tuple[RawFile, ...] = Field((), max_length=10_000)
    hashes: dict[Text, Hash] = Field({}, max_length=10_000)  # of all raw files, by path

    @property
    def start_epoch(self) -> float:
        """`start` as a Unix timestamp, in the zone printed by the files; for runs with a clock."""
        assert self.start is not None
        return self.start.replace(tzinfo=UTC).timestamp()

    @model_validator(mode="after")
    def _check_times(self) -> Self:
        times = ("duration_s", "warmup_s", "window_s")
        present = [name for name in times if getattr(self, name) is not None]
        if present and len(present) < len(times):
            missing = [name for name in times if name not in present]
            raise ValueError(
                f"{' and '.join(missing)} missing; omit all of {', '.join(times)} if the "
                "run's times are unknown"
            )
        if present and self.start is None:
            raise ValueError(
                "'start' is missing; only a run without duration_s, warmup_s and window_s may omit it"
            )
        return self

    @field_validator("window_s")
    @classmethod
    def _check_window(
        cls, window: tuple[float, float] | None, info: ValidationInfo
    ) -> tuple[float, float] | None:
        if window is None:
            return None
        begin, end = window
        duration, warmup = info.data.get("duration_s"), info.data.get("warmup_s")
        duration = end if duration is None else duration
        warmup = begin if warmup is None else warmup
        if begin >= end:
            raise ValueError("the window ends before it begins")
        if end > duration:
            raise ValueError(
                f"the window ends at {end:g} s, after the end of the run (duration_s = {duration:g})"
            )
        if begin < warmup:
            raise ValueError(
                f"the window begins at {begin:g} s, before the end of the warm-up (warmup_s = {warmup:g})"
            )
        return window


def load_run(
    folder: RunFolder,
    study: Study | None,
    root: str,
    paths: list[str],
    report: Report = raise_problem,
    digests: Mapping[str, str] | None = None,
) -> Run:
    """Load and validate `run.yaml` of a run folder, and compare its raw files with `hashes` there.

    Parameters
    ----------
    study : Study or None
        If None, study, name and factors of the run are not checked.
    root : str
        Kind of the folder that holds the run, a key of `ROOTS`.
    paths : list of str
        The folder's raw files, from `raw_files`.
    report : callable, optional
        Callback for every problem except the last one, which is raised.
    digests : mapping of str to str, optional
        SHA-256 of every raw file; computed if omitted.

    Raises `RunError`, with file and line: invalid YAML, a violation of the model, another run's
    name, a provenance that is not allowed there, an unknown factor, level or format, contradictory
    times, a file that is missing, changed or added.
    """
    file = f"{folder.name}/{RUN_FILE}"
    content = folder.read(RUN_FILE)
    if content is None:
        raise RunError(
            "the file is missing or a symbolic link",
            file=file,
            remedy="create it with `virtperf add run`, see docs/add-a-run.md",
        )

    def of_run(err: RawperfError) -> RunError:
        return err.copy_as(RunError, file=file, remedy=err.remedy or "see docs/run-folders.md")

    try:
        run, document = load_model(
            folder.path / RUN_FILE,
            Run,
            lambda err: report(of_run(err)),
            aliases=False,
            content=content,
        )
        if study is not None and run.study != study.id:
            problem = "study differs from the study of this folder"
            raise document.error(problem, "study", expected=repr(study.id), found=repr(run.study))
        if study is not None and run.run_id != folder.name:
            problem = "run does not match the folder name"
            raise document.error(problem, "run", expected=repr(folder.name), found=repr(run.run_id))
        if run.provenance not in ROOTS[root]:
            problem = f"provenance {run.provenance!r} is not allowed in this folder"
            raise document.error(problem, "provenance", expected=" or ".join(ROOTS[root]))
        files = dict(_files(run.files, paths, document))
        for position, entry in enumerate(run.files):
            if entry.host is not None and entry.host not in run.clocks:
                problem = f"host {entry.host!r} has no entry in clocks"
                raise document.error(problem, "files", position, "host")
        if study is not None:
            _check_formats(run.files, study, document)
        if run.hashes:
            digests = folder.digests(paths) if digests is None else digests
            problems = list(_hash_problems(run.hashes, digests, document))
            for found in problems[:-1]:
                report(of_run(found))
            if problems:
                raise problems[-1]
        known = tuple(
            files.get(path) or _with_owner(RawFile.model_validate({"path": path})) for path in paths
        )
        factors = run.factors if study is None else _factors(run.factors, study, document)
        return run.model_copy(update={"factors": factors, "files": known})
    except StudyError as err:
        raise of_run(err) from err


def _check_formats(entries: Sequence[RawFile], study: Study, document: Document) -> None:
    """Raise `StudyError` for a format that is neither declared by the study nor installed."""
    declared = {declaration.name for declaration in study.inputs}
    for position, entry in enumerate(entries):
        if entry.format is None or entry.format in declared or entry.format in format_names():
            continue
        raise document.error(
            f"no format is named {entry.format!r}",
            "files",
            position,
            "format",
            expected="a format that is installed or declared",
            remedy=did_you_mean(entry.format, [*sorted(declared), *format_names()]),
        )


_RESTORE = "restore the file (git, `dvc pull`, a copy of the run), or measure the run again"


def _hash_problems(
    recorded: Mapping[str, str], digests: Mapping[str, str], document: Document
) -> Iterator[StudyError]:
    """Yield an error for each raw file that is missing, changed or added since the run ended."""
    for path in sorted(recorded.keys() | digests.keys()):
        before, now = recorded.get(path), digests.get(path, "")[:HASH_DIGITS]
        if before is None:
            yield document.error(
                f"the raw file {path} was added after the run",
                "hashes",
                expected=f"{len(recorded)} raw files, those of hashes",
                found=f"also {path}, SHA-256 {now}",
                remedy="move the file out of the run folder; if it belongs to the run, add it to "
                "hashes, and explain it in notes",
            )
        elif before != now:
            yield document.error(
                f"the raw file {path} {'was changed after the run' if now else 'is missing'}",
                "hashes",
                path,
                expected=f"SHA-256 {before}",
                found=f"SHA-256 {now}" if now else "no such file",
                remedy=f"{_RESTORE}; if that was done on purpose, correct hashes, and explain it in notes",
            )


def _factors(written: Mapping[str, Level], study: Study, document: Document) -> dict[str, Level]:
    for name, level in written.items():
        if wrong := study.level_problem(name, level):
            raise document.error(wrong.pop("problem"), "factors", name, **wrong)
    factors = study.filled(written)
    for name, given_level in factors.items():
        if given_level is None:
            raise document.error(f"no level for factor {name}, which has no default", "factors")
        if study.pooled_factor and name == study.pooled_factor.name and given_level == EVERY:
            raise document.error(
                f"a run is at one level of {name}, and {EVERY!r} stands for all of them",
                "factors",
                remedy=f"give the {study.pooled_factor.label} of the run",
            )
    return factors  # type: ignore[return-value]


def _files(
    entries: Sequence[RawFile], paths: list[str], document: Document
) -> Iterator[tuple[str, RawFile]]:
    listed: set[str] = set()
    for position, entry in enumerate(entries):
        path = str(PurePosixPath(entry.path))
        problem = (
            "the file is listed twice" if path in listed else "the file is not in the run folder"
        )
        # absolute paths, parents, backslashes and ignored files are never among the listed paths
        if path in listed or path not in paths:
            remedy = (
                "list each raw file once, with its path relative to run.yaml and / between folders"
            )
            raise document.error(
                problem, "files", position, "path", found=repr(entry.path), remedy=remedy
            )
        listed.add(path)
        yield path, _with_owner(entry.model_copy(update={"path": path, "listed": True}))


def _with_owner(file: RawFile) -> RawFile:
    """Set the file's owner: from run.yaml, else from its path."""
    entity, kind = owner(file.path)
    if file.entity is not None:
        entity, kind = file.entity, "guest" if file.entity else "host"
    return file.model_copy(update={"entity": entity, "entity_kind": file.entity_kind or kind})
