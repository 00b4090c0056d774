"""The import graph of the packages' modules, read from the source."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src"
PACKAGES = ("rawperf", "virtperf")


def module_path(name: str) -> Path | None:
    """The file of a module of the package, or None."""
    base = SOURCE.joinpath(*name.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None


def imported(node: ast.AST) -> set[str]:
    """Modules of the package imported anywhere below a syntax node."""
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
    """Transitive imports within the package, the modules included; `without` is not followed."""
    found: set[str] = set()
    todo = set(names)
    while todo:
        name = todo.pop()
        if name not in found and name not in without:
            found.add(name)
            todo |= _direct(name)
    return found


def _loaded(node: ast.AST) -> set[str]:
    """Modules loaded by one import statement; for `from package import module`, the module."""
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names if module_path(alias.name)}
    if not isinstance(node, ast.ImportFrom) or not node.module:
        return set()
    names = {f"{node.module}.{alias.name}" for alias in node.names}
    modules = {name for name in names if module_path(name)}
    return modules or ({node.module} if module_path(node.module) else set())


def cycles() -> list[list[str]]:
    """Groups of modules with circular imports, also in functions; those under TYPE_CHECKING do not
    count.
    """
    graph: dict[str, set[str]] = {}
    for house in PACKAGES:
        for path in (SOURCE / house).rglob("*.py"):
            name = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(
                ".__init__"
            )
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
                    node.body = []
            graph[name] = {found for node in ast.walk(tree) for found in _loaded(node)} - {name}
    groups = []
    while True:
        leaves = {name for name, found in graph.items() if not found & graph.keys()}
        if not leaves:
            break
        graph = {name: found for name, found in graph.items() if name not in leaves}
    # the rest imports a cycle or is part of one
    while graph:
        imported_by_rest = {found for names in graph.values() for found in names}
        roots = graph.keys() - imported_by_rest
        if not roots:
            groups.append(sorted(graph))
            break
        graph = {name: found for name, found in graph.items() if name not in roots}
    return groups
