"""Standalone SVG files of figures."""

from __future__ import annotations

from pathlib import Path

from rawperf.core.errors import RawperfError
from rawperf.core.files import write_atomically
from virtperf.report import plot
from virtperf.report.loaded import load_study


def write_figure(study_id: str, exhibit: str, data: Path, out: Path) -> None:
    """Draw one exhibit of a study below the folder `data` into the SVG file `out`.

    Raises `RawperfError` if the study or the exhibit is unknown, the exhibit has no drawing, or
    results of the study's stages are missing.
    """
    study = load_study(study_id, data)
    study.data.require_stages()
    shown = study.show(exhibit)
    if shown.figure is None or shown.record is None:
        raise RawperfError(f"{exhibit} has no drawing", expected="a line, bar or time figure")
    record = shown.record
    svg = plot.svg(
        shown.figure,
        exhibit,
        title=f"{record.name}: {record.title}",
        description=record.caption,
        background="#ffffff",
    )
    write_atomically(out, f"{svg}\n")
