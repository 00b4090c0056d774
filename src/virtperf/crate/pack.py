"""Putting files into a folder or a zip file: whole or not at all, and the same bytes every time."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from virtperf.core.errors import VirtperfError

_CHUNK = 1 << 20
_BEGIN = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip file can hold: the state of a repository has no hour."""


@dataclass(frozen=True)
class Packed:
    """A file as it went into the crate: its size in bytes and its hashes."""

    path: str
    size: int
    sha256: str
    md5: str


class Target:
    """Where files go.

    Parameters
    ----------
    open_ : function of path, size in bytes, whether it is a program
        Gives a stream for a path that has not been written yet.
    """

    def __init__(self, open_: Callable[[str, int, bool], BinaryIO]) -> None:
        self._open = open_

    def file(self, root: Path, path: str) -> Packed:
        """Copy a file of the repository; a link that has just taken its place is refused by the system."""
        with os.fdopen(os.open(root / path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as source:
            status = os.fstat(source.fileno())
            return self._copy(source, path, status.st_size, bool(status.st_mode & stat.S_IXUSR))

    def text(self, path: str, data: bytes) -> None:
        """Write a file that is made here."""
        self._copy(BytesIO(data), path, len(data), False)

    def _copy(self, source: BinaryIO, path: str, expected: int, executable: bool) -> Packed:
        size, sha256, md5 = 0, hashlib.sha256(), hashlib.md5(usedforsecurity=False)
        with self._open(path, expected, executable) as out:
            while chunk := source.read(_CHUNK):
                out.write(chunk)
                size += len(chunk)
                sha256.update(chunk)
                md5.update(chunk)
        return Packed(path, size, sha256.hexdigest(), md5.hexdigest())


@contextmanager
def target(out: Path) -> Iterator[Target]:
    """A zip file if the name ends so, else a folder; it stands there when the block ends without an error.

    Raises
    ------
    VirtperfError
        A folder that is not empty stands there already, or something else than what would be written.
    """
    zipped = out.suffix.lower() == ".zip"
    _check(out, zipped)
    out.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=".virtperf-crate-", dir=out.parent))
    try:
        if zipped:
            with zipfile.ZipFile(work / "crate", "w", zipfile.ZIP_DEFLATED) as archive:
                yield Target(lambda path, size, program: _entry(archive, path, size, program))
            (work / "crate").chmod(0o644)
        else:
            (work / "crate").mkdir()
            yield Target(lambda path, _, program: _file(work / "crate" / path, program))
        if out.is_dir():
            out.rmdir()
        (work / "crate").replace(out)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _check(out: Path, zipped: bool) -> None:
    if zipped and out.is_dir():
        raise VirtperfError("this is a folder, not a zip file", file=out, remedy="choose another name.")
    if not zipped and out.is_dir() and any(out.iterdir()):
        raise VirtperfError(
            "the folder is not empty", file=out, expected="a new or an empty one",
            remedy="remove it or choose another name.",
        )  # fmt: skip
    if not zipped and (out.is_symlink() or out.exists()) and not (out.is_dir() and not out.is_symlink()):
        raise VirtperfError("this is no folder", file=out, remedy="choose another name, or one that ends in .zip.")


def _entry(archive: zipfile.ZipFile, path: str, size: int, executable: bool) -> BinaryIO:
    info = zipfile.ZipInfo(path, _BEGIN)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 3  # permissions as Unix has them, whatever this system is
    info.external_attr = (stat.S_IFREG | _mode(executable)) << 16
    info.file_size = size  # decides whether the entry is a large one
    return archive.open(info, "w")  # type: ignore[return-value]


def _file(path: Path, executable: bool) -> BinaryIO:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = path.open("xb")
    path.chmod(_mode(executable))
    return handle


def _mode(executable: bool) -> int:
    return 0o755 if executable else 0o644
