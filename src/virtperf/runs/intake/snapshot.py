"""Copies of run folders: only files allowed in a run, atomically, and without duplicate runs."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from rawperf.core.errors import RunError
from rawperf.core.files import replace_folder
from virtperf.runs.ingest.folder import (
    MAX_RUN_FILE_BYTES,
    PROSE,
    RESERVED,
    RUN_FILE,
    RunFolder,
    raw_files,
    reported_elsewhere,
    run_folders,
    state,
)

"""Suffixes of documentation beside a run's files."""


def run_name(folder: Path, name: str | None) -> str:
    """Return the run's name: as given, else from run.yaml, else the folder's; raises `RunError` for
    an invalid or reserved one.
    """
    described = folder / RUN_FILE
    if name is None and described.is_file() and described.stat().st_size <= MAX_RUN_FILE_BYTES:
        text = described.read_text(encoding="utf-8", errors="replace")
        match = re.search(r"^run:\s*[\"']?([a-z0-9][a-z0-9._-]*)", text, re.M)
        name = match[1] if match else None
    run_id = name or re.sub(r"[^a-z0-9._-]+", "-", folder.resolve().name.lower()).strip("-._")
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,99}", run_id):
        raise RunError(
            "invalid run name",
            expected="lower-case letters, digits, '.', '_' and '-'",
            found=repr(run_id),
            remedy="set one with --name",
        )
    if run_id in RESERVED:
        raise RunError(f"{run_id!r} is a reserved name", remedy="set another one with --name")
    return run_id


def snapshot(folder: Path, target: Path) -> list[str]:
    """Copy raw files, `run.yaml` and prose of a run folder to a new one; returns the paths of the
    raw files.

    Raises `RunError` for a symbolic link anywhere in the folder, and as `raw_files`.
    """
    visible = sorted(state(folder))  # symbolic links to folders are listed, not followed
    for path in (folder, *(folder / name for name in visible)):
        if path.is_symlink():
            place = path.relative_to(folder.parent)
            raise RunError(
                "symbolic links are not allowed",
                file=place,
                remedy="replace the link with a copy of the file",
            )
    raw = raw_files(folder)
    prose = [name for name in visible if name == RUN_FILE or name.lower().endswith(PROSE)]
    for path in (folder / name for name in prose):
        if path.stat().st_size > MAX_RUN_FILE_BYTES:
            raise RunError(
                "the file is too large", file=path, expected=f"at most {MAX_RUN_FILE_BYTES} bytes"
            )
    for name in (*prose, *raw):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / name, target / name)
    return raw


def accept(copy: Path, target: Path) -> None:
    """Install a finished copy at its target; a failure leaves nothing behind.

    Raises `RunError` if the target exists.
    """
    if target.exists() or target.is_symlink():
        raise RunError(
            "a run with this name already exists",
            file=target,
            remedy="set another name with --name",
        )
    created = [place for place in (target.parent, *target.parents) if not place.exists()]
    try:
        with replace_folder(target) as fresh:
            shutil.copytree(copy, fresh, dirs_exist_ok=True)
    except BaseException:
        for place in dict.fromkeys(created):
            if place.is_dir() and not any(place.iterdir()):
                place.rmdir()
        raise


def check_duplicates(run: Path, roots: Mapping[str, Path]) -> list[str]:
    """Compare a run's raw files with those of all existing runs; returns a warning for each run
    with some identical files.

    `roots` are folders of run folders by kind ("measured", "example"). Empty files are ignored.
    Raises `RunError` if all files of one of two runs are in the other.
    """
    hashes = _hashes(RunFolder(run))
    warnings = []
    for kind, folder in (
        (kind, folder)
        for kind, root in roots.items()
        for folder in run_folders(root, reported_elsewhere)
    ):
        try:
            theirs = _hashes(folder)
        except (
            RunError,
            OSError,
        ):  # errors in other runs are reported by `virtperf check`
            continue
        same = sorted(hashes[digest] for digest in hashes.keys() & theirs.keys())
        if same and len(same) == min(len(hashes), len(theirs)):
            raise RunError(
                f"its raw files duplicate those of the {kind} run {folder.name}",
                found=", ".join(same[:5]),
                remedy="a copy is not a replicate; add the files of another run",
            )
        if same:
            warnings.append(
                f"{', '.join(same)}: identical to files of the {kind} run {folder.name}"
            )
    return warnings


def _hashes(run: RunFolder) -> dict[str, str]:
    """Map SHA-256 hashes of nonempty raw files to paths."""
    hashed = run.hashes(run.raw_files())
    return {digest: path for path, (digest, size) in hashed.items() if size}
