"""A trail on a terminal."""

from __future__ import annotations

from virtperf.exhibits.trace import Trail
from virtperf.exhibits.wording import interval, number, plural


def trail_text(trail: Trail, claims: dict[str, str]) -> str:
    """The trail in lines of plain text."""
    low = float("-inf") if trail.low is None else trail.low
    high = float("inf") if trail.high is None else trail.high
    lines = [
        trail.key,
        f"  value    {trail.words}, in {trail.unit}",
        f"  formula  {trail.formula}",
    ]
    if trail.printed is not None:
        lines.append(f"  printed  {number(trail.printed)}, by {', '.join(trail.printed_by)}")
    lines.append(f"  allowed  {interval(low, high)}")
    lines += [f"    lower limit: {_said(c, claims)}" for c in trail.low_by]
    lines += [f"    upper limit: {_said(c, claims)}" for c in trail.high_by]
    for run in trail.runs:
        begin, end = (number(v) for v in run.window_s)
        lines.append(
            f"  run      {run.run} ({run.provenance}): {number(run.value, 6)}; {run.metric}, window {begin} to {end} s"
        )
        lines += [f"    {f.path}: {f.lines}, {plural(f.samples, 'sample')}" for f in run.files]
        lines += [f"    note: {run.note}"] if run.note else []
    lines += [f"  not used {run}: {why}" for run, why in trail.excluded]
    return "\n".join(lines)


def _said(claim: str, claims: dict[str, str]) -> str:
    return f"{claim}: {claims[claim]}" if claim in claims else claim
