"""`linear`: a curve with one slope."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Literal, final

from virtperf.core.numbers import NO_BREAK, pretty
from virtperf.study.claim_kinds.base import part_words
from virtperf.study.claim_kinds.curve import CurveClaim, slopes
from virtperf.study.claim_kinds.margin import MarginClaim
from virtperf.study.compared_numbers import ComparedNumber, combine, level_numbers, terms_of
from virtperf.study.constraints import Inequality, limit_rows
from virtperf.study.quantities import Expression, Instance

if TYPE_CHECKING:
    from virtperf.study.definition import Study


@final
class LinearClaim(MarginClaim, CurveClaim):
    """Slopes between neighbouring levels are equal, each two within the margin."""

    numeric = True
    min_levels = 3  # two points have one slope
    prints = "a straight line"

    kind: Literal["linear"]

    def slope_pairs(self, instance: Instance) -> Iterator[tuple[Expression, Expression]]:
        """Pairs of slopes, the earlier first: neighbours if equal, else each two."""
        every = slopes(instance)
        yield from combinations(every, 2) if self.margin else pairwise(every)

    def instance_rows(self, study: Study, instance: Instance) -> list[Inequality]:
        return [
            row
            for earlier, later in self.slope_pairs(instance)
            for row in limit_rows(self.id, *self.margin_factors, later, earlier)
        ]

    def numbers(self, study: Study, instance: Instance) -> Iterator[ComparedNumber]:
        low, high = self.margin_factors
        limited = []
        for pair in self.slope_pairs(instance):
            earlier, later = map(terms_of, pair)
            if low == high:
                limited.append((combine((1.0, later), (-1.0, earlier)), 0.0, 0.0))
                continue
            limited.append((combine((1.0, later), (-high, earlier)), -math.inf, 0.0))
            limited.append((combine((1.0, later), (-low, earlier)), 0.0, math.inf))
        yield from level_numbers(study, limited)

    def relation_words(self, study: Study, instance: Instance) -> str:
        room = f" within {pretty(100 * self.margin)}{NO_BREAK}%" if self.margin else ""
        axis = ", ".join(map(pretty, instance.axis))
        return f"on one line over {axis}{room}: {'; '.join(part_words(study, instance))}"
