"""Judgement of claims by measured runs: the compared estimates with their allowed ranges, the
verdict, the deciding estimate with its interval, and the runs needed to decide.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from rawperf.core.model import Level
from virtperf.core.contrasts import Contrast, block_name
from virtperf.core.estimate import Estimate
from virtperf.core.numbers import as_precise, interval, plural, pretty
from virtperf.core.provenance import Provenance
from virtperf.core.stage_tables import OBSERVATIONS, VERDICTS
from virtperf.core.verdicts import OF_THE_RATIO, Verdict
from virtperf.study.claim_kinds.base import Claim
from virtperf.study.claims import Claims
from virtperf.study.compared_numbers import MORE_THAN_ZERO, ComparedNumber, Terms, combine
from virtperf.study.conditions import MIN_UNITS, rows_over_levels
from virtperf.study.definition import Study
from virtperf.study.parts import EVERY
from virtperf.study.quantities import Quantity
from virtperf.study.study_samples import StudySamples, samples_by_quantity
from virtperf.verdicts.regions import (
    MAX_RUNS_NEEDED,
    Comparison,
    Decision,
    bonferroni_level,
    by_value,
    decide,
    detectable_difference,
    runs_to_decide,
    worst,
)

LIMIT_TOLERANCE = 0.02
"""Relative widening of a printed number's limits: agreement between laboratories is worse than the
precision of a printed number."""
MORE_THAN_ONE = math.nextafter(1.0, 2.0)
"""Limit of a strict order without a minimum difference, for the ratio of its sides."""


def comparisons(study: Study, claim: Claim, samples: StudySamples) -> tuple[list[Comparison], int]:
    """Build a claim's comparisons with fully measured conditions, and count all of them.

    The ranges are those stated by the claim: its `low` and `high`, its margin, or the direction of
    its order. Only two-sided limits of a printed number, of sums and of plain equality are widened
    by `LIMIT_TOLERANCE`: a ratio, a level or a difference by a share of its limits, a sum by that
    share of the mean size of total and parts, and none across the value of "no change". Limits of a word for a
    direction, margins and orders are not widened.

    Positive sides are compared by their ratio, on the log scale, including orders. A strict order
    requires a difference of the quantity's resolution, or any difference if the reference point of
    its scale was not measured. A level on a relative scale is a ratio to its reference point.
    """
    label = _labels(study, claim)
    numbers = [n for instance in claim.instances for n in claim.numbers(study, instance)]
    compared = []
    for stated in numbers:
        number = _scale(study, stated, samples)
        if number is None:
            continue
        contrast: Contrast | None = None
        if number.under and (number.high - number.shift) / number.factor >= 0:
            contrast = samples.log_ratio(number.over, number.under)
        if contrast is None and number.order:
            stated = number = _order_as_difference(study, number, samples)
        elif number.order:
            number = _order_as_ratio(study, number, samples)
            contrast = samples.log_ratio(number.over, number.under)
        if contrast is None:
            contrast = samples.linear_ratio(number.over, number.under)
        compared.append(_comparison(claim, number, contrast, samples, label(stated)))
    return compared, len(numbers)


def _scale(study: Study, number: ComparedNumber, samples: StudySamples) -> ComparedNumber | None:
    """Convert the number to the claim's scale; None if a required mean was not measured."""
    if not samples.keys() >= {*number.over, *number.under}:
        return None
    if number.order or number.under:
        return number
    references = {study.reference_for(q) for q in number.over}
    if references == {None}:
        return number
    reference = references.pop() if len(references) == 1 else None
    if reference is not None and reference[0] in samples and samples[reference[0]].mean:
        point, reference_value = reference
        return replace(number, under={point: 1 / reference_value})
    without_scale = {number.low, number.high} <= {0.0, -math.inf, math.inf}
    return replace(number, unit=None) if without_scale else None


def _order_as_ratio(study: Study, number: ComparedNumber, samples: StudySamples) -> ComparedNumber:
    """Express an order as the ratio of larger to smaller, with the minimum ratio it requires."""
    low = 1.0
    if number.low > 0:
        unit = _unit(study, number, samples)
        smaller = sum(c * samples[q].mean for q, c in number.under.items())
        low = max(MORE_THAN_ONE, 1 + number.low * unit / smaller if unit else 0.0)
    over, under = _common_factor(number.over), _common_factor(number.under)
    strict = low == MORE_THAN_ONE
    if over == under:
        return replace(number, low=low, unit="", order=False, strict=strict)
    # "less than half of it" is a ratio of more than 2, not a ratio of more than 1 to the half
    least = under / over
    return replace(
        number,
        over={q: c / over for q, c in number.over.items()},
        under={q: c / under for q, c in number.under.items()},
        low=math.nextafter(least, math.inf) if strict else low * least,
        unit="",
        order=False,
        strict=strict,
    )


