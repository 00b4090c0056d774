"""Errors: a list of known names is printed once, and without empty names."""

from rawperf.core.errors import RawperfError, did_you_mean


def test_a_remedy_that_repeats_the_expected_names_is_left_out():
    known = ["alpha", "beta"]
    error = RawperfError(
        "no 'xyz'", expected="one of alpha, beta", remedy=did_you_mean("xyz", known)
    )
    assert str(error) == "no 'xyz'; expected one of alpha, beta" and error.remedy is None
    many = [f"name{n}" for n in range(20)]
    error = RawperfError("no 'xyz'", expected=", ".join(many), remedy=did_you_mean("xyz", many))
    assert str(error) == f"no 'xyz'; expected {', '.join(many)}"


def test_other_remedies_are_kept():
    known = ["alpha", "beta"]
    near = RawperfError("no", expected="one of alpha, beta", remedy=did_you_mean("alpah", known))
    assert str(near).endswith(". Did you mean 'alpha'?")
    other = RawperfError("no", expected="a fact", remedy=did_you_mean("xyz", known))
    assert str(other) == "no; expected a fact. Known names: alpha, beta."


def test_empty_names_are_not_listed():
    assert did_you_mean("xyz", ["", "increasing"]) == "known names: increasing."
