"""Parser of the option ``--where NAME=LEVEL``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click


def parse_levels(where: Sequence[str]) -> dict[str, Any]:
    """Parse ``NAME=LEVEL`` conditions to levels by factor."""
    from virtperf.core.levels import parse_level

    split = [text.partition("=") for text in where]
    if wrong := [name for name, equals, _ in split if not equals]:
        raise click.UsageError(f"--where {wrong[0]}: expected NAME=LEVEL.")
    return {name: parse_level(level) for name, _, level in split}
