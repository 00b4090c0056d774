"""`concave`: a curve whose slope never rises."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, final

from virtperf.core.numbers import pretty
from virtperf.study.claim_kinds.base import part_words
from virtperf.study.claim_kinds.curve import CurveClaim, slopes
from virtperf.study.compared_numbers import ComparedNumber, combine, level_numbers, terms_of
from virtperf.study.constraints import Inequality, combined_row
from virtperf.study.quantities import Instance

if TYPE_CHECKING:
    from virtperf.study.definition import Study


@final
class ConcaveClaim(CurveClaim):
    """No slope between neighbouring levels is above the one before."""

    numeric = True
    ascending = True
    min_levels = 3  # two points have one slope
    prints = "a concave curve"

    kind: Literal["concave"]

    def instance_rows(self, study: Study, instance: Instance) -> list[Inequality]:
        return [
            combined_row(self.id, 0.0, (1, later), (-1, earlier))
            for earlier, later in pairwise(slopes(instance))
        ]

    def numbers(self, study: Study, instance: Instance) -> Iterator[ComparedNumber]:
        bends = (
            combine((1.0, later), (-1.0, earlier))
            for earlier, later in pairwise(map(terms_of, slopes(instance)))
        )
        yield from level_numbers(study, ((bend, -math.inf, 0.0) for bend in bends))

    def relation_words(self, study: Study, instance: Instance) -> str:
        axis = ", ".join(map(pretty, instance.axis))
        return f"concave over {axis}: {'; '.join(part_words(study, instance))}"
