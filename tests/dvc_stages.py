"""The stages of a repository's `dvc.yaml`, each study's with its own paths."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from virtperf.pipeline import stages


@dataclass(frozen=True)
class Stage:
    """One stage: commands as argument lists; inputs and outputs relative to the repository.

    The study is "" for shared stages. Metrics and plots are outputs.
    """

    study: str
    name: str
    commands: tuple[tuple[str, ...], ...]
    deps: tuple[str, ...]
    outs: tuple[str, ...]


def load_stages(root: Path) -> list[Stage]:
    """All stages, shared ones last; `StudyError` for a file without valid stages."""
    found = []
    for name, stage in stages.load_stages(root).items():
        for study in stages.studies_of(root, stage):
            commands = stage["cmd"] if isinstance(stage["cmd"], list) else [stage["cmd"]]
            words = tuple(tuple(shlex.split(_filled(command, study))) for command in commands)
            deps = tuple(stages.stage_paths(stage, study, "deps"))
            outs = tuple(stages.stage_paths(stage, study, "outs", "metrics", "plots"))
            found.append(Stage(study, str(name), words, deps, outs))
    return found


def _filled(text: Any, study: str) -> str:
    return str(text).replace("${item.study}", study)


def in_order(found: Sequence[Stage], study: str) -> bool:
    """Whether no stage of a study needs a later stage or another study."""
    unmade = [stage.outs for stage in found if stage.study != study]
    own = [stage for stage in found if stage.study == study]
    for place, stage in enumerate(own):
        later = {
            PurePath(out) for outs in (*unmade, *(s.outs for s in own[place:])) for out in outs
        }
        deps = [PurePath(dep) for dep in stage.deps]
        if any(dep.is_relative_to(out) or out.is_relative_to(dep) for dep in deps for out in later):
            return False
    return True
