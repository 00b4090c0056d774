"""What a replay ran on, and whether its files have the bytes that `dvc.lock` records."""

from __future__ import annotations

import hashlib
import json
import platform
import re
import shlex
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from virtperf.core.yamlio import load_yaml

PACKAGES = (
    "virtperf", "numpy", "pandas", "scipy", "statsmodels", "cvxpy", "highspy", "matplotlib", "seaborn", "pyarrow",
    "pyyaml", "defusedxml", "pydantic", "papermill", "ipykernel", "nbconvert", "nbformat", "jinja2",
    "pygments", "mistune",
)  # fmt: skip
"""Packages that read, compute, draw or write what is compared."""

SAME, OTHER, ABSENT = "same bytes", "other bytes", "not made"
_PIN = re.compile(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)", re.M)
Version = Callable[[str], str]


@dataclass(frozen=True)
class Used:
    """A package's version and the one that `requirements.lock` pins; empty where it is unknown."""

    name: str
    version: str
    pinned: str

    @property
    def as_pinned(self) -> bool:
        """Whether it is the pinned one, or nothing is pinned."""
        return self.pinned in ("", self.version)


def packages(root: Path, version: Version = metadata.version) -> list[Used]:
    """Python and the packages that decide results, with what the repository pins."""
    lock = root / "requirements.lock"
    text = lock.read_text(encoding="utf-8") if lock.is_file() else ""
    pins = {name.lower().replace("_", "-"): pinned for name, pinned in _PIN.findall(text)}
    found = [Used("python", platform.python_version(), "")]
    for name in PACKAGES:
        try:
            found.append(Used(name, version(name), pins.get(name, "")))
        except metadata.PackageNotFoundError:
            found.append(Used(name, "", pins.get(name, "")))
    return found


@dataclass(frozen=True)
class Recorded:
    """One output that `dvc.lock` knows: its path, and `SAME`, `OTHER` or `ABSENT` for what the replay made of it."""

    study: str
    path: str
    state: str


def recorded(root: Path, replayed: Path, studies: Collection[str], commands: Collection[str]) -> list[Recorded]:
    """Outputs of the replayed stages by `root`'s `dvc.lock`, against the files below `replayed`.

    Parameters
    ----------
    commands : collection of str
        What was replayed, as `virtperf` calls it. `dvc.lock` knows other stages, too, and keeps those that
        `dvc.yaml` no longer has.
    """
    lock = root / "dvc.lock"
    if not lock.is_file():
        return []
    found = []
    for name, stage in load_yaml(lock).data.get("stages", {}).items():
        study = name.partition("@")[2]
        command = shlex.split(str(stage.get("cmd", "")))[1:2]
        for out in stage.get("outs", ()) if study in studies and command and command[0] in commands else ():
            path = replayed / out["path"]
            state = ABSENT if not path.exists() else SAME if dvc_hash(path) == out.get("md5") else OTHER
            found.append(Recorded(study, str(out["path"]), state))
    return found


def dvc_hash(path: Path) -> str:
    """The hash of a file or folder as DVC writes it into `dvc.lock`."""
    if path.is_file():
        return _file_md5(path)
    entries = [{"md5": _file_md5(p), "relpath": p.relative_to(path).as_posix()} for p in _files(path)]
    entries.sort(key=lambda entry: entry["relpath"].split("/"))
    return hashlib.md5(json.dumps(entries, sort_keys=True).encode(), usedforsecurity=False).hexdigest() + ".dir"


def _files(folder: Path) -> Iterator[Path]:
    return (p for p in folder.rglob("*") if p.is_file())


def _file_md5(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
