"""Parameter types and shared options for numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import click


class FiniteRange(click.FloatRange):
    """A float range without NaN, which click accepts in any range, and infinities."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number

    def _describe_range(self) -> str:  # click prints x<=None for a range without limits
        return "" if self.min is None and self.max is None else super()._describe_range()


def level_option(what: str) -> Callable[[Any], Any]:
    """The option --level; `what` it is the level of."""
    return click.option(
        "--level",
        type=FiniteRange(0.5, 1, min_open=True, max_open=True),
        default=0.95,
        show_default=True,
        help=f"Confidence level of {what}.",
    )
