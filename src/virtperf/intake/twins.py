"""Runs that share raw files with another one: a copy is no second measurement."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from virtperf.core.errors import RunError
from virtperf.ingest.cache import hash_file
from virtperf.ingest.folder import raw_files, run_folders


def refuse_twins(run: Path, roots: Mapping[str, Path]) -> list[str]:
    """Compare a run's raw files with those of all runs that are there; a sentence for each that has some of them too.

    `roots` are folders of run folders by what they hold ("measured", "simulated"). Empty files don't count. Raises
    `RunError` where all files of one of the two runs are in the other.
    """
    own = _hashes(run)
    warnings = []
    for kind, folder in ((kind, folder) for kind, root in roots.items() for folder in run_folders(root)):
        try:
            theirs = _hashes(folder)
        except (RunError, OSError):  # whatever is wrong with another run is for `virtperf check` to say
            continue
        same = sorted(own[digest] for digest in own.keys() & theirs.keys())
        if same and len(same) == min(len(own), len(theirs)):
            raise RunError(
                f"its raw files are those of the {kind} run {folder.name}, byte for byte", found=", ".join(same[:5]),
                remedy="a copy is no second measurement; add the files of another run",
            )  # fmt: skip
        if same:
            warnings.append(f"{', '.join(same)}: the same bytes stand in the {kind} run {folder.name}")
    return warnings


def _hashes(run: Path) -> dict[str, str]:
    """A path by the SHA-256 of its content."""
    hashed = {path: hash_file(run / path) for path in raw_files(run)}
    return {digest: path for path, (digest, size) in hashed.items() if size}
