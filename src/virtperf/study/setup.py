"""The parts of `study.yaml` that say how it was measured: machines, guests, procedure, planned runs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from virtperf.core.model import Count, Level, Levels, Model, NotNegative, Positive


class Guest(Model, extra="allow"):
    """A virtual machine; None where the paper does not say."""

    name: str
    label: str
    vcpus: Count | None
    memory_mb: Positive | None
    networks: tuple[str, ...] = ()


class Machine(Model, extra="allow"):
    """A machine that guests ran on."""

    label: str
    machine: str
    cpus: Count | None = None


class Procedure(Model, extra="allow"):
    """How a run went: seconds from its start."""

    run_s: Positive | None = None
    warmup_s: NotNegative | None = None
    window_s: tuple[NotNegative, NotNegative] | None = None
    sample_interval_s: Positive | None = None
    think_time_s: NotNegative | None = None
    steps: tuple[str, ...] = ()


class Network(Model, extra="allow"):
    label: str


class Segment(Model):
    """A saved segment: the stated size, and the page ranges that make it up end to end."""

    name: str
    gb: Positive
    pages: tuple[Annotated[str, Field(pattern=r"^[0-9A-F]{1,13}-[0-9A-F]{1,13}$")], ...] = Field(min_length=1)
    types: tuple[Literal["EW", "EN", "ER", "SW", "SN", "SR", "SC"], ...] = ()
    use: str = ""
    where: str


class RunBlock(Model, extra="allow"):
    """Runs to be simulated: every combination of `over` at `at`."""

    name: str
    at: dict[str, Level] = {}
    over: dict[str, Levels] = {}
