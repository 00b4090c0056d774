"""A repository whose stages stand for themselves: everything that a crate takes, and what it must leave out."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.verify import toy

CITATION = """\
cff-version: 1.2.0
title: A toy repository
abstract: One study of two figures.
license: Apache-2.0
version: 0.1.0
date-released: 2020-02-29
authors:
  - {given-names: Ada, family-names: Example, orcid: "https://orcid.org/0000-0002-1825-0097"}
  - {name: The others}
"""
LOCK = """\
# uv pip compile --python-version 3.11 requirements.in
numpy==2.4.6 \\
    --hash=sha256:00
dvc==3.1 \\
    --hash=sha256:00
unused==1.0
"""
MADE = {
    "data/reconstructed/toy/points.parquet": "points\n", "data/reconstructed/toy/claims.parquet": "claims\n",
    "data/reconstructed/toy/runs/load-1/d1.log": "simulated\n", "data/samples/toy/index.json": "{}\n",
    "data/samples/toy/load-1.parquet": "samples\n", "data/runs/toy/observations.parquet": "means\n",
    "data/verdicts/toy/verdicts.parquet": "verdicts\n", "build/toy.ipynb": "{}\n", "reports/toy.html": "<p>toy</p>\n",
    "reports/quality-toy.html": "<p>quality</p>\n", "reports/trail-toy.html": "<p>trail</p>\n",
    "reports/trail-toy.json": "[]\n", "reports/index.html": "<p>studies</p>\n",
}  # fmt: skip
"""Stand for what stages write; a crate copies bytes and reads none of these."""
SECRET = "s3cret"


def git(root: Path, *arguments: str) -> None:
    environment = {
        **os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_AUTHOR_NAME": "n",
        "GIT_AUTHOR_EMAIL": "e", "GIT_COMMITTER_NAME": "n", "GIT_COMMITTER_EMAIL": "e",
    }  # fmt: skip
    subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True, env=environment)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    place = toy.build(tmp_path_factory.mktemp("crate") / "repository", root)
    report = hashlib.md5(MADE["reports/toy.html"].encode(), usedforsecurity=False).hexdigest()
    files = {
        **MADE, "CITATION.cff": CITATION, "README.md": "# Toy\n", "LICENSE": "Apache\n", "requirements.in": "numpy\ndvc\n",
        "requirements.lock": LOCK, "dvc.yaml": "stages: {}\n", "src/virtperf/__init__.py": "",
        "src/virtperf/__pycache__/x.pyc": "cache", ".ci/run": "#!/bin/sh\n", ".dvc/config": f"password = {SECRET}\n",
        "notes.txt": SECRET,
        "dvc.lock": "stages:\n  report@toy:\n    outs:\n    - {path: reports/toy.html, md5: " + report + "}\n"
        "    - {path: build/toy.ipynb, md5: '0'}\n",
    }  # fmt: skip
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    (place / ".ci" / "run").chmod(0o755)
    (place / ".gitignore").write_text(
        "/build/\n/reports/\n/data/reconstructed/\n/data/samples/\n/data/runs/\n/data/verdicts/\n"
    )
    git(place, "init", "-q")
    git(place, "add", ".")
    git(place, "commit", "-q", "-m", "one")
    return place


@pytest.fixture
def repository(template: Path, tmp_path: Path) -> Path:
    """A copy of it on which a test may do damage."""
    return Path(shutil.copytree(template, tmp_path / "repository", symlinks=True))


def graph(crate: Path) -> dict[str, dict]:
    """The metadata's entities by id."""
    entities = json.loads((crate / "ro-crate-metadata.json").read_text())["@graph"]
    return {entity["@id"]: entity for entity in entities}
