"""Every stage depends on the folders of the package that its commands import, and on the data that they read."""

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
STAGES = {stage.name: stage for stage in load_stages(ROOT) if stage.study in ("", STUDIES[0])}

# What every command passes through, and no line of which changes a result.
COMMON = frozenset(
    {
        "virtperf",
        "virtperf.cli",
        "virtperf.cli._terminal",
        "rawperf.core.errors",
        "virtperf.core.paths",
    }
)
# What notebooks reach by the package's own face, which imports it when it is asked for.
FACE = {"virtperf.report.loaded", "virtperf.report.plot", "virtperf.models"}


def folders(stage: Stage) -> set[str]:
    return {dep for dep in stage.deps if dep.startswith("src/") and not dep.endswith(".yaml")}


def command_imports(name: str) -> set[str]:
    """What the function behind a command imports, and what its module imports at the top."""
    tree = ast.parse((PACKAGE / "cli" / f"{name}.py").read_text())
    return imported(tree)


def used_folders(stage: Stage) -> set[str]:
    names = {
        name for command in stage.commands for name in command_imports(command[1].replace("-", "_"))
    }
    if stage.name in ("report", "example-report", "synthesis"):
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
    """The folder that is a dependency: a package of virtperf, the core of rawperf or all of it."""
    house, first, *_ = path.relative_to(SOURCE).parts
    if house == "rawperf":
        return "src/rawperf/core" if first == "core" else "src/rawperf"
    return f"src/virtperf/{first}"


@pytest.mark.parametrize("stage", STAGES)
def test_the_folders_of_a_stage_are_those_that_it_imports(stage: str) -> None:
    used = used_folders(STAGES[stage])
    if "src/rawperf" in used:  # the core is a part of it
        used -= {"src/rawperf/core"}
    assert folders(STAGES[stage]) == used, f"change deps of {stage} in dvc.yaml"


def test_the_command_line_itself_is_no_dependency() -> None:
    assert not any(
        dep.startswith("src/virtperf/cli") for stage in STAGES.values() for dep in stage.deps
    )


def test_every_dependency_is_produced_or_kept_in_the_repository() -> None:
    stages = load_stages(ROOT)
    outs = [Path(out) for stage in stages for out in stage.outs]
    for stage in stages:
        for dep in map(Path, stage.deps):
            made = any(dep.is_relative_to(out) or out.is_relative_to(dep) for out in outs)
            assert made or (ROOT / dep).exists(), f"{stage.study} {stage.name}: {dep}"


def test_the_shared_pages_come_after_every_stage_of_every_study() -> None:
    """`dvc repro` at the root runs what the stages there need: that has to be everything."""
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
    alone = {"example-report"}  # no page over all studies shows example runs
    assert {
        (stage.study, stage.name) for stage in stages if stage.study and stage.name not in alone
    } <= reached


def test_every_study_has_its_stages() -> None:
    assert sorted({stage.study for stage in load_stages(ROOT) if stage.study}) == STUDIES
