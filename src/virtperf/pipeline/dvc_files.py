"""Repair of files that DVC does not write atomically: `dvc.lock` and `.dvc/tmp/rwlock`.

A killed process or a full disk leaves them empty or truncated. A backup of the last valid
`dvc.lock` is in `.dvc/tmp`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import yaml

from rawperf.core.files import write_atomically
from rawperf.core.yamlio import SafeLoader

Say = Callable[[str], None]

LOCK = Path("dvc.lock")
BACKUP = Path(".dvc", "tmp", "virtperf-dvc.lock")
RWLOCK = Path(".dvc", "tmp", "rwlock")
START_TIME_TOLERANCE_S = 10.0
"""Tolerance of process start times, in seconds.

The start is computed from the boot time, which the kernel gives in whole seconds, and clocks are
adjusted.
"""


def repair_dvc_files(root: Path, say: Say) -> None:
    """Repair the files that an interrupted run left invalid, one message each; back up a valid
    `dvc.lock`.

    A `dvc.lock` that is invalid and has no backup is removed: its stages run again.
    """
    rwlock = root / RWLOCK
    if rwlock.is_file() and (problem := _stale_rwlock(rwlock, root)):
        rwlock.unlink()
        say(f"removed {RWLOCK}: {problem}, left by an interrupted run")
    path, backup = root / LOCK, root / BACKUP
    if not path.is_file():
        return
    problem = lock_file_error(path.read_bytes())
    if not problem:
        write_atomically(backup, path.read_bytes())
    elif backup.is_file():
        write_atomically(path, backup.read_bytes())
        say(f"restored {LOCK}, damaged by an interrupted run ({problem})")
    else:
        path.unlink()
        say(f"removed {LOCK}, which is damaged ({problem}): its stages run again")


def wait_for_dvc(root: Path, say: Say, interval_s: float = 0.5) -> None:
    """Wait while another DVC process runs stages in the repository."""
    rwlock, reported = root / RWLOCK, set()
    while rwlock.is_file() and (running := _owners(rwlock, root)):
        for pid, command in sorted(running.items()):
            if pid not in reported:
                reported.add(pid)
                say(f"waiting for process {pid} ({command})")
        time.sleep(interval_s)


def sort_lock_file(root: Path, names: Sequence[str]) -> None:
    """Sort the stages of a valid `dvc.lock` in the order of `names`, and back it up.

    DVC appends new stages, so the order would otherwise depend on the order of execution.
    """
    path = root / LOCK
    if path.is_file() and not lock_file_error(path.read_bytes()):
        text = path.read_text(encoding="utf-8")
        ordered = sort_stages(text, names)
        if ordered != text:
            write_atomically(path, ordered)
        write_atomically(root / BACKUP, ordered)


def lock_file_error(data: bytes) -> str:
    """Validate the bytes of a `dvc.lock`; returns the error, "" if it is valid.

    Stricter than DVC, which accepts a file truncated within its last number.
    """
    if not data.strip():
        return "empty"
    if not data.endswith(b"\n"):
        return "truncated"
    try:
        content = yaml.load(data.decode(), Loader=SafeLoader)  # noqa: S506 - a safe one
    except (yaml.YAMLError, UnicodeDecodeError):
        return "invalid YAML"
    stages = content.get("stages") if isinstance(content, dict) else None
    if not isinstance(stages, dict) or "schema" not in content:
        return "no stages"
    for name, stage in stages.items():
        if (
            not isinstance(stage, dict)
            or "cmd" not in stage
            or not all(map(_is_complete_entry, _entries(stage)))
        ):
            return f"stage {name} is incomplete"
    return ""


def sort_stages(text: str, names: Sequence[str]) -> str:
    """Sort the stages in the text of a `dvc.lock`; unlisted stages come last, in stable order."""
    blocks, name = {"": ""}, ""  # lines before the first stage, then those of each stage
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


def _is_complete_entry(entry: Any) -> bool:
    required = {"path", "md5", "size"}
    if not isinstance(entry, dict) or not required <= entry.keys():
        return False
    return not str(entry["md5"]).endswith(".dir") or "nfiles" in entry


def _stale_rwlock(rwlock: Path, root: Path) -> str:
    """Error of DVC's rwlock file: invalid, or left by dead processes; "" if there is none."""
    entries = _entries_of_rwlock(rwlock)
    if entries is None:
        return "invalid"
    return "stale locks" if entries and not _owners(rwlock, root) else ""


def _owners(rwlock: Path, root: Path) -> dict[int, str]:
    """Command lines of the live DVC processes in the rwlock file, by pid."""
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
    """Entries of the rwlock file, each with `pid` and `cmd`; None if it is invalid."""
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
    """Whether a pid is still the DVC process of this repository that wrote the rwlock file.

    Pids are soon reused in containers: by a process started after the file was `written`, this
    process, another program, or one in another folder.
    """
    try:
        process = psutil.Process(pid)
        # DVC treats a zombie (killed, but not waited for) as running
        if process.status() == psutil.STATUS_ZOMBIE or pid == psutil.Process().pid:
            return False
        if process.create_time() > written + START_TIME_TOLERANCE_S:
            return False
        words = [Path(word).name for word in process.cmdline()[:3]]
        if not any("python" in word or word.startswith("dvc") for word in words):
            return False
        return Path(process.cwd()).is_relative_to(root.resolve())
    except psutil.AccessDenied:  # another user's Python or DVC: unknown folder
        return True
    except psutil.NoSuchProcess:
        return False
