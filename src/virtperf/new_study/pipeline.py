"""The list of studies in `dvc.yaml`: read, and lengthened without losing comments."""

from __future__ import annotations

from pathlib import Path

import yaml

from virtperf.core.errors import StudyError
from virtperf.core.yamlio import SafeLoader, load_yaml


def listed_studies(path: Path) -> dict[str, list[str]]:
    """The studies that each stage of a `dvc.yaml` runs for, by stage.

    Raises
    ------
    StudyError
        No such file, not YAML, no stages, or a stage that runs for no list of studies.
    """
    document = load_yaml(path)
    stages = document.data.get("stages")
    if not isinstance(stages, dict):
        raise document.error("there are no stages", expected="the repository's dvc.yaml")
    listed = {}
    for name, stage in stages.items():
        studies = stage.get("foreach") if isinstance(stage, dict) else None
        if isinstance(studies, list):
            listed[str(name)] = [str(study) for study in studies]
    if not listed:
        raise document.error("no stage runs for a list of studies", "stages", expected="foreach: a list of studies")
    return listed


def with_study(path: Path, study_id: str) -> str:
    """The text of a `dvc.yaml` with one more study at the end of every list of studies; nothing else changes.

    Raises
    ------
    StudyError
        As `listed_studies`; the study is listed already; a list that can't be lengthened line by line.
    """
    before = listed_studies(path)
    if any(study_id in studies for studies in before.values()):
        raise StudyError(f"{study_id!r} is listed already", file=path.name)
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    for last in sorted(_last_items(yaml.compose(text, Loader=SafeLoader)), key=lambda node: -node.start_mark.index):
        line = lines[last.start_mark.line]
        head = line[: last.start_mark.column]
        if head.strip() != "-":
            raise StudyError(
                "a list of studies is not written one a line", file=path.name, line=last.start_mark.line + 1,
                expected="- study", remedy="write it so, or add the study by hand",
            )  # fmt: skip
        lines.insert(last.start_mark.line + 1, f"{head}{study_id}\n")
    made = "".join(lines)
    data = yaml.safe_load(made)
    after = {name: stage["foreach"] for name, stage in data["stages"].items() if name in before}
    if after != {name: [*studies, study_id] for name, studies in before.items()}:
        raise StudyError("the list of studies can't be lengthened", file=path.name, remedy="add the study by hand")
    return made


def _last_items(document: yaml.Node | None) -> list[yaml.Node]:
    """The last item of every list of studies; a list that several stages share counts once."""
    found: dict[int, yaml.Node] = {}
    stages = _value(document, "stages")
    for _, stage in stages.value if isinstance(stages, yaml.MappingNode) else ():
        studies = _value(stage, "foreach")
        if isinstance(studies, yaml.SequenceNode) and studies.value:
            found[id(studies)] = studies.value[-1]
    return list(found.values())


def _value(node: yaml.Node | None, key: str) -> yaml.Node | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value for name, value in pairs if name.value == key), None)
