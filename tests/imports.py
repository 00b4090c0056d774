"""Which of the packages' modules import which, read from the source."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src"
PACKAGES = ("rawperf", "virtperf")


def module_path(name: str) -> Path | None:
    """The file of a module of the package, None for a name that is none."""
    base = SOURCE.joinpath(*name.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None


def imported(node: ast.AST) -> set[str]:
    """Names of the package's modules that are imported anywhere below a syntax node."""
    names: set[str] = set()
    for child in ast.walk(node):
        if isinstance(child, ast.Import):
            names |= {alias.name for alias in child.names}
        elif isinstance(child, ast.ImportFrom) and child.module:
            names.add(child.module)
            names |= {f"{child.module}.{alias.name}" for alias in child.names}
    return {name for name in names if name.split(".")[0] in PACKAGES and module_path(name)}


@cache
def _direct(name: str) -> frozenset[str]:
    path = module_path(name)
    assert path is not None
    found = imported(ast.parse(path.read_text()))
    parents = {".".join(name.split(".")[:i]) for i in range(2, len(name.split(".")))}
    return frozenset(found | {p for p in parents if module_path(p)})


def closure(names: set[str], without: frozenset[str] = frozenset()) -> set[str]:
    """Everything that importing these modules imports of the package, themselves included; `without` leads nowhere."""
    found: set[str] = set()
    todo = set(names)
    while todo:
        name = todo.pop()
        if name not in found and name not in without:
            found.add(name)
            todo |= _direct(name)
    return found
