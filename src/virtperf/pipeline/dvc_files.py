"""DVC's own files, which it does not write atomically: `dvc.lock` of every study, and
`.dvc/tmp/rwlock`.

A killed process or a full disk leaves them empty or cut off. Backups of the last good ones stand in
`.dvc/tmp`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import yaml

from rawperf.core.files import write_atomically
from rawperf.core.yamlio import SafeLoader, load_yaml

Say = Callable[[str], None]

BACKUPS = Path(".dvc", "tmp", "virtperf-locks")
RWLOCK = Path(".dvc", "tmp", "rwlock")
CLOCK_STEP_S = 10.0
"""By how much the start of a process may seem later than it was: it is counted from the machine's start,
which the kernel tells in whole seconds, and clocks are set."""


def pipeline_files(root: Path) -> list[Path]:
    """Every `dvc.yaml` of a repository: the studies' in alphabetical order, then the root's."""
    return [*sorted(root.glob("pipelines/*/dvc.yaml")), root / "dvc.yaml"]


def repair_dvc_files(root: Path, say: Say) -> None:
    """Put back what an interrupted run left broken, with one line each; back up what is whole.

    A `dvc.lock` that is broken and has no backup is removed: its stages run again.
    """
    rwlock = root / RWLOCK
    if rwlock.is_file() and (problem := _stale_rwlock(rwlock, root)):
        rwlock.unlink()
        say(f"removed {RWLOCK}, which an interrupted run left {problem}")
    for path, backup in _lock_files(root):
        if not path.is_file():
            continue
        problem = problem_of_lock_file(path.read_bytes())
        name = path.relative_to(root)
        if not problem:
            write_atomically(backup, path.read_bytes())
        elif backup.is_file():
            write_atomically(path, backup.read_bytes())
            say(f"restored {name}, which an interrupted run left broken ({problem})")
        else:
            path.unlink()
            say(f"removed {name}, which is broken ({problem}): its stages run again")


def wait_for_dvc(root: Path, say: Say, interval_s: float = 0.5) -> None:
    """Wait while a DVC process that somebody else started in the repository runs stages."""
    rwlock, said = root / RWLOCK, set()
    while rwlock.is_file() and (running := _owners(rwlock, root)):
        for pid, command in sorted(running.items()):
            if pid not in said:
                said.add(pid)
                say(f"waiting for process {pid} ({command})")
        time.sleep(interval_s)


def sort_lock_files(root: Path) -> None:
    """Bring the stages of every whole `dvc.lock` into the order of its `dvc.yaml`, and back it up.

    DVC appends a stage that was not there, so that the order would tell in which order they ran.
    """
    for path, backup in _lock_files(root):
        if path.is_file() and not problem_of_lock_file(path.read_bytes()):
            text = path.read_text(encoding="utf-8")
            names = list(load_yaml(path.with_suffix(".yaml")).data.get("stages", {}))
            ordered = sort_stages(text, names)
            if ordered != text:
                write_atomically(path, ordered)
            write_atomically(backup, ordered)


def problem_of_lock_file(data: bytes) -> str:
    """What is wrong with the bytes of a `dvc.lock`; "" where it is whole.

    Stricter than DVC, which takes a file that was cut within its last number.
    """
    if not data.strip():
        return "it is empty"
    if not data.endswith(b"\n"):
        return "its end is missing"
    try:
        content = yaml.load(data.decode(), Loader=SafeLoader)  # noqa: S506 - a safe one
    except (yaml.YAMLError, UnicodeDecodeError):
        return "it is not YAML"
    stages = content.get("stages") if isinstance(content, dict) else None
    if not isinstance(stages, dict) or "schema" not in content:
        return "it has no stages"
    for name, stage in stages.items():
        if (
            not isinstance(stage, dict)
            or "cmd" not in stage
            or not all(map(_is_entry, _entries(stage)))
        ):
            return f"the stage {name} is incomplete"
    return ""


def sort_stages(text: str, names: list[str]) -> str:
    """The text of a `dvc.lock` with its stages in that order; those that are not named come last,
    as they stood.
    """
    blocks, name = {"": ""}, ""  # what stands before the first stage, then the lines of every stage
    for line in text.splitlines(keepends=True):
        if line.startswith("  ") and line[2] not in " -":
            name = line.strip().rstrip(":").strip("'\"")
            blocks[name] = ""
        blocks[name] += line
    rank = {name: position for position, name in enumerate(["", *names])}
    return "".join(
        blocks[name] for name in sorted(blocks, key=lambda name: rank.get(name, len(rank)))
    )


def _entries(stage: dict[str, Any]) -> Iterator[Any]:
    for part in ("deps", "outs"):
        entries = stage.get(part, [])
        yield from entries if isinstance(entries, list) else [None]


def _is_entry(entry: Any) -> bool:
    wanted = {"path", "md5", "size"}
    if not isinstance(entry, dict) or not wanted <= entry.keys():
        return False
    return not str(entry["md5"]).endswith(".dir") or "nfiles" in entry


def _lock_files(root: Path) -> Iterator[tuple[Path, Path]]:
    """Every `dvc.lock`, there or not, with the place of its backup."""
    for file in pipeline_files(root):
        path = file.with_suffix(".lock")
        yield path, root / BACKUPS / path.relative_to(root)


def _stale_rwlock(rwlock: Path, root: Path) -> str:
    """What is wrong with DVC's list of who reads and writes what; "" where it is in order."""
    entries = _entries_of_rwlock(rwlock)
    if entries is None:
        return "broken"
    return "locked" if entries and not _owners(rwlock, root) else ""


def _owners(rwlock: Path, root: Path) -> dict[int, str]:
    """The running DVC processes in the list, by number, with their commands."""
    try:
        written = rwlock.stat().st_mtime
    except FileNotFoundError:
        return {}
    entries = _entries_of_rwlock(rwlock) or []
    return {
        int(entry["pid"]): str(entry.get("cmd", "dvc"))
        for entry in entries
        if _runs_dvc(int(entry["pid"]), root, written)
    }


def _entries_of_rwlock(rwlock: Path) -> list[dict[str, Any]] | None:
    """Its entries, each with `pid` and `cmd`; None where it is no list of them."""
    try:
        parts = json.loads(rwlock.read_bytes()).values()
        entries = [entry for part in parts for entry in part.values()]
        flat = [e for entry in entries for e in (entry if isinstance(entry, list) else [entry])]
        return flat if all(isinstance(e["pid"], int) for e in flat) else None
    except FileNotFoundError:
        return []
    except (ValueError, AttributeError, KeyError, TypeError):
        return None


def _runs_dvc(pid: int, root: Path, written: float) -> bool:
    """Whether that number is still the DVC process of this repository that wrote the list.

    In containers another process soon has the same number: one that started after the list was
    `written`, this process, a program of another kind, one in another folder.
    """
    try:
        process = psutil.Process(pid)
        # DVC takes a killed process that nobody has waited for yet (a zombie) for one that runs.
        if process.status() == psutil.STATUS_ZOMBIE or pid == psutil.Process().pid:
            return False
        if process.create_time() > written + CLOCK_STEP_S:
            return False
        words = [Path(word).name for word in process.cmdline()[:3]]
        if not any("python" in word or word.startswith("dvc") for word in words):
            return False
        return Path(process.cwd()).is_relative_to(root.resolve())
    except psutil.AccessDenied:  # another user's Python or DVC, whose folder can't be read
        return True
    except psutil.NoSuchProcess:
        return False
