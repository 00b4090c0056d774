"""What a run is: `run.yaml`, loaded and checked before any raw file is read."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from virtperf.core.errors import RunError, StudyError
from virtperf.core.yamlio import Document, SafeLoader, load_yaml
from virtperf.ingest.folder import RUN_FILE, owner
from virtperf.study.definition import Study
from virtperf.study.quantities import Level

LARGEST_RUN_FILE = 1024**2
DEEPEST_YAML = 20
LARGEST_NUMBER = 1e12

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


def load_run(folder: Path, study: Study, root: str, paths: list[str]) -> Run:
    """Load and check `run.yaml` of a run folder.

    Parameters
    ----------
    folder : Path
    study : Study
    root : str
        Kind of the folder that holds the run, a key of `ROOTS`.
    paths : list of str
        The folder's raw files, as `raw_files` gives them.

    Raises
    ------
    RunError
        With file and line: not YAML, against the schema, another run's name, a provenance that has no place there, a
        factor or level that the study does not have, times that contradict each other, a file that is not there.
    """
    file = f"{folder.name}/{RUN_FILE}"
    document = _document(folder, file)
    data = document.data
    check = _Check(document, file)
    check.equal("study", study.id, "the id of the study whose folder it stands in")
    check.equal("run", folder.name, "the folder's name")
    check.require(
        data["provenance"] in ROOTS[root], f"provenance {data['provenance']!r} has no place in this folder",
        "provenance", expected=" or ".join(ROOTS[root]),
    )  # fmt: skip
    _finite(data, check)
    factors = _factors(data["factors"], study, check)
    begin, end = data["window_s"]
    check.require(begin < end, "the window ends before it begins", "window_s")
    check.require(end <= data["duration_s"], "the window ends after the run", "window_s",
                  expected=f"at most duration_s = {data['duration_s']:g}", found=f"{end:g}")  # fmt: skip
    check.require(begin >= data["warmup_s"], "the window begins before the warm-up ends", "window_s",
                  expected=f"at least warmup_s = {data['warmup_s']:g}", found=f"{begin:g}")  # fmt: skip
    return Run(
        run_id=data["run"], provenance=data["provenance"], factors=factors, replicate=data["replicate"],
        start=_start(data["start"], check), duration_s=float(data["duration_s"]), warmup_s=float(data["warmup_s"]),
        window_s=(float(begin), float(end)), clients=data.get("clients"), think_time_s=data.get("think_time_s"),
        processors=data.get("processors"), tools={k: str(v) for k, v in data.get("tools", {}).items()},
        files=_files(data.get("files", []), paths, check),
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


def _document(folder: Path, file: str) -> Document:
    path = folder / RUN_FILE
    if path.is_symlink() or not path.is_file():
        raise RunError("the file is missing or a link", file=file, remedy="see docs/run-folders.md for what it holds")
    if path.stat().st_size > LARGEST_RUN_FILE:
        raise RunError("the file is too large", file=file, expected=f"at most {LARGEST_RUN_FILE} bytes")
    try:
        _refuse_tricks(path.read_text(encoding="utf-8"), file)
        return load_yaml(path, "run")
    except UnicodeDecodeError as err:
        raise RunError("the file is not UTF-8", file=file) from err
    except yaml.MarkedYAMLError as err:
        line = err.problem_mark.line + 1 if err.problem_mark else None
        raise RunError(f"not valid YAML: {err.problem}", file=file, line=line) from err
    except yaml.YAMLError as err:
        raise RunError("a character that YAML does not allow", file=file) from err
    except ValueError as err:  # a date such as 2009-13-01, an integer of a million digits
        raise RunError(f"not valid YAML: {err}", file=file) from err
    except StudyError as err:
        remedy = err.remedy and err.remedy.replace("src/virtperf/study/schemas/run.json", "docs/run-folders.md")
        raise RunError(
            err.problem, file=file, line=err.line, expected=err.expected, found=err.found, remedy=remedy
        ) from err


def _refuse_tricks(text: str, file: str) -> None:
    """No aliases, which multiply a document's size when it is walked, and no deep nesting."""
    depth = 0
    for event in yaml.parse(text, Loader=SafeLoader):
        line = event.start_mark.line + 1 if event.start_mark else None
        if isinstance(event, yaml.AliasEvent):
            raise RunError("an alias (*name) is refused", file=file, line=line, remedy="write the value out")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEEPEST_YAML:
                raise RunError("nested too deeply", file=file, line=line, expected=f"at most {DEEPEST_YAML} levels")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _finite(data: Mapping[str, Any], check: _Check) -> None:
    """YAML knows .nan and .inf, which pass every limit of a schema."""
    places: list[tuple[str | int, ...]] = [("duration_s",), ("warmup_s",), ("window_s", 0), ("window_s", 1)]
    places += [("think_time_s",)] if "think_time_s" in data else []
    places += [
        ("files", i, key)
        for i, entry in enumerate(data.get("files", []))
        for key in ("start_s", "interval_s", "at_s", "clock_offset_s")
        if key in entry
    ]
    for place in places:
        value: Any = data
        for key in place:
            value = value[key]
        check.require(abs(value) < LARGEST_NUMBER, f"{place[-1]} is no usable number", *place, found=repr(value)[:40])


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


def _start(value: Any, check: _Check) -> datetime:
    rule = "YYYY-MM-DDTHH:MM:SS without zone, by the clock of the system under test"
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            value = datetime.fromisoformat(value)
    fine = isinstance(value, datetime) and value.tzinfo is None
    check.require(fine, "start is no date and time of a local clock", "start", expected=rule, found=repr(value))
    return value


def _files(entries: list[dict[str, Any]], paths: list[str], check: _Check) -> tuple[RawFile, ...]:
    given: dict[str, RawFile] = {}
    known = set(paths)
    for position, entry in enumerate(entries):
        where = ("files", position, "path")
        path = PurePosixPath(entry["path"])
        # an absolute path, a parent, a backslash or an ignored file is none that the folder lists
        check.require(str(path) in known, "the file is not in the run folder", *where, found=repr(entry["path"]),
                      remedy="name raw files relative to run.yaml, with / between folders")  # fmt: skip
        check.require(str(path) not in given, "the file is listed twice", *where, found=repr(entry["path"]))
        given[str(path)] = _raw_file(str(path), entry)
    return tuple(given.get(path) or _raw_file(path, {}) for path in paths)


def _raw_file(path: str, entry: Mapping[str, Any]) -> RawFile:
    entity, kind = owner(path)
    if "entity" in entry:
        entity, kind = entry["entity"], "guest" if entry["entity"] else "host"
    numbers = {key: float(entry[key]) for key in ("start_s", "interval_s", "at_s", "clock_offset_s") if key in entry}
    return RawFile(path, entry.get("format"), entity, entry.get("entity_kind", kind), listed=bool(entry), **numbers)
