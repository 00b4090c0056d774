"""Certified and published analyses (tests/reference-anova), definitions, properties and errors.

A reference file has ``model, options, source, authority, data, expected, rtol``.
"""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from rawperf.core.errors import ModelError
from virtperf.models.variance import RESIDUAL, fit_anova

FOLDER = Path(__file__).resolve().parent.parent / "reference-anova"
CASES = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("anova-*.json"))}
NIST = Path(scipy.stats.__file__).parent / "tests" / "data" / "nist_anova"
# What NIST certifies, to the digits that its decimals keep when they are stored as floating-point numbers: with 13
# leading digits they differ by 6e-5 from what is printed, on a step of 0.1.
CERTIFIED = {
    **dict.fromkeys(("SiRstv", "SmLs01", "SmLs02", "SmLs03"), 1e-12),
    "AtmWtAg": 2e-10,
    **dict.fromkeys(("SmLs04", "SmLs05", "SmLs06"), 4e-10),
    **dict.fromkeys(("SmLs07", "SmLs08", "SmLs09"), 4e-4),
}


def digits(found, expected):
    found, expected = (
        np.atleast_1d(np.asarray(found, float)),
        np.atleast_1d(np.asarray(expected, float)),
    )
    return -np.log10(np.maximum(np.abs(found - expected) / np.abs(expected), 1e-16))


def quantities(fit):
    found = {column: fit.table[column].to_numpy() for column in ("df", "sum_sq", "mean_sq")}
    found |= {column: fit.table[column].to_numpy()[:-1] for column in ("F", "p")}
    found |= {"rsquared": fit.results.rsquared, "sd": math.sqrt(fit.scale)}
    return found | {"omega": fit.table["omega_sq"].to_numpy()[:-1]}


@pytest.mark.parametrize("name", CASES)
def test_reference(name):
    case = CASES[name]
    found = quantities(fit_anova(pd.DataFrame(case["data"]), **case["options"]))
    for quantity, expected in case["expected"].items():
        matching = digits(
            found[quantity][: len(expected)] if isinstance(expected, list) else found[quantity],
            expected,
        )
        wanted = -math.log10(case["rtol"].get(quantity, case["rtol"]["default"]))
        assert matching.min() >= wanted, (
            f"{case['source']}: {quantity} has {matching.round(1)} of {wanted:.1f} digits"
        )


def test_reference_files_are_complete():
    assert len(CASES) >= 8
    for name, case in CASES.items():
        assert set(case) == {
            "model",
            "options",
            "source",
            "authority",
            "data",
            "expected",
            "rtol",
        }, name
        assert set(case["rtol"]) - {"default"} <= set(case["expected"]), name
        assert (FOLDER / f"{name}.json").stat().st_size < 60_000


def nist(name):
    """Read a file of NIST from SciPy's own tests."""
    path = NIST / f"{name}.dat"
    if not path.is_file():
        pytest.skip("this SciPy was installed without its test data")
    lines = path.read_text().splitlines()
    head = [line.split() for line in lines[38:58]]
    certified = {
        words[0] if words[0] != "Certified" else "R2": [float(w) for w in words if w[0].isdigit()]
        for words in head
        if words and words[-1][0].isdigit()
    }
    rows = [line.split() for line in lines[60:] if line.strip()]
    frame = pd.DataFrame(
        {"treatment": [row[0] for row in rows], "y": [float(row[1]) for row in rows]}
    )
    return frame, certified


def exact(frame):
    """One-way sums of squares of the stored numbers, in rational arithmetic."""
    groups = [[Fraction(v) for v in y] for _, y in frame.groupby("treatment")["y"]]
    grand = sum(map(sum, groups)) / len(frame)
    means = [sum(group) / len(group) for group in groups]
    between = sum(
        len(group) * (mean - grand) ** 2 for group, mean in zip(groups, means, strict=True)
    )
    within = sum(
        sum((v - mean) ** 2 for v in group) for group, mean in zip(groups, means, strict=True)
    )
    return between, within, between / (len(groups) - 1) / (within / (len(frame) - len(groups)))


