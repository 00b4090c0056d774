"""Committed tool output by folder and name; samples/README.md lists the sources."""

from __future__ import annotations

from pathlib import Path

SAMPLES = Path(__file__).parent / "samples"


def sample(name: str) -> bytes:
    """The content of a file, such as ``fio/fio-3.33.json``."""
    return (SAMPLES / name).read_bytes()


def sample_names() -> list[str]:
    """All sample names, without the README."""
    files = (path.relative_to(SAMPLES).as_posix() for path in SAMPLES.rglob("*") if path.is_file())
    return sorted(name for name in files if name != "README.md")
