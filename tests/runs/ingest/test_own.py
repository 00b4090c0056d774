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


def rows_of(tmp_path, text, name="results.json"):
    (tmp_path / name).write_text(text)
    frame = vp.read(tmp_path / name)
    return frame.drop(columns=["provenance", "file"]), frame.attrs["warnings"]


def test_an_object_of_numbers_is_one_row_with_paths(tmp_path):
    frame, warnings = rows_of(
        tmp_path,
        '{"url": "x", "latency": {"p99": 3, "of": {"mean": 1.5}}, "errors": 0, "times": [1, 2]}',
    )
    assert frame.to_dict("records") == [
        {"url": "x", "latency/p99": 3, "latency/of/mean": 1.5, "errors": 0}
    ]
    assert warnings == ["left out: times (lists within a row)"]


def test_numbers_of_json_may_be_texts(tmp_path):
    (tmp_path / "r.json").write_text('{"qps": "10.5", "tool": "x 1"}')
    assert vp.read(tmp_path / "r.json")["qps"].astype(float).tolist() == [10.5]


def test_the_only_list_of_named_objects_is_rows(tmp_path):
    text = '{"version": 2, "of": {"results": [{"name": "a", "t": {"ms": 1}}, {"name": "b", "t": {"ms": 2}}]}}'
    frame, warnings = rows_of(tmp_path, text)
    assert frame.to_dict("records") == [{"name": "a", "t/ms": 1}, {"name": "b", "t/ms": 2}]
    assert warnings == ["left out: version (beside the list of rows)"]
    # objects that only differ in a time are no rows: the total is
    text = (
        '{"total": {"rate": 5}, "parts": [{"at": "10:00", "rate": 4}, {"at": "10:01", "rate": 6}]}'
    )
    assert rows_of(tmp_path, text)[0].to_dict("records") == [{"total/rate": 5}]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": [{"name": "x", "v": 1}], "b": [{"name": "y", "v": 2}]}', "several lists of rows"),
        ('{"a": [1, 2], "b": "text"}', "no rows; .*found lists: a"),
        ('[{"name": "x", "times": [1, 2]}]', "no numbers outside of lists"),
        ('"text"', "neither an object nor a list of objects"),
        ('{"a": {"b/c": 1, "b": {"c": 2}}}', "two members have the path 'a/b/c'"),
    ],
)
def test_documents_without_rows_are_refused(tmp_path, text, problem):
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(RawperfError, match=problem):
        read(tmp_path / "t.json")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.txt", "load,ms\n1,10\n2,20\n"),
        ("t", "load;ms\n1;10\n2;20\n"),
        ("t.log", '[{"load": 1, "ms": 10}, {"load": 2, "ms": 20}]'),
        ("t.json", '{"load": 1, "ms": 10}\n{"load": 2, "ms": 20}\n'),
    ],
)
def test_tables_are_recognised_by_content(tmp_path, name, text):
    frame, _ = rows_of(tmp_path, text, name)
    assert frame.to_dict("list") == {"load": [1, 2], "ms": [10, 20]}


def test_cells_with_units_are_numbers(tmp_path):
    text = (
        "name,size,mean,load,memory.used [MiB],took\n"
        'x,4 KiB,"1,999.5 us",12 %,512 MiB,59.5s\n'
        "y,8 KiB,2.5 ms,8 %,1 GiB,1m2.5s\n"
    )
    frame, _ = rows_of(tmp_path, text, "t.csv")
    assert frame["size"].tolist() == ["4 KiB", "8 KiB"]
    assert frame["mean (s)"].tolist() == pytest.approx([0.0019995, 0.0025])
    assert frame["load (%)"].tolist() == [12, 8]
    assert frame["memory.used (B)"].tolist() == [512 * 2**20, 2**30]
    assert frame["took (s)"].tolist() == [59.5, 62.5]
    ambiguous, _ = rows_of(tmp_path, 'mean [ms]\n"1,999 ms"\n"2,001 ms"\n', "t.csv")
    assert ambiguous["mean [ms]"].tolist() == ["1,999 ms", "2,001 ms"]


def test_a_pointer_of_git_lfs_is_named_whatever_its_suffix(tmp_path) -> None:
    path = tmp_path / "boots.csv"
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n")
    with pytest.raises(RawperfError, match=r"pointer of Git LFS.*`git lfs pull`"):
        read(path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "# host a, b\n#\nname,ms\nx,1.5\n"),
        ("t.csv", "# host a\n# name,ms\nx,1.5\n"),
        ("t.txt", "name  ms\nx   1.5\n"),
    ],
)
def test_comments_above_a_table_and_columns_of_blanks(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    frame = vp.read(tmp_path / name)
    assert frame[["name", "ms"]].to_numpy().tolist() == [["x", 1.5]]


def test_a_heading_may_begin_with_a_number_sign(tmp_path):
    (tmp_path / "t.csv").write_text("#,ms\n1,1.5\n")
    assert vp.read(tmp_path / "t.csv")["#"].tolist() == [1]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("t.txt", "1.5\n1.6\n1.7\n", "numbers without names"),
        ("t.csv", "Full label,CPU\nLabel,CPU\n2026/01/15 10:00:00,12.5\n", "CloudWatch's console"),
    ],
)
def test_what_is_wrong_with_a_table_is_named(tmp_path, name, text, words):
    for side in "ab":
        (tmp_path / side).mkdir()
        (tmp_path / side / name).write_text(text)
    with pytest.raises(RawperfError, match=words):
        vp.compare(tmp_path / "a", tmp_path / "b")
