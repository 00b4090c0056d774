"""The toy repository, its results stored, and its replay in this process."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.verify import toy
from virtperf.core.paths import Layout
from virtperf.verify.outcome import Outcome
from virtperf.verify.run import verify
from virtperf.verify.tolerances import DEFAULTS


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """The toy repository with the results of all stages; tests copy it. Packages of tests that import this share it."""
    place = tmp_path_factory.getbasetemp() / "toy-with-results"
    return place if place.is_dir() else toy.run_stages(toy.build(place, root))


@pytest.fixture
def repository(stored: Path, tmp_path: Path) -> Path:
    """A copy of it on which a test may do damage, without what ingest remembers."""
    return Path(shutil.copytree(stored, tmp_path / "repository", ignore=shutil.ignore_patterns(".cache")))


@pytest.fixture
def outcome(repository: Path, monkeypatch: pytest.MonkeyPatch):
    """Verify the repository as it stands."""
    monkeypatch.setattr("virtperf.verify.replay.run_stages", toy.replayed)

    def run() -> Outcome:
        return verify(Layout(repository), [], DEFAULTS)

    return run
