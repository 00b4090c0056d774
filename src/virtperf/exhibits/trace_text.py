"""A trace on a terminal."""

from __future__ import annotations

from virtperf.exhibits.trace import Trace
from virtperf.exhibits.wording import number, plural


def trace_text(trace: Trace, claims: dict[str, str]) -> str:
    """The trace in lines of plain text."""
    lines = [
        trace.key,
        f"  value    {trace.words}, in {trace.unit}",
        f"  formula  {trace.formula}",
    ]
    if trace.printed is not None:
        lines.append(f"  printed  {number(trace.printed)}, by {', '.join(trace.printed_by)}")
    lines.append(f"  allowed  {trace.allowed}")
    lines += [f"    lower limit: {_said(c, claims)}" for c in trace.low_by]
    lines += [f"    upper limit: {_said(c, claims)}" for c in trace.high_by]
    for mean in trace.means:
        limits = "" if mean.low is None else f", {mean.level:.0%} interval {number(mean.low)} to {number(mean.high)}"
        lines.append(f"  mean     {number(mean.value)} over {plural(mean.n, 'run')}{limits} ({mean.provenance})")
    for run in trace.runs:
        begin, end = (number(v) for v in run.window_s)
        lines.append(
            f"  run      {run.run} ({run.provenance}): {number(run.value, 6)}; {run.metric}, window {begin} to {end} s"
        )
        lines += [f"    {f.path}: {f.lines}, {plural(f.samples, 'sample')}" for f in run.files]
        lines += [f"    note: {run.note}"] if run.note else []
    lines += [f"  not used {run}: {why}" for run, why in trace.excluded]
    return "\n".join(lines)


def _said(claim: str, claims: dict[str, str]) -> str:
    return f"{claim}: {claims[claim]}" if claim in claims else claim
