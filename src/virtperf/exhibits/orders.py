"""Points of a figure of which the text gives an order, whatever it says of their values."""

from __future__ import annotations

from virtperf.exhibits.arithmetic import quantities
from virtperf.exhibits.data import StudyData
from virtperf.study.definition import Exhibit
from virtperf.study.quantities import Quantity

KINDS = ("argmax", "argmin", "monotone", "ordering")
"""Kinds of claims that state nothing but an order, those that say most of a figure first."""
_DISPUTED = ("contradicted", "depends")


def orders(data: StudyData, exhibit: Exhibit) -> tuple[set[Quantity], list[str]]:
    """The plotted quantities that claims of the paper order among each other, and what those claims say.

    Claims that the paper's other claims exclude, or may exclude, don't count.
    """
    plotted = {quantity for _, _, quantity in data.study.points(exhibit)}
    about = [c for c in data.paper_claims if exhibit.id in c.exhibits and c.kind in KINDS]
    found: set[Quantity] = set()
    says = []
    for claim in sorted(about, key=lambda claim: KINDS.index(claim.kind)):
        within = [of for of in map(quantities, claim.instances) if of <= plotted]
        if within and data.result(claim.id).get("text_verdict") not in _DISPUTED:
            found |= set().union(*within)
            says.append(claim.says)
    return found, says