def _common_factor(terms: Terms) -> float:
    """Return the common coefficient of all terms; 1 if they differ, or are negative."""
    factors = set(terms.values())
    return factors.pop() if len(factors) == 1 and min(factors) > 0 else 1.0


def _order_as_difference(
    study: Study, number: ComparedNumber, samples: StudySamples
) -> ComparedNumber:
    """Express an order as the difference larger minus smaller, in the runs' own unit."""
    terms = combine((1, number.over), (-1, number.under))
    low = 0.0
    if number.low > 0:
        low = max(MORE_THAN_ZERO, number.low * _unit(study, number, samples))
    own_scale = all(study.reference_for(q) is None for q in terms)
    unit = number.unit if own_scale else None
    strict = low == MORE_THAN_ZERO
    return replace(number, over=terms, under={}, low=low, unit=unit, order=False, strict=strict)


def _unit(study: Study, number: ComparedNumber, samples: StudySamples) -> float:
    """Return the size of one unit of the claim's scale in the runs' own unit; 0 if unknown."""
    references = {study.reference_for(q) for q in number.quantities}
    if references == {None}:
        return 1.0
    reference = references.pop() if len(references) == 1 else None
    if reference is None or reference[0] not in samples:
        return 0.0
    return samples[reference[0]].mean / reference[1]


def _comparison(
    claim: Claim, number: ComparedNumber, contrast: Contrast, samples: StudySamples, label: str
) -> Comparison:
    counts = [samples.count(q) for q in number.quantities]
    comparison = Comparison(
        contrast,
        number.low,
        number.high,
        (min(counts), max(counts)),
        factor=number.factor,
        shift=number.shift,
        label=label,
        unit=number.unit,
        strict=number.strict,
        bounds=number.bounds,
    )
    if not claim.has_tolerance:
        return comparison
    low, high = _widened_limits(claim, number, comparison)
    return replace(
        comparison, low=low, high=high, remark=f"with {100 * LIMIT_TOLERANCE:g} % tolerance"
    )


def _widened_limits(
    claim: Claim, number: ComparedNumber, comparison: Comparison
) -> tuple[float, float]:
    """Limits with a tolerance, which does not extend across equality of the sides."""
    low, high = ((end - number.shift) / number.factor for end in (number.low, number.high))
    if claim.tolerance_of_size:
        room_low = room_high = LIMIT_TOLERANCE / 2 * comparison.size
    else:
        room_low, room_high = LIMIT_TOLERANCE * abs(low), LIMIT_TOLERANCE * abs(high)
    wide_low, wide_high = low - room_low, high + room_high
    if low > claim.neutral:
        wide_low = max(wide_low, claim.neutral)
    if high < claim.neutral:
        wide_high = min(wide_high, claim.neutral)
    return (
        number.factor * wide_low + number.shift,
        number.factor * wide_high + number.shift,
    )


def _labels(study: Study, claim: Claim) -> Callable[[ComparedNumber], str]:
    """Return a function that labels a claim's comparisons by the levels, and the quantities, that
    differ between them.
    """
    named = [q for instance in claim.instances for part in instance.parts for _, q in part.terms]
    varied = [name for name in study.factors if len({q.level(name) for q in named}) > 1]
    kinds = {q.name for q in named}

    alike = len({study.quantities[name].label for name in kinds}) < len(kinds)

    def words(quantity: Quantity) -> str:
        label = study.quantities[quantity.name].label
        kind = [f"{label} ({quantity.name.replace('_', ' ')})" if alike else label]
        kind = kind if len(kinds) > 1 else []
        return ", ".join(
            [*kind, *(study.level_words(name, quantity.level(name)) for name in varied)]
        )

    def label(number: ComparedNumber) -> str:
        first = [q for q, c in number.over.items() if q not in number.under and c > 0]
        second = list(number.under) or [q for q, c in number.over.items() if c < 0]
        sides = (" and ".join(dict.fromkeys(map(words, side))) for side in (first, second))
        return (" to " if number.under else " minus ").join(filter(None, sides))

    return label


