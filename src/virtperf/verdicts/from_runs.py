"""Claims against measured runs: the verdict, the number with its interval, how many runs would
decide.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from rawperf.core.model import Level
from virtperf.core.numbers import as_precise, interval
from virtperf.core.provenance import Provenance
from virtperf.core.stage_tables import VERDICTS
from virtperf.study.claims import NUMBERED, Claim, Claims
from virtperf.study.definition import Study
from virtperf.study.hypotheses import Hypothesis
from virtperf.study.samples import StudySamples, samples_by_quantity
from virtperf.verdicts.comparisons import (
    MORE_THAN_ONE,
    MORE_THAN_ZERO,
    ORDERS,
    comparisons,
)
from virtperf.verdicts.regions import (
    MAX_RUNS_NEEDED,
    Comparison,
    Decision,
    bonferroni_level,
    by_value,
    decide,
    least_seen,
    runs_to_decide,
    worst,
)

OF_A_CLAIM: Mapping[Decision, str] = {
    Decision.HOLDS: "reproduced",
    Decision.FAILS: "refuted",
    Decision.UNDECIDED: "undecided",
    Decision.AGREES: "value agrees",
    Decision.DIFFERS: "value differs",
    Decision.UNMEASURED: "no measurement",
}
OF_A_HYPOTHESIS: Mapping[Decision, str] = {
    **OF_A_CLAIM,
    Decision.HOLDS: "holds here",
    Decision.FAILS: "does not hold here",
}
"""The words for a decision: of a claim of a paper, and of a hypothesis about one's own machine."""
WITHIN_BLOCKS = re.compile(r"within \d+ blocks")
"""How `Contrast.design` begins where every block gives one ratio or difference."""
NO_VERDICT = {
    "estimate": math.nan,
    "estimate_low": math.nan,
    "estimate_high": math.nan,
    "runs_needed": math.nan,
    "detectable": math.nan,
    "detectable_unit": "",
}


def judge_claim(
    study: Study,
    claim: Claim,
    samples: StudySamples,
    level: float,
    *,
    provenance: Provenance = Provenance.MEASURED,
) -> tuple[Decision, dict[str, Any]]:
    """A statement by those of its comparisons whose conditions were all measured, and what the
    table `VERDICTS` says of it.

    Its number is, of several instances, the one that speaks most against it. A true statement
    fails, and a false one holds, with a probability of at most one minus `level`.

    Runs that the paper's authors published are those of which the claim speaks: where no interval
    decides, the value itself is compared with what the claim allows.
    """
    compared, total = comparisons(study, claim, samples)
    whole = len(compared) == total
    decision = decide(compared, level, whole=whole)
    if not compared:
        return decision, {"reason": "no measured runs of all the conditions that it compares"}
    if study.artifact and whole and decision is Decision.UNDECIDED:
        decision = by_value(compared)
    undecided = decision is Decision.UNDECIDED
    needed = runs_to_decide(compared, level, whole=whole) if undecided else math.nan
    at_once = 1 if decision is Decision.HOLDS else sum(each.known for each in compared)
    single = bonferroni_level(compared, level) if at_once > 1 else level
    shown = worst(compared, single)
    low, high = shown.interval(single)
    source = "the published data give" if study.artifact else "measured"
    if provenance is Provenance.EXAMPLE:
        source = "example runs give"
    reason = _measured(claim, shown, (low, high), level, at_once, source, told_apart=total > 1)
    if not whole:
        reason += f"; {len(compared)} of its {total} comparisons were measured"
    if any(each.contrast.confounded for each in compared):
        reason += "; its conditions stand in different blocks, whose spread counts as well"
    if decision in (Decision.AGREES, Decision.DIFFERS):
        reason += (
            "; its interval reaches beyond that, so that the value alone is compared"
            if shown.known
            else "; one run shows no interval, so that the value alone is compared"
        )
    elif undecided and not study.artifact and not any(each.of_samples for each in compared):
        reason += _wanted(needed, compared)
    numbered = claim.kind in (*NUMBERED, "equivalence") or (claim.kind == "ordering" and total == 1)
    found = {"reason": reason, "runs_needed": needed, **_power(compared, level)}
    if numbered and shown.unit is not None:
        found |= {"estimate": shown.value, "estimate_low": low, "estimate_high": high}
    return decision, found


