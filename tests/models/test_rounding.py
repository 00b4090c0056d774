"""Limits implied by the last printed digit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rawperf.core.errors import ModelError
from tests.cases import each_case
from virtperf.models.two_means import ratio_of_printed


def test_limits_by_hand():
    ratio = ratio_of_printed((2800, 50), (21443, 0.5))
    assert ratio.value == pytest.approx(0.130579, abs=5e-7)
    assert (ratio.low, ratio.high) == (2750 / 21443.5, 2850 / 21442.5)
    assert (ratio.level, ratio.method) == (1.0, "rounding")


@given(st.floats(0, 1e6), st.floats(1, 1e6), st.sampled_from([0.5, 5, 50]))
def test_limits_contain_every_number_that_rounds_to_the_printed_ones(a, b, half):
    step = 2 * half
    top, bottom = round(a / step) * step, round(b / step) * step
    if bottom > half:
        found = ratio_of_printed((top, half), (bottom, half))
        assert found.low * (1 - 1e-12) <= a / b <= found.high * (1 + 1e-12)


@each_case(
    ("top", "bottom"),
    [
        ((1, 0.5), (0.5, 0.5)),
        ((-1, 0.5), (2, 0.5)),
        ((1, -1), (2, 0)),
        ((float("nan"), 0), (2, 0)),
        ((1, 0), (float("inf"), 0)),
    ],
)
def test_invalid_printed_number_is_rejected(top, bottom):
    with pytest.raises(ModelError):
        ratio_of_printed(top, bottom)