OF_A_CLAIM: Mapping[Decision, Verdict] = {
    Decision.HOLDS: Verdict.REPRODUCED,
    Decision.FAILS: Verdict.REFUTED,
    Decision.UNDECIDED: Verdict.UNDECIDED,
    Decision.AGREES: Verdict.VALUE_AGREES,
    Decision.DIFFERS: Verdict.VALUE_DIFFERS,
    Decision.UNMEASURED: Verdict.NO_MEASUREMENT,
}
OF_A_HYPOTHESIS: Mapping[Decision, Verdict] = {
    **OF_A_CLAIM,
    Decision.HOLDS: Verdict.HOLDS_HERE,
    Decision.FAILS: Verdict.FAILS_HERE,
}
"""Verdicts by decision: for a claim of a paper, and for a hypothesis about one's own machine.
"""
NO_VERDICT = {
    "estimate": math.nan,
    "estimate_low": math.nan,
    "estimate_high": math.nan,
    "allowed_low": math.nan,
    "allowed_high": math.nan,
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
    few: str = "",
) -> tuple[Decision, dict[str, Any]]:
    """Judge a statement by its comparisons with fully measured conditions, and return the decision
    and the row of the table `VERDICTS`.

    With several instances, the estimate is the one with the strongest evidence against it. A true
    statement fails, and a false one holds, with a probability of at most one minus `level`.

    Runs published by the paper's authors are the subject of the claim itself: if the interval does
    not decide, the estimate is compared with the allowed range. `few` says why the runs can't decide
    whatever they show: the reason begins with it, and no number of further runs is named.
    """
    compared, total = comparisons(study, claim, samples)
    whole = len(compared) == total
    decision = decide(compared, level, whole=whole)
    if not compared:
        return decision, {"reason": "no comparison has measured runs of all its conditions"}
    if study.artifact and whole and decision is Decision.UNDECIDED:
        decision = by_value(compared)
    undecided = decision is Decision.UNDECIDED and not few
    needed = runs_to_decide(compared, level, whole=whole) if undecided else math.nan
    at_once = 1 if decision is Decision.HOLDS else sum(each.known for each in compared)
    single = bonferroni_level(compared, level) if at_once > 1 else level
    shown = worst(compared, single)
    found = shown.estimate(single).within(*shown.bounds)
    source = "the published data give" if study.artifact else "measured"
    if provenance is Provenance.EXAMPLE:
        source = "example runs give"
    reason = _reason_text(
        shown,
        found,
        level,
        at_once,
        source,
        "hypothesis" if study.kind == "measured" else "claim",
        labelled=total > 1 or claim.is_order,
    )
    if few:
        reason = f"{few}; {reason}"
    if not whole:
        reason += f"; measured: {len(compared)} of its {total} comparisons"
    if any(each.known and each.contrast.confounded for each in compared):
        reason += (
            "; the conditions are in different blocks, so the spread between blocks is included"
        )
    if decision in (Decision.AGREES, Decision.DIFFERS):
        reason += (
            "; the interval extends beyond that range, so only the value is compared"
            if shown.known
            else "; one run gives no interval, so only the value is compared"
        )
    elif undecided and not study.artifact and not any(each.of_samples for each in compared):
        reason += _runs_needed_text(needed, compared)
    numbered = claim.shows_estimate(total)
    row = {"reason": reason, "runs_needed": needed, **_power(compared, level)}
    if numbered and shown.unit is not None:
        row |= {"estimate": shown.value, "estimate_low": found.low, "estimate_high": found.high}
        row |= {"allowed_low": shown.low, "allowed_high": shown.high}
    return decision, row


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
    """Build the table `VERDICTS`: text verdict, measured verdict, estimate, runs needed, detectable
    difference, and the reason in words.

    Estimates are NaN without measurements, limits without replicated runs, `runs_needed` if
    nothing is undecided or the spread is unknown; infinite above `regions.MAX_RUNS_NEEDED` runs per
    condition. `text_verdicts` is the table `CLAIMS`, or None for hypotheses without a text. Of
    `observations`, the table `OBSERVATIONS`, only runs of this `provenance` are used; intervals
    have this level. `elsewhere` is a factor and one of its levels: runs at that level replace those
    at the default level, to which the claims refer. With `EVERY` for the level, the claims are
    judged over all levels (`rows_over_levels`), such as sessions or machines.
    """
    words = OF_A_HYPOTHESIS if text_verdicts is None else OF_A_CLAIM
    if elsewhere and elsewhere[1] == EVERY:
        factor = study.factors[elsewhere[0]]
        rows = rows_over_levels(study, observations.to_dict("records"), factor.name, factor.default)
        observations = OBSERVATIONS.frame(rows, tuple(study.factors))
    elif elsewhere:
        observations = _relabelled_as_default(study, observations, *elsewhere)
    samples = samples_by_quantity(study, observations, provenance, level)
    text: Mapping[str, str] = (
        {} if text_verdicts is None else dict(text_verdicts.set_index("claim")["text_verdict"])
    )
    ours = {**NO_VERDICT, "measured_verdict": Verdict.NOT_JUDGED, "reason": "an assumption of ours"}
    few = _too_few_levels(study, observations, provenance) if elsewhere is None else ""
    rows = []
    for claim in claims:
        decision, row = judge_claim(study, claim, samples, level, provenance=provenance, few=few)
        columns = {
            "claim": claim.id,
            "text_verdict": text.get(claim.id, Verdict.HYPOTHESIS),
            "measured_verdict": words[decision],
        }
        if few and decision is not Decision.UNMEASURED:
            columns["measured_verdict"] = Verdict.NOT_JUDGED
        rows.append({**NO_VERDICT, **columns, **row, **(ours if claim.assumed else {})})
    return VERDICTS.frame(rows)


