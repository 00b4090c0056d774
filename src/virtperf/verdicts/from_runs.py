"""Claims against observations: the estimate with its interval, and the verdict of measured data.

Only runs with provenance "measured" reproduce or refute. The same estimate from simulated runs shows what the
pipeline recovers; it never decides, since those runs were made from the claims.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from virtperf.core.mean import Mean
from virtperf.core.provenance import Provenance
from virtperf.core.stage_tables import VERDICTS
from virtperf.reconstruct.constraints import claim_rows
from virtperf.study.claims import NUMBERED, Claim, Claims, Instance
from virtperf.study.definition import Study
from virtperf.study.quantities import Expression, Quantity
from virtperf.summarize.conditions import OWN, means_by_quantity, scale_of

MEASURED, SIMULATED = Provenance.MEASURED.value, Provenance.SIMULATED.value

DRAWS = 4000
TOLERANCE = 0.02
"""Relative widening of a printed number's limits: printed precision is finer than two laboratories can agree."""


@dataclass(frozen=True)
class Evidence:
    """What observations of one provenance say about a claim.

    Attributes
    ----------
    estimate, low, high : float
        The claim's number (ratio, level, difference, percent change) and its interval; NaN for claims without number.
    share : float
        The share of plausible means under which the claim holds.
    observed, of : int
        How many of the claim's relations were observed, and how many it has.
    """

    estimate: float
    low: float
    high: float
    share: float
    observed: int
    of: int


def evidence(
    study: Study, claim: Claim, means: Mapping[tuple[Quantity, str], Mean], *, level: float, seed: int
) -> Evidence | None:
    """Judge one claim by those of its relations whose quantities were all observed; None where there are none.

    Plausible means are drawn from Student's t with the standard error and degrees of freedom of each condition's mean;
    a mean without an error, such as one run's total, counts as exact. Interval ends are percentiles of the claim's
    number over the draws (parametric bootstrap, seeded).

    Parameters
    ----------
    means : mapping of (Quantity, scale) to Mean
        Of one provenance.
    """
    relations = len(claim.instances)
    observed = {quantity for quantity, _ in means}
    instances = tuple(i for i in claim.instances if _quantities(i) <= observed)
    claim = claim.model_copy(update={"instances": instances})
    if not claim.instances:
        return None
    rows = claim_rows(study, claim)
    named = sorted(set().union(*map(_quantities, claim.instances)))
    homogeneous = all(row.bound == 0 for row in rows)
    rng = np.random.default_rng([seed, *claim.id.encode()])
    draws = {}
    for quantity in named:
        mean = means.get((quantity, OWN if homogeneous else scale_of(study, quantity.name)))
        if mean is None:
            return None
        draws[quantity] = _draw(mean, rng)
    holds = np.ones(DRAWS + 1, dtype=bool)
    for row in rows:
        total = sum(c * draws[q] for q, c in row.terms)
        spread = sum(abs(c) * np.abs(draws[q]) for q, c in row.terms)
        exact = claim.kind == "equivalence" and claim.margin == 0
        allowance = TOLERANCE / 2 * spread if claim.kind in NUMBERED or exact else 0
        holds &= total <= row.bound + allowance
    number = _number(claim, draws)
    if number is None:
        return Evidence(np.nan, np.nan, np.nan, float(holds[1:].mean()), len(claim.instances), relations)
    low, high = np.quantile(number[1:], [(1 - level) / 2, (1 + level) / 2])
    share = float(holds[1:].mean())
    return Evidence(float(number[0]), float(low), float(high), share, len(claim.instances), relations)


def measured_verdict(found: Evidence | None, level: float) -> str:
    """reproduced, refuted, undecided, or no measurement; one observed relation can refute, only all can reproduce."""
    if found is None:
        return "no measurement"
    if found.share <= 1 - level:
        return "refuted"
    return "reproduced" if found.share >= level and found.observed == found.of else "undecided"


def judge(
    study: Study, claims: Claims, text_verdicts: pd.DataFrame, means: pd.DataFrame, *, level: float, seed: int
) -> pd.DataFrame:
    """The table `VERDICTS`: text verdict, measured verdict, both estimates, and the reason in words.

    Parameters
    ----------
    text_verdicts, means : DataFrame
        The tables `CLAIMS` and `MEANS`.
    """
    by_provenance: dict[str, dict[tuple[Quantity, str], Mean]] = {MEASURED: {}, SIMULATED: {}}
    for (quantity, provenance, scale), mean in means_by_quantity(study, means).items():
        if provenance in by_provenance:
            by_provenance[provenance][quantity, scale] = mean
    text = text_verdicts.set_index("claim")["text_verdict"]
    rows = []
    for claim in claims:
        found = {p: evidence(study, claim, own, level=level, seed=seed) for p, own in by_provenance.items()}
        measured, again = found[MEASURED], found[SIMULATED]
        verdict = "not judged" if claim.assumed else measured_verdict(measured, level)
        rows.append({
            "claim": claim.id, "text_verdict": text[claim.id], "measured_verdict": verdict,
            **_columns("estimate", measured), **_columns(SIMULATED, again),
            "reason": _reason(verdict, measured, level),
        })  # fmt: skip
    return VERDICTS.frame(rows)


def _columns(prefix: str, found: Evidence | None) -> dict[str, float]:
    names = [f"{prefix}" if prefix == "estimate" else f"{prefix}_estimate", f"{prefix}_low", f"{prefix}_high"]
    values: Sequence[float] = (np.nan,) * 3 if found is None else (found.estimate, found.low, found.high)
    return dict(zip(names, values, strict=True))


def _reason(verdict: str, found: Evidence | None, level: float) -> str:
    if verdict == "not judged":
        return "an assumption of ours"
    if found is None:
        return "no measured runs of all the conditions that it compares"
    part = "" if found.observed == found.of else f"; {found.observed} of its {found.of} conditions were measured"
    return f"holds under {100 * found.share:.0f} % of plausible measured means (decided at {100 * level:g} %){part}"


def _quantities(instance: Instance) -> set[Quantity]:
    return {q for part in instance.parts for _, q in part.terms}


def _draw(mean: Mean, rng: np.random.Generator) -> np.ndarray:
    """The mean, then `DRAWS` plausible means; shape (1 + DRAWS,)."""
    known = math.isfinite(mean.se) and mean.df > 0
    se, df = (mean.se, mean.df) if known else (0.0, 1.0)
    return np.append(mean.value, mean.value + se * rng.standard_t(df, DRAWS))


def _number(claim: Claim, draws: dict[Quantity, np.ndarray]) -> np.ndarray | None:
    def total(part: Expression) -> np.ndarray:
        return np.sum([c * draws[q] for c, q in part.terms], axis=0)

    if not claim.instances:
        return None
    parts = claim.instances[0].parts
    if claim.kind in ("value", "range"):
        return total(parts[0])
    if claim.kind in ("ratio", "equivalence"):
        return total(parts[0]) / total(parts[1])
    if claim.kind == "percent_change":
        return 100 * (total(parts[0]) / total(parts[1]) - 1)
    if claim.kind == "difference":
        return total(parts[0]) - total(parts[1])
    if claim.kind == "ordering" and len(parts) == 2:
        return total(parts[1]) - total(parts[0])
    return None
