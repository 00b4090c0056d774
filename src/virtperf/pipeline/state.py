"""Whether any file changed since the pipeline last ended well, by names, sizes and times, as DVC
itself takes it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from rawperf.core.files import write_atomically

KEPT = Path(".dvc", "tmp", "virtperf-state")
MADE = (
    "data/reconstructed",
    "data/samples",
    "data/runs",
    "data/verdicts",
    "build",
    "metrics",
    "reports",
)
"""Folders in which nothing but stages writes."""


@dataclass(frozen=True)
class State:
    """Hashes of the state of all files that people write, and of all that stages write; hidden
    folders are neither.
    """

    written: str
    made: str


def state(root: Path) -> State:
    """As it is now."""
    made = tuple(f"{name}/" for name in MADE)
    by_people, by_stages = hashlib.sha256(), hashlib.sha256()
    for name, about in _files(os.fspath(root), "", frozenset()):
        digest = (
            by_stages
            if name.rpartition("/")[2] == "dvc.lock" or name.startswith(made)
            else by_people
        )
        digest.update(
            f"{name}\0{about.st_size}\0{about.st_mtime_ns}\n".encode("utf-8", "surrogateescape")
        )
    return State(by_people.hexdigest(), by_stages.hexdigest())


def kept(root: Path) -> State | None:
    """The state that was kept last; None where there is none."""
    try:
        return State(**json.loads((root / KEPT).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def keep(root: Path, before: State) -> None:
    """Keep the state in which the pipeline ended well: what people wrote `before` it began, and
    what it made.
    """
    (root / KEPT).parent.mkdir(parents=True, exist_ok=True)
    now = State(before.written, state(root).made)
    write_atomically(root / KEPT, json.dumps(asdict(now)).encode())


def _files(
    folder: str, before: str, linked: frozenset[str]
) -> Iterator[tuple[str, os.stat_result]]:
    """Every file, also behind links, by its path; `before` is that of its folder, `linked` are
    where links lead.
    """
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if not entry.is_dir():
            with suppress(
                FileNotFoundError
            ):  # a link that leads nowhere, a file that is just being removed
                yield before + entry.name, entry.stat()
        elif not entry.name.startswith((".", "__")):
            end = frozenset((os.path.realpath(entry.path),)) if entry.is_symlink() else frozenset()
            if not end & linked:  # links may lead in a circle
                yield from _files(entry.path, f"{before}{entry.name}/", linked | end)
