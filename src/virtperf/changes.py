"""Why a stage of the pipeline would run: which of its inputs differ from those of its last run, and how."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from virtperf.errors import VirtperfError
from virtperf.yamlio import load_yaml

LONGEST_DIFF = 400
"""Lines of one input's difference that are kept."""


@dataclass(frozen=True)
class Change:
    """One input that differs from the last run.

    Attributes
    ----------
    what : str
        A path, a parameter's name, "command" or "output".
    how : str
        modified, deleted, new, or the values before and now.
    diff : str
        Unified difference of text files under version control; empty where there is none to show.
    """

    what: str
    how: str
    diff: str = ""


def stages(root: Path) -> list[str]:
    """The names of all stages, in the pipeline's order."""
    return [line.split(maxsplit=1)[0] for line in _dvc(root, "stage", "list", "--all").splitlines() if line.strip()]


def changes(root: Path, stage: str) -> list[Change]:
    """What has changed for a stage since it ran last; an empty list if it would not run.

    The difference of a file is taken from the commit at which `dvc.lock` was last committed.

    Raises
    ------
    VirtperfError
        No such stage (naming the known ones), or DVC can't be asked.
    """
    known = stages(root)
    if stage not in known:
        raise VirtperfError(f"there is no stage {stage!r}", expected=f"one of {', '.join(known)}")
    base = _git(root, "log", "-1", "--format=%H", "--", "dvc.lock").strip()
    found: list[Change] = []
    for entry in json.loads(_dvc(root, "status", "--json", stage) or "{}").get(stage, []):
        if entry == "changed command":
            found.append(Change("command", "modified", _diff(root, base, "dvc.yaml")))
        elif isinstance(entry, dict):
            for title, items in entry.items():
                for what, how in items.items():
                    found += _entries(root, base, stage, title, what, how)
    return found


def _entries(root: Path, base: str, stage: str, title: str, what: str, how: Any) -> list[Change]:
    if isinstance(how, dict):  # parameters, by the file that holds them
        before = _recorded(root, stage, what)
        now = load_yaml(root / what).data
        return [Change(name, f"{before.get(name, 'not recorded')} -> {now.get(name, 'gone')}") for name in how]
    kind = "output " if title == "changed outs" else ""
    return [Change(f"{kind}{what}", str(how), "" if kind else _diff(root, base, what))]


def _recorded(root: Path, stage: str, file: str) -> dict[str, Any]:
    """Parameters of the last run, by `dvc.lock`."""
    path = root / "dvc.lock"
    if not path.is_file():
        return {}
    return dict(load_yaml(path).data.get("stages", {}).get(stage, {}).get("params", {}).get(file, {}))


def _diff(root: Path, base: str, path: str) -> str:
    if not base:
        return ""
    lines = _git(root, "diff", "--no-color", "--no-ext-diff", base, "--", path).splitlines()
    if len(lines) > LONGEST_DIFF:
        lines = [*lines[:LONGEST_DIFF], f"... {len(lines) - LONGEST_DIFF} more lines: git diff {base[:10]} -- {path}"]
    return "\n".join(lines)


def _dvc(root: Path, *arguments: str) -> str:
    done = subprocess.run(  # noqa: S603 (fixed program, arguments of our own)
        [sys.executable, "-m", "dvc", *arguments], cwd=root, capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise VirtperfError("DVC can't say what has changed", found=last, remedy="run it in the repository's folder")
    return done.stdout


def _git(root: Path, *arguments: str) -> str:
    """Output of git; empty where there is no repository."""
    try:
        done = subprocess.run(  # noqa: S603
            ["git", *arguments],
            cwd=root,
            capture_output=True,
            text=True,
            check=False,  # noqa: S607
        )
    except FileNotFoundError:
        return ""
    return done.stdout if done.returncode == 0 else ""
