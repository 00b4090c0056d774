"""docs/architecture.md lists every package with its imports, and existing modules."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.imports import SOURCE, imported, module_path

PACKAGES = {p.parent.name: p.parent for p in (SOURCE / "virtperf").glob("*/__init__.py")}


def page(root: Path) -> str:
    return (root / "docs" / "architecture.md").read_text(encoding="utf-8")


def used(package: str) -> set[str]:
    """The packages imported by a package."""
    found = set()
    for path in PACKAGES[package].rglob("*.py"):
        for name in imported(ast.parse(path.read_text(encoding="utf-8"))):
            place = module_path(name)
            if place is not None and place.is_relative_to(SOURCE / "virtperf"):
                found.add(place.relative_to(SOURCE / "virtperf").parts[0])
    return (found & PACKAGES.keys()) - {package}


def test_table_lists_every_package_with_its_imports(root):
    rows = dict(re.findall(r"^\| `([a-z_]+)` \| .* \| ([a-z_, ]*) ?\|$", page(root), re.M))
    documented = {
        name: set(filter(None, rows.get(name, "missing").replace(" ", "").split(",")))
        for name in PACKAGES
    }
    real = {name: used(name) for name in PACKAGES}
    documented["cli"] = real["cli"]  # all of them, or nearly
    assert documented == real


def test_mentioned_modules_exist(root):
    mentioned = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)*/[a-z_0-9.]+\.(?:py|j2))`", page(root)))
    assert len(mentioned) > 20
    assert not [
        n
        for n in sorted(mentioned)
        if not any((base / n).is_file() for base in (SOURCE / "virtperf", SOURCE, root))
    ]
