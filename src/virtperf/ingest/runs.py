"""What a run is: `run.yaml`, loaded and checked before any raw file is read."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, Strict, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from virtperf.core.errors import Report, RunError, StudyError, VirtperfError, stop
from virtperf.core.model import Count, Level, Model, load_model
from virtperf.core.yamlio import Document
from virtperf.ingest.folder import RUN_FILE, owner
from virtperf.study.definition import Study

LARGEST_RUN_FILE = 1024**2
LARGEST_NUMBER = 1e12
LONGEST_S = 366 * 86400.0

ROOTS: Mapping[str, tuple[str, ...]] = {
    "simulated": ("simulated",),
    "measured": ("measured", "example"),
    "example": ("example",),
}
"""Which provenances a run may claim, by the kind of folder that it stands in: no simulated run passes as measured."""


@dataclass(frozen=True)
class RawFile:
    """A raw file of a run and what `run.yaml` says about it.

    Attributes
    ----------
    path : str
        Relative to the run folder, with ``/``.
    format : str or None
        None: the file is sniffed.
    entity : str
        Whose file it is; "" for the host's.
    entity_kind : str
        Kind of that entity where the format calls it ``host``.
    start_s, interval_s, at_s : float or None
        Where the file carries no absolute time: seconds from the run's start.
    clock_offset_s : float
        Added to the file's own clock.
    listed : bool
        Whether run.yaml names it.
    """

    path: str
    format: str | None
    entity: str
    entity_kind: str
    start_s: float | None = None
    interval_s: float | None = None
    at_s: float | None = None
    clock_offset_s: float = 0.0
    listed: bool = False


@dataclass(frozen=True)
class Run:
    """A run as `run.yaml` describes it; `factors` has every factor of the study, `start` is without zone."""

    run_id: str
    provenance: str
    factors: Mapping[str, Level]
    replicate: int
    start: datetime
    duration_s: float
    warmup_s: float
    window_s: tuple[float, float]
    clients: int | None
    think_time_s: float | None
    processors: int | None
    tools: Mapping[str, str]
    files: tuple[RawFile, ...]

    @property
    def start_epoch(self) -> float:
        """`start` in seconds since 1970-01-01 00:00, the zone taken as the files print it."""
        return self.start.replace(tzinfo=UTC).timestamp()


Seconds = Annotated[float, Strict(), Field(ge=0, le=LONGEST_S)]
Anywhere = Annotated[float, Strict(), Field(ge=-LARGEST_NUMBER, le=LARGEST_NUMBER)]


def _local(value: Any) -> Any:
    """A date and time, quoted or not, without zone."""
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            value = datetime.fromisoformat(value)
    if not isinstance(value, datetime) or value.tzinfo is not None:
        raise PydanticCustomError(
            "start", "YYYY-MM-DDTHH:MM:SS without zone, by the local clock of the system under test"
        )
    return value


class _FileEntry(Model):
    path: Annotated[str, Field(min_length=1, max_length=1000)]
    format: str | None = None
    entity: str | None = None
    entity_kind: Annotated[str, Field(min_length=1)] | None = None
    start_s: Anywhere | None = None
    interval_s: Annotated[float, Strict(), Field(gt=0, le=LARGEST_NUMBER)] | None = None
    at_s: Anywhere | None = None
    clock_offset_s: Anywhere = 0.0


class RunFile(Model):
    """All of `run.yaml`."""

    study: str
    run: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=100)]
    provenance: Literal["simulated", "measured", "example"]
    factors: dict[str, Level]
    replicate: Annotated[int, Strict(), Field(ge=1, le=10**6)]
    start: Annotated[datetime, BeforeValidator(_local)]
    duration_s: Annotated[float, Strict(), Field(gt=0, le=LONGEST_S)]
    warmup_s: Seconds
    window_s: tuple[Seconds, Seconds]
    clients: Count | None = None
    think_time_s: Seconds | None = None
    processors: Count | None = None
    tools: dict[str, Level] = {}
    notes: str = ""
    files: tuple[_FileEntry, ...] = Field((), max_length=10_000)

    @field_validator("window_s")
    @classmethod
    def _inside(cls, window: tuple[float, float], info: ValidationInfo) -> tuple[float, float]:
        begin, end = window
        duration, warmup = info.data.get("duration_s", end), info.data.get("warmup_s", begin)
        if begin >= end:
            raise ValueError("the window ends before it begins")
        if end > duration:
            raise ValueError(f"the window ends at {end:g}, after the run, which is duration_s = {duration:g} long")
        if begin < warmup:
            raise ValueError(f"the window begins at {begin:g}, before the warm-up ends at warmup_s = {warmup:g}")
        return window


def load_run(folder: Path, study: Study, root: str, paths: list[str], report: Report = stop) -> Run:
    """Load and check `run.yaml` of a run folder.

    Parameters
    ----------
    folder : Path
    study : Study
    root : str
        Kind of the folder that holds the run, a key of `ROOTS`.
    paths : list of str
        The folder's raw files, as `raw_files` gives them.
    report : callable, optional
        Told of every problem, the last one excepted, which is raised.

    Raises
    ------
    RunError
        With file and line: not YAML, against the model, another run's name, a provenance that has no place there, a
        factor or level that the study does not have, times that contradict each other, a file that is not there.
    """
    file = f"{folder.name}/{RUN_FILE}"
    said, document = _read(folder, file, report)
    check = _Check(document, file)
    check.equal("study", study.id, "the id of the study whose folder it stands in")
    check.equal("run", folder.name, "the folder's name")
    check.require(
        said.provenance in ROOTS[root], f"provenance {said.provenance!r} has no place in this folder",
        "provenance", expected=" or ".join(ROOTS[root]),
    )  # fmt: skip
    return Run(
        run_id=said.run, provenance=said.provenance, factors=_factors(said.factors, study, check),
        replicate=said.replicate, start=said.start, duration_s=said.duration_s, warmup_s=said.warmup_s,
        window_s=said.window_s, clients=said.clients, think_time_s=said.think_time_s, processors=said.processors,
        tools={name: str(value) for name, value in said.tools.items()}, files=_files(said.files, paths, check),
    )  # fmt: skip


class _Check:
    """Raises `RunError` with the line of the part that is wrong."""

    def __init__(self, document: Document, file: str) -> None:
        self.document, self.file = document, file

    def require(self, fine: bool, problem: str, *where: str | int, **parts: str) -> None:
        if not fine:
            raise RunError(problem, file=self.file, line=self.document.line(*where), **parts)

    def equal(self, key: str, wanted: str, what: str) -> None:
        value = self.document.data[key]
        self.require(value == wanted, f"{key} is not {what}", key, expected=repr(wanted), found=repr(value))


def _read(folder: Path, file: str, report: Report) -> tuple[RunFile, Document]:
    path = folder / RUN_FILE
    if path.is_symlink() or not path.is_file():
        raise RunError("the file is missing or a link", file=file, remedy="see docs/run-folders.md for what it holds")
    if path.stat().st_size > LARGEST_RUN_FILE:
        raise RunError("the file is too large", file=file, expected=f"at most {LARGEST_RUN_FILE} bytes")

    def of_run(err: VirtperfError) -> RunError:
        remedy = err.remedy or "see docs/run-folders.md"
        return RunError(err.problem, file=file, line=err.line, expected=err.expected, found=err.found, remedy=remedy)

    try:
        return load_model(path, RunFile, lambda err: report(of_run(err)), aliases=False)
    except StudyError as err:
        raise of_run(err) from err


def _factors(written: Mapping[str, Level], study: Study, check: _Check) -> dict[str, Level]:
    for name, level in written.items():
        check.require(name in study.factors, f"the study has no factor {name!r}", "factors", name,
                      expected=f"one of {', '.join(study.factors)}")  # fmt: skip
        levels = study.factors[name].levels
        check.require(level in levels, f"unknown level of {name}", "factors", name,
                      expected=f"one of {', '.join(map(repr, levels))}", found=repr(level))  # fmt: skip
    factors = {}
    for name, factor in study.factors.items():
        chosen = written.get(name, factor.default)
        check.require(chosen is not None, f"no level for {name}, which has no default", "factors")
        factors[name] = chosen
    return factors  # type: ignore[return-value]


def _files(entries: Sequence[_FileEntry], paths: list[str], check: _Check) -> tuple[RawFile, ...]:
    given: dict[str, RawFile] = {}
    known = set(paths)
    for position, entry in enumerate(entries):
        where = ("files", position, "path")
        path = str(PurePosixPath(entry.path))
        # an absolute path, a parent, a backslash or an ignored file is none that the folder lists
        check.require(path in known, "the file is not in the run folder", *where, found=repr(entry.path),
                      remedy="name raw files relative to run.yaml, with / between folders")  # fmt: skip
        check.require(path not in given, "the file is listed twice", *where, found=repr(entry.path))
        given[path] = _raw_file(path, entry)
    return tuple(given.get(path) or RawFile(path, None, *owner(path)) for path in paths)


def _raw_file(path: str, entry: _FileEntry) -> RawFile:
    entity, kind = owner(path)
    if entry.entity is not None:
        entity, kind = entry.entity, "guest" if entry.entity else "host"
    return RawFile(
        path, entry.format, entity, entry.entity_kind or kind, entry.start_s, entry.interval_s, entry.at_s,
        entry.clock_offset_s, listed=True,
    )  # fmt: skip
