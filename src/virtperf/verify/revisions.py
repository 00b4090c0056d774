"""Revisions of a repository as folders of their own: files from git, the package that they had."""

from __future__ import annotations

import posixpath
import shutil
import tarfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from virtperf.core.errors import VirtperfError
from virtperf.core.git import git
from virtperf.verify.replay import own_source

_PARTS = ("data/published", "data/measured", "data/metrics.yaml", "notebooks", "params.yaml", "dvc.yaml", "src",
          "pyproject.toml")  # fmt: skip


@dataclass(frozen=True)
class Commit:
    """Where a repository stands: the commit's id, and whether files that people write differ from it."""

    id: str
    changed: bool


def head(root: Path) -> Commit | None:
    """The commit that is checked out; None outside of git, or where git is not installed."""
    found = git(root, "rev-parse", "--verify", "HEAD")
    if found is None:
        return None
    return Commit(found.strip(), bool(git(root, "status", "--porcelain", "--", *_PARTS)))


def commit_id(root: Path, revision: str) -> str | None:
    """The commit that a revision names, None where it names none."""
    found = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    return found.strip() if found else None


def export(root: Path, revision: str, place: Path) -> tuple[str, Path]:
    """Write a revision's hand-written files, and its package, into an empty folder.

    Returns
    -------
    commit : str
    source : Path
        The folder with that revision's own package, else that of the package which runs this.

    Raises
    ------
    VirtperfError
        The revision is unknown, or runs that DVC keeps are not at hand.
    """
    commit = commit_id(root, revision)
    if commit is None:
        raise VirtperfError(
            f"{revision!r} is neither a revision nor a folder", expected="a commit, tag or branch, or a folder",
            remedy="run it inside a git repository, or name its folder by --root.",
        )  # fmt: skip
    prefix = (git(root, "rev-parse", "--show-prefix") or "").strip()
    top = Path((git(root, "rev-parse", "--show-toplevel") or str(root)).strip())
    archive = place.with_name(f"{place.name}.tar")
    if git(top, "archive", "--format=tar", "-o", str(archive.resolve()), f"{commit}:{prefix}") is None:
        raise VirtperfError(f"git can't write out {revision!r}", file=root)
    try:
        with tarfile.open(archive) as tar:
            wanted = [m for m in tar.getmembers() if any(m.name == p or m.name.startswith(f"{p}/") for p in _PARTS)]
            for member in wanted:
                _refuse_outside(member, revision)
            # before Python 3.11.4 there is no filter
            tar.extraction_filter = getattr(tarfile, "data_filter", None)
            tar.extractall(place, members=wanted)  # noqa: S202 - every member was looked at
    finally:
        archive.unlink()
    _runs_of_dvc(root, place)
    source = place / "src"
    if not (source / "virtperf" / "cli.py").is_file():
        return commit, own_source()
    _register(place)
    return commit, source


def _refuse_outside(member: tarfile.TarInfo, revision: str) -> None:
    """A name or a link of a commit may lead nowhere but into the folder that it is written to."""
    leads_to = posixpath.join(posixpath.dirname(member.name), member.linkname) if member.issym() else member.name
    if posixpath.isabs(leads_to) or posixpath.normpath(leads_to).split("/")[0] == "..":
        raise VirtperfError(
            f"{revision} has a link that leads out of the repository", file=member.name, found=member.linkname or None,
            remedy="compare a revision without it, or a folder.",
        )  # fmt: skip


def _runs_of_dvc(root: Path, place: Path) -> None:
    """Bring measured runs that only DVC keeps from the working tree, where it has the same ones."""
    for pointer in sorted((place / "data" / "measured").rglob("*.dvc")):
        here = root / pointer.relative_to(place)
        kept = here.with_suffix("")
        if not here.is_file() or here.read_bytes() != pointer.read_bytes() or not kept.exists():
            raise VirtperfError(
                "these runs are kept by DVC and are not at hand", file=pointer.relative_to(place),
                remedy="run `dvc checkout` on that revision and compare its folder instead.",
            )  # fmt: skip
        if kept.is_dir():
            shutil.copytree(kept, pointer.with_suffix(""), symlinks=True)
        else:
            shutil.copy(kept, pointer.with_suffix(""))


def _register(place: Path) -> None:
    """Announce the formats of that revision's package in place of those of the installed one.

    Formats are found by the entry points of a distribution; one that stands beside the package, first on the path,
    hides the installed one of the same name.
    """
    project = tomllib.loads((place / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    folder = place / "src" / "virtperf-0.dist-info"
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: virtperf\nVersion: 0\n", encoding="utf-8")
    lines = [
        line
        for group, entries in project.get("entry-points", {}).items()
        for line in (f"[{group}]", *(f"{name} = {target}" for name, target in entries.items()))
    ]
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
