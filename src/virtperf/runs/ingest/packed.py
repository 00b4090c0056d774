"""Runs in zip archives, `runs/*.zip` in the folder of a study's runs: one archive an experiment.

An archive is never trusted: its members are run folders with plain files, and nothing else.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

from rawperf.core.errors import RunError
from rawperf.core.files import max_unpacked_bytes
from virtperf.core.archives import DAMAGES, MAX_NAME, member_problem

ARCHIVES = "runs"
"""Folder of the archives, in that of the runs."""
MAX_MEMBERS = 100_000


@dataclass(frozen=True)
class Archive:
    """An archive of run folders: the files of each, by run.

    Raises `RunError` when it is opened: not a zip file, a member that is no plain file in a run
    folder, two of one name, encryption, an unknown method, a size out of proportion.
    """

    path: Path
    runs: Mapping[str, tuple[str, ...]]

    @classmethod
    def open(cls, path: Path) -> Archive:
        """Read the list of members."""
        runs: dict[str, list[str]] = {}
        seen: set[str] = set()
        with _opened(path) as archive:
            members = archive.infolist()
            if len(members) > MAX_MEMBERS:
                raise _error("too many members", path, expected=f"at most {MAX_MEMBERS}")
            for member in members:
                _require_plain(member, path)
                if member.filename in seen:
                    raise _error("two members have one name", path, found=ascii(member.filename))
                seen.add(member.filename)
                run, _, name = member.filename.partition("/")
                runs.setdefault(run, []).append(name)
            most = max_unpacked_bytes(path.stat().st_size)
            if sum(member.file_size for member in members) > most:
                raise _error(
                    "the unpacked archive is too large", path, expected=f"at most {most} bytes"
                )
        return cls(path, {run: tuple(sorted(names)) for run, names in sorted(runs.items())})

    def read(self, run: str, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield files of a run, one after the other, as pairs of name and content.

        Raises `RunError` for a damaged member.
        """
        with _opened(self.path) as archive:
            for name in names:
                try:
                    content = archive.read(f"{run}/{name}")
                except DAMAGES as err:
                    raise _error(
                        "a member is damaged", self.path, found=f"{run}/{name}: {err}"
                    ) from err
                yield name, content

    def extract(self, run: str, folder: Path) -> None:
        """Extract a run to a new folder; raises `RunError` for a damaged member."""
        folder.mkdir(parents=True)
        for name, content in self.read(run, self.runs[run]):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    if path.is_symlink():
        raise _error("the archive is a symbolic link", path)
    try:
        status = path.stat()
        version = status.st_ino, status.st_size, status.st_mtime_ns
        archive = _open_once(path, version, os.getpid())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as err:
        raise _error("not a zip archive that can be read", path, found=str(err)) from err
    yield archive


@lru_cache(maxsize=2)
def _open_once(path: Path, version: tuple[int, int, int], process: int) -> zipfile.ZipFile:
    """Open an archive once for consecutive runs: reading its list of members takes longer than
    reading a run.

    `version` is that of the file; a forked `process` would share the position in an open file.
    """
    return zipfile.ZipFile(path)


def _require_plain(member: zipfile.ZipInfo, path: Path) -> None:
    """Raise `RunError` unless a member is a file in a run folder, stored or deflated."""
    name, parts = member.filename, PurePosixPath(member.filename).parts
    written = member.orig_filename
    if problem := member_problem(member):
        raise _error(f"a member {problem}", path, found=ascii(name))
    if (
        len(parts) < 2
        or "/".join(parts) != name
        or written != name
        or any(part.startswith(".") for part in parts)
        or "\\" in name
        or not name.isprintable()
        or len(name) > MAX_NAME
    ):
        raise _error(
            "a member has a path that is not allowed",
            path,
            found=ascii(written)[: 2 * MAX_NAME],
            expected="RUN/FILE, without '..' or names that begin with a dot",
        )


def _error(
    problem: str, path: Path, *, expected: str | None = None, found: str | None = None
) -> RunError:
    return RunError(
        problem,
        file=f"{ARCHIVES}/{path.name}",
        expected=expected,
        found=found,
        remedy="copy the archive again, or make it again with `virtperf pack`",
    )