@pytest.mark.parametrize("typ", [1, 2, 3])
@pytest.mark.parametrize("name", CERTIFIED)
def test_nist(name, typ):
    frame, certified = nist(name)
    fit = fit_anova(frame, "y", "treatment", typ=typ)
    df, between, mean_between, f = certified["Between"]
    df_within, within, mean_within = certified["Within"]
    assert (fit.table.loc["treatment", "df"], fit.df_resid) == (df, df_within)
    found = [*fit.table["sum_sq"], *fit.table["mean_sq"], fit.test("treatment").statistic]
    wanted = [between, within, mean_between, mean_within, f]
    found += [math.sqrt(fit.scale)]
    wanted += [certified["Standard"][0]]
    assert digits(found, wanted).min() >= -math.log10(CERTIFIED[name])
    # The lost digits are those of the data, not of the computation.
    rational = [float(value) for value in exact(frame)]
    assert digits([*fit.table["sum_sq"], fit.table.loc["treatment", "F"]], rational).min() >= 13


def test_type_two_and_three_agree_with_r_where_cells_are_unequal():
    """R's car::Anova on the kidney data without their first rows, as statsmodels' own tests print it."""
    tests = pytest.importorskip(
        "statsmodels.stats.tests.test_anova", reason="statsmodels without its tests"
    )
    data = tests.kidney_table.assign(y=np.log(tests.kidney_table["Days"] + 1))
    balanced = fit_anova(data, "y", ("Duration", "Weight")).table
    assert balanced["F"].to_numpy()[:3] == pytest.approx([4.358293, 15.80674, 0.5920404], abs=1e-5)
    dropped = data.drop(index=[0, 1, 2])
    two = fit_anova(dropped, "y", ("Duration", "Weight"))
    assert two.table["sum_sq"].to_numpy() == pytest.approx(
        [3.067066, 13.27205, 0.1905093, 27.60181], rel=1e-6
    )
    assert two.table["F"].to_numpy()[:3] == pytest.approx([5.667033, 12.26141, 0.1760025], rel=1e-6)
    three = fit_anova(dropped, "y", ("Duration", "Weight"), typ=3)
    assert three.table["sum_sq"].to_numpy() == pytest.approx(
        [2.904723, 13.45718, 0.1905093, 27.60181], rel=1e-6
    )
    assert three.table["p"].to_numpy()[:3] == pytest.approx(
        [0.02457384, 3.999431e-05, 0.8391231], rel=1e-6
    )
    assert "depend on their type" in two.warnings[0]


def design(seed, counts=((2, 3, 1), (4, 1, 2)), interaction=1.0):
    """Processors by memory with unequal numbers of rows."""
    rng = np.random.default_rng(seed)
    rows = [
        {
            "processors": 4 * (i + 1),
            "memory": m,
            "y": 100 + 20 * i - 5 * j + interaction * i * j + rng.normal(),
        }
        for i, line in enumerate(counts)
        for j, (m, n) in enumerate(zip(("small", "medium", "large"), line, strict=True))
        for _ in range(n)
    ]
    return pd.DataFrame(rows).sample(frac=1, random_state=seed)


def rss(frame, *blocks):
    x = np.column_stack([np.ones(len(frame)), *blocks])
    return float(np.sum((frame["y"] - x @ np.linalg.lstsq(x, frame["y"], rcond=None)[0]) ** 2))


