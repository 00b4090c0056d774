"""A reader's own files, raw or tables, as frames that say where they come from."""

import pandas as pd
import pytest

import virtperf as vp
from rawperf.core.errors import VirtperfError
from tests.rawperf.test_swapon import PROC_SWAPS
from virtperf.runs.ingest.own import read

TABLE = pd.DataFrame({"users": [1, 2, 4], "tps": [10.5, 20.0, 35.25]})


def test_a_raw_file_is_recognised_by_its_content(tmp_path):
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


def test_a_column_of_the_file_that_is_called_provenance_does_not_count(tmp_path):
    path = tmp_path / "load.csv"
    TABLE.assign(provenance="measured").to_csv(path, index=False)
    frame = read(path)
    assert set(frame["provenance"]) == {"own data"}
    assert set(frame["provenance_in_file"]) == {"measured"}


def test_what_nothing_recognises_says_what_to_do(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("words\n")
    with pytest.raises(VirtperfError, match=r"declared\.md"):
        read(path)
    with pytest.raises(VirtperfError, match="can't be read"):
        read(tmp_path / "absent.csv")


def test_the_public_face_names_what_it_has():
    assert {"read", "load_study", "Estimate", "plot", "models"} <= set(dir(vp))
    with pytest.raises(AttributeError, match="load_study"):
        vp.load_studies  # noqa: B018
