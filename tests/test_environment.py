"""One set of versions: requirements.in, requirements.lock, environment.yml and pyproject.toml agree."""

from __future__ import annotations

import re
import tomllib

import yaml


def locked(root) -> dict[str, str]:
    pins = re.findall(r"^([A-Za-z0-9_.-]+)==(\S+)", (root / "requirements.lock").read_text(), re.M)
    return {name.lower().replace("_", "-"): version for name, version in pins}


def direct(root) -> set[str]:
    lines = (line.split("#")[0].strip() for line in (root / "requirements.in").read_text().splitlines())
    return {line for line in lines if line}


def test_every_direct_dependency_is_locked(root):
    assert direct(root) <= set(locked(root))


def test_conda_users_get_the_same_versions(root):
    parts = yaml.safe_load((root / "environment.yml").read_text())["dependencies"]
    pip = next(part["pip"] for part in parts if isinstance(part, dict))
    pins = dict(line.split("==") for line in pip if not line.startswith("-"))
    assert pins == {name: locked(root)[name] for name in direct(root)}


def test_the_package_declares_what_is_locked_and_nothing_else(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())
    declared = project["project"]["dependencies"] + project["project"]["optional-dependencies"]["test"]
    assert set(declared) | {"setuptools"} == direct(root)


def test_every_locked_package_has_hashes(root):
    text = (root / "requirements.lock").read_text()
    entries = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.M)[1:]
    assert len(entries) == len(locked(root))
    assert all("--hash=sha256:" in entry for entry in entries)