@pytest.mark.parametrize("seed", range(5))
def test_sums_of_squares_are_drops_of_the_residual_sum(seed):
    frame = design(seed)
    a = np.where(frame[["processors"]] == 4, 1.0, -1.0)
    b = np.column_stack(
        [
            (frame["memory"] == m).astype(float) - (frame["memory"] == "large")
            for m in ("medium", "small")
        ]
    )
    ab = a * b
    expected = {
        1: [rss(frame) - rss(frame, a), rss(frame, a) - rss(frame, a, b)],
        2: [rss(frame, b) - rss(frame, a, b), rss(frame, a) - rss(frame, a, b)],
        3: [rss(frame, b, ab) - rss(frame, a, b, ab), rss(frame, a, ab) - rss(frame, a, b, ab)],
    }
    for typ, main in expected.items():
        fit = fit_anova(frame, "y", ("processors", "memory"), typ=typ)
        together = rss(frame, a, b) - rss(frame, a, b, ab)
        assert fit.table["sum_sq"].to_numpy() == pytest.approx(
            [*main, together, rss(frame, a, b, ab)], rel=1e-8
        )
    additive = fit_anova(frame, "y", ("processors", "memory"), interaction=False)
    assert additive.terms == ("processors", "memory")
    assert additive.table["sum_sq"].to_numpy() == pytest.approx(
        [*expected[2], rss(frame, a, b)], rel=1e-8
    )


def test_the_type_does_not_matter_in_balance():
    frame = design(3, counts=((2, 2, 2), (2, 2, 2)))
    tables = [fit_anova(frame, "y", ("processors", "memory"), typ=typ) for typ in (1, 2, 3)]
    for other in tables[1:]:
        pd.testing.assert_frame_equal(other.table, tables[0].table, rtol=1e-10)
        assert not other.warnings


def test_two_levels_are_the_pooled_t_test():
    a, b = np.array([3.1, 2.7, 3.6, 3.3]), np.array([4.0, 4.4, 3.9])
    frame = pd.DataFrame({"system": ["xen"] * 4 + ["zvm"] * 3, "y": np.concatenate((a, b))})
    fit = fit_anova(frame, "y", "system")
    t = scipy.stats.ttest_ind(b, a)
    assert fit.test("system").statistic == pytest.approx(t.statistic**2, rel=1e-12)
    assert fit.results.nobs == fit.nobs == 7


def test_means_with_interaction_are_those_of_the_cells():
    frame = design(7)
    fit = fit_anova(frame, "y", ("processors", "memory"))
    means = frame.groupby(["processors", "memory"])["y"].agg(["mean", "size"])
    table = fit.means().set_index(["processors", "memory"])
    assert table["fitted"].to_dict() == pytest.approx(means["mean"].to_dict(), rel=1e-12)
    assert table["mean"].to_dict() == pytest.approx(means["mean"].to_dict(), rel=1e-12)
    assert table["se"].to_dict() == pytest.approx(
        np.sqrt(fit.scale / means["size"]).to_dict(), rel=1e-10
    )


def test_without_interaction_an_empty_cell_is_extrapolated():
    frame = design(2, counts=((3, 2, 0), (2, 2, 3)), interaction=0)
    fit = fit_anova(frame, "y", ("processors", "memory"), interaction=False)
    cells = fit.means().set_index(["processors", "memory"])
    assert math.isnan(cells.loc[(4, "large"), "mean"])
    # Additive: every difference between processors is the same.
    gap = [
        cells.loc[(8, m), "fitted"] - cells.loc[(4, m), "fitted"]
        for m in ("small", "medium", "large")
    ]
    assert gap == pytest.approx([gap[0]] * 3, rel=1e-9)
    assert cells.loc[(4, "large"), "se"] > cells.loc[(8, "large"), "se"]


@pytest.mark.parametrize(("shift", "factor"), [(0, 1e-6), (1e7, 1), (-5, 1e9)])
def test_units_only_change_units(shift, factor):
    frame = design(1)
    one = fit_anova(frame, "y", ("processors", "memory"))
    other = fit_anova(frame.assign(y=shift + factor * frame["y"]), "y", ("processors", "memory"))
    assert other.table["F"].to_numpy()[:3] == pytest.approx(one.table["F"].to_numpy()[:3], rel=1e-6)
    assert other.table["sum_sq"].to_numpy() / factor**2 == pytest.approx(
        one.table["sum_sq"].to_numpy(), rel=1e-6
    )


