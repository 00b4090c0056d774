"""Revisions of a repository as folders of their own, by `git worktree`, with the package that they
had.
"""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rawperf.core.errors import VirtperfError
from virtperf.verify.replay import Place, own_source


@contextmanager
def revision(root: Path, name: str, folder: Path) -> Iterator[Place]:
    """A revision's files in a new folder, while the block runs.

    Raises
    ------
    VirtperfError
        The revision is unknown, older than the stages of single studies, or runs that DVC keeps are
        not at hand.
    """
    commit = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if not commit:
        raise VirtperfError(
            f"{name!r} is neither a revision nor a folder",
            expected="a commit, tag or branch, or a folder",
            remedy="run it inside a git repository, or name its folder by --root.",
        )
    if (
        git(root, "worktree", "add", "--detach", "--quiet", str(folder.resolve()), commit.strip())
        is None
    ):
        raise VirtperfError(f"git can't write out {name!r}", file=root)
    try:
        inside = folder / (git(root, "rev-parse", "--show-prefix") or "").strip()
        if not any(inside.glob("pipelines/*/dvc.yaml")):
            raise VirtperfError(
                f"{name!r} has no pipelines/*/dvc.yaml",
                remedy="run its pipeline in a clone, and name that folder.",
            )
        _runs_of_dvc(root, inside)
        source = inside / "src"
        if (source / "virtperf").is_dir():
            _register(inside)
        else:
            source = own_source()
        yield Place(f"revision {name}", inside, source, commit.strip())
    finally:
        git(root, "worktree", "remove", "--force", str(folder.resolve()))


def git(root: Path, *arguments: str) -> str | None:
    """What git prints; None where it fails or is not installed."""
    program = shutil.which("git")
    if program is None:
        return None
    command = [program, "-C", str(root), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - no shell
    return done.stdout if done.returncode == 0 else None


def _runs_of_dvc(root: Path, place: Path) -> None:
    """Bring measured runs that only DVC keeps from the working tree, where it has the same ones."""
    for pointer in sorted((place / "data" / "measured").rglob("*.dvc")):
        here = root / pointer.relative_to(place)
        kept = here.with_suffix("")
        if not here.is_file() or here.read_bytes() != pointer.read_bytes() or not kept.exists():
            raise VirtperfError(
                "these runs are kept by DVC and are not at hand",
                file=pointer.relative_to(place),
                remedy="run `dvc checkout` on that revision and compare its folder instead.",
            )
        copy = shutil.copytree if kept.is_dir() else shutil.copy
        copy(kept, pointer.with_suffix(""))


def _register(place: Path) -> None:
    """Announce the formats of that revision's package in place of those of the installed one.

    Formats are found by the entry points of a distribution; one that stands beside the package,
    first on the path, hides the installed one of the same name.
    """
    project = tomllib.loads((place / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    folder = place / "src" / "virtperf-0.dist-info"
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: virtperf\nVersion: 0\n", encoding="utf-8"
    )
    groups = project.get("entry-points", {})
    lines = [
        line
        for group in groups
        for line in (f"[{group}]", *(f"{k} = {v}" for k, v in groups[group].items()))
    ]
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
