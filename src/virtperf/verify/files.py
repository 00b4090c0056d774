"""Output files: their bytes against those of a replay, and against what `dvc.lock` records of
them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from rawperf.core.yamlio import load_yaml
from virtperf.pipeline.stages import Stage
from virtperf.verify.compare import (
    AGREEING,
    IDENTICAL,
    MISSING,
    MOVED,
    NEW,
    WITHIN,
    Tolerances,
    same_words,
)

TEXTS = (".html", ".json", ".csv", ".txt", ".log", ".xml", ".yaml")
COMPARED = (".parquet", ".ipynb")


@dataclass(frozen=True)
class File:
    """One output file before and now: its path below the repository, one of `compare.STATUSES`, and
    what differs.
    """

    path: str
    status: str
    where: str = ""

    @property
    def agrees(self) -> bool:
        """Whether it is the same, or differs in nothing but numbers within tolerance."""
        return self.status in AGREEING


@dataclass(frozen=True)
class Finding:
    """Something wrong with a stored file: its path, and the problem in words."""

    path: str
    problem: str


def compare_files(
    old: Path, new: Path, stages: Iterable[Stage], tolerances: Tolerances
) -> list[File]:
    """Every file that the stages write, in two folders.

    Text agrees where it differs in nothing but numbers within the tolerance of `registers` or, in
    pages with figures, of `drawings`. Parquet files and notebooks with other bytes are within
    tolerance: their cells are compared as items.
    """
    paths = sorted(
        {
            path.relative_to(root).as_posix()
            for root in (old, new)
            for stage in stages
            for out in stage.outs
            for path in _files(root / out)
        }
    )
    return [_compared(path, old / path, new / path, tolerances) for path in paths]


def _compared(path: str, old: Path, new: Path, tolerances: Tolerances) -> File:
    if not old.is_file() or not new.is_file():
        return File(path, NEW if new.is_file() else MISSING)
    before, now = old.read_bytes(), new.read_bytes()
    if before == now:
        return File(path, IDENTICAL)
    if old.suffix in COMPARED:
        return File(path, WITHIN)
    if old.suffix not in TEXTS:
        return File(path, MOVED)
    lines = before.decode(errors="replace").splitlines(), now.decode(errors="replace").splitlines()
    kind = tolerances["drawings" if old.suffix == ".html" else "registers"]
    for number, (a, b) in enumerate(zip_longest(*lines), start=1):
        if (
            a is None
            or b is None
            or not (same_words(a, b, tolerances["registers"]) or same_words(a, b, kind))
        ):
            return File(path, MOVED, f"line {number}")
    return File(path, WITHIN)


def against_locks(root: Path, stages: Iterable[Stage]) -> list[Finding]:
    """What `dvc.lock` records of hash, size and number of files, against the files that are there.

    An input that has another hash is only out of date, which `dvc status` says; an output was
    changed by hand, or the record was.
    """
    found = []
    for stage in stages:
        lock = stage.file.with_suffix(".lock")
        name = lock.relative_to(root).as_posix()
        recorded = (
            load_yaml(lock).data.get("stages", {}).get(stage.name) if lock.is_file() else None
        )
        if recorded is None:
            found.append(Finding(name, f"nothing is recorded of the stage {stage.name}"))
            continue
        for part in ("deps", "outs"):
            for entry in recorded.get(part, ()):
                wrong = _wrong(root / str(entry["path"]), entry, part == "outs")
                if wrong:
                    found.append(
                        Finding(name, f"{entry['path']} is not what is recorded of it ({wrong})")
                    )
    return found


def _wrong(path: Path, entry: Mapping[str, Any], output: bool) -> str:
    there = facts(path) if path.exists() else {}
    if not there or (not output and there["md5"] != entry.get("md5")):
        return ""
    names = [name for name in ("md5", "size", "nfiles") if entry.get(name) != there.get(name)]
    return "; ".join(
        f"{name}: recorded {entry.get(name)}, found {there.get(name)}" for name in names
    )


def facts(path: Path) -> dict[str, str | int]:
    """Hash, size and number of files as DVC writes them into `dvc.lock`."""
    if path.is_file():
        return {"md5": _file_md5(path), "size": path.stat().st_size}
    files = list(_files(path))
    entries = [{"md5": _file_md5(p), "relpath": p.relative_to(path).as_posix()} for p in files]
    entries.sort(key=lambda entry: entry["relpath"].split("/"))
    digest = hashlib.md5(
        json.dumps(entries, sort_keys=True).encode(), usedforsecurity=False
    ).hexdigest()
    return {
        "md5": f"{digest}.dir",
        "size": sum(p.stat().st_size for p in files),
        "nfiles": len(files),
    }


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    else:
        yield from (p for p in path.rglob("*") if p.is_file() and "__pycache__" not in p.parts)


def _file_md5(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
