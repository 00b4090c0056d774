"""Run folders, plain or in an archive: their raw files and the owners of these. Files outside of a
run folder are never opened.
"""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from rawperf.core.errors import RunError
from rawperf.core.files import hash_file
from rawperf.tidy import open_input
from virtperf.runs.ingest.packed import ARCHIVES, Archive

RUN_FILE = "run.yaml"
MAX_RUN_FILE_BYTES = 1024**2
RESERVED = frozenset({ARCHIVES, "examples"})
"""Folders of a study beside its run folders: no run may have these names."""
MAX_FILE_BYTES = 64 * 1024**3
"""Maximum size of a raw file in bytes. Memory does not grow with it, but parsing takes hours, and
disk space for external sorting. A larger file is not a log, but a misplaced disk image."""
MAX_FILES = 10_000

# Grouping folders, not names of owners.
_HOSTS = frozenset({"host", "hosts"})
_GROUPS = frozenset({"guest", "guests", "driver", "drivers"}) | _HOSTS
# Documentation beside the files, and pointers left by DVC for large files.
PROSE = (".md", ".rst")
NOT_RAW = (*PROSE, ".dvc")


def raw_files(folder: Path) -> list[str]:
    """List the relative paths of all raw files of a run folder, sorted.

    Names that begin with a dot, prose (``*.md``, ``*.rst``), ``*.dvc`` and `run.yaml` are not raw
    files.

    Raises `RunError` for a link out of the folder, an entry that is neither file nor folder, a name
    that is not UTF-8, a file that is too large, too many files, no file.
    """
    inside = folder.resolve()
    files = list(islice(_walk(folder, inside, "", {inside}), MAX_FILES + 1))
    if len(files) > MAX_FILES:
        raise _error("too many files", inside.name, expected=f"at most {MAX_FILES}")
    _require_files(files, folder.name)
    return sorted(files)


def _require_files(files: Sequence[str], run: str) -> None:
    if not files:
        raise _error(
            "the run folder contains no raw files",
            run,
            remedy="copy the tools' output files to the folder of run.yaml",
        )


@dataclass(frozen=True)
class RunFolder:
    """A run: a folder with `run.yaml` and raw files, or such a folder in an archive.

    `path` is its address in either case, below the folder of a study's runs.
    """

    path: Path
    archive: Archive | None = None

    @property
    def name(self) -> str:
        return self.path.name

    def raw_files(self) -> list[str]:
        """List the relative paths of all raw files, as the function of this name does."""
        if self.archive is None:
            return raw_files(self.path)
        files = [n for n in self._members if n != RUN_FILE and not n.lower().endswith(NOT_RAW)]
        _require_files(files, self.name)
        return files

    @property
    def _members(self) -> tuple[str, ...]:
        return () if self.archive is None else self.archive.runs[self.name]

    def read(self, name: str) -> bytes | None:
        """Contents of a file such as `run.yaml`; None if it is missing or a symbolic link.

        Raises `RunError` if it is larger than `MAX_RUN_FILE_BYTES`.
        """
        content: bytes | None = None
        if self.archive is not None:
            members = self.archive.read(self.name, {name}.intersection(self._members))
            content = dict(members).get(name)
        elif (path := self.path / name).is_file() and not path.is_symlink():
            with path.open("rb") as file:
                content = file.read(MAX_RUN_FILE_BYTES + 1)
        if content is not None and len(content) > MAX_RUN_FILE_BYTES:
            raise _error(
                "the file is too large",
                self.name,
                name,
                expected=f"at most {MAX_RUN_FILE_BYTES} bytes",
            )
        return content

    @contextmanager
    def open_file(self, name: str) -> Iterator[BinaryIO]:
        """Open a raw file; raises `RawperfError` if it can't be read."""
        if self.archive is None:
            with open_input(self.path / name) as stream:
                yield stream
            return
        ((_, content),) = self.archive.read(self.name, [name])
        yield io.BytesIO(content)

    def hashes(self, names: Iterable[str]) -> dict[str, tuple[str, int]]:
        """SHA-256 and size of files, by relative path."""
        if self.archive is None:
            return {name: hash_file(self.path / name) for name in names}
        return {
            name: (hashlib.sha256(content).hexdigest(), len(content))
            for name, content in self.archive.read(self.name, names)
        }

    def digests(self, names: Iterable[str]) -> dict[str, str]:
        """SHA-256 of files, by relative path."""
        return {name: digest for name, (digest, _) in self.hashes(names).items()}

    def equals(self, other: RunFolder) -> bool:
        """Whether two copies of a run have the same files with the same content; False if one can't be
        read.
        """
        try:
            return self._contents() == other._contents()
        except (RunError, OSError):
            return False

    def _contents(self) -> dict[str, bytes]:
        if self.archive is None:
            return {name: (self.path / name).read_bytes() for name in state(self.path)}
        return dict(self.archive.read(self.name, self._members))

    @contextmanager
    def opened(self) -> Iterator[Path]:
        """Provide the run as a folder: itself, or an extracted copy of the same name that is removed
        at the end.
        """
        if self.archive is None:
            yield self.path
            return
        with tempfile.TemporaryDirectory(prefix="virtperf-") as temporary:
            folder = Path(temporary, self.name)
            self.archive.extract(self.name, folder)
            yield folder


