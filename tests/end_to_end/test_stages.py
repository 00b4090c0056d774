"""Every stage depends on the package folders its command imports and the data it reads."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from tests.dvc_stages import Stage, load_stages
from tests.imports import SOURCE, closure, imported, module_path
from virtperf.core.paths import Layout

ROOT = SOURCE.parent
PACKAGE = SOURCE / "virtperf"
STUDIES = Layout(ROOT).studies()
STAGES = {stage.name: stage for stage in load_stages(ROOT)}
"""By name, one study's stage each."""

# Used by every command without affecting results.
COMMON = frozenset(
    {
        "virtperf",
        "virtperf.cli",
        "virtperf.cli._shared",
        "rawperf.core.errors",
        "virtperf.core.paths",
    }
)
# Loaded lazily by the package's public interface.
FACE = {"virtperf.report.loaded", "virtperf.report.plot", "virtperf.models"}


def folders(stage: Stage) -> set[str]:
    return {dep for dep in stage.deps if dep.startswith("src/") and not dep.endswith(".yaml")}


def command_imports(name: str) -> set[str]:
    """Imports of a command's function and of its module's top level."""
    tree = ast.parse((PACKAGE / "cli" / f"{name}.py").read_text())
    return imported(tree)


def used_folders(stage: Stage) -> set[str]:
    names = {
        name for command in stage.commands for name in command_imports(command[1].replace("-", "_"))
    }
    if stage.name in ("report", "measured-report", "example-report", "synthesis"):
        together = ROOT / "notebooks" / "synthesis.ipynb"
        names |= FACE if stage.name != "synthesis" else {"virtperf.report.synthesis.loaded"}
        for notebook in [
            n
            for n in sorted((ROOT / "notebooks").glob("*.ipynb"))
            if (n == together) == (stage.name == "synthesis")
        ]:
            cells = json.loads(notebook.read_text())["cells"]
            source = "\n".join(
                "".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"
            )
            names |= imported(ast.parse(source))
    paths = [
        path
        for name in closure(names, COMMON)
        if (path := module_path(name)) and path.stat().st_size
    ]
    return {folder(path) for path in paths if path.parent != PACKAGE} - {"src/virtperf/cli"}


def folder(path: Path) -> str:
    """The dependency folder: a package of virtperf, rawperf's core, or all of rawperf."""
    house, first, *_ = path.relative_to(SOURCE).parts
    if house == "rawperf":
        return "src/rawperf/core" if first == "core" else "src/rawperf"
    return f"src/virtperf/{first}"


@pytest.mark.parametrize("stage", STAGES)
def test_stage_folders_equal_its_imports(stage: str) -> None:
    used = used_folders(STAGES[stage])
    if "src/rawperf" in used:  # the core is part of rawperf
        used -= {"src/rawperf/core"}
    assert folders(STAGES[stage]) == used, f"change deps of {stage} in dvc.yaml"


def test_command_line_module_is_not_a_dependency() -> None:
    assert not any(
        dep.startswith("src/virtperf/cli") for stage in STAGES.values() for dep in stage.deps
    )


def test_every_dependency_is_produced_or_committed() -> None:
    stages = load_stages(ROOT)
    outs = [Path(out) for stage in stages for out in stage.outs]
    for stage in stages:
        for dep in map(Path, stage.deps):
            made = any(dep.is_relative_to(out) or out.is_relative_to(dep) for out in outs)
            assert made or (ROOT / dep).exists(), f"{stage.study} {stage.name}: {dep}"


def test_a_study_depends_on_no_other_study() -> None:
    """The stage `hypotheses` alone reads all papers: its result changes with those that it repeats."""
    for stage in load_stages(ROOT):
        others = [s for s in STUDIES if s != stage.study]
        named = [dep for dep in stage.deps for s in others if s in Path(dep).parts]
        whole = [dep for dep in stage.deps if dep in ("data/published", "data/measured")]
        assert not named or not stage.study
        assert not whole or stage.name in ("hypotheses", "synthesis", "site")


def test_shared_pages_depend_on_every_study_stage() -> None:
    """`dvc repro` at the root has to run everything."""
    stages = load_stages(ROOT)
    needed = {dep for stage in stages if not stage.study for dep in stage.deps}
    reached: set[tuple[str, str]] = set()
    while True:
        more = {
            (stage.study, stage.name)
            for stage in stages
            for out in map(Path, stage.outs)
            if any(out.is_relative_to(dep) or Path(dep).is_relative_to(out) for dep in needed)
        }
        if more == reached:
            break
        reached = more
        needed |= {
            dep for stage in stages if (stage.study, stage.name) in reached for dep in stage.deps
        }
    alone = {"example-report"}  # shared pages show no example runs
    assert {
        (stage.study, stage.name) for stage in stages if stage.study and stage.name not in alone
    } <= reached


def test_every_study_has_stages() -> None:
    assert sorted({stage.study for stage in load_stages(ROOT) if stage.study}) == STUDIES
