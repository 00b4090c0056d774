"""One set of versions in requirements/main.in, requirements/main.lock, environment.yml and pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

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


def test_conda_environment_has_the_same_versions(root):
    environment = yaml.safe_load((root / "environment.yml").read_text())
    parts = environment["dependencies"]
    conda = [part for part in parts if isinstance(part, str)]
    pip = [
        line
        for part in parts
        if isinstance(part, dict)
        for line in part["pip"]
        if not line.startswith("-")
    ]
    pins = dict(re.split("==?", line) for line in conda + pip if "=" in line)
    assert pins.pop("python") == "3.11"
    assert pins == {name: locked(root)[name] for name in direct(root)}
    assert environment["name"] == "virtperf"


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
