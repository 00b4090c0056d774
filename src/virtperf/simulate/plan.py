"""Which runs are written, and what is true in each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from virtperf.study.definition import Study, run_levels
from virtperf.study.quantities import Level, Quantity


@dataclass(frozen=True)
class Condition:
    """Every factor's level and what is true there.

    `truth`: quantities that a run can tell, in the study's unit; without those that the text is
        silent about.
    `references`: for quantities without absolute scale: the condition at their reference point.
    """

    levels: Mapping[str, Level]
    truth: Mapping[str, float]
    references: Mapping[str, Condition] = field(default_factory=dict)


@dataclass(frozen=True)
class RunPlan:
    """A run to be written."""

    run_id: str
    replicate: int
    condition: Condition


def plan_runs(
    study: Study,
    borrow: Mapping[str, Mapping[str, Level]],
    centre: Mapping[Quantity, float],
    replicates: int,
) -> list[RunPlan]:
    """All runs of the study's `runs` blocks; what the text is silent about is taken from the
    condition of `borrow`.
    """

    def truth(levels: Mapping[str, Level]) -> dict[str, float]:
        """Every quantity that runs under a condition tell: its centre, or the borrowed one; absent
        where neither is.
        """
        found = {}
        for name, kind in study.quantities.items():
            quantity = study.quantity_at(name, levels)
            if quantity not in centre and name in borrow:
                quantity = quantity.moved(borrow[name])
            if quantity in centre and kind.observable(study.filled(levels)):
                found[name] = centre[quantity]
        return found

    plans = []
    for block in study.runs:
        for levels in run_levels(block):
            references = {}
            for name in study.quantities:
                found = study.reference_for(study.quantity_at(name, levels))
                if found is not None:
                    there = dict(found[0].at)
                    references[name] = Condition(there, truth(there))
            full: dict[str, Level] = study.filled(levels)  # type: ignore[assignment]
            condition = Condition(full, truth(levels), references)
            name = block.name.format(**full)
            plans += [RunPlan(f"{name}-r{k}", k, condition) for k in range(1, replicates + 1)]
    return plans
