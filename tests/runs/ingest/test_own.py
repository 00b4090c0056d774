"""User files, raw or tables, as data frames with provenance."""

import pandas as pd
import pytest

import virtperf as vp
from rawperf.core.errors import RawperfError
from tests.rawperf.test_swapon import PROC_SWAPS
from virtperf.runs.ingest.own import read

TABLE = pd.DataFrame({"users": [1, 2, 4], "tps": [10.5, 20.0, 35.25]})


def test_raw_file_is_recognised_by_content(tmp_path):
    path = tmp_path / "unnamed.bin"
    path.write_bytes(PROC_SWAPS)
    frame = read(path)
    assert set(frame["provenance"]) == {"own data"}
    assert set(frame["file"]) == {"unnamed.bin"}
    assert {"entity", "field", "t", "value", "metric", "metric_unit"} <= set(frame.columns)
    assert len(frame)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".json", ".jsonl"])
def test_tables_keep_their_columns(tmp_path, suffix):
    path = tmp_path / f"load{suffix}"
    {
        ".csv": lambda: TABLE.to_csv(path, index=False),
        ".tsv": lambda: TABLE.to_csv(path, index=False, sep="\t"),
        ".parquet": lambda: TABLE.to_parquet(path),
        ".json": lambda: TABLE.to_json(path, orient="records"),
        ".jsonl": lambda: TABLE.to_json(path, orient="records", lines=True),
    }[suffix]()
    frame = vp.read(path)
    assert frame["tps"].tolist() == TABLE["tps"].tolist()
    assert set(frame["provenance"]) == {"own data"}


def test_provenance_column_of_a_file_is_ignored(tmp_path):
    path = tmp_path / "load.csv"
    TABLE.assign(provenance="measured").to_csv(path, index=False)
    frame = read(path)
    assert set(frame["provenance"]) == {"own data"}
    assert set(frame["provenance_in_file"]) == {"measured"}


@pytest.mark.parametrize(
    ("name", "data", "message", "line"),
    [
        ("t.csv", b"guests,x, x\n1,2,3\n", "columns 2 and 3 have the same name", 1),
        ("t.tsv", b"\n\nx\tguests\tx\n1\t2\t3\n", "columns 1 and 3 have the same name", 3),
        ("t.csv", b"x y x\n1 2 3\n", "columns 1 and 3 have the same name", 1),
        ("t.csv", b"x,y\n1,2,3\n2,3,4\n", "a row has more cells than the header", 2),
        ("t.csv", b"x,y\n1\n2\n", "a row has fewer cells than the header", 2),
        ("t.csv", b"1.5\n1.6\n", "numbers in place of names", 1),
        ("t.csv", b"file-exists\t2.5\nno-file\t1.5\n", "numbers in place of names", 1),
        ("t.csv", "x,y\n1,2\n".encode("utf-16"), "encoded as UTF-16.*iconv -f UTF-16", None),
        ("t.csv", "x,y\n1,2\n".encode("utf-16-le"), "encoded as UTF-16.*iconv -f UTF-16", None),
        ("t.csv", "x,y\n1,2\n3,é\n".encode("latin-1"), "found the byte 0xe9.*WINDOWS-1252", 3),
        ("t.jsonl", '{"x": 1}\n{"x": "é"}\n'.encode("latin-1"), "found the byte 0xe9", 2),
        ("t.csv", b"x,y\n1,2\n1,2,3\n", "a row has more cells than the header", 3),
    ],
)
def test_unreadable_tables_are_reported_with_the_given_path(
    tmp_path, monkeypatch, name, data, message, line
):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RawperfError, match=message) as caught:
        read(f"in/{name}")
    assert (caught.value.file, caught.value.line) == (f"in/{name}", line)


def test_trailing_delimiters_do_not_shift_columns(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,2,\n3,4,\n")
    assert read(tmp_path / "t.csv")[["x", "y"]].to_numpy().tolist() == [[1, 2], [3, 4]]


def test_json_may_be_utf_16(tmp_path):
    (tmp_path / "t.json").write_bytes('[{"x": 1}]'.encode("utf-16"))
    assert read(tmp_path / "t.json")["x"].tolist() == [1]


def test_unreadable_raw_files_are_reported_with_the_given_path(tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "notes.txt").write_text("words\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RawperfError) as caught:
        read("in/notes.txt")
    assert caught.value.file == "in/notes.txt"


def test_unrecognised_file_error_gives_advice(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("words\n")
    with pytest.raises(RawperfError, match=r"declared\.md"):
        read(path)
    with pytest.raises(RawperfError, match="can't be read"):
        read(tmp_path / "absent.csv")


def test_public_interface_lists_its_names():
    assert {"read", "load_study", "Estimate", "plot", "models"} <= set(dir(vp))
    with pytest.raises(AttributeError, match="load_study"):
        vp.load_studies  # noqa: B018


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.json", '[\n{"v": NaN},\n{"v": 1e400}\n]\n'),
        ("t.jsonl", '{"v": NaN}\n\n{"v": 1e400}\n'),
        ("t.jsonl", '{"v": 1}\n\n{"v": -Infinity}\n'),
    ],
)
def test_infinite_numbers_of_json_tables_are_located(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(RawperfError) as caught:
        vp.read(tmp_path / name)
    assert (caught.value.line, caught.value.file) == (3, str(tmp_path / name))
    assert caught.value.problem in (
        "1e400 is not a finite number",
        "-Infinity is not a finite number",
    )


def test_nan_in_a_json_table_is_a_missing_value(tmp_path):
    (tmp_path / "t.json").write_text('[{"v": NaN}, {"v": 2}]')
    assert vp.read(tmp_path / "t.json")["v"].isna().tolist() == [True, False]
