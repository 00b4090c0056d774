"""Simulated raw files against those of the replay: an edited one is named, with the figures that show its numbers."""

from __future__ import annotations

import filecmp
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from virtperf.core.paths import Layout
from virtperf.exhibits.wording import plural
from virtperf.study.definition import load_study
from virtperf.verify.agreement import Finding
from virtperf.verify.stored import Results

RUN = "run.yaml"
"""What describes a run, so that all its values depend on it."""
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
    shown = {
        run: ", ".join(_exhibits(found, run, _quantities(stored, study, run, names))) for run, names in runs.items()
    }
    return [
        Finding(
            study, f"{where}/{run}", shown[run], f"Run {run}",
            f"not what the replay simulates: {names[0]}{f' and {len(names) - 1} more' if names[1:] else ''}",
        )
        for run, names in runs.items()
    ]  # fmt: skip


def _files(folder: Path) -> set[Path]:
    return {p.relative_to(folder) for p in folder.rglob("*") if p.is_file()} if folder.is_dir() else set()


def _same(a: Path, b: Path) -> bool:
    return a.is_file() and b.is_file() and filecmp.cmp(a, b, shallow=False)


def _quantities(stored: Layout, study: str, run: str, names: Sequence[str]) -> set[str] | None:
    """Quantities that are computed from those files of a run; None where the stored samples don't tell."""
    path = stored.samples(study) / f"{run}.parquet"
    if RUN in names or not path.is_file():
        return None
    samples = pd.read_parquet(path, columns=["file", "metric"])
    if not set(names) <= set(samples["file"]):
        return None
    metrics = set(samples.loc[samples["file"].isin(names), "metric"])
    kinds = load_study(stored.published(study)).quantities
    return {name for name, kind in kinds.items() if metrics & set(_metrics(kind.observed))}


def _metrics(observed: Any) -> Iterator[str]:
    """The metrics that a quantity is observed by, wherever its definition names them."""
    if isinstance(observed, Mapping):
        for key, value in observed.items():
            if key == "metric" and isinstance(value, str):
                yield value
            else:
                yield from _metrics(value)
    elif isinstance(observed, list | tuple):
        for value in observed:
            yield from _metrics(value)


def _exhibits(found: Results, run: str, quantities: set[str] | None) -> list[str]:
    """The figures that show a run's values of those quantities, or any of its values."""
    return [name for name, frame in found.frames.items() if _shows(frame, run, quantities)]


def _shows(frame: pd.DataFrame, run: str, quantities: set[str] | None) -> bool:
    if "run_id" in frame.columns:
        return run in set(frame["run_id"].astype(str))
    named = [str(c) for c in frame.columns if str(c).endswith("_runs")]
    rows = frame
    if quantities is not None and "quantity" in frame.columns:
        rows = frame[frame["quantity"].isin(quantities)]
    return any(run in str(cell).split(";") for column in named for cell in rows[column])