def test_row_order_and_names_of_columns_do_not_matter():
    """Column names that are programs, and levels that are keywords, stay mere names."""
    frame = design(4)
    one = fit_anova(frame, "y", ("processors", "memory"))
    odd = frame.rename(
        columns={"y": "C(1/0)", "processors": "__import__('os')", "memory": "lambda: 0"}
    )
    other = fit_anova(odd.iloc[::-1], "C(1/0)", ("__import__('os')", "lambda: 0"))
    assert other.terms == ("__import__('os')", "lambda: 0", "__import__('os'):lambda: 0")
    assert other.table["F"].to_numpy()[:3] == pytest.approx(one.table["F"].to_numpy()[:3], rel=1e-9)


def test_levels_keep_the_order_of_a_categorical_column():
    frame = design(4).astype(
        {"memory": pd.CategoricalDtype(["small", "medium", "large", "huge"], ordered=True)}
    )
    fit = fit_anova(frame, "y", ("processors", "memory"))
    assert fit.factors["memory"] == ("small", "medium", "large")
    assert fit.factors["processors"] == (4, 8)
    mixed = pd.DataFrame({"f": ["all", 4, "all", 4, 8, 8], "y": [1, 2, 3, 4, 5, 7.0]})
    assert fit_anova(mixed, "y", "f").factors["f"] == ("all", 4, 8)


def test_summary_shows_terms_sizes_and_warnings():
    fit = fit_anova(design(4), "y", ("processors", "memory"))
    text = fit.summary()
    assert text == fit_anova(design(4), "y", ("processors", "memory")).summary()
    lines = text.splitlines()
    assert lines[0].startswith(
        "Analysis of variance of y by processors and memory, sums of squares 2"
    )
    assert [line.split()[0] for line in lines[3:7]] == [
        "processors",
        "memory",
        "processors:memory",
        RESIDUAL,
    ]
    assert lines[-1].startswith("warning: the cells have different numbers of rows")


def raises(message, frame, factors=("a", "b"), **options):
    with pytest.raises(ModelError, match=message):
        fit_anova(frame, "y", factors, **options)


def test_bad_input():
    frame = pd.DataFrame(
        {"a": [1, 1, 2, 2] * 2, "b": list("uvuv") * 2, "y": [1, 2, 3, 5, 2, 2, 4, 5.0]}
    )
    raises(
        "y in row 3 of 8 is not a finite number", frame.assign(y=[1, 2, math.nan, 4, 5, 6, 7, 8])
    )
    raises("y holds something that is not a number", frame.assign(y=list("abcdefgh")))
    raises("b in row 2 of 8 is missing", frame.assign(b=["u", None, *"uvuvuv"]))
    raises(r"b has one level \(u\); expected at least 2", frame.assign(b="u"))
    raises(r"0 columns named 'c'; expected one of a, b, y", frame, ("a", "c"))
    raises("2 columns named 'a'", pd.concat([frame, frame[["a"]]], axis=1))
    raises("two different columns beside the response", frame, ("a", "a"))
    raises("two different columns beside the response", frame, ("a", "b", "y"))
    raises("unknown type of sums of squares", frame, typ=4)
    raises(
        "1 of 4 cells have no row, the first one being a = 2 and b = v", frame.drop(index=[3, 7])
    )
    raises(
        "no residual degrees of freedom are left: 4 rows for 4 parameters.*without interaction",
        frame.iloc[:4],
    )
    raises(
        "do not tell the effects of a and b apart",
        frame[(frame["a"] == 1) == (frame["b"] == "u")],
        interaction=False,
    )
    raises(
        "rows with the same a and b do not differ",
        frame.assign(y=frame["a"] + 0.1 * (frame["b"] == "u")),
    )
    raises("rows with the same a do not differ", frame.assign(y=3.3), "a")
    numbers = pd.DataFrame({"a": np.arange(60), "b": np.arange(60), "y": np.arange(60.0)})
    raises("a and b make 3600 cells", numbers)
    assert fit_anova(frame.iloc[:4], "y", ("a", "b"), interaction=False).df_resid == 1


def test_bad_questions():
    fit = fit_anova(design(1), "y", ("processors", "memory"))
    with pytest.raises(ModelError, match=r"unknown term.*'processors:memory'"):
        fit.test("disk")
