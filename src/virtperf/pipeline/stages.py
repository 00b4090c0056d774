"""The stages of a repository's `dvc.yaml`, with those of each study in the lists of `params.yaml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
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
