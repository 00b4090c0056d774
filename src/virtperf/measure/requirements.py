"""Requirements on machine facts, changes within a block, and hints on disturbances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from rawperf.core.errors import RawperfError, did_you_mean
from rawperf.core.model import Level
from virtperf.measure.definition import FactLimits, RequiredFact

HostFacts = Mapping[str, Level]
SWAP_TOLERANCE_MB = 8
"""Tolerance: swap usage fluctuates by a few pages."""
CHANGEABLE_FACTS = {
    "governor": "the governor",
    "turbo": "turbo",
    "smt": "SMT",
    "transparent_hugepage": "the setting of transparent huge pages",
    "ksm": "KSM",
    "damon": "DAMON",
    "aslr": "address space layout randomization",
    "clock_source": "the clock source",
    "swap_mb": "the size of swap (MiB)",
    "swap_used_mb": "swap in use (MiB)",
    "d_state_tasks": "the number of tasks in state D",
}
"""Facts that may change between the runs of a block, with their display texts."""
ADVICE = {
    "governor": "cpupower frequency-set -g performance",
    "turbo": "disable turbo in the firmware, or by intel_pstate/no_turbo or cpufreq/boost",
    "smt": "echo off > /sys/devices/system/cpu/smt/control",
    "transparent_hugepage": "echo {} > /sys/kernel/mm/transparent_hugepage/enabled",
    "ksm": "echo 0 > /sys/kernel/mm/ksm/run",
    "damon": "stop DAMON (/sys/kernel/mm/damon)",
    "aslr": "sysctl kernel.randomize_va_space={}",
    "clock_source": "write {} to clocksource0/current_clocksource",
    "swap_mb": "swapoff -a",
    "swap_devices": "swapoff -a",
    "swap_used_mb": "swapoff -a && swapon -a, or reboot",
    "d_state_tasks": "list them with `ps -eo pid,stat,wchan:20,args | grep ' D'`; reboot if they stay",
    "free_memory_mb": "close other programs",
    "kernel": "boot that kernel",
    "kernel_parameters": "boot with these parameters",
}


@dataclass(frozen=True)
class FactRow:
    """A fact about the machine: found and required value, whether it is met, and advice."""

    fact: str
    found: str
    declared: str
    holds: bool
    advice: str


def fact_rows(required: Mapping[str, RequiredFact], facts: HostFacts) -> list[FactRow]:
    """Rows for all facts of the machine, and for all required ones."""
    rows = []
    for name in dict.fromkeys([*facts, *required]):
        value, requirement = facts.get(name), required.get(name)
        holds = requirement is None or is_met(requirement, value)
        advice = "" if holds else advice_for(name, requirement, facts)
        if requirement is None:
            advice = _hint(name, value)
        rows.append(
            FactRow(
                name,
                "unknown" if value is None else str(value),
                "" if requirement is None else requirement_text(requirement),
                holds,
                advice,
            )
        )
    return rows


def refuse_unmet(required: Mapping[str, RequiredFact], facts: HostFacts, experiment: str) -> None:
    """Raise `RawperfError` if a required fact is not met."""
    unmet = [row for row in fact_rows(required, facts) if not row.holds]
    if not unmet:
        return
    expected = ", ".join(f"{row.fact}: {row.declared}" for row in unmet)
    values = ", ".join(f"{row.fact}: {row.found}" for row in unmet)
    advice = "; ".join(dict.fromkeys(row.advice for row in unmet if row.advice))
    raise RawperfError(
        f"the machine does not meet the requirements of experiment {experiment} (`machine`)",
        file="measure.yaml",
        expected=expected,
        found=values,
        remedy=advice or "change the machine, or its requirements",
    )


def is_met(requirement: RequiredFact, value: Level | None) -> bool:
    """Whether a fact meets its requirement; an unknown fact does not."""
    if value is None:
        return False
    if isinstance(requirement, FactLimits):
        if isinstance(value, str):
            return False
        low = requirement.at_least is None or value >= requirement.at_least
        return low and (requirement.at_most is None or value <= requirement.at_most)
    if isinstance(requirement, tuple):
        return any(is_met(one, value) for one in requirement)
    if isinstance(requirement, str):
        return str(value) == requirement or fnmatchcase(str(value), requirement)
    return value == requirement or str(value) == str(requirement)


def requirement_text(requirement: RequiredFact) -> str:
    """Display text of a requirement."""
    if isinstance(requirement, FactLimits):
        parts = (("at least", requirement.at_least), ("at most", requirement.at_most))
        return " and ".join(f"{word} {limit:g}" for word, limit in parts if limit is not None)
    if isinstance(requirement, tuple):
        return " or ".join(map(str, requirement))
    return str(requirement)


def advice_for(name: str, requirement: RequiredFact | None, facts: HostFacts) -> str:
    """Advice on how to meet a requirement."""
    if name not in facts:
        known = did_you_mean(name, facts)
        return f"this machine does not report {name}: {known}".strip()
    single = requirement if isinstance(requirement, str | int | float) else ""
    return ADVICE.get(_without_host(name), "").format(single)


def _hint(name: str, value: Level | None) -> str:
    """Hint on common sources of disturbance, for facts without a requirement."""
    unsteady = {
        ("governor", "powersave"),
        ("governor", "ondemand"),
        ("governor", "schedutil"),
        ("ksm", "on"),
        ("damon", "on"),
        ("turbo", "on"),
    }
    name = _without_host(name)
    if (name, value) in unsteady:
        return f"may disturb: {ADVICE[name]}"
    if name in ("swap_used_mb", "d_state_tasks") and isinstance(value, int) and value > 0:
        return f"may disturb: {ADVICE[name]}"
    return ""


def _without_host(name: str) -> str:
    """Name of a fact without the host prefix."""
    return name.rpartition(".")[2]


def change_messages(first: HostFacts, now: HostFacts) -> list[str]:
    """Messages for facts that changed since the first run of the block."""
    messages = []
    for name, before in first.items():
        after = now.get(name)
        host, _, bare = name.rpartition(".")
        if bare not in CHANGEABLE_FACTS or after is None or before == after:
            continue
        words = f"{host}: {CHANGEABLE_FACTS[bare]}" if host else CHANGEABLE_FACTS[bare]
        if isinstance(before, int | float) and isinstance(after, int | float):
            if bare == "swap_used_mb" and abs(after - before) <= SWAP_TOLERANCE_MB:
                continue
            if bare == "d_state_tasks" and after < before:
                continue
        messages.append(f"{words} changed from {before} before the block's first run to {after}")
    return messages
