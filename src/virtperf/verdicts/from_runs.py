"""Claims against measured runs: the verdict, the number with its interval, how many runs would
decide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from rawperf.core.model import Level
from virtperf.core.mean import Mean
from virtperf.core.numbers import as_precise, interval
from virtperf.core.provenance import Provenance
from virtperf.core.stage_tables import VERDICTS
from virtperf.study.claims import NUMBERED, Claim, Claims
from virtperf.study.conditions import OWN_SCALE, means_by_quantity
from virtperf.study.definition import Study
from virtperf.study.quantities import Quantity
from virtperf.verdicts.comparisons import ORDERS, comparisons
from virtperf.verdicts.regions import (
    MAX_RUNS,
    Comparison,
    Outcome,
    by_value,
    decide,
    runs_needed,
    together,
    worst,
)

OF_A_CLAIM: Mapping[Outcome, str] = {
    Outcome.HOLDS: "reproduced",
    Outcome.FAILS: "refuted",
    Outcome.UNDECIDED: "undecided",
    Outcome.AGREES: "value agrees",
    Outcome.DIFFERS: "value differs",
    Outcome.UNMEASURED: "no measurement",
}
OF_A_HYPOTHESIS: Mapping[Outcome, str] = {
    **OF_A_CLAIM,
    Outcome.HOLDS: "holds here",
    Outcome.FAILS: "does not hold here",
}
"""The words for an outcome: of a claim of a paper, and of a hypothesis about one's own machine."""


def _judged(
    study: Study, claim: Claim, means: Mapping[Quantity, Mean], level: float
) -> tuple[Outcome, dict[str, Any]]:
    """A statement by those of its comparisons whose conditions were all measured.

    Its number is, of several instances, the one that speaks most against it. A true statement
    fails, and a false one holds, with a probability of at most one minus `level`.

    Runs that the paper's authors published are those of which the claim speaks: where no interval
    decides, the value itself is compared with what the claim allows.
    """
    compared, total = comparisons(study, claim, means)
    whole = len(compared) == total
    outcome = decide(compared, level, whole=whole)
    if not compared:
        return outcome, {"reason": "no measured runs of all the conditions that it compares"}
    if study.artifact and whole and outcome is Outcome.UNDECIDED:
        outcome = by_value(compared)
    undecided = outcome is Outcome.UNDECIDED
    needed = runs_needed(compared, level, whole=whole) if undecided else math.nan
    at_once = 1 if outcome is Outcome.HOLDS else sum(each.known for each in compared)
    single = together(compared, level) if at_once > 1 else level
    shown = worst(compared, single)
    low, high = shown.interval(single)
    source = "the published data give" if study.artifact else "measured"
    reason = _measured(claim, shown, (low, high), level, at_once, source, told_apart=total > 1)
    if not whole:
        reason += f"; {len(compared)} of its {total} comparisons were measured"
    if outcome in (Outcome.AGREES, Outcome.DIFFERS):
        reason += (
            "; its interval reaches beyond that, so that the value alone is compared"
            if shown.known
            else "; one run shows no interval, so that the value alone is compared"
        )
    elif undecided and not study.artifact and not any(each.of_samples for each in compared):
        reason += _wanted(needed, repeated=all(each.known for each in compared))
    numbered = claim.kind in (*NUMBERED, "equivalence") or (claim.kind == "ordering" and total == 1)
    found = {"reason": reason, "runs_needed": needed}
    if numbered and shown.unit is not None:
        found |= {"estimate": shown.value, "estimate_low": low, "estimate_high": high}
    return outcome, found


