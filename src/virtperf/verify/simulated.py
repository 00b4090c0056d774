"""Simulated raw files against those of the replay: an edited one is named, with the exhibits that show its run."""

from __future__ import annotations

import filecmp
from pathlib import Path

from virtperf.exhibits.words import plural
from virtperf.paths import Layout
from virtperf.verify.agreement import Finding
from virtperf.verify.stored import Results

MANY = 20
"""Runs beyond which they are counted rather than named: another version of the simulation, not an edit."""


def edited_runs(stored: Layout, replayed: Layout, found: Results) -> list[Finding]:
    """Runs of which a stored simulated file is not the one that the replay wrote.

    Nothing is said where no simulated runs are stored, since they are made again from what people wrote.
    """
    study = found.study
    old, new = (place.reconstructed(study) / "runs" for place in (stored, replayed))
    if not old.is_dir():
        return []
    files = sorted({*_files(old), *_files(new)})
    runs: dict[str, list[str]] = {}
    for path in (p for p in files if not _same(old / p, new / p)):
        run, *inner = path.parts
        runs.setdefault(run, []).append("/".join(inner))
    where = f"data/reconstructed/{study}/runs"
    if len(runs) > MANY:
        problem = f"{plural(len(runs), 'run')} differ from those that the replay simulates"
        return [Finding(study, where, "", "Simulated runs", problem)]
    shown = _shown_runs(found)
    return [
        Finding(
            study, f"{where}/{run}", ", ".join(shown.get(run, ())), f"Run {run}",
            f"not what the replay simulates: {names[0]}{f' and {len(names) - 1} more' if names[1:] else ''}",
        )
        for run, names in runs.items()
    ]  # fmt: skip


def _files(folder: Path) -> set[Path]:
    return {p.relative_to(folder) for p in folder.rglob("*") if p.is_file()} if folder.is_dir() else set()


def _same(a: Path, b: Path) -> bool:
    return a.is_file() and b.is_file() and filecmp.cmp(a, b, shallow=False)


def _shown_runs(found: Results) -> dict[str, list[str]]:
    """The figures that show each run."""
    shown: dict[str, list[str]] = {}
    for name, frame in found.frames.items():
        cells = (cell for c in frame.columns if str(c).endswith("_runs") for cell in frame[c])
        runs = {run for cell in cells for run in str(cell).split(";")}
        if "run_id" in frame.columns:
            runs |= set(frame["run_id"].astype(str))
        for run in runs:
            shown.setdefault(run, []).append(name)
    return shown
