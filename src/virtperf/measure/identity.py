"""Which protocol a run is made by: a hash over what decides what is measured, and where and when it
is done. Nothing that names the machine.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rawperf.core.errors import VirtperfError
from virtperf.measure.commands import Call
from virtperf.measure.definition import PHASES
from virtperf.measure.plan import PlannedRun

MACHINE_ID = Path("/etc/machine-id")
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
ID_DIGITS = 12
PATIENCE_S = 30.0
HASHED = ("lead_s", "warmup_s", "window_s", "wait_quiet", "disturbed", "on_disturbed", *PHASES)
"""Settings that decide what is measured, or which runs are kept."""
NOT_HASHED = ("timeout_s",)
"""Of commands: how long they may take changes no run that comes to its end."""
FIELD_DEFAULTS: Mapping[str, Any] = {"on": [], "streams": True, "host": None}
"""Fields of commands that came later, as they are where a measure.yaml says nothing of them: it
keeps its hash.
"""
PROSE = (".md", ".rst")
MAX_FILE_BYTES = 16 * 2**20
"""A larger file, such as the image of a disk, counts by its size and name."""
SHELL_VALUES = re.compile(r"\$(?:\{(root|here)\}|(root|here)\b)")


def short_hash(text: str | bytes) -> str:
    """The first digits of a SHA-256."""
    data = text.encode() if isinstance(text, str) else text
    return hashlib.sha256(data).hexdigest()[:ID_DIGITS]


def salted_hash(kind: str, text: str) -> str:
    """A hash of a host's or a boot's id: a table of hashes of known ids would name the machine."""
    return short_hash(f"virtperf {kind} {text}")


@dataclass
class Protocols:
    """Protocols of many runs at one time: files that several name are read once.

    `here` is the folder of measure.yaml, `root` the repository. `recorded` has protocols of runs
    that are there: where git says that a run was made with the files of now, its hash of them is
    theirs. So a file may become no part of runs, and runs from before keep their fingerprint.
    """

    here: Path
    root: Path
    recorded: Iterable[Mapping[str, Any]] = ()
    _hashes: dict[tuple[str, ...], str] = field(default_factory=dict)

    def of(self, run: PlannedRun) -> dict[str, Any]:
        """What decides what is measured for a run: `fingerprint`, `experiment`, a hash of its
        `settings`, and one of each of its `files`.

        Raises
        ------
        VirtperfError
            A pattern of `testbed` or `not_part_of_runs` matches no file.
        """
        settings = settings_hash(run)
        left_out = run.experiment.not_part_of_runs
        for pattern in left_out:
            _matching("not_part_of_runs", pattern, self.root)
        files = {}
        for name, paths in _files(run, self.here, self.root):
            key = (name, *left_out)
            if key not in self._hashes:
                kept = [path for path in paths if not _is_one(path, left_out, self.root)]
                self._hashes[key] = self._hash(name, kept, left_out)
            files[name] = self._hashes[key]
        whole = short_hash(json.dumps([run.experiment.name, settings, files], sort_keys=True))
        return {
            "fingerprint": whole,
            "experiment": run.experiment.name,
            "settings": settings,
            "files": files,
        }

    def _hash(self, name: str, paths: list[Path], left_out: Iterable[str]) -> str:
        """A hash of files; where a run that is there was made with the same, the one that it
        has.
        """
        own = short_hash("".join(_contents(paths)))
        known: dict[tuple[str, str], None] = {}
        for protocol in self.recorded:
            said = (protocol.get("files") or {}).get(name)
            if said and protocol.get("dirty") is False:
                known.setdefault((str(said), str(protocol.get("commit"))))
        if not known or any(said == own for said, _ in known):
            return own
        now = _blobs_now(paths, self.root)
        for said, commit in known:
            then = _blobs_at(commit, name, self.root)
            kept = {
                path: blob
                for path, blob in then.items()
                if path.suffix not in PROSE and not _is_one(path, left_out, self.root)
            }
            if kept and kept == now:
                return said
        return own


def settings_hash(run: PlannedRun) -> str:
    """A hash of the settings of a run's experiment."""
    return short_hash(json.dumps(_settings(run), sort_keys=True))


def _settings(run: PlannedRun) -> dict[str, Any]:
    """The settings as they are written: levels and a run's own values are no part of them."""
    said = run.experiment.model_dump(mode="json", include=set(HASHED), warnings=False)
    for phase in PHASES:
        said[phase] = [_hashed(command) for command in said[phase]]
        for command in said[phase]:
            command["files"] = [_hashed(file) for file in command["files"]]
    if said["wait_quiet"]:
        del said["wait_quiet"]["timeout_s"]
    return said


def _hashed(entry: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in entry.items()
        if name not in NOT_HASHED and (name not in FIELD_DEFAULTS or value != FIELD_DEFAULTS[name])
    }


def _files(run: PlannedRun, here: Path, root: Path) -> list[tuple[str, list[Path]]]:
    """Names, relative to the repository, and their files: of each pattern of `testbed`, else of
    what commands name.
    """
    if run.experiment.testbed is not None:
        return list(_declared(run.experiment.testbed, root))
    return _named_files(run.all_calls(here, root, _folder(run, here)), here, root)


def sent_files(run: PlannedRun, host: str, here: Path, root: Path) -> list[Path]:
    """Files of the repository that commands on a host name: they are copied there."""
    there = [call for call in run.all_calls(here, root, _folder(run, here)) if call.host == host]
    return [path for _, paths in _named_files(there, here, root) for path in paths]


