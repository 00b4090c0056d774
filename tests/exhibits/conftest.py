"""The toy study as a book."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.exhibits import toy
from virtperf.exhibits.book import Book


@pytest.fixture(scope="session")
def toy_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data folder of the toy study, all stages run."""
    return toy.build(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="session")
def book(toy_data: Path) -> Book:
    """The toy study with its made-up example runs shown."""
    return Book("toy", toy_data, show_examples=True)


@pytest.fixture(scope="session")
def bare_book(tmp_path_factory: pytest.TempPathFactory) -> Book:
    """The toy study before any stage has run."""
    return Book("toy", toy.build(tmp_path_factory.mktemp("bare"), stages=False))
