"""Fingerprint of a run's protocol: a hash of what determines the measurement.

Plus where and when it is made. It contains nothing that names the machine.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rawperf.core.errors import RawperfError
from virtperf.core.git import git_text
from virtperf.measure.commands import Call
from virtperf.measure.definition import PHASES, Experiment
from virtperf.measure.plan import PlannedRun
from virtperf.runs.ingest.folder import PROSE

MACHINE_ID = Path("/etc/machine-id")
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
ID_DIGITS = 12
HASHED = ("lead_s", "warmup_s", "window_s", "wait_quiet", "disturbed", "on_disturbed", *PHASES)
"""Settings that affect what is measured, or which runs are kept."""
NOT_HASHED = ("timeout_s",)
"""Fields of commands left out of the hash: a timeout does not change a run that ends in time."""
FIELD_DEFAULTS: Mapping[str, Any] = {"on": [], "streams": True, "host": None}
"""Defaults of fields added later; they are left out of the hash, so that old files keep theirs."""
MAX_FILE_BYTES = 16 * 2**20
"""Larger files, such as disk images, are hashed by size and name only."""
SHELL_VALUES = re.compile(r"\$(?:\{(root|here)\}|(root|here)\b)")


def short_hash(text: str | bytes) -> str:
    """Truncated hex digest of SHA-256."""
    data = text.encode() if isinstance(text, str) else text
    return hashlib.sha256(data).hexdigest()[:ID_DIGITS]


def salted_hash(kind: str, text: str) -> str:
    """Salted hash of a host or boot id, so that tables of hashed ids do not reveal the machine."""
    return short_hash(f"virtperf {kind} {text}")


@dataclass
class Protocols:
    """Computes the protocols of runs; hashes of shared files are cached.

    `here` is the folder of measure.yaml, `root` the repository. `recorded` holds the protocols of
    existing runs: if git shows that a run was made with the current file contents, its recorded
    hash is reused. So a file can be excluded from runs later, and earlier runs keep their
    fingerprint.
    """

    here: Path
    root: Path
    recorded: Iterable[Mapping[str, Any]] = ()
    _hashes: dict[tuple[str, ...], str] = field(default_factory=dict)

    def of(self, run: PlannedRun) -> dict[str, Any]:
        """Protocol of a run: `fingerprint`, `experiment`, hashes of `settings` and of each file.

        Raises
        ------
        RawperfError
            A pattern of `testbed` or `not_part_of_runs` matches no file.
        """
        settings = settings_hash(run.experiment)
        left_out = run.experiment.not_part_of_runs
        for pattern in left_out:
            _matching("not_part_of_runs", pattern, self.root)
        files = {}
        for name, paths in _files(run, self.here, self.root):
            key = (name, *left_out)
            if key not in self._hashes:
                included = [path for path in paths if not _matches_any(path, left_out, self.root)]
                self._hashes[key] = self._hash(name, included, left_out)
            files[name] = self._hashes[key]
        whole = short_hash(json.dumps([run.experiment.name, settings, files], sort_keys=True))
        return {
            "fingerprint": whole,
            "experiment": run.experiment.name,
            "settings": settings,
            "files": files,
        }

    def _hash(self, name: str, paths: list[Path], left_out: Iterable[str]) -> str:
        """Hash files, or reuse the recorded hash of an existing run with the same contents."""
        current = short_hash("".join(_contents(paths)))
        known: dict[tuple[str, str], None] = {}
        for protocol in self.recorded:
            recorded = (protocol.get("files") or {}).get(name)
            if recorded and protocol.get("dirty") is False:
                known.setdefault((str(recorded), str(protocol.get("commit"))))
        if not known or any(recorded == current for recorded, _ in known):
            return current
        now = _blobs_now(paths, self.root)
        for recorded, commit in known:
            then = _blobs_at(commit, name, self.root)
            recorded_blobs = {
                path: blob
                for path, blob in then.items()
                if path.suffix not in PROSE and not _matches_any(path, left_out, self.root)
            }
            if recorded_blobs and recorded_blobs == now:
                return recorded
        return current


def settings_hash(experiment: Experiment) -> str:
    """Hash the settings of an experiment."""
    return short_hash(json.dumps(hashed_settings(experiment), sort_keys=True))


def hashed_settings(experiment: Experiment) -> dict[str, Any]:
    """The hashed settings with placeholders unfilled, so independent of levels and run values."""
    settings = experiment.model_dump(mode="json", include=set(HASHED), warnings=False)
    for phase in PHASES:
        settings[phase] = [_hashed_fields(command) for command in settings[phase]]
        for command in settings[phase]:
            command["files"] = [_hashed_fields(file) for file in command["files"]]
    if settings["wait_quiet"]:
        del settings["wait_quiet"]["timeout_s"]
    return settings


def _hashed_fields(entry: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in entry.items()
        if name not in NOT_HASHED and (name not in FIELD_DEFAULTS or value != FIELD_DEFAULTS[name])
    }


def _files(run: PlannedRun, here: Path, root: Path) -> list[tuple[str, list[Path]]]:
    """Hashed units by name, relative to the repository, with their files.

    Units are the patterns of `testbed`, else the files and folders that commands name.
    """
    if run.experiment.testbed is not None:
        return [
            (pattern, _matching("testbed", pattern, root)) for pattern in run.experiment.testbed
        ]
    return _named_files(run.all_calls(here, root, _folder(run, here)), here, root)


def sent_files(run: PlannedRun, host: str, here: Path, root: Path) -> list[Path]:
    """Files of the repository that commands on a host name, to be copied there."""
    there = [call for call in run.all_calls(here, root, _folder(run, here)) if call.host == host]
    return [path for _, paths in _named_files(there, here, root) for path in paths]


def _folder(run: PlannedRun, here: Path) -> Path:
    return here / ".measure" / "running" / run.run_id


def _named_files(calls: list[Call], here: Path, root: Path) -> list[tuple[str, list[Path]]]:
    files_by_name: dict[str, list[Path]] = {}
    for place in _named_places(calls, here, root):
        # a program may read others of its folder, but not the runs and tables beside measure.yaml
        alone = place.is_file() and place.parent in (root, here)
        unit = place if alone or place.is_dir() else place.parent
        name = unit.relative_to(root).as_posix()
        if (
            unit not in (root, here)
            and name not in files_by_name
            and (paths := _tracked(unit, root))
        ):
            files_by_name[name] = paths
    inner = {n for n in files_by_name for other in files_by_name if n.startswith(f"{other}/")}
    return sorted((name, paths) for name, paths in files_by_name.items() if name not in inner)


def _matching(setting: str, pattern: str, root: Path) -> list[Path]:
    """Files of the repository that match a glob pattern of measure.yaml, sorted."""
    paths = sorted(path for path in root.glob(pattern) if path.is_file())
    if not paths:
        raise RawperfError(
            f"{setting}: no file of the repository matches {pattern!r}",
            file="measure.yaml",
            remedy="give paths relative to the repository, such as testbeds/linux/*.py",
        )
    return paths


def _matches_any(path: Path, patterns: Iterable[str], root: Path) -> bool:
    name = path.relative_to(root)
    return any(
        name.match(pattern) and len(name.parts) == len(Path(pattern).parts) for pattern in patterns
    )


def _blobs_now(paths: list[Path], root: Path) -> dict[Path, str]:
    """Git blob hashes of the files' current contents."""
    names = "".join(f"{path}\n" for path in paths)
    hashes = (git_text(root, "hash-object", "--stdin-paths", stdin=names) or "").split()
    return dict(zip(paths, hashes, strict=True)) if len(hashes) == len(paths) else {}


