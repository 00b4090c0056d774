"""Small artifacts, made by the tests themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.study.new.conftest import layout as layout

Write = Callable[[Mapping[str, str]], Path]


@pytest.fixture
def artifact(tmp_path: Path) -> Write:
    """Writes the files of an artifact, and returns its folder."""

    def write(files: Mapping[str, str]) -> Path:
        folder = tmp_path / "published"
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return folder

    return write
