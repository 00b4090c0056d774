"""Fixture: a notebook of records."""

from __future__ import annotations

import pytest
from nbformat import NotebookNode

from tests.report.html.toy_notebook import executed


@pytest.fixture(scope="session")
def notebook() -> NotebookNode:
    """An executed notebook over records of every kind."""
    return executed()