def judge(
    study: Study,
    claims: Claims,
    text_verdicts: pd.DataFrame | None,
    means: pd.DataFrame,
    *,
    level: float,
    provenance: Provenance = Provenance.MEASURED,
    elsewhere: tuple[str, Level] | None = None,
) -> pd.DataFrame:
    """The table `VERDICTS`: text verdict, measured verdict, number, runs needed and the reason in
    words.

    Numbers are NaN where nothing was measured, limits where runs were not repeated, `runs_needed`
    where nothing is undecided or known of the spread; infinite for more than `regions.MAX_RUNS` runs of
    every condition. `text_verdicts` is the table `CLAIMS`, None where the claims are hypotheses
    that no text states. Of `means`, the table `MEANS`, those of runs of this `provenance` in their own unit
    are read. `elsewhere` is a factor and one of its levels: runs there stand in the place of those
    at its default, at which the claims are.
    """
    words = OF_A_HYPOTHESIS if text_verdicts is None else OF_A_CLAIM
    if elsewhere:
        means = _moved(study, means, *elsewhere)
    measured = means[(means["provenance"] == provenance.value) & (means["scale"] == OWN_SCALE)]
    by_quantity = {
        quantity: mean for (quantity, *_), mean in means_by_quantity(study, measured).items()
    }
    text: Mapping[str, str] = (
        {} if text_verdicts is None else dict(text_verdicts.set_index("claim")["text_verdict"])
    )
    unknown = dict.fromkeys(("estimate", "estimate_low", "estimate_high", "runs_needed"), math.nan)
    ours = {
        "measured_verdict": "not judged",
        "runs_needed": math.nan,
        "reason": "an assumption of ours",
    }
    rows = []
    for claim in claims:
        outcome, found = _judged(study, claim, by_quantity, level)
        said = {
            "claim": claim.id,
            "text_verdict": text.get(claim.id, "hypothesis"),
            "measured_verdict": words[outcome],
        }
        rows.append({**unknown, **said, **found, **(ours if claim.assumed else {})})
    return VERDICTS.frame(rows)


def _moved(study: Study, means: pd.DataFrame, factor: str, level: Level) -> pd.DataFrame:
    """The means of runs at one level of a factor, as if that were its default."""
    there = means[means[factor].map(lambda own: own == level)]
    moved = there.copy()
    moved[factor] = pd.Series(
        [study.factors[factor].default] * len(there), index=there.index, dtype=object
    )
    return moved


def _measured(
    claim: Claim,
    shown: Comparison,
    ends: tuple[float, float],
    level: float,
    at_once: int,
    source: str,
    *,
    told_apart: bool,
) -> str:
    """``measured 1.84 (95 % CI 1.70 to 1.98, 3 runs per condition); the claim allows 1.8 to
    2.2``.
    """
    value, *limits = as_precise(shown.value, *ends)
    fewest, most = shown.runs
    what = "sample" if shown.of_samples else "run"
    runs = (
        f"{fewest:,} to {most:,} {what}s"
        if fewest < most
        else f"{fewest:,} {what}{'s' if fewest > 1 else ''}"
    )
    region = ""
    if math.isfinite(ends[0]):
        several = f", {at_once} comparisons at once" if at_once > 1 else ""
        region = f"{100 * level:g} % CI {limits[0]} to {limits[1]}{several}, "
    elif shown.known:
        region = f"no finite {100 * level:g} % CI, "
    at = f"{shown.label}: " if shown.label and (told_apart or claim.kind in ORDERS) else ""
    unit = shown.unit or ""
    allowed = "more than 0" if shown.low == math.ulp(0.0) else interval(shown.low, shown.high, unit)
    origin = shown.means[0].origin
    if origin is not None and origin.provenance is Provenance.EXAMPLE:
        source = "example runs give"
    text = f"{at}{source} {value}{unit} ({region}{runs} per condition); the claim allows {allowed}"
    return f"{text} ({shown.remark})" if shown.remark else text


def _wanted(needed: float, *, repeated: bool) -> str:
    if not repeated:
        return "; a condition with one run does not show how far runs differ: at least 2 runs of each are needed"
    if math.isfinite(needed):
        return f"; about {needed:,.0f} runs per condition would decide"
    return (
        f"; more than {MAX_RUNS:,} runs per condition would be needed" if math.isinf(needed) else ""
    )
