"""Tables as items: intervals, verdicts, long series, printed cells."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from virtperf.verify.sheets import IN_WORDS, cell_items, line_items, read_csv, table_items


def test_a_points_layers_are_items_with_their_limits() -> None:
    rows = read_csv(
        "exhibit,series,guests,quantity,allowed_low,allowed_high,allowed_low_without_assumptions,"
        "allowed_high_without_assumptions,centre,low_set_by,high_set_by,measured,measured_low,measured_high,printed\n"
        "figure-5,z/VM,12,throughput,90,,80,,95,a-claim,,94,93,95,\n"
    )
    found = {
        i.field: i for i in table_items("figure-5", rows, lambda name: "means" if name == "measured" else "limits")
    }
    assert set(found) == {"allowed", "allowed_without_assumptions", "measured", "low_set_by", IN_WORDS}
    assert {i.label for i in found.values()} == {"z/VM, 12"}
    assert found["allowed"].numbers[:2] == (95, 90) and math.isnan(found["allowed"].high)
    assert found["measured"].numbers == (94, 93, 95) and found["measured"].kind == "means"
    assert found[IN_WORDS].words == "quantity: throughput"
    assert (found["low_set_by"].words, found["low_set_by"].low) == ("a-claim", 90) and found["low_set_by"].explains


def test_estimates_and_verdicts_are_told_apart() -> None:
    rows = read_csv("estimate,value,low,high,unit,level,method\npeak,14.5,13,16,guests,0.95,profile\n")
    first = table_items("e", rows, "estimates")[0]
    assert (first.label, first.field, first.numbers) == ("peak", "", (14.5, 13, 16))
    rows = read_csv("estimate,low,high,margin_low,margin_high,verdict\n1.02,1.01,1.03,0.98,1.02,undecided\n")
    found = {i.field: i for i in table_items("e", rows, "estimates")}
    assert found[""].numbers == (1.02, 1.01, 1.03) and found[""].label == "row 1"
    assert found["margin"].numbers[1:] == (0.98, 1.02) and found["verdict"].words == "undecided"


def test_a_long_series_is_a_curve_a_column() -> None:
    rows = [{"series": "a", "unit": "1/s", "t_s": 10.0 * k, "value": float(k)} for k in range(20)]
    found = table_items("figure-4", rows, "means")
    assert [(i.label, i.field, len(i.curve)) for i in found] == [
        ("a", "t_s", 20),
        ("a", "value", 20),
        ("a", IN_WORDS, 0),
    ]


def test_repeated_rows_and_lines_keep_apart() -> None:
    rows = read_csv("Guest,Memory\nweb,1\nweb,2\n")
    assert [(i.label, i.words) for i in cell_items("table-1", rows) if i.field == "Memory"] == [
        ("web", "1"),
        ("web (2)", "2"),
    ]
    assert [i.label for i in line_items("quality", ["3 runs read", "4 runs read"])] == [
        "# runs read",
        "# runs read (2)",
    ]


@given(st.lists(st.tuples(st.text('abc,"\n', max_size=4), st.sampled_from(["", "1", "x", "1e400", "-"])), max_size=12))
def test_every_item_has_a_key_of_its_own(rows: list[tuple[str, str]]) -> None:
    for found in (
        table_items("e", [{"label": a, "value": b, "verdict": "v" + b} for a, b in rows], "estimates"),
        cell_items("e", [{"label": a, "value": b} for a, b in rows]),
        line_items("e", [a for a, _ in rows]),
    ):
        assert len({i.key for i in found}) == len(found)
