"""The files of a published artifact, a folder or a zip file.

An artifact is never trusted: links are not followed, names that lead out of the folder are refused,
sizes are bounded, and nothing in it is run.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from rawperf.core.errors import RawperfError
from rawperf.core.files import max_unpacked_bytes
from virtperf.core.archives import DAMAGES, MAX_NAME, member_problem

MAX_FILES = 20_000
MAX_BYTES = 8 * 1024**3
_MAX_DEPTH = 30


@dataclass(frozen=True)
class OpenedArtifact:
    """An opened artifact: `files` has the size of each file by its path, `refused` the reason for
    each entry that is not read.
    """

    name: str
    root: Path
    files: dict[str, int] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)


@contextmanager
def opened_artifact(path: Path) -> Iterator[OpenedArtifact]:
    """Open a folder, or a zip file as an extracted copy that is removed at the end.

    Names that begin with a dot are left out. Raises `RawperfError`: neither of both, too many files
    or bytes, a damaged archive, a member that leads out of the archive's folder.
    """
    if path.is_dir():
        yield _listed(path, path.resolve().name, {})
        return
    if not zipfile.is_zipfile(path):
        raise RawperfError(
            "not an artifact",
            file=path,
            expected="a folder or a zip file",
            remedy="unpack other archives first",
        )
    with tempfile.TemporaryDirectory(prefix="virtperf-") as scratch:
        refused = _extract(path, Path(scratch))
        yield _listed(_only_folder(Path(scratch)), path.stem, refused)


def _listed(root: Path, name: str, refused: dict[str, str]) -> OpenedArtifact:
    artifact = OpenedArtifact(name, root, {}, dict(refused))
    _walk(root, "", artifact, 0)
    if sum(artifact.files.values()) > MAX_BYTES:
        raise _too_large(root, f"at most {MAX_BYTES} bytes")
    if not artifact.files:
        raise RawperfError("the artifact has no files", file=root)
    return artifact


def _walk(folder: Path, prefix: str, artifact: OpenedArtifact, depth: int) -> None:
    if depth > _MAX_DEPTH:
        artifact.refused[prefix] = "too many nested folders"
        return
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda e: e.name):
            name = prefix + entry.name
            if entry.name.startswith("."):
                continue
            if not _is_plain(name):
                artifact.refused[ascii(name)] = "the name has control characters, or is no UTF-8"
            elif entry.is_symlink():
                artifact.refused[name] = "a link, which is not followed"
            elif entry.is_dir(follow_symlinks=False):
                _walk(Path(entry.path), f"{name}/", artifact, depth + 1)
            elif not entry.is_file(follow_symlinks=False):
                artifact.refused[name] = "no regular file"
            else:
                artifact.files[name] = entry.stat(follow_symlinks=False).st_size
            if len(artifact.files) > MAX_FILES:
                raise _too_large(artifact.root, f"at most {MAX_FILES} files")


def _is_plain(name: str) -> bool:
    return name.isprintable() and name.encode("utf-8", "ignore").decode() == name


def _extract(path: Path, target: Path) -> dict[str, str]:
    """Extract the plain files of a zip file; returns the reasons for all other members."""
    refused: dict[str, str] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            _require_bounded(path, members)
            for member in members:
                if reason := _refusal(path, member):
                    refused[member.filename] = reason
                    continue
                place = target / member.filename
                if place.exists():
                    refused[member.filename] = "a second member of this name"
                    continue
                place.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(member) as source, place.open("wb") as out:
                    shutil.copyfileobj(source, out)
    except DAMAGES as err:
        raise RawperfError("the archive is damaged", file=path, found=str(err)[:200]) from err
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as err:
        raise RawperfError("a member is a file and a folder", file=path) from err
    return refused


def _require_bounded(path: Path, members: list[zipfile.ZipInfo]) -> None:
    if len(members) > MAX_FILES:
        raise _too_large(path, f"at most {MAX_FILES} files")
    most = min(MAX_BYTES, max_unpacked_bytes(path.stat().st_size))
    if sum(member.file_size for member in members) > most:
        raise _too_large(path, f"at most {most} bytes unpacked")


def _refusal(path: Path, member: zipfile.ZipInfo) -> str:
    """The reason for not extracting a member, "" for none; raises `RawperfError` for a path that
    leads out of the folder.
    """
    name = member.filename
    parts = PurePosixPath(name).parts
    if name.startswith("/") or ".." in parts or "\\" in name or ":" in parts[0]:
        raise RawperfError(
            "a member leads out of the archive's folder",
            file=path,
            found=ascii(name)[:MAX_NAME],
            remedy="unpack it by hand, and look at it before you use it",
        )
    if problem := member_problem(member):
        return f"it {problem}"
    return "" if len(name) <= MAX_NAME and _is_plain(name) else "the name is too long, or no text"


def _only_folder(folder: Path) -> Path:
    """The folder that contains everything, as in archives of repositories."""
    entries = list(folder.iterdir())
    return entries[0] if len(entries) == 1 and entries[0].is_dir() else folder


def _too_large(path: Path, expected: str) -> RawperfError:
    return RawperfError(
        "the artifact is too large",
        file=path,
        expected=expected,
        remedy="give the folder with the measurements only",
    )
