"""The packed runs of a study as folders, for tests that look at raw files."""

from __future__ import annotations

import atexit
import tempfile
import zipfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]


@cache
def unpacked(study: str) -> Path:
    """A folder with the run folders of a study's archives, removed when the tests end."""
    temporary = tempfile.TemporaryDirectory(prefix=f"{study}-")
    atexit.register(temporary.cleanup)
    for path in sorted((ROOT / "data" / "measured" / study / "runs").glob("*.zip")):
        with zipfile.ZipFile(path) as archive:
            archive.extractall(temporary.name)
    return Path(temporary.name)