def _blobs_at(commit: str, name: str, root: Path) -> dict[Path, str]:
    """Git blob hashes of a folder, or of the files that match a pattern, at a commit.

    Empty if the commit is not available.
    """
    blobs = {}
    for line in (git_text(root, "ls-tree", "-r", "-z", "--full-tree", commit) or "").split("\0"):
        kind, _, path = line.partition("\t")
        place = root / path
        if path and (place.is_relative_to(root / name) or _matches_any(place, (name,), root)):
            blobs[place] = kind.split()[2]
    return blobs


def _named_places(calls: list[Call], here: Path, root: Path) -> Iterator[Path]:
    """Existing files and folders of the repository that commands name.

    Hidden paths are skipped: installed programs, or the run itself.
    """
    pattern = re.compile(re.escape(str(root)) + r"((?>(?:/[\w@+,-][\w.@+,-]*)+))(?!/\.)")
    values = {"root": str(root), "here": str(here)}
    for call in calls:
        for part in call.argv:
            text = SHELL_VALUES.sub(lambda m: values[m.group(1) or m.group(2)], part)
            text = text.replace(call.root, str(root)) if call.root else text
            if _is_named_path(text, root):  # the pattern misses names with blanks or quotes
                yield Path(text)
                continue
            for match in pattern.finditer(text):
                place = Path(f"{root}{match.group(1)}")
                if place.exists():
                    yield place


def _is_named_path(text: str, root: Path) -> bool:
    """Whether a whole argument is an existing path of the repository that is not hidden."""
    path = Path(text)
    return (
        path.is_relative_to(root)
        and not any(part.startswith(".") for part in path.relative_to(root).parts)
        and os.path.exists(text)  # noqa: PTH110 - False for a shell text, which is no file name
    )


def _tracked(unit: Path, root: Path) -> list[Path]:
    """Files of a folder, or a single file, without prose and git-ignored files, sorted."""
    inside = [unit] if unit.is_file() else sorted(unit.rglob("*"))
    paths = [path for path in inside if path.is_file() and "__pycache__" not in path.parts]
    ignored = _ignored(paths, root)
    return sorted(p for p in paths if p.suffix not in PROSE and p not in ignored)


def _ignored(paths: list[Path], root: Path) -> set[Path]:
    if not paths:
        return set()
    names = "\0".join(str(path) for path in paths)
    done = git_text(root, "check-ignore", "--stdin", "-z", stdin=names)
    return {Path(name) for name in (done or "").split("\0") if name}


def _contents(paths: list[Path]) -> Iterator[str]:
    for path in paths:
        size = path.stat().st_size
        inside = str(size) if size > MAX_FILE_BYTES else short_hash(path.read_bytes())
        yield f"{path.name} {inside}\n"


def committed_versions(file: Path) -> Iterator[str]:
    """Texts of a file in the commits of the current branch that changed it, newest first."""
    folder, name = file.parent, file.name
    for commit in (git_text(folder, "log", "--format=%H", "--", name) or "").split():
        text = git_text(folder, "show", f"{commit}:./{name}")
        if text is not None:  # a commit may have removed it
            yield text


def session(root: Path) -> dict[str, Any]:
    """Place and time of measurement: commit, dirty flag, UTC offset, hashed host and boot ids."""
    facts: dict[str, Any] = {}
    if commit := (git_text(root, "rev-parse", "HEAD") or "").strip():
        facts["commit"] = commit[:ID_DIGITS]
        changed = git_text(root, "status", "--porcelain", "--untracked-files=no")
        facts["dirty"] = bool((changed or "").strip())
    facts["utc_offset"] = time.strftime("%z")
    for name, path in (("host", MACHINE_ID), ("boot", BOOT_ID)):
        try:
            facts[name] = salted_hash(name, path.read_text(encoding="ascii").strip())
        except (OSError, UnicodeDecodeError):
            continue
    return facts
