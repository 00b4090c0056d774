"""The conditions that are measured, and the order in which a boot runs them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

CLIENTS, THINK_MS, SITE_FILES = 4, 200, 2048
WARMUP_S, WORK_S = 5, 37
INTERVAL_S, SAMPLES = 3, 8
"""Of xentop; a sample takes dom0 about 0.13 s of the processor, so that shorter intervals disturb the guests."""
WEB_MEMORY = 160


@dataclass(frozen=True)
class Condition:
    """One condition: `shares` has weight and cap (% of a processor, 0 for none) of each busy guest."""

    name: str
    test: str
    rate_limit_ms: int
    shares: tuple[tuple[int, int], ...]
    web_memory: int | None = None

    @property
    def factors(self) -> dict[str, str | int]:
        """Levels of the run's factors."""
        weights = [str(weight) for weight, _ in self.shares]
        return {
            "test": self.test,
            "busy_guests": len(self.shares),
            "rate_limit_ms": self.rate_limit_ms,
            "weights": ":".join(weights) if len(set(weights)) > 1 else "equal",
            "cap": max((cap for _, cap in self.shares), default=0),
            "web_memory": self.web_memory or 0,
        }

    def command(self, seed: int) -> str:
        """The line of dom0's plan."""
        shares = " ".join(f"{weight}:{cap}" for weight, cap in self.shares)
        return f"condition {self.name} {self.rate_limit_ms * 1000} '{shares}' '{self.web_memory or ''}' {seed}"


def equal(number: int) -> tuple[tuple[int, int], ...]:
    """That many busy guests of Xen's default weight, without a cap."""
    return ((256, 0),) * number


BUSY = [
    *(
        Condition(f"overcommit-{n}-{ms}ms", "overcommit", ms, equal(n))
        for ms in (1, 10)
        for n in range(1, 9)
    ),
    Condition("weights-256-512", "weights", 1, ((256, 0), (512, 0))),
    Condition("weights-256-256-1024", "weights", 1, ((256, 0), (256, 0), (1024, 0))),
    *(
        Condition(f"cap-{cap}-of-{n}", "cap", 1, ((256, cap), *equal(n - 1)))
        for cap in (25, 50)
        for n in (1, 2)
    ),
]
WEB = [Condition(f"web-{n}", "web", 1, equal(n), WEB_MEMORY) for n in range(7)]
BALLOON = [
    Condition(f"balloon-{mib}", "balloon", 1, equal(2), mib) for mib in (WEB_MEMORY, 144, 128, 112)
]
KINDS = {"busy": BUSY, "web": WEB, "balloon": BALLOON}
BY_NAME = {condition.name: condition for kind in KINDS.values() for condition in kind}


def found(levels: Mapping[str, str]) -> Condition:
    """The condition with these levels of its factors; raises `ValueError` where there is none."""
    for condition in BY_NAME.values():
        if {factor: str(level) for factor, level in condition.factors.items()} == dict(levels):
            return condition
    raise ValueError(
        f"no condition has {' '.join(f'{factor}={level}' for factor, level in levels.items())}"
    )


def kind_of(condition: Condition) -> str:
    """The kind of boots that run a condition."""
    return next(kind for kind, conditions in KINDS.items() if condition in conditions)


def ordered(kind: str, boot: int, seed: int) -> list[Condition]:
    """A kind's conditions in the random order of one boot."""
    return random.Random(f"{seed} {kind} {boot}").sample(KINDS[kind], len(KINDS[kind]))


def plan(kind: str, boot: int, seed: int) -> str:
    """What dom0 runs in one boot."""
    guests = max(len(c.shares) for c in KINDS[kind])
    head = [
        f"WARMUP_S={WARMUP_S} WORK_S={WORK_S} INTERVAL_S={INTERVAL_S} SAMPLES={SAMPLES}",
        f"CLIENTS={CLIENTS} THINK_MS={THINK_MS} SITE_FILES={SITE_FILES}",
        f"busy_guests {guests}",
    ]
    if any(c.web_memory for c in KINDS[kind]):
        head.append("web_guest")
    return (
        "\n".join([*head, *(c.command(seed * 1000 + boot) for c in ordered(kind, boot, seed))])
        + "\n"
    )


def planned(lines: str) -> list[Condition]:
    """The conditions of a plan, in its order."""
    words = (line.split() for line in lines.splitlines())
    return [
        BY_NAME[name]
        for command, name, *_ in (w for w in words if len(w) > 1)
        if command == "condition"
    ]
