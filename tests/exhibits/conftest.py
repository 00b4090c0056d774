"""The toy study, loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.exhibits import toy
from virtperf.exhibits.loaded import LoadedStudy, load_study


@pytest.fixture(scope="session")
def toy_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data folder of the toy study, all stages run."""
    return toy.build(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="session")
def loaded(toy_data: Path) -> LoadedStudy:
    """The toy study with its made-up example runs shown."""
    return load_study("toy", toy_data, show_examples=True)


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> LoadedStudy:
    """The toy study before any stage has run."""
    return load_study("toy", toy.build(tmp_path_factory.mktemp("bare"), stages=False))
