"""Resolution of the sides of a comparison: a folder or glob pattern, a study of the repository, or
either at a git revision.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rawperf.core.errors import RawperfError
from virtperf.core.archives import extract_member
from virtperf.core.git import run_git
from virtperf.core.paths import Layout
from virtperf.runs.ingest.packed import ARCHIVES


@dataclass(frozen=True)
class Place:
    """Location of a side's runs: `path` is a folder, a file or a glob pattern; `study` the id of
    the study the runs belong to; `revision` the git revision they are extracted from.
    """

    written: str
    path: str
    study: str = ""
    revision: str = ""


def resolve_place(written: str | Path, layout: Layout, scratch: Path) -> Place:
    """Resolve a path, a study's id, or ``REVISION:`` followed by one of these.

    Files of a revision are extracted below `scratch`. An existing path takes precedence.

    Raises `RawperfError`: an unknown revision of existing files, or one without them.
    """
    text = str(written)
    if Path(text).exists():
        return Place(text, text)
    if text in layout.studies():
        return Place(text, str(layout.measured(text)), study=text)
    revision, colon, rest = text.partition(":")
    if not colon or not rest:
        return Place(text, text)
    study = rest if rest in layout.studies() else ""
    commit = _commit(layout.root, revision)
    if commit is None:
        if study or Path(rest).exists():
            require_revisions(layout, [revision])
        return Place(text, text)
    inside = layout.measured(rest) if study else Path(rest)
    relative = _relative(inside, layout.root, text)
    target = scratch / commit
    _extract(layout.root, revision, relative, target)
    return Place(text, str(target / relative), study, revision)


def side_names(places: Sequence[Place]) -> list[str]:
    """Short names of sides: revisions for one folder at several revisions, else the last path
    component in which the paths differ.
    """
    rests = {Path(place.written.removeprefix(f"{place.revision}:")).name for place in places}
    if len(places) > 1 and len(rests) == 1 and any(place.revision for place in places):
        return [place.revision or "the working tree" for place in places]
    paths = [Path(place.written) for place in places]
    for parts in zip(*(reversed(path.parts) for path in paths), strict=False):
        if len({*parts}) == len(paths):
            return list(parts)
    return [str(path) for path in paths]


def _relative(inside: Path, root: Path, text: str) -> str:
    try:
        return inside.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        raise RawperfError(
            "the path is outside the git repository",
            file=text,
            expected=f"a folder below {root.resolve()}",
        ) from None


def _commit(root: Path, revision: str) -> str | None:
    """Resolve a revision to its commit; None for an unknown one."""
    if revision.startswith("-"):
        return None
    commit = run_git(root, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    return commit.stdout.decode().strip() if commit.returncode == 0 else None


def _extract(root: Path, revision: str, path: str, target: Path) -> None:
    """Extract a path of a revision, and the archives that may hold it as a packed run."""
    parents = [str(parent / ARCHIVES) for parent in PurePosixPath(path).parents]
    archived = [
        run_git(root, "archive", "--format=tar", revision, "--", inside)
        for inside in (path, *parents)
    ]
    if all(each.returncode for each in archived):
        raise RawperfError(
            f"revision {revision} does not contain {path}",
            found=archived[0].stderr.decode(errors="replace").strip() or None,
            remedy=f"`git log -- {path}` lists the revisions that changed it",
        )
    for each in archived:
        if each.returncode == 0:
            with tarfile.open(fileobj=io.BytesIO(each.stdout)) as archive:
                for member in archive:
                    extract_member(archive, member, target)


def require_revisions(layout: Layout, revisions: Sequence[str]) -> None:
    """Raise `RawperfError` for an unknown git revision."""
    for revision in revisions:
        if _commit(layout.root, revision) is None:
            raise RawperfError(
                f"unknown git revision {revision!r}",
                expected="a tag, a branch, a commit, or HEAD~3",
                remedy="`git log --oneline` lists them",
            )
