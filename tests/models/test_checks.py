import numpy as np
import pandas as pd
import pytest

from rawperf.core.errors import ModelError, ParameterError
from tests.cases import each_case
from virtperf.models import checks


@each_case("bad", [np.nan, np.inf, -np.inf, None])
def test_nonfinite_value_is_reported_with_its_row(bad):
    with pytest.raises(ModelError, match=r"throughput in row 2 of 3 is not a finite number"):
        checks.column([1.0, bad, 3.0], "throughput")


def test_nonpositive_value_is_reported_with_its_row():
    with pytest.raises(ModelError, match=r"load in row 3 of 3 is not positive; found -2\.0"):
        checks.column([1, 5, -2], "load", positive=True)


def test_a_value_of_a_series_is_named_with_its_column_and_label():
    load = pd.Series([1.0, 0.0], index=["line 2", "line 4"], name="guests")
    with pytest.raises(ModelError, match=r"^load \(column 'guests'\) in line 4 is not positive"):
        checks.column(load, "load", positive=True)
    with pytest.raises(ModelError, match=r"^load in row 2 of 2 is not positive"):
        checks.column(load.rename("load").reset_index(drop=True), "load", positive=True)


@each_case("bad", [["1", "2"], np.array(["1", "2"]), [[1, 2], [3, 4]], [], [1 + 2j], [[1], [1, 2]]])
def test_non_numeric_column_is_rejected(bad):
    with pytest.raises(ModelError):
        checks.column(bad, "x")


@each_case("good", [[1, 2], (1.0, 2.0), pd.Series([1, 2], index=[7, 9]), np.array([1, 2], "i2")])
def test_columns_of_any_kind_become_floats(good):
    found = checks.column(good, "x")
    assert found.dtype == np.float64
    assert found.tolist() == [1.0, 2.0]


def test_input_array_is_copied():
    mine = np.array([1.0, 2.0])
    checks.column(mine, "x")[0] = 9
    assert mine[0] == 1


def test_too_few_rows_and_identical_x_are_rejected():
    with pytest.raises(ModelError, match=r"2 rows can't determine 3 parameters \(a, b, c\)"):
        checks.enough(np.array([1.0, 2.0]), ("a", "b", "c"), name="x")
    with pytest.raises(ModelError, match="1 row can't determine 2 parameters"):
        checks.enough(np.array([1.0]), ("a", "b"), name="x")
    with pytest.raises(
        ModelError, match=r"load has too few distinct values.*at least 2.*found 1 \(4\)"
    ):
        checks.enough(np.array([4.0, 4.0, 4.0]), ("a", "b"), name="load")


def test_unequal_lengths_invalid_weights_levels_and_options_are_rejected():
    with pytest.raises(ModelError, match="x has 2 rows but y has 3"):
        checks.same_length(("x", np.ones(2)), ("y", np.ones(3)))
    with pytest.raises(ModelError, match="weight in row 1 of 2"):
        checks.weights_or_ones([0, 1], 2)
    with pytest.raises(ModelError, match="weight has 3 rows"):
        checks.weights_or_ones([1, 1, 1], 2)
    with pytest.raises(ParameterError, match="alpha is out of range"):
        checks.level(1.0)
    with pytest.raises(ParameterError, match="unknown form; expected 'a' or 'b'; found 'c'"):
        checks.require_one_of("c", ("a", "b"), "form")
