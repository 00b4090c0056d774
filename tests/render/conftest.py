"""The toy study's page."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbformat import NotebookNode

from tests.exhibits import toy
from tests.render.toy_notebook import executed
from virtperf.exhibits.book import Book


@pytest.fixture(scope="session")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> NotebookNode:
    """An executed notebook over the toy study."""
    data: Path = toy.build(tmp_path_factory.mktemp("toy"))
    return executed(Book("toy", data, show_examples=True))
