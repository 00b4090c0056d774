"""Why a stage of the pipeline would run: which of its inputs differ from those of its last run, and how."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from virtperf.core.errors import VirtperfError
from virtperf.core.git import git, git_bytes
from virtperf.core.yamlio import SafeLoader, load_yaml

LONGEST_DIFF = 400
"""Lines of one input's difference that are kept."""
HISTORY = 50
"""Commits of dvc.lock that are looked through for the last run."""
_ABSENT = object()


@dataclass(frozen=True)
class Change:
    """One input that differs from the last run.

    Attributes
    ----------
    what : str
        A path, a parameter's name, "command", "output" and its path, or "stage".
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
    return [line for line in _dvc(root, "stage", "list", "--all", "--name-only").splitlines() if line.strip()]


def changes(root: Path, stage: str) -> list[Change]:
    """What has changed for a stage since it ran last; an empty list if nothing has.

    A difference is taken from the commit whose `dvc.lock` first had the record of the last run. It is left out where no
    commit has that record, or where the commit's file is not the one that the record's hash was made of.

    Raises
    ------
    VirtperfError
        No such stage (naming the known ones), or DVC can't be asked.
    """
    known = stages(root)
    if stage not in known:
        raise VirtperfError(f"there is no stage {stage!r}", expected=f"one of {', '.join(known)}" if known else None)
    entries = json.loads(_dvc(root, "status", "--json", stage) or "{}").get(stage, [])
    if not entries:
        return []
    last = _last(root, stage)
    if not last.record:
        return [Change("stage", "dvc.lock has no record of it")]
    found: list[Change] = []
    for entry in entries:
        if entry == "changed command":
            found.append(_command(root, stage, last))
        elif isinstance(entry, dict):
            for title, items in entry.items():
                for what, how in items.items():
                    found += _entries(root, last, title, what, how)
        else:
            found.append(Change("stage", str(entry)))
    return found


@dataclass(frozen=True)
class _Last:
    """A stage's last run: its record in `dvc.lock`, and the records of committed ones, newest first."""

    record: dict[str, Any]
    committed: tuple[tuple[str, dict[str, Any]], ...]

    def commit(self, what: str) -> str:
        """The oldest commit from which on the record of that input is the present one; "" if there is none."""
        present = _part(self.record, what)
        base = ""
        for commit, record in self.committed:
            if present is None or _part(record, what) != present:
                break
            base = commit
        return base


def _last(root: Path, stage: str) -> _Last:
    path = root / "dvc.lock"
    if not path.is_file():
        return _Last({}, ())
    commits = (git(root, "log", f"-{HISTORY}", "--format=%H", "--", "dvc.lock") or "").split()
    texts = ((commit, git(root, "show", f"{commit}:./dvc.lock")) for commit in commits)
    return _Last(
        _stage(load_yaml(path).data, stage),
        tuple((commit, _stage(_parsed(text), stage)) for commit, text in texts if text),
    )


def _parsed(text: str) -> Any:
    """A committed dvc.lock; None if it is damaged, by marks of a merge, say."""
    try:
        return yaml.load(text, Loader=SafeLoader)  # noqa: S506 - yamlio's, which is a safe one
    except yaml.YAMLError:
        return None


def _stage(lock: Any, stage: str) -> dict[str, Any]:
    """A stage's record, empty where it has none."""
    found = lock.get("stages", {}).get(stage, {}) if isinstance(lock, dict) else {}
    return found if isinstance(found, dict) else {}


def _part(record: dict[str, Any], what: str) -> Any:
    """What the record says of a dependency, or of the command."""
    if what == "command":
        return record.get("cmd")
    return next((dep for dep in record.get("deps", []) if dep.get("path") == what), None)


def _command(root: Path, stage: str, last: _Last) -> Change:
    """The command before and now; what it is now only DVC knows, which fills in the templates of dvc.yaml."""
    diff = _diff(root, last.commit("command"), "dvc.yaml")
    before = last.record.get("cmd")
    if before is None:
        return Change("command", "not recorded", diff)
    try:
        plan = _dvc(root, "repro", "--dry", "--single-item", "--force", stage)
    except VirtperfError:  # an input is missing, say
        return Change("command", f"was {before}", diff)
    now = [line.removeprefix("> ") for line in plan.splitlines() if line.startswith("> ")]
    before = before if isinstance(before, list) else [before]
    return Change("command", f"{'; '.join(map(str, before))} -> {'; '.join(now)}", diff)


def _entries(root: Path, last: _Last, title: str, what: str, how: Any) -> list[Change]:
    if isinstance(how, dict):  # parameters, by the file that holds them
        return list(_parameters(root, last, what, how))
    if title == "changed outs":
        return [Change(f"output {what}", str(how))]
    recorded = _part(last.record, what)
    base = last.commit(what)
    exact = base and (recorded.get("nfiles") is not None or _md5(root, base, what) == recorded.get("md5"))
    return [Change(what, str(how), _diff(root, base, what) if exact else "")]


def _parameters(root: Path, last: _Last, file: str, names: dict[str, Any]) -> Iterator[Change]:
    """Every value that differs, by its full name."""
    if Path(file).suffix not in {".yaml", ".yml", ".json"}:
        yield from (Change(f"{file} {name}", str(how)) for name, how in names.items())
        return
    recorded = last.record.get("params", {}).get(file, {})
    present = load_yaml(root / file).data
    for name, how in names.items():
        now: Any = present
        for key in name.split("."):
            now = now.get(key, _ABSENT) if isinstance(now, dict) else _ABSENT
        found = [
            Change(full, f"{_show(before, 'not recorded')} -> {_show(after, 'gone')}")
            for full, before, after in _differences(name, recorded.get(name, _ABSENT), now)
        ]
        yield from found or [Change(name, str(how))]


def _differences(name: str, before: Any, now: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*before, *now]):
            yield from _differences(f"{name}.{key}", before.get(key, _ABSENT), now.get(key, _ABSENT))
    elif before is _ABSENT or now is _ABSENT or before != now:
        yield name, before, now


def _show(value: Any, absent: str) -> str:
    return absent if value is _ABSENT else json.dumps(value, ensure_ascii=False, default=str)


def _md5(root: Path, commit: str, path: str) -> str | None:
    """Hash of a committed file, as DVC records it."""
    data = git_bytes(root, "show", f"{commit}:./{path}")
    return None if data is None else hashlib.md5(data, usedforsecurity=False).hexdigest()


def _diff(root: Path, base: str, path: str) -> str:
    if not base:
        return ""
    out = git(root, "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--relative", base, "--", path) or ""
    lines = out.rstrip("\n").split("\n")
    if len(lines) > LONGEST_DIFF:
        lines = [*lines[:LONGEST_DIFF], f"... {len(lines) - LONGEST_DIFF} more lines: git diff {base[:10]} -- {path}"]
    return "\n".join(lines)


def _dvc(root: Path, *arguments: str) -> str:
    done = subprocess.run(  # noqa: S603 (fixed program, arguments of our own)
        [sys.executable, "-m", "dvc", *arguments], cwd=root, capture_output=True, encoding="utf-8", errors="replace",
        check=False, env={**os.environ, "DVC_NO_ANALYTICS": "1"},
    )  # fmt: skip
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise VirtperfError("DVC can't say what has changed", found=last, remedy="run it in the repository's folder")
    return done.stdout
