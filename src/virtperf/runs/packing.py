"""Packing of run folders to archives, and back.

No archive is changed when runs are added, and a folder is removed when its packed copy has been read
back: whenever packing is killed, each run is there, and the next call ends what was begun.
"""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from rawperf.core.errors import RunError
from rawperf.core.files import ALWAYS_ALLOWED_BYTES, replace_folder, write_atomically
from virtperf.core.archives import write_zip
from virtperf.runs.ingest.folder import (
    RunFolder,
    archives_of,
    reported_elsewhere,
    run_folders,
    state,
)
from virtperf.runs.ingest.packed import ARCHIVES, Archive
from virtperf.runs.ingest.runs import load_run
from virtperf.study.definition import Study

MAX_ARCHIVE_BYTES = 1_000_000
MAX_RUN_BYTES = ALWAYS_ALLOWED_BYTES
NO_EXPERIMENT = "all"
"""Name of the archive of runs without an experiment."""
_END_BYTES = 22
_REMOVED = ".packed"


def pack(root: Path, study: Study, patterns: Sequence[str] = ()) -> dict[Path, int]:
    """Pack run folders: an archive for each experiment and level of the study's `machine_factor`, in
    parts of at most `MAX_ARCHIVE_BYTES`.

    Parameters
    ----------
    root : Path
        The folder of the study's runs.
    patterns : sequence of str
        Names of runs, or patterns; all by default.

    Returns
    -------
    dict of Path to int
        The new archives, and the number of runs in each.

    Raises
    ------
    RunError
        A run is not valid or too large, differs from its packed copy, or has files that an archive
        does not take: links and names that begin with a dot. Nothing is packed then.
    """
    for begun in root.glob(f".*{_REMOVED}"):
        shutil.rmtree(begun)
    packed = _packed_runs(root)
    paths = (run.path for run in run_folders(root, reported_elsewhere))
    folders = [path for path in paths if path.is_dir() and _fits(path.name, patterns)]
    groups: dict[str, list[tuple[str, bytes]]] = {}
    finished: list[Path] = []
    for folder in folders:
        _require_small(folder, sum(size for size, _ in state(folder).values()), MAX_RUN_BYTES)
        content = _content(folder)
        if folder.name in packed:
            _require_equal(packed[folder.name])
            finished.append(folder)
        else:
            group = _group(folder, study)
            groups.setdefault(group, []).append((folder.name, _zipped({folder.name: content})))
            _require_small(folder, len(groups[group][-1][1]), MAX_ARCHIVE_BYTES)
    written: dict[Path, int] = {}
    for group, runs in sorted(groups.items()):
        for names in _parts(runs):
            path = _next_path(root, group)
            contents = {name: _content(root / name) for name in names}
            write_atomically(path, _zipped(contents))
            archive = Archive.open(path)
            for name in names:
                _require_equal(RunFolder(root / name, archive))
                finished.append(root / name)
            written[path] = len(names)
    for folder in finished:
        removed = folder.with_name(f".{folder.name}{_REMOVED}")
        folder.rename(removed)  # half of a folder would be another run
        shutil.rmtree(removed)
    return written


def unpack(root: Path, patterns: Sequence[str] = ()) -> list[str]:
    """Turn packed runs into folders, and remove them from their archives; returns their names.

    Parameters
    ----------
    root : Path
        The folder of a study's runs.
    patterns : sequence of str
        Names of runs, or patterns; all by default.

    Raises
    ------
    RunError
        An archive can't be read, or a folder of a run's name has other files.
    """
    done: list[str] = []
    for path in archives_of(root):
        archive = Archive.open(path)
        names = [name for name in archive.runs if _fits(name, patterns)]
        for name in names:
            folder = root / name
            if folder.exists():
                _require_equal(RunFolder(folder, archive))
                continue
            with replace_folder(folder) as fresh:
                fresh.rmdir()
                archive.extract(name, fresh)
        rest = {
            name: dict(archive.read(name, run))
            for name, run in archive.runs.items()
            if name not in names
        }
        if not rest:
            path.unlink()
        elif names:
            write_atomically(path, _zipped(rest))
        done += names
    if (root / ARCHIVES).is_dir() and not any((root / ARCHIVES).iterdir()):
        (root / ARCHIVES).rmdir()
    return sorted(done)


def _fits(name: str, patterns: Collection[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def _packed_runs(root: Path) -> dict[str, RunFolder]:
    archives = [Archive.open(path) for path in archives_of(root)]
    return {name: RunFolder(root / name, archive) for archive in archives for name in archive.runs}


def _content(folder: Path) -> dict[str, bytes]:
    """Read the files of a run folder, by relative path."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            problem, found = "only plain files can be packed", f"{name} is a link or a device"
        elif path.name.startswith("."):
            problem, found = "names that begin with a dot are not part of a run", name
        else:
            continue
        raise RunError(problem, file=folder.name, found=found, remedy=f"remove {name}")
    return {name: (folder / name).read_bytes() for name in sorted(state(folder))}


def _require_equal(packed: RunFolder) -> None:
    """Raise `RunError` unless the folder of a packed run has the same files."""
    assert packed.archive is not None
    if not RunFolder(packed.path).equals(packed):
        raise RunError(
            "the folder differs from the packed run of this name",
            file=packed.name,
            found=f"another copy in {ARCHIVES}/{packed.archive.path.name}",
            remedy="remove the folder, or rename the run",
        )


def _require_small(folder: Path, size: int, most: int) -> None:
    if size > most:
        raise RunError(
            "the run is too large for an archive",
            file=folder.name,
            expected=f"at most {most} bytes{' packed' if most == MAX_ARCHIVE_BYTES else ''}",
            found=str(size),
            remedy="keep it as a folder, and track it with `dvc add`; name the runs to pack",
        )


def _group(folder: Path, study: Study) -> str:
    """Name of a run's archive: its experiment, and its level of the machine factor."""
    packed = RunFolder(folder)
    run = load_run(packed, study, "measured", packed.raw_files())
    name = run.protocol.experiment if run.protocol else NO_EXPERIMENT
    if study.machine_factor:
        name += f"-{study.machine_factor}-{run.factors[study.machine_factor]}"
    return re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-.")


def _parts(runs: Iterable[tuple[str, bytes]]) -> list[list[str]]:
    """Split runs, given with their archives, by size, in order of their names."""
    parts: list[list[str]] = []
    size = 0
    for name, zipped in sorted(runs):
        more = len(zipped) - _END_BYTES
        if not parts or size + more > MAX_ARCHIVE_BYTES:
            parts.append([])
            size = _END_BYTES
        parts[-1].append(name)
        size += more
    return parts


def _next_path(root: Path, group: str) -> Path:
    path, number = root / ARCHIVES / f"{group}.zip", 2
    while path.exists():
        path, number = root / ARCHIVES / f"{group}-part-{number}.zip", number + 1
    return path


def _zipped(runs: Mapping[str, Mapping[str, bytes]]) -> bytes:
    """Archive of runs: members by name, without times."""
    out = io.BytesIO()
    write_zip(
        out,
        (
            (f"{run}/{name}", data)
            for run, files in sorted(runs.items())
            for name, data in sorted(files.items())
        ),
    )
    return out.getvalue()
