"""The table of derived numbers: exact ranges by hand, with and without assumptions, printed values."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import yaml

from tests.reconstruct.conftest import STUDY, claim
from virtperf.reconstruct.feasible import solve
from virtperf.reconstruct.ranges import CUT_OFF, NO_PEAK, NOT_POSITIVE, PEAK_AT_END, Answers, ranges
from virtperf.study.claims import load_claims
from virtperf.study.definition import load_study

FALLING = (
    "assumptions:\n  - {id: falls, says: falls at the end, why: a guess, kind: ratio, of: 'throughput[guests=4]', "
    "to: 'throughput[guests=3]', high: 0.9}\n"
)
VALUES = "claims:\n" + "".join(
    claim(f"at-{g}", f"kind: value, of: 'throughput[guests={g}]', value: {v}, half_width: 2")
    for g, v in ((1, 40), (2, 75), (4, 95))
)


@pytest.fixture
def table(tmp_path: Path):
    """Builds the rows of RANGES by label from claims and the list `derived`."""

    def build(claims: str, derived: list[dict]) -> dict[str, dict]:
        folder = tmp_path / "tiny"
        folder.mkdir(exist_ok=True)
        (folder / "study.yaml").write_text(STUDY + yaml.safe_dump({"derived": derived}))
        (folder / "claims.yaml").write_text(f"study: tiny\nnot_encoded: []\n{claims}")
        study = load_study(folder)
        loaded = load_claims(study)
        feasible, alone = solve(study, loaded), solve(study, loaded, ("all",))
        found = ranges(loaded, feasible, alone, Answers([feasible, alone], 7))
        return {row["label"]: row for row in found.to_dict("records")}

    return build


def entry(kind: str, **fields) -> dict:
    along = (
        {"over": "guests", "levels": [1, 2, 3, 4]}
        if kind in ("maximum", "argmax", "line", "usl")
        else {}
    )
    return {
        "id": kind.replace("_", "-"),
        "kind": kind,
        "about": ["figure-1"],
        "label": kind,
        **along,
        **fields,
    }


def pair(of: int, to: int) -> dict:
    return {"of": f"throughput[guests={of}]", "to": f"throughput[guests={to}]"}


def ends(row: dict, suffix: str = "") -> tuple[float, float]:
    return row[f"low{suffix}"], row[f"high{suffix}"]


def test_exact_ranges_by_hand(table):
    rows = table(
        VALUES,
        [
            entry("value", of="throughput[guests=1] + 2 throughput[guests=2]"),
            entry("difference", **pair(2, 1)),
            entry("ratio", **pair(2, 1)),
            entry("percent_change", **pair(2, 1)),
            entry("maximum", of="throughput"),
            entry("line", of="throughput", gives={"intercept": "at 0", "slope": "each"}),
        ],
    )
    assert ends(rows["value"]) == pytest.approx((38 + 146, 42 + 154))
    assert ends(rows["difference"]) == pytest.approx((73 - 42, 77 - 38))
    assert ends(rows["ratio"]) == pytest.approx((73 / 42, 77 / 38), rel=1e-5)
    assert ends(rows["percent_change"]) == pytest.approx(
        (100 * (73 / 42 - 1), 100 * (77 / 38 - 1)), rel=1e-4
    )
    assert ends(rows["maximum"]) == pytest.approx(
        (100, 100)
    )  # the reference, never reached by others
    # least squares over 1 to 4: slope = sum of (-1.5, -0.5, 0.5, 1.5) y / 5
    weights = np.array([-1.5, -0.5, 0.5, 1.5]) / 5
    slope = float(weights @ [40, 75, 100, 95])
    room = 2 * float(np.abs(weights[[0, 1, 3]]).sum())
    assert ends(rows["line: each"]) == pytest.approx((slope - room, slope + room))
    assert np.mean(ends(rows["line: at 0"])) == pytest.approx(
        (40 + 75 + 100 + 95) / 4 - 2.5 * slope
    )
    assert {row["method"] for row in rows.values()} == {"exact"}


def test_assumptions_narrow_the_ranges_of_the_text(table):
    text = (
        "claims:\n"
        + claim("at-4", "kind: value, of: 'throughput[guests=4]', low: 50, high: 95")
        + FALLING
    )
    (row,) = table(text, [entry("ratio", **pair(4, 3))]).values()
    assert ends(row, "_text") == pytest.approx((0.5, 0.95)) and ends(row) == pytest.approx(
        (0.5, 0.9)
    )


def test_text_is_asked_itself_where_means_of_quotients_are_claimed(table):
    mean = claim(
        "mean",
        "kind: relative_mean, of: response_time, parts: [throughput], relative_to: {guests: 3}, "
        "for_each: {guests: [1, 2]}",
    )
    wide = claim("at-4", "kind: value, of: 'throughput[guests=4]', low: 50, high: 95")
    (row,) = table("claims:\n" + mean + wide + FALLING, [entry("ratio", **pair(4, 3))]).values()
    assert ends(row, "_text") == pytest.approx((0.5, 0.95))
    assert ends(row) == pytest.approx((0.5, 0.9))


def test_value_of_a_line_at_0_has_the_bounds_of_its_quantity(table):
    gives = {"intercept": "at 0", "slope": "each"}
    rows = table(
        VALUES.replace("value: 75", "value: 20"), [entry("line", of="throughput", gives=gives)]
    )
    assert rows["line: at 0"]["low"] == 0.0 and rows["line: at 0"]["note"] == CUT_OFF
    assert rows["line: each"]["note"] == ""


def test_printed_coefficients_of_a_rule_are_listed_with_the_line(table):
    rule = claim(
        "rule",
        "kind: rule, of: throughput, over: guests, levels: [1, 2, 3, 4], intercept: 20, slope: 21, "
        "intercept_half_width: 30, slope_half_width: 9",
    )
    gives = {"intercept": "at 0", "slope": "each"}
    rows = table("claims:\n" + rule, [entry("line", of="throughput", gives=gives)])
    assert rows["line: at 0"]["printed"] == [20] and rows["line: each"]["printed"] == [21]


def test_quantity_without_claims_has_no_limit(table):
    rows = table(
        VALUES,
        [
            entry(
                "ratio",
                of="throughput[system=b]",
                to="throughput[system=a]",
                label="{guests}",
                for_each={"guests": [1, 2]},
            )
        ],
    )
    assert [ends(row) for row in rows.values()] == [(0, math.inf)] * 2 and list(rows) == ["1", "2"]


def test_range_has_gaps_between_resolutions(table):
    at = "kind: value, of: 'throughput[system=b, guests=3]', half_width: 1"
    text = "claims:\n" + claim("low", f"{at}, value: 40") + claim("high", f"{at}, value: 60")
    (row,) = table(
        text, [entry("ratio", of="throughput[system=b, guests=3]", to="throughput[guests=3]")]
    ).values()
    assert row["pieces"] == pytest.approx([0.39, 0.41, 0.59, 0.61])


def test_possible_levels_of_a_peak(table):
    text = "claims:\n" + claim("below", "kind: range, of: 'throughput[guests=2]', high: 90")
    (row,) = table(text, [entry("argmax", of="throughput")]).values()
    assert row["levels"] == ["1", "3", "4"] and ends(row) == (1, 4) and row["note"] == PEAK_AT_END
    peak = claim("peak", "kind: argmax, of: throughput, over: guests, levels: [1, 2, 3, 4], at: 3")
    (row,) = table("claims:\n" + peak, [entry("argmax", of="throughput")]).values()
    assert row["levels"] == row["levels_text"] == ["3"] and row["note"] == ""


def test_printed_number_is_listed_with_the_range(table):
    text = "claims:\n" + claim(
        "half", f"kind: ratio, {_flow(pair(1, 3))}, value: 0.5, half_width: 0.05"
    )
    text += claim(
        "change", f"kind: percent_change, {_flow(pair(1, 3))}, value: -48, half_width: 0.5"
    )
    text += claim(
        "vague",
        f"kind: ratio, {_flow(pair(1, 3))}, value: 0.4, half_width: 0.2, reading: about half",
    )
    rows = table(
        text,
        [
            entry("ratio", **pair(1, 3)),
            entry("percent_change", **pair(1, 3)),
            entry("difference", **pair(1, 3)),
        ],
    )
    assert rows["ratio"]["printed"] == pytest.approx([0.5, 0.52])
    assert rows["percent_change"]["printed"] == pytest.approx([-50, -48])
    assert rows["difference"]["printed"] == []


def _flow(fields: dict) -> str:
    return ", ".join(f"{name}: '{value}'" for name, value in fields.items())


def test_usl_range_is_searched_and_the_peak_may_not_exist(table):
    gives = {"peak_load": "peak", "coherency": "coherency"}
    rows = table(VALUES, [entry("usl", of="throughput", gives=gives)])
    assert rows["usl: peak"]["method"] == "searched" and rows["usl: peak"]["data_sets"] > 200
    assert 0 < rows["usl: coherency"]["low"] < rows["usl: coherency"]["high"]
    assert (
        2 < rows["usl: peak"]["low"] < 4
        and rows["usl: peak"]["high"] < math.inf
        and rows["usl: peak"]["note"] == ""
    )
    rising = "claims:\n" + claim(
        "more", "kind: ordering, order: ['throughput[guests=3]', 'throughput[guests=4]']"
    )
    assert (
        NO_PEAK in table(rising, [entry("usl", of="throughput", gives=gives)])["usl: peak"]["note"]
    )


def test_possibly_negative_divisor_is_reported(table):
    below = "throughput[guests=2] - throughput[guests=1]"
    (row,) = table(
        VALUES.replace("value: 40", "value: 74"),
        [entry("ratio", of="throughput[guests=3]", to=below)],
    ).values()
    assert row["note"] == NOT_POSITIVE and row["high"] == math.inf
    zero = entry("ratio", of="throughput[guests=3]", to="throughput[system=b, guests=1]")
    assert table(VALUES, [zero])["ratio"]["note"] == NOT_POSITIVE
