"""Runs that share raw files with another one: a copy is no second measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from virtperf.core.errors import RunError
from virtperf.ingest.cache import hash_file
from virtperf.ingest.folder import raw_files


def hashes(folder: Path, paths: Sequence[str]) -> dict[str, str]:
    """SHA-256 of every raw file by path; empty files have none."""
    found = {path: hash_file(folder / path) for path in paths}
    return {path: digest for path, (digest, size) in found.items() if size}


def refuse_twins(own: Mapping[str, str], roots: Mapping[str, Path]) -> list[str]:
    """Compare a run's raw files with those of all runs that are there.

    Parameters
    ----------
    own : mapping of str to str
        SHA-256 by path.
    roots : mapping of str to Path
        Folders of run folders by what they hold ("measured", "simulated").

    Returns
    -------
    list of str
        A sentence for each run that has some of the files too.

    Raises
    ------
    RunError
        All files of one of the two runs are in the other.
    """
    warnings = []
    for kind, root in roots.items():
        folders = sorted(p for p in root.iterdir() if p.is_dir() and p.name[0] != ".") if root.is_dir() else []
        for folder in folders:
            try:
                theirs = set(hashes(folder, raw_files(folder)).values())
            except (RunError, OSError):  # whatever is wrong with another run is for `virtperf check` to say
                continue
            same = sorted(path for path, digest in own.items() if digest in theirs)
            if same and len(set(own.values()) & theirs) == min(len(set(own.values())), len(theirs)):
                raise RunError(
                    f"its raw files are those of the {kind} run {folder.name}, byte for byte",
                    found=", ".join(same[:5]), remedy="a copy is no second measurement; add the files of another run",
                )  # fmt: skip
            if same:
                warnings.append(f"{', '.join(same)}: the same bytes stand in the {kind} run {folder.name}")
    return warnings
