"""`raw.yaml`: how simulated runs look, block by block, put together for one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from virtperf.core.yamlio import Document
from virtperf.study.parts import listed
from virtperf.study.quantities import Level

Place = tuple[str | int, ...]
PARTS = ("run", "labels", "times", "entities", "signals")
NUMBERS = ("start_s", "interval_s", "at_s", "clock_offset_s")
"""What an entry of `files` in run.yaml may have that is a number, so an expression here."""


@dataclass(frozen=True)
class Declared:
    """Something that `raw.yaml` declares, and where it stands there."""

    body: Any
    place: Place


@dataclass(frozen=True)
class Raw:
    """A study's `raw.yaml`; expressions may name its constants (conventions and parameters) and all quantities."""

    document: Document
    constants: Mapping[str, float]
    quantities: frozenset[str]

    @property
    def borrow(self) -> Mapping[str, Mapping[str, Level]]:
        """By quantity, the condition whose value is used where the text gives none."""
        return self.document.data.get("borrow", {})

    def declared(self, levels: Mapping[str, Level]) -> dict[str, dict[str, Declared]]:
        """Everything that the blocks for a run at those levels declare: by part and name; of two, the later."""
        found: dict[str, dict[str, Declared]] = {part: {} for part in (*PARTS, "files")}
        for position, block in enumerate(self.document.data["blocks"]):
            if applies(block, levels):
                for part in PARTS:
                    for name, body in block.get(part, {}).items():
                        found[part][name] = Declared(body, ("blocks", position, part, name))
                for i, body in enumerate(block.get("files", ())):
                    found["files"][f"{position} {i}"] = Declared(body, ("blocks", position, "files", i))
        return found


def applies(part: Mapping[str, Any], levels: Mapping[str, Level]) -> bool:
    """Whether a block, or records of a file, are meant for a run: each factor of `at` has the level, or one of them."""
    return all(levels[factor] in listed(wanted) for factor, wanted in part.get("at", {}).items())
