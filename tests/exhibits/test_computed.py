"""Tables of tests, computed tables and joint regions."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tests.exhibits.toy import HOSTILE
from virtperf.core.errors import ModelError
from virtperf.exhibits.attempt import attempt
from virtperf.exhibits.book import Book
from virtperf.models.linear import fit_line
from virtperf.models.result import FTest


def _refused() -> None:
    raise ModelError("no runs yet")


def test_tests_say_what_they_speak_against(book: Book) -> None:
    tests = {
        "curved": FTest(25.0, 1, 12, 0.0003, "the relation is a straight line"),
        HOSTILE: FTest(0.5, 1, 12, 0.49, "the relation is a straight line"),
        "missing": attempt(_refused),
    }
    shown = book.tests(tests, title="Straight lines")
    assert (
        "p = 0.0003" in shown.html and "speaks against it" in shown.html and "does not speak against it" in shown.html
    )
    assert "no runs yet" in shown.html and HOSTILE not in shown.html


def test_computed_tables_show_words_numbers_and_their_note(book: Book) -> None:
    frame = pd.DataFrame({"Name": [HOSTILE, "b"], "Pages": [262144, 12], "Whole": [True, False]})
    shown = book.computed(frame, title="Sizes", note="Pages are counted.")
    assert "262,144" in shown.html and ">yes<" in shown.html and ">no<" in shown.html
    assert "Pages are counted." in shown.html and HOSTILE not in shown.html
    assert "262144" in shown.text


def test_a_region_says_whether_the_printed_pair_is_inside(book: Book) -> None:
    x = np.repeat([1.0, 2, 4, 8, 16], 3)
    noise = np.random.default_rng(1).standard_normal(15)
    fits = {
        "save": fit_line(x, 12 + 81 * x + noise),
        "add": fit_line(x, 12 + 63 * x + noise),
        "none": attempt(_refused),
    }
    shown = book.regions(fits, {"save": (12, 81), "add": (12, 70)}, title="Rules", axes=("s at 0", "s each"))
    assert "the printed pair 12, 81 is inside" in shown.html and "the printed pair 12, 70 is outside" in shown.html
    assert "no runs yet" in shown.html and shown.html.count("<svg xmlns") == 2


def test_points_on_the_boundary_have_the_levels_p_value() -> None:
    x = np.array([1.0, 2, 4, 8, 16])
    fit = fit_line(x, 3 + 2 * x + np.array([0.1, -0.2, 0.15, 0.05, -0.1]))
    for intercept, slope in fit.joint_region(0.1, points=7):
        assert abs(fit.joint_test(intercept=intercept, slope=slope).pvalue - 0.1) < 1e-9
