"""CSV downloads of the numbers."""

from __future__ import annotations

import io
from urllib.parse import unquote

import pandas as pd

from tests.cases import each_case
from virtperf.report.html.record import address, to_csv
from virtperf.report.records import Numbers


def numbers(*rows: tuple, columns: tuple[str, ...] = ("name", "value")) -> Numbers:
    return Numbers(name="n", columns=columns, rows=rows)


def test_numbers_round_trip() -> None:
    table = numbers(("a", 1.5), ("b, c", -3), ('"d"', None), ("e\nf", True))
    frame = pd.read_csv(io.StringIO(to_csv(table)))
    assert list(frame["name"]) == ["a", "b, c", '"d"', "e\nf"]
    assert list(map(str, frame["value"])) == ["1.5", "-3", "nan", "True"]


def test_numbers_have_six_digits() -> None:
    assert (
        to_csv(numbers(("a", 1234567.0), ("b", 0.0001234567)))
        == "name,value\na,1.23457e+06\nb,0.000123457\n"
    )


@each_case("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_formula_cells_are_escaped(cell: str) -> None:
    read = to_csv(numbers((cell, 1), columns=(cell, "value")))
    frame = pd.read_csv(io.StringIO(read), lineterminator="\n")
    assert frame.iloc[0, 0] == f"'{cell}" and frame.columns[0] == f"'{cell}"


def test_negative_number_is_not_escaped() -> None:
    assert to_csv(numbers(("a", -1.5))) == "name,value\na,-1.5\n"


def test_data_url_contains_the_file() -> None:
    table = numbers(('<"&#%>', 1))
    head, _, body = address(table).partition(",")
    assert head == "data:text/csv;charset=utf-8" and unquote(body) == to_csv(table)
    assert not set(body) & set('<>"#& \n')
