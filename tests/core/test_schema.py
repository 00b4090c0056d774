"""Tables between stages: round trip, and rejection of malformed files with advice."""

import math
from io import BytesIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rawperf.core.errors import RawperfError
from virtperf.core.schema import CellKind, TableSchema

TABLE = TableSchema(
    "things.parquet",
    "summarize",
    {
        "run_id": CellKind.TEXT,
        "value": CellKind.NUMBER,
        "n": CellKind.WHOLE,
        "kept": CellKind.TRUTH,
        "claims": CellKind.NAMES,
    },
    factors_before="value",
    digits=7,
)
FACTORS = ("system", "guests")


def row(**fields):
    return {
        "run_id": "r1",
        "system": "a",
        "guests": 1,
        "value": 1.0,
        "n": 3,
        "kept": True,
        "claims": ["x"],
    } | fields


def test_cells_keep_their_types(tmp_path):
    rows = [
        row(),
        row(run_id="", system="4.17", guests="any", value=math.nan, kept=False, claims=[]),
        row(guests=12.5, value=-math.inf, claims=("x", "a;b")),
    ]
    written = TABLE.frame(rows, FACTORS)
    TABLE.write(written, tmp_path / TABLE.file, FACTORS)
    found = TABLE.read(tmp_path / TABLE.file, FACTORS)
    pd.testing.assert_frame_equal(found, written)
    assert list(found) == ["run_id", "system", "guests", "value", "n", "kept", "claims"]
    assert [(g, type(g)) for g in found["guests"]] == [(1, int), ("any", str), (12.5, float)]
    assert found["system"].tolist() == ["a", "4.17", "a"]
    assert found["claims"].tolist() == [["x"], [], ["x", "a;b"]]
    assert found["value"].iloc[2] == -math.inf and found["kept"].tolist() == [True, False, True]


def test_columns_of_numbers_are_numbers(tmp_path):
    TABLE.write(TABLE.frame([row(), row(guests=2)], FACTORS), tmp_path / TABLE.file, FACTORS)
    assert str(TABLE.read(tmp_path / TABLE.file, FACTORS)["guests"].dtype) == "int64"


def test_numbers_are_rounded_to_the_declared_digits():
    assert TABLE.frame([row(value=1 / 3)], FACTORS)["value"].tolist() == [0.3333333]


def test_lists_of_numbers_keep_infinities_and_are_rounded(tmp_path):
    table = TableSchema("pieces.parquet", "reconstruct", {"pieces": CellKind.NUMBERS}, digits=3)
    cells = [[-math.inf, 1 / 3, 2 / 3, math.inf], [], [5]]
    table.write(table.frame([{"pieces": cell} for cell in cells]), tmp_path / table.file)
    assert table.read(tmp_path / table.file)["pieces"].tolist() == [
        [-math.inf, 0.333, 0.667, math.inf],
        [],
        [5.0],
    ]
    names = TableSchema("pieces.parquet", "reconstruct", {"pieces": CellKind.NAMES})
    with pytest.raises(RawperfError, match="of another type: pieces"):
        names.read(tmp_path / table.file)


def test_empty_table_has_its_columns_and_types(tmp_path):
    empty = TABLE.frame((), FACTORS)
    TABLE.write(empty, tmp_path / TABLE.file, FACTORS)
    found = TABLE.read(tmp_path / TABLE.file, FACTORS)
    pd.testing.assert_frame_equal(found, empty)
    assert [str(found[c].dtype) for c in ("run_id", "value", "n", "kept")] == [
        "str",
        "float64",
        "int64",
        "bool",
    ]


