"""A study that measures the conditions of a paper's claim."""

from __future__ import annotations

from pathlib import Path

from rawperf.core.errors import ParameterError
from rawperf.core.units import is_unit
from virtperf.comparison.claim import FoundClaim
from virtperf.core.paths import Layout
from virtperf.study.new.write import MEASURED_FILES, Drafted, render, write_study
from virtperf.study.quantities import Expression, Quantity

SIDES = ("of", "to")
"""Fields of a claim that compares a side, or two."""
UNIT_OF_SHARES = "1"
"""Unit of runs for a quantity of which the paper prints shares of a reference."""


def plan(layout: Layout, found: FoundClaim, study_id: str) -> list[Path]:
    """Write a measured study with a condition for each of the claim's, a workload to fill in, and the
    claim as its hypothesis; returns the written files.

    Raises
    ------
    ParameterError
        The claim is stated for several sets of conditions, is no comparison of conditions of one
        quantity, or is about a share of the paper's own reference condition.
    RawperfError
        As `write_study`.
    """
    claim, conditions = found.claim, found.conditions
    if len(claim.instances) > 1:
        found.at({})
    names = {quantity.name for quantity in conditions}
    relation = claim.relation_fields() - {*claim.takes, "strict"}
    if len(names) > 1 or not relation <= {*SIDES, "order"}:
        raise ParameterError(
            f"no plan for {found.name}",
            expected="a claim that compares conditions of one quantity",
            found=claim.compared_words(),
            remedy=f"virtperf new study {study_id} --measured, and a hypothesis of your own",
        )
    quantity = found.study.quantities[names.pop()]
    if quantity.references and not claim.unit_cancels:
        raise ParameterError(
            f"{found.name} is about a share of the paper's own reference condition",
            remedy="choose a claim that compares two conditions: virtperf claim list WORDS",
        )
    unit = quantity.unit
    if not is_unit(unit):
        if not claim.unit_cancels:
            raise ParameterError(f"no plan for {found.name}", found=f"a number in {unit!r}")
        unit = UNIT_OF_SHARES
    numbers = {each: number for number, each in enumerate(conditions, start=1)}
    sides = [_side(part, numbers, found) for part in claim.instances[0].parts]
    values = {
        "id": study_id,
        "title": f"{claim.says.rstrip('.')}: measured here",
        "paper": found.study.id,
        "claim": claim.id,
        "says": claim.says,
        "quantity": quantity.name,
        "label": quantity.label,
        "unit": unit,
        "unit_words": "any unit, the same for all conditions" if unit == UNIT_OF_SHARES else unit,
        "conditions": [{"number": n, "words": found.condition(q)} for q, n in numbers.items()],
        "sides": {"order": sides} if "order" in relation else dict(zip(SIDES, sides, strict=False)),
    }
    texts = {
        name: render("virtperf.study.new", f"planned/{name}.j2", values) for name in MEASURED_FILES
    }
    return write_study(layout, study_id, measured=True, drafted=Drafted(texts))


def _side(part: Expression, numbers: dict[Quantity, int], found: FoundClaim) -> str:
    if any(coefficient != 1 for coefficient, _ in part.terms):
        raise ParameterError(
            f"no plan for {found.name}", expected="sums of conditions", found="a difference"
        )
    return " + ".join(f"{q.name}[condition={numbers[q]}]" for _, q in part.terms)
