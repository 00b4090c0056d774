"""The stages of a repository's `dvc.yaml`, with those of each study in the lists of `params.yaml`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from rawperf.core.errors import StudyError
from rawperf.core.yamlio import load_yaml

_LIST = re.compile(r"\$\{([\w.]+)\}")


def stage_names(root: Path) -> list[str]:
    """Names of all stages in the order of `dvc.yaml`, such as ``report@my-study`` and ``site``.

    Raises `StudyError` for a file without stages, or a `matrix` that is not one list of
    `params.yaml`.
    """
    return [
        f"{name}@{study}" if study else name
        for name, stage in load_stages(root).items()
        for study in studies_of(root, stage)
    ]


def load_stages(root: Path) -> Mapping[str, Mapping[str, Any]]:
    """The `stages` of `dvc.yaml` as written; raises `StudyError` for a file without stages."""
    document = load_yaml(root / "dvc.yaml")
    stages = document.data.get("stages")
    if not isinstance(stages, Mapping) or not all(isinstance(s, Mapping) for s in stages.values()):
        raise StudyError("there are no stages", file="dvc.yaml", expected="a pipeline of DVC")
    return stages


def studies_of(root: Path, stage: Mapping[str, Any]) -> list[str]:
    """The studies of a stage by its `matrix`; one empty name for a stage without it."""
    matrix = stage.get("matrix")
    if matrix is None:
        return [""]
    values = list(matrix.values()) if isinstance(matrix, Mapping) else []
    match = _LIST.fullmatch(str(values[0])) if len(values) == 1 else None
    if match is None:
        raise StudyError(
            "unknown form of a matrix",
            file="dvc.yaml",
            expected="one list of params.yaml, such as study: ${studies.papers}",
            found=str(matrix),
        )
    entry: Any = load_yaml(root / "params.yaml").data
    for key in match[1].split("."):
        entry = entry.get(key) if isinstance(entry, Mapping) else None
    if not isinstance(entry, list):
        raise StudyError(
            f"there is no list {match[1]}", file="params.yaml", expected="ids of studies"
        )
    return [str(study) for study in entry]


def stage_paths(stage: Mapping[str, Any], study: str, *parts: str) -> list[str]:
    """Paths in the given parts of a stage (`deps`, `outs`, `metrics`, `plots`), for one study."""
    entries = [entry for part in parts for entry in stage.get(part, ())]
    paths = (next(iter(entry)) if isinstance(entry, Mapping) else entry for entry in entries)
    return [str(path).replace("${item.study}", study) for path in paths]


def is_nothing_made(root: Path) -> bool:
    """Whether no output of any stage exists, apart from metrics and plots, which may be in Git."""
    return not any(
        os.path.lexists(root / path)
        for stage in load_stages(root).values()
        for study in studies_of(root, stage)
        for path in stage_paths(stage, study, "outs")
    )


def are_independent(root: Path, names: Sequence[str]) -> bool:
    """Whether none of these stages, which have no matrix, depends on an output of another one."""
    stages = [load_stages(root)[name] for name in names]
    for stage in stages:
        others = (other for other in stages if other is not stage)
        outs = [
            PurePath(out)
            for other in others
            for out in stage_paths(other, "", "outs", "metrics", "plots")
        ]
        deps = map(PurePath, stage_paths(stage, "", "deps"))
        if any(dep.is_relative_to(out) or out.is_relative_to(dep) for dep in deps for out in outs):
            return False
    return True
