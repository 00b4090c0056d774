"""Which samples of which raw files an observation rests on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from virtperf.summarize.series import Combined, RunSeries, Series


def lineage_rows(run: RunSeries, used: Combined, role: str) -> Iterator[dict[str, Any]]:
    """One row a raw file: columns of `stage_tables.LINEAGE` without run and quantity.

    Samples count where the evaluated stretch has them: after its begin, up to the window's end, at times that all
    entities have. A total of the run stands without a time and counts as it is.
    """
    declared, end = run.window
    begin = used.steady.begin_s if np.isfinite(used.steady.begin_s) else declared
    files: dict[str, list[np.ndarray]] = {}
    for entity in used.entities:
        series = run.series[used.source, used.entity_kind, entity, used.metric]
        if series.files is None or series.lines is None:
            continue
        inside = _inside(series, begin, end, used.times)
        names, lines = series.files[inside], series.lines[inside]
        for name in dict.fromkeys(names.tolist()):
            files.setdefault(name, []).append(lines[names == name])
    for file, parts in sorted(files.items()):
        lines = np.concatenate(parts)
        yield {
            "metric": used.metric, "source": used.source, "entity_kind": used.entity_kind,
            "entities": list(used.entities), "role": role, "begin_s": begin, "end_s": end, "file": file,
            "first_line": int(lines.min()), "last_line": int(lines.max()), "samples": len(lines),
        }  # fmt: skip


def _inside(series: Series, begin: float, end: float, times: np.ndarray | None) -> np.ndarray:
    timed = (series.t > begin) & (series.t <= end)
    if times is not None:
        timed &= np.isin(series.t, times)
    return timed | np.isnan(series.t)
