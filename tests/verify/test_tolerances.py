"""The declared tolerances: the repository's file is the default, a wrong file names its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rawperf.core.errors import StudyError
from virtperf.verify.compare import DEFAULTS, Tolerance, load_tolerances
from virtperf.verify.items import KINDS


def test_the_repositorys_file_declares_the_defaults(root: Path) -> None:
    assert load_tolerances(root / "tolerances.yaml") == DEFAULTS
    text = (root / "tolerances.yaml").read_text()
    assert all(f"\n{kind}:" in text for kind in KINDS)


def test_kinds_that_are_not_named_have_their_default(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("means: {relative: 0.01, absolute: 0}\n")
    found = load_tolerances(tmp_path / "t.yaml")
    assert (
        found["means"] == Tolerance(relative=0.01, absolute=0)
        and found["limits"] == DEFAULTS["limits"]
    )


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (
            "means: {relative: 1e-9, absolute: 0}\n",
            1,
            "expected a number; found '1e-9'. YAML takes it for text: write 1.0e-9",
        ),  # YAML takes 1e-9 for text
        ("limits: {relative: 0, absolute: 0}\npoints: {relative: 0, absolute: 0}\n", 2, "points"),
        ("means:\n  relative: 0\n  absolute: -1\n", 3, "greater than or equal to 0"),
        ("means: {relative: 0}\n", 1, "'absolute' is missing"),
    ],
)
def test_a_wrong_file_names_its_line(tmp_path: Path, text: str, line: int, said: str) -> None:
    (tmp_path / "t.yaml").write_text(text)
    with pytest.raises(StudyError, match=said) as err:
        load_tolerances(tmp_path / "t.yaml")
    assert err.value.line == line


@given(
    st.floats(-1e12, 1e12),
    st.floats(-1e12, 1e12),
    st.builds(
        Tolerance,
        relative=st.floats(0, 1),
        absolute=st.floats(0, 1),
        exported_digits=st.integers(0, 15),
        widths=st.floats(0, 1),
    ),
    st.floats(1e-9, 1e9),
)
def test_agreement_is_symmetric_and_reflexive(
    a: float, b: float, tolerance: Tolerance, width: float
) -> None:
    assert tolerance.same(a, b) == tolerance.same(b, a)
    assert tolerance.same(a, b, width) == tolerance.same(b, a, width) >= tolerance.same(a, b)
    assert tolerance.same(a, a)