def run_folders(
    root: Path, refused: Callable[[str, RunError], None] | None = None
) -> list[RunFolder]:
    """List the runs of a root by name, those in archives too; empty without a root.

    `refused` is called with the name of each archive that can't be read and its error, and of each
    run of an archive that exists twice; without it the first error is raised.
    """
    if not root.is_dir():
        return []

    def refuse(name: str, error: RunError) -> None:
        if refused is None:
            raise error
        refused(name, error)

    runs = {
        p.name: RunFolder(p)
        for p in root.iterdir()
        if p.is_dir() and p.name[0] != "." and p.name not in RESERVED
    }
    for path in archives_of(root):
        try:
            archive = Archive.open(path)
        except RunError as err:
            refuse(path.name, err)
            continue
        for name in archive.runs:
            packed = RunFolder(root / name, archive)
            if name not in runs:
                runs[name] = packed
            elif not runs[name].equals(packed):  # equal ones are left by interrupted packing
                refuse(name, _twice(runs[name], path))
    return [runs[name] for name in sorted(runs)]


def reported_elsewhere(name: str, error: RunError) -> None:
    """Pass over an archive that can't be read: ingest and `virtperf check` report it."""


def _twice(run: RunFolder, archive: Path) -> RunError:
    other = f"a folder {run.name}" if run.archive is None else f"{ARCHIVES}/{run.archive.path.name}"
    return RunError(
        f"the run is also in {other}",
        file=f"{ARCHIVES}/{archive.name}: {run.name}",
        remedy="remove one of the two",
    )


def archives_of(root: Path) -> list[Path]:
    """List the archives of a folder of runs by name."""
    return sorted(p for p in (root / ARCHIVES).glob("*.zip") if p.name[0] != ".")


def state(place: Path) -> dict[str, tuple[int, int]]:
    """Snapshot size and mtime of every file below a folder, by relative path, to detect changes.

    Symbolic links are not followed; names that begin with a dot are skipped.
    """
    return dict(_states(place, "")) if place.is_dir() else {}


def _states(folder: Path | str, prefix: str) -> Iterator[tuple[str, tuple[int, int]]]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    yield from _states(entry.path, f"{prefix}{entry.name}/")
                else:
                    status = entry.stat(follow_symlinks=False)
                    yield prefix + entry.name, (status.st_size, status.st_mtime_ns)
    except OSError:  # unreadable entries are rejected when they are read
        yield prefix, (-1, -1)


def _walk(folder: Path, inside: Path, prefix: str, parents: set[Path]) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda e: e.name):
            name = prefix + entry.name
            if entry.name.startswith(".") or name == RUN_FILE:
                continue
            if name.encode("utf-8", "ignore").decode() != name:
                raise _error(
                    "a file name is not valid UTF-8",
                    inside.name,
                    found=ascii(name),
                    remedy="rename the file",
                )
            target = Path(entry.path).resolve() if entry.is_symlink() else Path(entry.path)
            if entry.is_symlink() and not target.is_relative_to(inside):
                remedy = "replace the link with a copy of the file"
                raise _error(
                    "a symbolic link points outside the run folder",
                    inside.name,
                    name,
                    remedy=remedy,
                )
            if entry.is_dir():
                if target in parents:
                    raise _error("a symbolic link points to a parent folder", inside.name, name)
                yield from _walk(Path(entry.path), inside, f"{name}/", parents | {target.resolve()})
            elif not entry.is_file():
                raise _error("not a regular file or folder", inside.name, name, remedy="remove it")
            elif not entry.name.lower().endswith(NOT_RAW):
                size = entry.stat().st_size
                if size > MAX_FILE_BYTES:
                    raise _error(
                        "the file is too large",
                        inside.name,
                        name,
                        expected=f"at most {MAX_FILE_BYTES} bytes",
                        found=str(size),
                        remedy="collect fewer samples per file, or split the file",
                    )
                yield name


def owner(path: str) -> tuple[str, str]:
    """Return the owner of a file and its kind, from its path.

    The owner is the first part of the path below a folder such as ``guests`` or ``drivers``:
    ``guests/lnweb1/sar.txt`` and ``lnweb1/sar.txt`` belong to the guest lnweb1,
    ``drivers/triplet1.log`` to triplet1. A file next to `run.yaml`, or in a folder ``host``,
    belongs to the host.
    """
    parts = PurePosixPath(path).parts
    if len(parts) == 1:
        return "", "host"
    kind = "host" if parts[0].lower() in _HOSTS else "guest"
    named = [part for part in parts[:-1] if part.lower() not in _GROUPS]
    return (named[0] if named else PurePosixPath(path).stem), kind


def _error(problem: str, run: str, name: str = "", **parts: Any) -> RunError:
    return RunError(problem, file=f"{run}/{name}".rstrip("/"), **parts)
