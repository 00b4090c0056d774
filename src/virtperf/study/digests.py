"""Digests of the files that a measured study's hypotheses are made of; loads no claims, and no pandas."""

from __future__ import annotations

import hashlib
from pathlib import Path

from rawperf.core.errors import StudyError
from rawperf.core.yamlio import load_yaml

HYPOTHESES_FILE = "hypotheses.yaml"


def papers_repeated(folder: Path) -> list[str]:
    """Sorted ids of the papers whose claims a measured study repeats; `folder` has its definition.

    Raises `StudyError` if hypotheses.yaml can't be read. Malformed entries, which are errors of
    `load_hypotheses`, repeat nothing.
    """
    written = load_yaml(folder / HYPOTHESES_FILE).data.get("hypotheses")
    entries = written if isinstance(written, list) else []
    origins = [entry.get("from") for entry in entries if isinstance(entry, dict)]
    return sorted({str(o["study"]) for o in origins if isinstance(o, dict) and "study" in o})


def file_digests(folder: Path) -> dict[str, str]:
    """SHA-256 of the files of a measured study's definition and of the papers whose claims it
    repeats, by path below the data folder.

    Raises `StudyError` for a study that is not measured, or if hypotheses.yaml can't be read.
    """
    data = folder.parent.parent
    if folder.parent.name != "measured":
        raise StudyError(
            f"{folder.name} has no hypotheses", expected="a measured study", found="a paper's study"
        )
    papers = (data / "published" / paper for paper in papers_repeated(folder))
    files = [folder / name for name in ("study.yaml", HYPOTHESES_FILE)]
    files += [path for paper in papers for path in paper.rglob("*") if path.is_file()]
    return {
        path.relative_to(data).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(files)
    }
