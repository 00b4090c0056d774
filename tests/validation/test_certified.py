"""Certified digits: the sets themselves, how digits are counted, and the page in docs."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from rawperf.core.errors import ModelError
from tests.rational import exact
from validation import certify

LAST_DIGIT = 14.0  # digits beyond depend on the machine


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
    """Digits of a page: {set: cells of the row after it}."""
    found = {}
    for line in text.splitlines():
        if line.startswith("|") and not line.startswith(("| set", "| ---")):
            name, *rest = (cell.strip() for cell in line.strip("|").split("|"))
            found[name] = rest
    return found


def disagreements(old, new, noted):
    """Rows that differ: in a fact, or in a digit by more than a half, the last certified digit being free."""
    wrong = [key for key in {**old, **new} if key not in old or key not in new]
    for key in set(old) & set(new):
        for before, after in zip(old[key], new[key], strict=True):
            if "." not in before:
                same = before == after
            else:
                a, b = (min(float(cell), LAST_DIGIT) for cell in (before, after))
                same = key in noted or abs(a - b) <= 0.5 + 1e-9
            if not same:
                wrong.append((key, before, after))
    return wrong


def test_every_set_is_there(sets):
    assert set(sets) == {
        "Norris",
        "Pontius",
        "NoInt1",
        "NoInt2",
        "Filip",
        "Longley",
        "Wampler1",
        "Wampler2",
        "Wampler3",
        "Wampler4",
        "Wampler5",
    }


def test_the_committed_page_agrees_with_a_new_one(root, page, sets):
    committed = (root / "docs" / "certified-digits.md").read_text(encoding="utf-8")
    noted = {name for name, r in sets.items() if "reason" in r}
    assert disagreements(cells(committed), cells(page), noted) == []
    digit = "0123456789."
    without = [text.translate(str.maketrans("", "", digit)) for text in (committed, page)]
    assert without[0] == without[1], "only digits may differ: run python -m validation.certify"


def test_a_changed_page_is_noticed(page):
    rows = cells(page)
    assert disagreements(rows, rows, set()) == []
    key = "Norris"
    assert disagreements({**rows, key: [*rows[key][:3], "9.0", *rows[key][4:]]}, rows, set())
    assert disagreements({**rows, key: ["lower", "13", *rows[key][2:]]}, rows, set())
    assert disagreements({k: v for k, v in rows.items() if k != key}, rows, set())


def test_each_set_has_its_required_digits(page):
    rows = cells(page)
    assert len(rows) == 11
    for key, (_, _, _, *found, required) in rows.items():
        wanted = [float(d) for d in required.split(" / ")]
        for k, cell in enumerate(found):
            assert float(cell) >= wanted[k % 2], key


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
    for k, (value, sd) in enumerate(
        zip(case["expected"]["params"], case["expected"]["bse"], strict=True)
    ):
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
    table = certify.digits(sets["Norris"])
    assert list(table.columns) == ["quantity", "name", "found", "certified", "digits"]
    assert table[["quantity", "name"]].values.tolist() == [
        [quantity, name] for quantity in ("params", "bse") for name in ("b0", "b1")
    ]
    assert table["digits"].between(12, 15).all()
    assert list(certify.digits(sets["NoInt1"])["certified"]) == [
        2.07438016528926,
        0.0165289256198347,
    ]


def test_a_wrong_value_loses_its_digits(sets):
    wrong = json.loads(json.dumps(sets["Norris"]))
    wrong["expected"]["params"][1] *= 1.001
    table = certify.digits(wrong).set_index(["quantity", "name"])
    assert table.loc[("params", "b1"), "digits"] == pytest.approx(3, abs=0.01)


def test_a_set_below_its_requirement_is_counted(sets, tmp_path):
    wrong = json.loads(json.dumps(sets["Norris"]))
    wrong["expected"]["params"][1] *= 1.001
    for name, reference in (("good", sets["Longley"]), ("wrong", wrong)):
        (tmp_path / f"{name}.json").write_text(json.dumps(reference))
    assert "1 of 2 sets have their required digits" in certify.certified_table(tmp_path)


def test_files_that_are_no_references(tmp_path):
    with pytest.raises(ModelError, match="no certified reference"):
        certify.certified_table(tmp_path)
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(ModelError, match="can't be read"):
        certify.certified_table(tmp_path)
    (tmp_path / "a.json").write_text(
        '{"model": "linear", "authority": "certified by NIST", "options": {}, "x": [1]}'
    )
    with pytest.raises(ModelError, match="incomplete; expected y, expected, rtol, set, level"):
        certify.certified_table(tmp_path)
    (tmp_path / "a.json").write_text('{"model": "usl", "authority": "computed with R"}')
    with pytest.raises(ModelError, match="no certified reference"):
        certify.certified_table(tmp_path)


def test_required_digits_follow_the_tolerances():
    reference = {"rtol": {"default": 1e-9, "bse": 1e-2}}
    assert certify.required_digits(reference, "params") == pytest.approx(9)
    assert certify.required_digits(reference, "bse") == pytest.approx(2)
    assert not math.isnan(certify.required_digits(reference, "rss"))
