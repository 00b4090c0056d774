"""One set of versions: requirements/, environment.yml and pyproject.toml; every import is declared."""

from __future__ import annotations

import importlib.metadata
import re
import sys
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.cases import each_case

# Names in two parts, so that this file passes its own search.
HOSTS = re.compile(
    "|".join(("py" + r"pi\.", "python" + r"hosted\.", "ana" + r"conda\.(org|com)", "npm" + r"js\."))
)


def locked(root: Path) -> dict[str, str]:
    pins = re.findall(
        r"^([A-Za-z0-9_.-]+)==(\S+)", (root / "requirements" / "main.lock").read_text(), re.M
    )
    return {name.lower().replace("_", "-"): version for name, version in pins}


def direct(root: Path) -> set[str]:
    lines = (
        line.split("#")[0].strip()
        for line in (root / "requirements" / "main.in").read_text().splitlines()
    )
    return {line for line in lines if line}


def test_every_direct_dependency_is_locked(root):
    assert direct(root) <= set(locked(root))


def test_direct_dependencies_are_sorted(root):
    names = [
        line
        for line in (root / "requirements" / "main.in").read_text().splitlines()
        if not line.startswith("#")
    ]
    assert names == sorted(set(names))


def required(name: str, extras: tuple[str, ...] = ("",)) -> list[Requirement]:
    """What an installed distribution needs on this machine."""
    found = [Requirement(line) for line in importlib.metadata.requires(name) or ()]
    return [
        needed
        for needed in found
        if not needed.marker or any(needed.marker.evaluate({"extra": extra}) for extra in extras)
    ]


def test_conda_environment_resolves_to_the_lock(root):
    """It installs the lock, and what every package in it needs is in it, in a version that it accepts."""
    environment = yaml.safe_load((root / "environment.yml").read_text())
    python, *conda = environment["dependencies"]
    assert environment["name"] == "virtperf"
    assert python == f"python={(root / '.python-version').read_text().strip()}"
    assert conda == ["pip", {"pip": ["-r requirements/main.lock"]}]
    pins, todo, seen = locked(root), required("virtperf", ("dask", "test")), set()
    while todo:
        needed = todo.pop()
        name = canonicalize_name(needed.name)
        assert needed.specifier.contains(pins[name], prereleases=True), needed
        if (name, *needed.extras) not in seen:
            seen.add((name, *needed.extras))
            todo += required(name, ("", *needed.extras))
    assert {name for name, *_ in seen} | {"setuptools"} >= direct(root)


IMPORT = re.compile(r"^ *(?:from (?=\S+ import)|import )(\w+)", re.M)
OPTIONAL = {"lxml", "orjson", "otava", "ruptures"}
"""Libraries that tools compare ours with where they are installed."""


def dependencies(project: Path) -> set[str]:
    """What a package needs when it is installed without its tests."""
    found = tomllib.loads(project.read_text())["project"]
    return {*found["dependencies"], *found.get("optional-dependencies", {}).get("dask", ())}


@each_case("folder", ["src/rawperf", "src/virtperf", "tools", "tests"])
def test_every_imported_package_is_declared(root, folder):
    declared = {
        "src/rawperf": dependencies(root / "src" / "rawperf" / "pyproject.toml"),
        "src/virtperf": dependencies(root / "pyproject.toml"),
        "tools": direct(root) | OPTIONAL,
        "tests": direct(root),
    }[folder]
    ours = {"rawperf", "virtperf", "tools", "tests"}
    ours |= {path.stem for path in (root / "testbeds").rglob("*.py")}
    packages = importlib.metadata.packages_distributions()
    undeclared = []
    for path in sorted((root / folder).rglob("*.py")):
        names = set(IMPORT.findall(path.read_text(encoding="utf-8")))
        for name in names - sys.stdlib_module_names - ours:
            if not {canonicalize_name(found) for found in packages.get(name, [name])} & declared:
                undeclared.append(f"{path.relative_to(root)} imports {name}")
    assert undeclared == []


def test_declared_dependencies_equal_the_lock(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())
    declared = (
        project["project"]["dependencies"] + project["project"]["optional-dependencies"]["test"]
    )
    assert set(declared) | {"setuptools"} == direct(root)


def test_every_locked_package_has_hashes(root):
    text = (root / "requirements" / "main.lock").read_text()
    entries = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.M)[1:]
    assert len(entries) == len(locked(root))
    assert all("--hash=sha256:" in entry for entry in entries)


def test_lock_states_how_it_was_generated(root):
    command = (root / "requirements" / "main.lock").read_text().splitlines()[1]
    assert command.endswith(
        "--generate-hashes --no-annotate requirements/main.in -o requirements/main.lock"
    )


@each_case(
    "name", ["requirements/main.in", "requirements/main.lock", "environment.yml", "pyproject.toml"]
)
def test_lock_contains_no_registry_host(root, name):
    assert not HOSTS.search((root / name).read_text())
