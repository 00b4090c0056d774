"""Which runs are written, and what is true in each of them: the centre in absolute units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from virtperf.quantities import Level, Quantity
from virtperf.study import Study, run_levels
from virtperf.yamlio import load_yaml


@dataclass(frozen=True)
class Guest:
    """One guest of a run."""

    name: str
    role: str
    vcpus: int
    memory_mb: int


@dataclass(frozen=True)
class RunPlan:
    """A run to be written.

    Attributes
    ----------
    run_id : str
    levels : dict
        Every factor's level.
    replicate : int
    drivers : tuple of str
        One workload driver each, in parallel.
    guests : tuple of Guest
    clients : int
        Simulated clients of all drivers together.
    truth : dict of str to float
        Quantity name to its value in the study's unit.
    throughput : float
        Page elements per second of all drivers together (by the study's convention).
    response_s : float
        Seconds.
    """

    run_id: str
    levels: Mapping[str, Level]
    replicate: int
    drivers: tuple[str, ...]
    guests: tuple[Guest, ...]
    clients: int
    truth: Mapping[str, float]
    throughput: float
    response_s: float


def load_raw(study: Study) -> dict[str, Any]:
    """`raw.yaml` of a study: how its runs are simulated, and by which conventions."""
    return load_yaml(study.folder / "raw.yaml").data


def plan_runs(study: Study, raw: Mapping[str, Any], centre: Mapping[Quantity, float], replicates: int) -> list[RunPlan]:
    """All runs of the study's `runs` blocks, replicates side by side.

    A quantity that the text does not speak of under a run's condition is borrowed from the condition that `borrow`
    in `raw.yaml` names; response time is then the closed loop's clients / throughput.
    """
    plans = []
    for block in study.data["runs"]:
        for levels in run_levels(block):
            full = {name: levels.get(name, factor.default) for name, factor in study.factors.items()}
            for replicate in range(1, replicates + 1):
                name = f"{block['name'].format(**full)}-r{replicate}"
                plans.append(_plan(study, raw, centre, name, full, replicate))
    return plans


def condition_truth(
    study: Study, borrow: Mapping[str, Mapping[str, Level]], centre: Mapping[Quantity, float],
    levels: Mapping[str, Level],
) -> dict[str, float]:  # fmt: skip
    """Every observed quantity under a condition: its centre, or the borrowed one; absent where neither exists."""
    truth = {}
    for name, kind in study.quantities.items():
        quantity = study.quantity_at(name, levels)
        if quantity not in centre and name in borrow:
            quantity = quantity.moved(borrow[name])
        if kind.observed and quantity in centre:
            truth[name] = centre[quantity]
    return truth


def _plan(
    study: Study, raw: Mapping[str, Any], centre: Mapping[Quantity, float], name: str, levels: Mapping[str, Any],
    replicate: int,
) -> RunPlan:  # fmt: skip
    count = int(levels[raw["groups"]["factor"]]) // raw["groups"]["per"]
    numbers = range(1, count + 1)
    truth = condition_truth(study, raw.get("borrow", {}), centre, levels)
    clients = raw["driver"]["clients"] * count
    unit = raw["conventions"]["throughput_unit"]["value"]
    throughput = truth["throughput"] * unit
    return RunPlan(
        run_id=name,
        levels=levels,
        replicate=replicate,
        drivers=tuple(raw["driver"]["name"].format(n=n) for n in numbers),
        guests=tuple(
            Guest(g["name"].format(n=n), g["role"], g["vcpus"], g["memory_mb"]) for n in numbers for g in raw["guests"]
        ),
        clients=clients,
        truth=truth,
        throughput=throughput,
        response_s=_response_s(study, raw, centre, levels, truth, clients / throughput, unit),
    )


def _response_s(
    study: Study, raw: Mapping[str, Any], centre: Mapping[Quantity, float], levels: Mapping[str, Level],
    truth: Mapping[str, float], closed_loop: float, unit: float,
) -> float:  # fmt: skip
    """Response time in seconds: the relative centre, scaled so that its reference point obeys the closed loop."""
    found = study.reference_for(study.quantity_at("response_time", levels))
    if "response_time" not in truth or found is None or found[0] not in centre:
        return closed_loop
    reference = found[0]
    count = int(reference.level(raw["groups"]["factor"])) // raw["groups"]["per"]
    at_reference = raw["driver"]["clients"] * count / (centre[Quantity("throughput", reference.at)] * unit)
    return truth["response_time"] / centre[reference] * at_reference
