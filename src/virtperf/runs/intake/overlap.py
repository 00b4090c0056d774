"""Diagnosis of a run's files without a common time: clocks in other time zones, a wrong start."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import numpy as np

from rawperf.core.errors import RunError

TimeSpan = tuple[float, float]
"""Begin and end of a file's samples, in seconds from the run's start."""

ZONE_STEP_S = 900
"""Granularity of time zone offsets, in seconds."""
ZONE_STEPS = 26 * 4
"""Largest difference of two time zones, in steps."""
ZONE_TOLERANCE_S = 120
"""Tolerance for the first time of a file that was started with the run, or with another file."""
MIN_EXPLAINED = 0.8
"""Share of the possible common time that an offset has to produce if no begins coincide."""
MAX_SHOWN = 3


def check_inside(
    spans: Mapping[str, TimeSpan], start: datetime | None, duration_s: float | None
) -> None:
    """Raise `RunError` if all samples lie before the start, or after the end of a known duration."""
    if not spans:
        return
    path = min(spans, key=lambda name: spans[name][0])
    first, last = spans[path][0], max(end for _, end in spans.values())
    who = path if len(spans) == 1 else f"all {len(spans)} files"
    if last <= 0:
        problem = (
            f"the samples of {who} all lie before the start, the last one {-last:g} s before it"
        )
    elif duration_s is not None and first >= duration_s:
        problem = (
            f"the samples of {who} all lie after the end of the run: the first interval begins "
            f"{first:g} s after the start, and the run lasts {duration_s:g} s"
        )
    else:
        return
    begins = "" if start is None else _begin_words(path, start, first)
    raise RunError(
        problem,
        remedy=f"correct --start{begins}, or the files' clocks with --file ... clock_offset_s",
    )


def _begin_words(path: str, start: datetime, first: float) -> str:
    try:
        return f" ({path} begins at {(start + timedelta(seconds=first)).isoformat()})"
    except OverflowError:
        return ""


def overlap_error(spans: Mapping[str, TimeSpan], *, start_from_files: bool = False) -> RunError:
    """Build the error for files without a common time: the files with a clock in another time zone
    and the option that corrects it, else the times of all files.

    `start_from_files`: the run's start is that of the earliest file, and does not tell which clocks
    are right.
    """
    reference = largest_overlap(spans, by_size=start_from_files)
    shift_s, shifted = zone_offset(spans, reference)
    if shifted:
        direction = "ahead of" if shift_s > 0 else "behind"
        other = "that of the other files" if start_from_files else "the run's"
        return RunError(
            f"the clock of {', '.join(shifted)} is {abs(shift_s):g} s {direction} {other}",
            expected="files in one time zone; sadf prints UTC, sar and most tools print local time",
            remedy=" ".join(f"--file {path} clock_offset_s={-shift_s:g}" for path in shifted),
        )
    return RunError(
        "no time after the warm-up is covered by all files of the run",
        found=_span_words(spans, reference),
        remedy="compare --start with the files' clocks, remove a file, or set --window",
    )


def largest_overlap(spans: Mapping[str, TimeSpan], *, by_size: bool = False) -> set[str]:
    """Return files that have a time in common, no other file shares: of several such sets, the one
    nearest to the run's start, or with `by_size` the largest one.
    """
    begins = sorted({begin for begin, _ in spans.values()})
    groups = []
    for begin, following in zip(begins, [*begins[1:], np.inf], strict=True):
        group = {path for path, (low, high) in spans.items() if low <= begin < high}
        # otherwise all of them overlap with the next file too
        if any(spans[path][1] <= following for path in group):
            groups.append(group)

    def rank(group: set[str]) -> tuple[float, float]:
        distance = min(max(spans[path][0], -spans[path][1], 0.0) for path in group)
        return (-len(group), distance) if by_size else (distance, -len(group))

    return min(groups, key=rank, default=set())


def zone_offset(spans: Mapping[str, TimeSpan], reference: set[str]) -> tuple[float, list[str]]:
    """Detect files with a clock in another time zone: return the offset, a multiple of a quarter of
    an hour, and these files; (0, none) if no offset makes all files overlap.

    `reference` are the files with the right clock. Of several offsets, the one with the longest
    common time is taken, preferably of whole hours. It must make the begins of files coincide, or
    account for most of the time that can be common.
    """
    off = [path for path in spans if path not in reference]
    if not off or not reference:
        return 0.0, []
    right = np.array([spans[path] for path in sorted(reference)])
    wrong = np.array([spans[path] for path in off])
    low, high = right[:, 0].max(), right[:, 1].min()
    possible = min(high - low, float((wrong[:, 1] - wrong[:, 0]).min()))
    begins = np.unique(np.append(right[:, 0], 0.0))
    best = None
    for step in (k for k in range(-ZONE_STEPS, ZONE_STEPS + 1) if k):
        moved = wrong - step * ZONE_STEP_S
        common = min(high, moved[:, 1].min()) - max(low, moved[:, 0].max())
        if common <= 0:
            continue
        distance = max(float(np.abs(begins - begin).min()) for begin in np.unique(moved[:, 0]))
        if distance > ZONE_TOLERANCE_S and common < MIN_EXPLAINED * possible:
            continue
        rank = (-round(common / ZONE_TOLERANCE_S), step % 4 != 0, distance, abs(step))
        if best is None or rank < best[0]:
            best = rank, step
    return (0.0, []) if best is None else (float(best[1] * ZONE_STEP_S), off)


def _span_words(spans: Mapping[str, TimeSpan], reference: set[str]) -> str:
    """Describe the times of files: those outside the reference one by one, the others together."""
    together = [spans[path] for path in spans if path in reference]
    low, high = max(begin for begin, _ in together), min(end for _, end in together)
    name = next(iter(reference)) if len(reference) == 1 else f"{len(reference)} files together"
    off = [
        f"{path} {begin:g} to {end:g} s"
        for path, (begin, end) in spans.items()
        if path not in reference
    ]
    more = [f"{len(off) - MAX_SHOWN} more"] if len(off) > MAX_SHOWN else []
    return "; ".join([f"{name} {low:g} to {high:g} s", *off[:MAX_SHOWN], *more])
