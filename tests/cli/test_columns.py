"""Tables of other people: three kinds of file, cells that are no numbers, errors that name the place."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from rawperf.core.errors import VirtperfError
from virtperf.cli._columns import parse_columns

FRAME = pd.DataFrame({"system": ["a", "a", "b"], "n": [1, 2, 2], "y": [1.5, None, 2.5]})


def encoded(kind: str, tmp_path) -> bytes:
    if kind == "csv":
        return FRAME.to_csv(index=False).encode()
    if kind == "semicolon":
        return b"\xef\xbb\xbf" + FRAME.to_csv(index=False, sep=";").encode()
    if kind == "tab":
        return FRAME.to_csv(index=False, sep="\t", lineterminator="\r\n").encode()
    if kind == "parquet":
        FRAME.to_parquet(tmp_path / "t")
        return (tmp_path / "t").read_bytes()
    records = json.loads(FRAME.to_json(orient="records"))
    return json.dumps(records if kind == "json" else {"records": records}).encode()


@pytest.mark.parametrize("kind", ["csv", "semicolon", "tab", "parquet", "json", "records"])
def test_every_kind_gives_the_same_columns(kind, tmp_path):
    table = parse_columns(encoded(kind, tmp_path), file="t")
    assert list(table.cells) == ["system", "n", "y"]
    assert table.labels("system") == ["a", "a", "b"]
    assert table.numbers("n").tolist() == [1, 2, 2]
    assert np.isnan(table.numbers("y")[1])
    assert len(table.where("system", "a")) == 2
    assert table.where("n", "2.0").labels("system") == ["a", "b"]


def test_quoted_cells_may_hold_separators_and_lines():
    table = parse_columns(b'a,b\n"x,\ny",1\n\nz,oops\n', file="t.csv")
    assert table.labels("a") == ["x,\ny", "z"]
    with pytest.raises(
        VirtperfError,
        match=r"t.csv line 5: column 'b' holds something that is no number; found 'oops'",
    ):
        table.numbers("b")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            b"a,b\n1\n",
            "t line 2: a row of another length; expected 2 cells, as in the heading; found 1",
        ),
        (b"a,,b\n1,2,3\n", "t line 1: a column without a name"),
        (b"a,a\n1,2\n", "t line 1: the column 'a' is named twice"),
        (b"a,b\n", "t: the table has no row"),
        (b"", "t: the table has no row"),
        (b"a\n\xff\n", "t line 2: not UTF-8"),
        (b"[1, 2]", "t: no table; expected a list of objects"),
        (b'[{"a": [1]}]', "t: column 'a' holds a nested value in row 1"),
        (b'[{"a": 1},', "t line 1: not valid JSON"),
        (b"[" * 100_000, "t: not valid JSON"),
        (b"PAR1 but no more", "t: not a Parquet table"),
    ],
)
def test_what_is_no_table_is_refused_with_its_place(data, message):
    with pytest.raises(VirtperfError) as caught:
        parse_columns(data, file="t")
    assert str(caught.value).startswith(message)


def test_errors_name_columns_rows_and_what_there_is():
    table = parse_columns(b'[{"a": 1, "b": "x"}, {"a": "1,5"}]', file="t.json")
    with pytest.raises(VirtperfError, match="no column 'c'; expected one of a, b"):
        table.numbers("c")
    with pytest.raises(
        VirtperfError, match=r"column 'a' holds something that is no number in row 2.*decimal comma"
    ):
        table.numbers("a")
    with pytest.raises(VirtperfError, match="no row has b = y; expected one of x"):
        table.where("b", "y")
    with pytest.raises(VirtperfError, match="infinite"):
        parse_columns(b"a\ninf\n", file="t").numbers("a")
