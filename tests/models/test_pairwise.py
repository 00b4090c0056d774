import numpy as np
import pytest
from scipy import stats

from rawperf.core.errors import ModelError
from virtperf.models.pairwise import compare_means

A, B, C = [5.1, 4.9, 5.3, 5.0], [5.9, 6.1, 6.0, 5.7, 6.2], [5.0, 5.2, 4.8]


def test_all_pairs_are_tukeys():
    """Tukey-Kramer by its formula: q times the standard error over the square root of two."""
    found = compare_means({"a": A, "b": B, "c": C}, noise="constant")
    assert list(found) == [("a", "b"), ("a", "c"), ("b", "c")]
    s2 = sum((len(v) - 1) * np.var(v, ddof=1) for v in (A, B, C)) / 9
    half = stats.studentized_range.ppf(0.95, 3, 9) * np.sqrt(s2 / 2 * (1 / 4 + 1 / 5))
    e = found["a", "b"]
    assert (e.low, e.high) == pytest.approx((e.value - half, e.value + half), rel=1e-6)
    assert e.value == pytest.approx(np.mean(A) - np.mean(B)) and e.method == "Tukey"


def test_ratios_come_from_logarithms():
    logs = compare_means({"a": np.log(A), "b": np.log(B), "c": np.log(C)}, noise="constant")[
        "a", "b"
    ]
    e = compare_means({"a": A, "b": B, "c": C})["a", "b"]
    assert (e.value, e.low, e.high) == pytest.approx(
        tuple(np.exp([logs.value, logs.low, logs.high])), rel=1e-9
    )


def test_one_reference_is_dunnetts_and_narrower():
    samples = {"a": A, "b": B, "c": C}
    found = compare_means(samples, reference="b")
    assert list(found) == [("a", "b"), ("c", "b")]
    assert found == compare_means(samples, reference="b")
    all_pairs = compare_means(samples)["a", "b"]
    assert all_pairs.low < found["a", "b"].low and found["a", "b"].high < all_pairs.high


def test_bad_input():
    with pytest.raises(ModelError, match="nothing to compare"):
        compare_means({"a": A})
    with pytest.raises(ModelError, match="nothing to compare"):
        compare_means({"a": A, "b": B}, reference="z")
    with pytest.raises(ModelError, match="b has one value"):
        compare_means({"a": A, "b": [1.0]})
    with pytest.raises(ModelError, match="do not differ"):
        compare_means({"a": [1, 1], "b": [2, 2]})
