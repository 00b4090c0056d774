"""docs/architecture.md tells the truth: every package with what it imports, and modules that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.imports import SOURCE, imported, module_path

PACKAGES = {p.parent.name: p.parent for p in (SOURCE / "virtperf").glob("*/__init__.py")}


def page(root: Path) -> str:
    return (root / "docs" / "architecture.md").read_text(encoding="utf-8")


def used(package: str) -> set[str]:
    """The packages that one imports."""
    found = set()
    for path in PACKAGES[package].rglob("*.py"):
        for name in imported(ast.parse(path.read_text(encoding="utf-8"))):
            place = module_path(name)
            if place is not None and place.is_relative_to(SOURCE / "virtperf"):
                found.add(place.relative_to(SOURCE / "virtperf").parts[0])
    return (found & PACKAGES.keys()) - {package}


def test_every_package_stands_in_the_table_with_what_it_imports(root):
    rows = dict(re.findall(r"^\| `([a-z_]+)` \| .* \| ([a-z_, ]*) ?\|$", page(root), re.M))
    said = {
        name: set(filter(None, rows.get(name, "missing").replace(" ", "").split(",")))
        for name in PACKAGES
    }
    real = {name: used(name) for name in PACKAGES}
    said["cli"] = real["cli"]  # all of them, or nearly
    assert said == real


def test_modules_that_are_named_exist(root):
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)*/[a-z_0-9.]+\.(?:py|j2))`", page(root)))
    assert len(named) > 20
    assert not [
        n
        for n in sorted(named)
        if not any((base / n).is_file() for base in (SOURCE / "virtperf", SOURCE, root))
    ]
