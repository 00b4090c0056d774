"""Plausibility checks of a run's own files: disturbed machines, and windows unlike those of its
replicates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from rawperf.core.errors import RawperfError
from virtperf.runs.ingest.folder import reported_elsewhere, run_folders
from virtperf.runs.ingest.runs import Run, load_run
from virtperf.study.definition import Study

LIMITS = {
    "cpu_steal": (0.02, "of the processor time was stolen by the hypervisor", 100.0, "%"),
    "cpu_nice": (0.02, "of the processor time was used by niced processes", 100.0, "%"),
    "swap_in_rate": (0.0, "were swapped in", 1 / 1024, "KiB/s"),
    "swap_out_rate": (0.0, "were swapped out", 1 / 1024, "KiB/s"),
}
"""Limits for disturbed machines, by metric: maximum mean in the window in the metric's unit, words,
and the factor and unit for display."""


def describe_disturbances(
    samples: pd.DataFrame, window_s: Sequence[float] | None, observed: Sequence[str]
) -> list[str]:
    """Describe disturbances of a run's machines in the window, one per metric and entity.

    Parameters
    ----------
    samples : DataFrame
        The table `SAMPLES` of the run.
    window_s : sequence of float, optional
        Begin and end of the window, seconds; None skips the check.
    observed : sequence of str
        Metrics observed by the study itself, which do not count as disturbances.
    """
    if window_s is None:
        return []
    inside = samples[
        samples["t_s"].between(window_s[0], window_s[1]) & samples["metric"].isin(list(LIMITS))
    ]
    warnings = []
    for (metric, kind, entity), values in inside.groupby(["metric", "entity_kind", "entity"])[
        "value"
    ]:
        limit, words, factor, unit = LIMITS[str(metric)]
        mean = float(values.mean())
        if metric not in observed and mean > limit:
            named = " ".join(part for part in (str(kind), str(entity)) if part)
            warnings.append(f"{named}: {factor * mean:.3g} {unit} {words} in the window")
    return warnings


def record_doubts(path: Path, disturbed: Sequence[str], warned: Sequence[str]) -> None:
    """Add disturbances and other warnings to a run.yaml, so that the results show them.

    Its text is kept, and entries that it has already. Raises `OSError`.
    """
    text = path.read_text(encoding="utf-8")
    run = yaml.safe_load(text)
    added = {}
    for key, sentences in (("disturbed", disturbed), ("warned", warned)):
        existing = list(run.get(key) or ())
        new = [sentence for sentence in sentences if sentence not in existing]
        if new:
            added[key] = [*existing, *new]
    if not added:
        return
    extended = text.rstrip("\n") + "\n" + dump_plain(added)
    if added.keys() & run.keys() or not _is_extended(extended, {**run, **added}):
        extended = dump_plain({**run, **added})
    path.write_text(extended, encoding="utf-8")


def dump_plain(data: Mapping[str, Any]) -> str:
    """Write a mapping as YAML in block style, in its order."""
    return yaml.safe_dump(dict(data), allow_unicode=True, sort_keys=False, width=200)


def _is_extended(text: str, data: Mapping[str, Any]) -> bool:
    try:
        return bool(yaml.safe_load(text) == data)
    except yaml.YAMLError:
        return False


def window_differences(study: Study, run: Mapping[str, Any], root: Path) -> list[str]:
    """Describe differing windows of the replicates in the folder `root`, in one line."""
    if run.get("window_s") is None:
        return []
    run_window = [float(value) for value in run["window_s"]]
    others = {
        other.run_id: other.window_s
        for other in known_runs(study, root)
        if other.factors == run["factors"]
        and other.run_id != run["run_id"]
        and other.window_s is not None
        and list(other.window_s) != run_window
    }
    if not others:
        return []
    windows_text = ", ".join(
        f"{name} {begin:g} to {end:g} s" for name, (begin, end) in others.items()
    )
    return [
        f"the measurement window, {run_window[0]:g} to {run_window[1]:g} s, differs from that of its replicates: "
        f"{windows_text}; set it with --window"
    ]


def known_runs(study: Study, root: Path) -> Iterator[Run]:
    """Yield the runs of a folder that can be read; `virtperf check` reports the others."""
    for folder in run_folders(root, reported_elsewhere):
        with suppress(RawperfError, OSError):
            yield load_run(folder, study, "measured", folder.raw_files())