def judge(
    study: Study,
    claims: Claims,
    text_verdicts: pd.DataFrame | None,
    observations: pd.DataFrame,
    *,
    level: float,
    provenance: Provenance = Provenance.MEASURED,
    elsewhere: tuple[str, Level] | None = None,
) -> pd.DataFrame:
    """The table `VERDICTS`: text verdict, measured verdict, number, runs needed, what the runs
    could have seen, and the reason in words.

    Numbers are NaN where nothing was measured, limits where runs were not repeated, `runs_to_decide`
    where nothing is undecided or known of the spread; infinite for more than `regions.MAX_RUNS_NEEDED`
    runs of every condition. `text_verdicts` is the table `CLAIMS`, None where the claims are
    hypotheses that no text states. Of `observations`, the table `OBSERVATIONS`, those of runs of
    this `provenance` are read, whose intervals have this level. `elsewhere` is a factor and one of
    its levels: runs there stand in the place of those at its default, at which the claims are.
    """
    words = OF_A_HYPOTHESIS if text_verdicts is None else OF_A_CLAIM
    if elsewhere:
        observations = _moved(study, observations, *elsewhere)
    samples = samples_by_quantity(study, observations, provenance, level)
    text: Mapping[str, str] = (
        {} if text_verdicts is None else dict(text_verdicts.set_index("claim")["text_verdict"])
    )
    ours = {**NO_VERDICT, "measured_verdict": "not judged", "reason": "an assumption of ours"}
    rows = []
    for claim in claims:
        decision, found = judge_claim(study, claim, samples, level, provenance=provenance)
        said = {
            "claim": claim.id,
            "text_verdict": text.get(claim.id, "hypothesis"),
            "measured_verdict": words[decision],
        }
        rows.append({**NO_VERDICT, **said, **found, **(ours if claim.assumed else {})})
    return VERDICTS.frame(rows)


def _moved(study: Study, observations: pd.DataFrame, factor: str, level: Level) -> pd.DataFrame:
    """The runs at one level of a factor, as if that were its default."""
    there = observations[observations[factor].map(lambda own: own == level)]
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
    """``measured 1.84 (95 % CI 1.70 to 1.98, 3 runs per condition, within 3 blocks); the claim
    allows 1.8 to 2.2``.
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
    allowed = {MORE_THAN_ZERO: "more than 0", MORE_THAN_ONE: "more than 1"}.get(
        shown.low, interval(shown.low, shown.high, unit)
    )
    design = f", {shown.contrast.design}" if shown.contrast.design else ""
    text = (
        f"{at}{source} {value}{unit} ({region}{runs} per condition{design}); "
        f"the {'hypothesis' if isinstance(claim, Hypothesis) else 'claim'} allows {allowed}"
    )
    return f"{text} ({shown.remark})" if shown.remark else text


def _power(compared: list[Comparison], level: float) -> dict[str, Any]:
    """The columns `detectable` and `detectable_unit`."""
    least, of = least_seen(compared, level)
    if of is None:
        return {}
    if of.relative:
        return {"detectable": 100 * least, "detectable_unit": "% of the ratio"}
    return {"detectable": least, "detectable_unit": (of.unit or "").strip()}


def _wanted(needed: float, compared: list[Comparison]) -> str:
    unknown = [each for each in compared if not each.known]
    if any(each.runs[0] < 2 for each in unknown):
        return (
            "; a condition with one run does not show how far runs differ: at least 2 runs of each "
            "are needed"
        )
    if unknown:
        return (
            "; one block does not show how far blocks differ: conditions are needed in the same "
            "blocks, or in at least 2 blocks each"
        )
    blocks = all(WITHIN_BLOCKS.match(each.contrast.design) for each in compared)
    units = "blocks" if blocks else "runs per condition"
    if math.isinf(needed):
        return f"; more than {MAX_RUNS_NEEDED:,} {units} would be needed"
    if math.isfinite(needed):
        more = needed - min(each.contrast.n for each in compared)
        further = f", {more:,.0f} more than there are" if more >= 1 else ""
        return f"; about {needed:,.0f} {units} would decide{further}"
    return ""
