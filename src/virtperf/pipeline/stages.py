"""The stages of a repository, as its `dvc.yaml` files say."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from virtperf.core.errors import StudyError
from virtperf.core.yamlio import load_yaml
from virtperf.pipeline.lockfiles import pipeline_files


@dataclass(frozen=True)
class Stage:
    """One stage.

    Attributes
    ----------
    file : Path
        The `dvc.yaml` that holds it.
    study : str
        Of which it is a stage; "" for what all studies share.
    name : str
    commands : tuple of tuple of str
        What it runs, each as words.
    deps, outs : tuple of str
        Paths below the repository's folder; metrics and plots are outputs.
    """

    file: Path
    study: str
    name: str
    commands: tuple[tuple[str, ...], ...]
    deps: tuple[str, ...]
    outs: tuple[str, ...]


def load_stages(root: Path) -> list[Stage]:
    """All stages, the studies' in alphabetical order, then those that all studies share.

    Raises
    ------
    StudyError
        A file is not YAML, or holds no stages.
    """
    return [stage for path in pipeline_files(root) if path.is_file() for stage in _stages(path, root)]


def in_order(stages: Sequence[Stage], study: str) -> bool:
    """Whether a study's stages can run as they are listed: none needs what a later one, or another study, makes."""
    unmade = [stage.outs for stage in stages if stage.study != study]
    own = [stage for stage in stages if stage.study == study]
    for place, stage in enumerate(own):
        outs = {out for made in (*unmade, *(later.outs for later in own[place:])) for out in made}
        if any(
            PurePath(a).is_relative_to(b) for dep in stage.deps for out in outs for a, b in ((dep, out), (out, dep))
        ):
            return False
    return True


def _stages(path: Path, root: Path) -> list[Stage]:
    document = load_yaml(path)
    study = "" if path.parent == root else path.parent.name
    stages = document.data.get("stages")
    if not isinstance(stages, Mapping):
        raise StudyError("there are no stages", file=path.relative_to(root), expected="a pipeline of DVC")

    def text(value: Any) -> str:
        return str(value).replace("${study}", study)

    def paths(stage: Mapping[str, Any], *parts: str) -> tuple[str, ...]:
        entries = [entry for part in parts for entry in stage.get(part, ())]
        return tuple(text(next(iter(entry)) if isinstance(entry, Mapping) else entry) for entry in entries)

    found = []
    for name, stage in stages.items():
        commands = stage["cmd"] if isinstance(stage["cmd"], list) else [stage["cmd"]]
        words = tuple(tuple(shlex.split(text(command))) for command in commands)
        outs = paths(stage, "outs", "metrics", "plots")
        found.append(Stage(path, study, str(name), words, paths(stage, "deps"), outs))
    return found
