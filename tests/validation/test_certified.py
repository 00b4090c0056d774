"""Certified digits: the sets themselves, how digits are counted, and the page in docs."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from tests.rational import exact
from validation import certify, nist
from virtperf.core.errors import ModelError
from virtperf.models.nls import Curve

LAST_DIGIT = {"Nonlinear regression": 10.0, "Linear regression": 14.0}  # digits beyond depend on the machine


@pytest.fixture(scope="module")
def folder(root):
    return root / "tests" / "reference"


@pytest.fixture(scope="module")
def sets(folder):
    return {r["options"]["set"]: r for r in certify.certified_references(folder)}


@pytest.fixture(scope="module")
def page(folder):
    return certify.certified_page(folder)


def cells(text):
    """Digits of a page: {(title, set): cells of the row after its set}."""
    found, title = {}, ""
    for line in text.splitlines():
        if line.startswith("## "):
            title = line.removeprefix("## ")
        elif line.startswith("|") and not line.startswith(("| set", "| ---")):
            name, *rest = (cell.strip() for cell in line.strip("|").split("|"))
            found[title, name] = rest
    return found


def disagreements(old, new, noted):
    """Rows that differ: in a fact, or in a digit by more than a half, the last certified digit being free."""
    wrong = [key for key in {**old, **new} if key not in old or key not in new]
    for key in set(old) & set(new):
        title, name = key
        for before, after in zip(old[key], new[key], strict=True):
            if "." not in before:
                same = before == after
            else:
                a, b = (min(float(cell), LAST_DIGIT[title]) for cell in (before, after))
                same = name in noted or abs(a - b) <= 0.5 + 1e-9
            if not same:
                wrong.append((key, before, after))
    return wrong


def test_every_set_is_there(sets):
    linear = {name for name, r in sets.items() if r["model"] == "linear"}
    assert set(sets) - linear == set(nist.CURVES)
    assert len(nist.CURVES) == 27
    assert linear == {
        "Norris", "Pontius", "NoInt1", "NoInt2", "Filip", "Longley",
        "Wampler1", "Wampler2", "Wampler3", "Wampler4", "Wampler5",
    }  # fmt: skip


def test_the_committed_page_agrees_with_a_new_one(root, page, sets):
    committed = (root / "docs" / "certified-digits.md").read_text(encoding="utf-8")
    noted = {name for name, r in sets.items() if "reason" in r}
    assert disagreements(cells(committed), cells(page), noted) == []
    digit = "0123456789."
    without = [text.translate(str.maketrans("", "", digit)) for text in (committed, page)]
    assert without[0] == without[1], "only digits may differ: run virtperf certify"


def test_a_changed_page_is_noticed(page):
    rows = cells(page)
    assert disagreements(rows, rows, set()) == []
    key = ("Nonlinear regression", "Misra1a")
    assert disagreements({**rows, key: [*rows[key][:3], "9.0", *rows[key][4:]]}, rows, set())
    assert disagreements({**rows, key: ["lower", "13", *rows[key][2:]]}, rows, set())
    assert disagreements({k: v for k, v in rows.items() if k != key}, rows, set())


def test_each_set_has_its_required_digits(page):
    rows = cells(page)
    assert len(rows) == 38
    for key, (_, _, _, *found, required) in rows.items():
        wanted = [float(d) for d in required.split(" / ")]
        for k, cell in enumerate(found):
            assert float(cell) >= wanted[k % 2], key


@pytest.mark.parametrize("name", sorted(nist.CURVES))
def test_jacobians_are_the_derivatives_of_the_values(sets, name):
    """The imaginary part of a value after a step of i h is h times the derivative, without any cancellation."""
    reference = sets[name]
    x = np.asarray(reference["x"], dtype=float)
    for params in (reference["expected"]["params"], reference["options"]["starts"][1]):
        curve = nist.curve(name, len(params))
        found = curve.jacobian(x, np.array(params, dtype=float))
        for k in range(len(params)):
            shifted = np.array(params, dtype=complex)
            shifted[k] += 1e-40j
            derivative = np.imag(curve.value(x, shifted)) / 1e-40
            assert found[:, k] == pytest.approx(derivative, rel=1e-9, abs=1e-12 * float(np.max(np.abs(derivative))))


@pytest.mark.parametrize(
    "name", ["Norris", "Pontius", "NoInt1", "Filip", "Longley", "Wampler2", "Wampler3", "Wampler5"]
)
def test_linear_sets_are_certified_for_these_data(folder, name):
    """Solved with fractions from the decimal data, the certified values come out: neither is mistyped."""
    text = (folder / f"linear-{name.lower()}.json").read_text()
    case = json.loads(text, parse_float=Fraction, parse_int=Fraction)
    degree = case["options"].get("degree")
    if degree is None:
        design = case["x"]
    else:
        design = [[v] if degree == 0 else [v**k for k in range(int(degree) + 1)] for v in case["x"]]
    b, inverse, rss = exact(design, case["y"], [Fraction(1)] * len(design))
    scale = rss / (len(design) - len(b))
    for k, (value, sd) in enumerate(zip(case["expected"]["params"], case["expected"]["bse"], strict=True)):
        assert abs(b[k] / value - 1) < 1e-14
        # Squared: a deviation is irrational, its square is not.
        assert abs(inverse[k][k] * scale - sd**2) <= 2e-14 * sd**2


def test_digits_count_wrong_values_as_wrong():
    assert certify.matching_digits(1.001, 1.0)[0] == pytest.approx(3.0)
    assert certify.matching_digits([1e-3], [0.0])[0] == pytest.approx(3.0)
    assert certify.matching_digits(1.0, 1.0, most=11)[0] == 11
    assert certify.matching_digits(1 - 1e-5, 1.0) == pytest.approx(5.0)
    assert not np.min(certify.matching_digits(np.nan, 1.0)) >= 1


def test_digits_of_a_set(sets):
    table = certify.digits(sets["Misra1a"])
    assert list(table.columns) == ["start", "quantity", "name", "found", "certified", "digits"]
    assert table[["start", "quantity", "name"]].values.tolist() == [
        [start, quantity, name] for start in (1, 2) for quantity in ("params", "bse") for name in ("b1", "b2")
    ]
    assert table["digits"].between(9, 11).all()
    assert list(certify.digits(sets["NoInt1"])["certified"]) == [2.07438016528926, 0.0165289256198347]


def test_a_wrong_value_loses_its_digits(sets):
    wrong = json.loads(json.dumps(sets["Misra1a"]))
    wrong["expected"]["params"][1] *= 1.001
    table = certify.digits(wrong)
    assert table[(table["quantity"] == "params") & (table["name"] == "b2")]["digits"].to_list() == pytest.approx(
        [3, 3], abs=0.01
    )


def test_a_start_from_which_no_fit_arrives_has_no_digits(sets):
    lost = json.loads(json.dumps(sets["Misra1a"]))
    lost["options"]["starts"][0] = [1.0, -1e6]  # overflows at once
    table = certify.digits(lost)
    first = table[table["start"] == 1]
    assert first["found"].isna().all()
    assert (first["digits"] == 0).all()
    assert (table[table["start"] == 2]["digits"] > 9).all()


def test_a_set_below_its_requirement_is_counted(sets, tmp_path):
    wrong = json.loads(json.dumps(sets["Misra1a"]))
    wrong["expected"]["params"][1] *= 1.001
    for name, reference in (("good", sets["DanWood"]), ("wrong", wrong)):
        (tmp_path / f"{name}.json").write_text(json.dumps(reference))
    text = certify.certified_table(tmp_path)
    assert "1 of 2 sets have their required digits" in text
    assert "Linear regression" not in text


def test_the_logarithm_is_the_response_of_nelson(sets):
    fit = certify.fit_nonlinear(sets["Nelson"], 1)
    assert fit.y == pytest.approx(np.log(sets["Nelson"]["y"]))
    assert fit.x.shape == (128, 2)
    assert fit.predict([[1.0, 180.0]])[0] == pytest.approx(fit.fittedvalues[0], rel=1e-15)


def test_files_that_are_no_references(tmp_path):
    with pytest.raises(ModelError, match="no certified reference"):
        certify.certified_table(tmp_path)
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(ModelError, match="can't be read"):
        certify.certified_table(tmp_path)
    (tmp_path / "a.json").write_text('{"model": "nist", "authority": "certified by NIST", "options": {}, "x": [1]}')
    with pytest.raises(ModelError, match="incomplete; expected y, expected, rtol, set, level"):
        certify.certified_table(tmp_path)
    (tmp_path / "a.json").write_text('{"model": "usl", "authority": "computed with R"}')
    with pytest.raises(ModelError, match="no certified reference"):
        certify.certified_table(tmp_path)


def test_unknown_sets():
    assert isinstance(nist.curve("Rat42", 3), Curve)
    with pytest.raises(ModelError, match="no nonlinear set Rat44"):
        nist.curve("Rat44", 3)


def test_required_digits_follow_the_tolerances():
    reference = {"rtol": {"default": 1e-9, "bse": 1e-2}}
    assert certify.required_digits(reference, "params") == pytest.approx(9)
    assert certify.required_digits(reference, "bse") == pytest.approx(2)
    assert not math.isnan(certify.required_digits(reference, "rss"))