def _folder(run: PlannedRun, here: Path) -> Path:
    return here / ".measure" / "running" / run.run_id


def _named_files(calls: list[Call], here: Path, root: Path) -> list[tuple[str, list[Path]]]:
    found: dict[str, list[Path]] = {}
    for place in _named_places(calls, here, root):
        # a program may take others of its folder; those beside measure.yaml are runs and tables
        alone = place.is_file() and place.parent in (root, here)
        unit = place if alone or place.is_dir() else place.parent
        name = unit.relative_to(root).as_posix()
        if unit not in (root, here) and name not in found and (paths := _tracked(unit, root)):
            found[name] = paths
    inner = {n for n in found for other in found if n.startswith(f"{other}/")}
    return sorted((name, paths) for name, paths in found.items() if name not in inner)


def _declared(patterns: tuple[str, ...], root: Path) -> Iterator[tuple[str, list[Path]]]:
    for pattern in patterns:
        yield pattern, _matching("testbed", pattern, root)


def _matching(setting: str, pattern: str, root: Path) -> list[Path]:
    """Files of the repository that a pattern of measure.yaml matches, by name."""
    paths = sorted(path for path in root.glob(pattern) if path.is_file())
    if not paths:
        raise VirtperfError(
            f"{setting}: no file of the repository is called {pattern!r}",
            file="measure.yaml",
            remedy="name files relative to the repository, such as testbeds/linux/*.py",
        )
    return paths


def _is_one(path: Path, patterns: Iterable[str], root: Path) -> bool:
    name = path.relative_to(root)
    return any(
        name.match(pattern) and len(name.parts) == len(Path(pattern).parts) for pattern in patterns
    )


def _blobs_now(paths: list[Path], root: Path) -> dict[Path, str]:
    """git's names of the contents of files."""
    names = "".join(f"{path}\n" for path in paths)
    found = (_git(root, "hash-object", "--stdin-paths", given=names) or "").split()
    return dict(zip(paths, found, strict=True)) if len(found) == len(paths) else {}


def _blobs_at(commit: str, name: str, root: Path) -> dict[Path, str]:
    """git's names of the contents of files at a commit: those of a folder, or that a pattern
    matches; none where the commit is not there.
    """
    found = {}
    for line in (_git(root, "ls-tree", "-r", "-z", "--full-tree", commit) or "").split("\0"):
        kind, _, path = line.partition("\t")
        place = root / path
        if path and (place.is_relative_to(root / name) or _is_one(place, (name,), root)):
            found[place] = kind.split()[2]
    return found


def _named_places(calls: list[Call], here: Path, root: Path) -> Iterator[Path]:
    """Files and folders of the repository that commands name and that are there; hidden
    ones are programs that were installed, or the run itself.
    """
    pattern = re.compile(re.escape(str(root)) + r"((?>(?:/[\w@+,-][\w.@+,-]*)+))(?!/\.)")
    values = {"root": str(root), "here": str(here)}
    for call in calls:
        for part in call.argv:
            text = SHELL_VALUES.sub(lambda m: values[m.group(1) or m.group(2)], part)
            text = text.replace(call.root, str(root)) if call.root else text
            for match in pattern.finditer(text):
                place = Path(f"{root}{match.group(1)}")
                if place.exists():
                    yield place


def _tracked(unit: Path, root: Path) -> list[Path]:
    """Files of a folder, or a file, without prose and without what git ignores; by name."""
    inside = [unit] if unit.is_file() else sorted(unit.rglob("*"))
    paths = [path for path in inside if path.is_file() and "__pycache__" not in path.parts]
    ignored = _ignored(paths, root)
    return sorted(p for p in paths if p.suffix not in PROSE and p not in ignored)


def _ignored(paths: list[Path], root: Path) -> set[Path]:
    if not paths:
        return set()
    names = "\0".join(str(path) for path in paths)
    done = _git(root, "check-ignore", "--stdin", "-z", given=names)
    return {Path(name) for name in (done or "").split("\0") if name}


def _contents(paths: list[Path]) -> Iterator[str]:
    for path in paths:
        size = path.stat().st_size
        inside = str(size) if size > MAX_FILE_BYTES else short_hash(path.read_bytes())
        yield f"{path.name} {inside}\n"


def session(root: Path) -> dict[str, Any]:
    """Where and when runs are made: commit of the repository and whether it was changed since, the
    zone of the clock, hashes of host and boot.
    """
    found: dict[str, Any] = {}
    if commit := (_git(root, "rev-parse", "HEAD") or "").strip():
        found["commit"] = commit[:ID_DIGITS]
        changed = _git(root, "status", "--porcelain", "--untracked-files=no")
        found["dirty"] = bool((changed or "").strip())
    found["utc_offset"] = time.strftime("%z")
    for name, path in (("host", MACHINE_ID), ("boot", BOOT_ID)):
        try:
            found[name] = salted_hash(name, path.read_text(encoding="ascii").strip())
        except (OSError, UnicodeDecodeError):
            continue
    return found


def _git(root: Path, *arguments: str, given: str | None = None) -> str | None:
    """What git prints; None where there is none, or no repository."""
    program = shutil.which("git")
    if program is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603
            [program, "-C", str(root), *arguments],
            input=given,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