def _too_few_levels(study: Study, observations: pd.DataFrame, provenance: Provenance) -> str:
    """Why runs at the measured levels of a pooled factor judge nothing; "" if they do."""
    factor = study.pooled_factor
    if factor is None:
        return ""
    of_kind = observations[observations["provenance"] == provenance.value]
    n = len({level for level in of_kind[factor.name] if level != EVERY})
    if n >= MIN_UNITS:
        return ""
    return f"measured on {n} of at least {MIN_UNITS} {factor.label}s"


def _relabelled_as_default(
    study: Study, observations: pd.DataFrame, factor: str, level: Level
) -> pd.DataFrame:
    """Select the runs at one level of a factor and relabel them as the default level."""
    at_level = observations[observations[factor].map(lambda value: value == level)]
    moved = at_level.copy()
    moved[factor] = pd.Series(
        [study.factors[factor].default] * len(at_level), index=at_level.index, dtype=object
    )
    return moved


def _reason_text(
    shown: Comparison,
    found: Estimate,
    level: float,
    at_once: int,
    source: str,
    statement: str,
    *,
    labelled: bool,
) -> str:
    """Format the reason: ``measured 1.84 (95 % CI 1.70 to 1.98, 3 runs per condition, within 3
    blocks); the claim allows 1.8 to 2.2``.
    """
    value, *limits = as_precise(found.value, found.low, found.high)
    fewest, most = shown.runs
    what = "sample" if shown.of_samples else "run"
    runs = f"{fewest:,} to {plural(most, what)}" if fewest < most else plural(fewest, what)
    region = ""
    if math.isfinite(found.low):
        several = f", Bonferroni for {at_once} comparisons" if at_once > 1 else ""
        region = f"{100 * level:g} % CI {limits[0]} to {limits[1]}{several}, "
    elif shown.known:
        region = f"no finite {100 * level:g} % CI, "
    at = f"{shown.label}: " if shown.label and labelled else ""
    unit = shown.unit or ""
    allowed = (
        f"more than {pretty(0.0 if shown.low == MORE_THAN_ZERO else shown.low)}"
        if shown.strict
        else interval(shown.low, shown.high, unit)
    )
    design = f", {shown.contrast.design}" if shown.contrast.design and most > 1 else ""
    text = (
        f"{at}{source} {value}{unit} ({region}{runs} per condition{design}); "
        f"the {statement} allows {allowed}"
    )
    return f"{text} ({shown.remark})" if shown.remark else text


def _power(compared: list[Comparison], level: float) -> dict[str, Any]:
    """Return the columns `detectable` and `detectable_unit`."""
    least, of = detectable_difference(compared, level)
    if of is None:
        return {}
    if of.relative:
        return {"detectable": 100 * least, "detectable_unit": OF_THE_RATIO}
    return {"detectable": least, "detectable_unit": (of.unit or "").strip()}


def _runs_needed_text(needed: float, compared: list[Comparison]) -> str:
    unknown = [each for each in compared if not each.known]
    if any(each.runs[0] < 2 for each in unknown):
        return (
            "; the spread between runs is unknown for a condition with one run: at least 2 runs per "
            "condition are needed"
        )
    if unknown:
        return (
            "; the spread between blocks is unknown for a condition in one block: conditions are needed "
            "in the same blocks, or in at least 2 blocks each"
        )
    names = {block_name(each.contrast.design) for each in compared}
    units = "runs per condition" if names == {""} or len(names) > 1 else f"{names.pop()}s"
    if math.isinf(needed):
        return f"; more than {MAX_RUNS_NEEDED:,} {units} would be needed"
    if math.isfinite(needed):
        more = needed - min(each.contrast.n for each in compared)
        further = f", {more:,.0f} more than available" if more >= 1 else ""
        return f"; about {needed:,.0f} {units} would decide{further}"
    return ""
