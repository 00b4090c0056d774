"""DVC's own files, which it does not write atomically: `dvc.lock` of every study, and
`.dvc/tmp/rwlock`.

A killed process or a full disk leaves them empty or cut off. Copies of the last good ones stand in
`.dvc/tmp`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import yaml

from rawperf.core.files import write_atomically
from rawperf.core.yamlio import SafeLoader, load_yaml

Say = Callable[[str], None]

COPIES = Path(".dvc", "tmp", "virtperf-locks")
RWLOCK = Path(".dvc", "tmp", "rwlock")


def pipeline_files(root: Path) -> list[Path]:
    """Every `dvc.yaml` of a repository: the studies' in alphabetical order, then the root's."""
    return [*sorted(root.glob("pipelines/*/dvc.yaml")), root / "dvc.yaml"]


def mend(root: Path, say: Say) -> None:
    """Put back what an interrupted run left broken, with one line each; copy what is whole.

    A `dvc.lock` that is broken and has no copy is removed: its stages run again.
    """
    rwlock = root / RWLOCK
    if rwlock.is_file() and (problem := _left_behind(rwlock)):
        rwlock.unlink()
        say(f"removed {RWLOCK}, which an interrupted run left {problem}")
    for path, copy in _locks(root):
        if not path.is_file():
            continue
        problem = broken(path.read_bytes())
        if not problem:
            write_atomically(copy, path.read_bytes())
        elif copy.is_file():
            write_atomically(path, copy.read_bytes())
            say(
                f"restored {path.relative_to(root)}, which an interrupted run left broken ({problem})"
            )
        else:
            path.unlink()
            say(
                f"removed {path.relative_to(root)}, which is broken ({problem}): its stages run again"
            )


def settle(root: Path) -> None:
    """Bring the stages of every whole `dvc.lock` into the order of its `dvc.yaml`, and copy it.

    DVC appends a stage that was not there, so that the order would tell in which order they ran.
    """
    for path, copy in _locks(root):
        if path.is_file() and not broken(path.read_bytes()):
            text = path.read_text(encoding="utf-8")
            ordered = in_order(
                text, list(load_yaml(path.with_suffix(".yaml")).data.get("stages", {}))
            )
            if ordered != text:
                write_atomically(path, ordered)
            write_atomically(copy, ordered)


def broken(data: bytes) -> str:
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


def in_order(text: str, names: list[str]) -> str:
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


def _locks(root: Path) -> Iterator[tuple[Path, Path]]:
    """Every `dvc.lock`, there or not, with the place of its copy."""
    for file in pipeline_files(root):
        path = file.with_suffix(".lock")
        yield path, root / COPIES / path.relative_to(root)


def _left_behind(rwlock: Path) -> str:
    """What is wrong with DVC's list of who reads and writes what; "" where a process that lives
    stands in it.
    """
    try:
        content = json.loads(rwlock.read_bytes())
    except ValueError:
        return "broken"
    if not isinstance(content, dict):
        return "broken"
    entries = [entry for part in content.values() for entry in part.values()]
    owners = [
        owner for entry in entries for owner in (entry if isinstance(entry, list) else [entry])
    ]
    # DVC takes a killed process that nobody has waited for yet (a zombie) for one that runs.
    return "locked" if owners and all(_has_ended(owner["pid"]) for owner in owners) else ""


def _has_ended(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