def test_equal_cells_give_equal_bytes(tmp_path):
    frame = TABLE.frame([row(), row(guests=2)], FACTORS)
    for name, made in (("a", frame), ("b", frame.iloc[::-1].iloc[::-1].copy())):
        TABLE.write(made, tmp_path / name, FACTORS)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_unexpected_columns_are_rejected_with_the_stage_to_run(tmp_path):
    path = tmp_path / "toy" / TABLE.file
    path.parent.mkdir()
    columns = {name: kind for name, kind in TABLE.columns.items() if name != "n"} | {
        "value": CellKind.TEXT,
        "old": CellKind.WHOLE,
    }
    other = TableSchema(TABLE.file, TABLE.stage, columns, factors_before="value")
    other.write(other.frame([row(value="x", old=1)], FACTORS), path, FACTORS)
    with pytest.raises(RawperfError) as error:
        TABLE.read(path, FACTORS)
    assert str(error.value).startswith("toy/things.parquet: ")
    assert "missing: n; of another type: value (string); unknown: old" in str(error.value)
    assert str(error.value).endswith("Run the stage summarize again.")


def test_new_factor_requires_rerunning_the_stage(tmp_path):
    TABLE.write(TABLE.frame([row()], FACTORS), tmp_path / TABLE.file, FACTORS)
    with pytest.raises(RawperfError, match=r"missing: memory.*stage summarize again"):
        TABLE.read(tmp_path / TABLE.file, (*FACTORS, "memory"))


@pytest.mark.parametrize("content", [b"", b"not a table", None])
def test_unreadable_table_is_reported(tmp_path, content):
    path = tmp_path / TABLE.file
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(RawperfError, match=r"things\.parquet: .*Run the stage summarize again"):
        TABLE.read(path, FACTORS)


def test_missing_table_names_its_stage(tmp_path):
    with pytest.raises(RawperfError, match=r"the file is missing\. Run the stage summarize"):
        TABLE.read(tmp_path / TABLE.file, FACTORS)


def test_flipped_bit_is_detected(tmp_path):
    path = tmp_path / TABLE.file
    TABLE.write(TABLE.frame([row(value=k / 7) for k in range(200)], FACTORS), path, FACTORS)
    good = path.read_bytes()
    place = good.index(b"\x28\xb5\x2f\xfd", len(good) // 4) + 40  # inside a compressed page
    path.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
    with pytest.raises(RawperfError, match="Run the stage summarize again"):
        TABLE.read(path, FACTORS)


def test_parts_are_written_as_row_groups(monkeypatch):
    table = TableSchema(
        "t.parquet",
        "read",
        {"name": CellKind.TEXT, "x": CellKind.NUMBER, "n": CellKind.WHOLE},
        digits=None,
    )
    frame = pd.DataFrame({"name": ["a", "b"] * 50, "x": [0.5, np.nan] * 50, "n": range(100)})
    monkeypatch.setattr("virtperf.core.schema.ROW_GROUP", 40)
    out = BytesIO()
    table.write_parts([frame], out)
    whole = out.getvalue()
    arrays = pa.table(
        {
            "name": pa.array(frame["name"], pa.string()),
            "x": pa.array([0.5, None] * 50),
            "n": range(100),
        }
    )
    written = pq.ParquetFile(BytesIO(whole))
    assert written.read().equals(arrays)
    assert [written.metadata.row_group(k).num_rows for k in range(written.num_row_groups)] == [
        40,
        40,
        20,
    ]
    parts = BytesIO()
    coded = frame.astype({"name": "category"})
    table.write_parts([coded[:40], coded[40:80], coded[80:]], parts)
    assert parts.getvalue() == whole
    table.write_parts([frame[:0]], empty := BytesIO())
    assert pq.read_table(empty).equals(arrays[:0])


def test_the_table_in_memory_is_that_of_the_file(tmp_path):
    frames = [
        TABLE.frame([row(), row(run_id="r2", value=math.nan, claims=[])], FACTORS),
        TABLE.frame([row(run_id="r3", system="b", guests="many", value=math.inf)], FACTORS),
    ]
    with (tmp_path / "table.parquet").open("wb") as out:
        TABLE.write_parts(frames, out, FACTORS)
    stored, built = (
        TABLE.read_arrow(tmp_path / "table.parquet", FACTORS),
        TABLE.arrow(frames, FACTORS),
    )
    assert built.schema.types == stored.schema.types and built.to_pydict() == stored.to_pydict()
    assert built.column_names == stored.column_names and len(built) == 3
