"""The toy study, loaded; figures are closed after every test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from tests.report import toy
from virtperf.report.loaded import LoadedStudy, load_study


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def toy_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data folder of the toy study, all stages run."""
    return toy.build(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="session")
def loaded(toy_data: Path) -> LoadedStudy:
    """The toy study with its example runs shown."""
    return load_study("toy", toy_data, show_examples=True)


@pytest.fixture(scope="session")
def measured(toy_data: Path) -> LoadedStudy:
    """The toy study as reports show it, without its example runs."""
    return load_study("toy", toy_data)


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> LoadedStudy:
    """The toy study before any stage has run."""
    return load_study("toy", toy.build(tmp_path_factory.mktemp("bare"), stages=False))
