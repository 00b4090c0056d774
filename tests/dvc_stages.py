"""The stages of a repository's `dvc.yaml` files."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from rawperf.core.errors import StudyError
from rawperf.core.yamlio import load_yaml
from virtperf.pipeline.dvc_files import pipeline_files


@dataclass(frozen=True)
class Stage:
    """One stage of the `dvc.yaml` in `file`: commands as argument lists; inputs and outputs relative to the
    repository.

    The study is "" for shared stages. Metrics and plots are outputs.
    """

    file: Path
    study: str
    name: str
    commands: tuple[tuple[str, ...], ...]
    deps: tuple[str, ...]
    outs: tuple[str, ...]


def load_stages(root: Path) -> list[Stage]:
    """All stages, shared ones last; `StudyError` for files without valid stages."""
    return [
        stage for path in pipeline_files(root) if path.is_file() for stage in _stages(path, root)
    ]


def in_order(stages: Sequence[Stage], study: str) -> bool:
    """Whether no stage of a study needs a later stage or another study."""
    unmade = [stage.outs for stage in stages if stage.study != study]
    own = [stage for stage in stages if stage.study == study]
    for place, stage in enumerate(own):
        later = {
            PurePath(out) for outs in (*unmade, *(s.outs for s in own[place:])) for out in outs
        }
        deps = [PurePath(dep) for dep in stage.deps]
        if any(dep.is_relative_to(out) or out.is_relative_to(dep) for dep in deps for out in later):
            return False
    return True


def _stages(path: Path, root: Path) -> list[Stage]:
    document = load_yaml(path)
    study = "" if path.parent == root else path.parent.name
    stages = document.data.get("stages")
    if not isinstance(stages, Mapping):
        raise StudyError(
            "there are no stages", file=path.relative_to(root), expected="a pipeline of DVC"
        )

    def text(value: Any) -> str:
        return str(value).replace("${study}", study)

    def paths(stage: Mapping[str, Any], *parts: str) -> tuple[str, ...]:
        entries = [entry for part in parts for entry in stage.get(part, ())]
        return tuple(
            text(next(iter(entry)) if isinstance(entry, Mapping) else entry) for entry in entries
        )

    found = []
    for name, stage in stages.items():
        commands = stage["cmd"] if isinstance(stage["cmd"], list) else [stage["cmd"]]
        words = tuple(tuple(shlex.split(text(command))) for command in commands)
        outs = paths(stage, "outs", "metrics", "plots")
        found.append(Stage(path, study, str(name), words, paths(stage, "deps"), outs))
    return found
