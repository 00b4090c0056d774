"""Every stage lists exactly the package files that its command really imports."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
import yaml

from tests.imports import SOURCE, closure, imported, module_path

ROOT = SOURCE.parent
WRITTEN = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
STUDIES = next(stage["foreach"] for stage in WRITTEN.values() if "foreach" in stage)
STAGES = {name: stage.get("do", stage) for name, stage in WRITTEN.items()}

# The command line and the error classes: every command passes through them, none of their lines changes a result.
COMMON = {
    "virtperf", "virtperf.cli", "virtperf.cli._terminal", "virtperf.core.errors", "virtperf.core.paths",
}  # fmt: skip


def code_dependencies(stage: str) -> set[Path]:
    return {ROOT / dep for dep in STAGES[stage]["deps"] if dep.startswith("src/")}


def listed_modules(stage: str) -> set[Path]:
    return {p for dep in code_dependencies(stage) for p in (dep.rglob("*.py") if dep.is_dir() else [dep])}


def command_function(stage: str) -> tuple[ast.FunctionDef, dict[str, ast.FunctionDef], set[str]]:
    """The function behind a stage's command, the others of its module, and what that module imports at its top."""
    name = STAGES[stage]["cmd"].split()[1]
    for file in ("cli.py", f"commands/{name}.py"):
        tree = ast.parse((SOURCE / "virtperf" / file).read_text())
        functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        if name in functions:
            top = ast.Module([node for node in tree.body if isinstance(node, ast.ImportFrom)], [])
            return functions[name], functions, imported(top) if file != "cli.py" else set()
    raise AssertionError(f"no command is called {name}")


def used_modules(stage: str) -> set[Path]:
    function, functions, names = command_function(stage)
    names = names | imported(function)
    for helper in ("_load", "_parameters"):
        if helper in functions and f"{helper}(" in ast.unparse(function):
            names |= imported(functions[helper])
    if stage == "notebook":
        for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
            cells = json.loads(notebook.read_text())["cells"]
            source = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
            names |= imported(ast.parse(source))
    names = closure(names)
    if any(name.startswith("virtperf.formats") for name in names):  # formats are found by entry point
        names |= closure({f"virtperf.formats.{p.stem}" for p in (SOURCE / "virtperf" / "formats").glob("[a-z]*.py")})
    return {path for name in names - COMMON if (path := module_path(name)) and path.stat().st_size}


@pytest.mark.parametrize("stage", STAGES)
def test_every_used_module_is_a_dependency(stage):
    missing = {str(p.relative_to(ROOT)) for p in used_modules(stage) - listed_modules(stage)}
    assert not missing, f"add to deps of {stage} in dvc.yaml: {sorted(missing)}"


@pytest.mark.parametrize("stage", STAGES)
def test_no_unused_module_is_a_dependency(stage):
    used = used_modules(stage)
    idle = {
        str(dep.relative_to(ROOT))
        for dep in code_dependencies(stage)
        if not (set(dep.rglob("*.py")) if dep.is_dir() else {dep}) & used
    }
    assert not idle, f"remove from deps of {stage} in dvc.yaml: {sorted(idle)}"


def test_every_dependency_exists_in_the_repository_or_is_produced():
    produced = {out for stage in STAGES.values() for out in stage["outs"]}
    produced |= {out.replace("${item}", study) for out in produced for study in STUDIES}
    for stage in STAGES.values():
        for dep in stage["deps"]:
            made = any(dep == out or dep.startswith(out + "/") or out.startswith(dep + "/") for out in produced)
            studies = [dep.replace("${item}", study) for study in STUDIES]
            assert made or all((ROOT / path).exists() for path in studies), dep


def test_every_study_is_in_the_pipeline():
    assert sorted(STUDIES) == sorted(path.parent.name for path in ROOT.glob("data/published/*/study.yaml"))
