"""Order of quantities in claims."""

from __future__ import annotations

from virtperf.study.quantities import Quantity


def test_quantities_with_numeric_and_text_levels_are_ordered():
    levels = [2, "any", 10, 1]
    found = sorted(Quantity("load", (("jvms", level),)) for level in levels)
    assert [quantity.level("jvms") for quantity in found] == [1, 2, 10, "any"]
    assert sorted([Quantity("b", ()), Quantity("a", ())])[0].name == "a"
