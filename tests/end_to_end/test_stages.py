"""Every stage lists exactly the package files that its command really imports."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
import yaml

from tests.imports import SOURCE, closure, imported, module_path

ROOT = SOURCE.parent
STAGES = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]

# The command line and the error classes: every command passes through them, none of their lines changes a result.
COMMON = {"virtperf", "virtperf.cli", "virtperf.errors", "virtperf.paths"}


def code_dependencies(stage: str) -> set[Path]:
    return {ROOT / dep for dep in STAGES[stage]["do"]["deps"] if dep.startswith("src/")}


def listed_modules(stage: str) -> set[Path]:
    return {p for dep in code_dependencies(stage) for p in (dep.rglob("*.py") if dep.is_dir() else [dep])}


def used_modules(stage: str) -> set[Path]:
    tree = ast.parse((SOURCE / "virtperf" / "cli.py").read_text())
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    names = imported(functions[stage])
    if "_load(" in ast.unparse(functions[stage]):
        names |= imported(functions["_load"])
    if "load_parameters" in ast.unparse(functions[stage]):
        names.add("virtperf.params")
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
    produced = {out for stage in STAGES.values() for out in stage["do"]["outs"]}
    for stage in STAGES.values():
        for dep in stage["do"]["deps"]:
            made = any(dep == out or dep.startswith(out + "/") for out in produced)
            studies = [dep.replace("${item}", study) for study in stage["foreach"]]
            assert made or all((ROOT / path).exists() for path in studies), dep
