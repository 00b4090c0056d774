"""Printed tables: corrections are marked, rewording is stated, only files of the folder are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from rawperf.core.errors import StudyError
from tests.report import toy
from tests.report.plain import links, plain
from virtperf.core.provenance import Provenance
from virtperf.report.html.record import record_html
from virtperf.report.kinds import check_exhibits
from virtperf.report.kinds.table import MAX_COLUMNS, REWORDED, TURNED
from virtperf.report.loaded import LoadedStudy, load_study
from virtperf.report.records import Grid
from virtperf.report.trace import table_text, table_traces


def test_reworded_table_is_marked_as_such(loaded: LoadedStudy, tmp_path: Path) -> None:
    printed = loaded.show("table-1")
    assert printed.record.numbers[0].words == "As printed (CSV)" and REWORDED not in plain(printed)
    data = toy.build(tmp_path)
    path = data / "published" / "toy" / "study.yaml"
    path.write_text(path.read_text().replace("table: table-1}", "table: table-1, reworded: true}"))
    ours = load_study("toy", data)
    exhibit = ours.show("table-1")
    assert REWORDED in plain(exhibit) and exhibit.record.numbers[0].words == "Reworded (CSV)"
    assert "transcribed" not in plain(exhibit) and "reworded into" in plain(exhibit)
    (trace,) = [t for t in table_traces(ours.data) if t.exhibit == "table-1"]
    assert "reworded, numbers as printed in section 'Setup'" in table_text(trace, {})


def test_printed_table_shows_both_values_of_a_corrected_cell(loaded: LoadedStudy) -> None:
    exhibit = loaded.show("table-1")
    html = record_html(exhibit.record)
    assert "81921</del>" in html and "8192</ins>" in html
    assert "a footnote mark stuck to it" in html and "1 cell is corrected" in html
    assert "[printed: 81921] 8192[1]" in repr(exhibit)
    assert exhibit.record.provenance == (Provenance.PUBLISHED,)
    assert "not stated" not in html  # a cell without text stays one, as printed
    assert exhibit.record.numbers[0].rows[1] == (
        "lnwas",
        "2",
        "81921",
    )  # the download keeps printed values
    assert "trace:toy/table-1" in links(exhibit)


FINDING = """
findings:
  - {says: "The table has the processors of two guests.", rests_on: [flat], figure: table-1}
"""


def test_number_column_is_plotted_on_request(loaded: LoadedStudy, tmp_path: Path) -> None:
    assert not loaded.show("table-1").record.drawing
    data = toy.build(tmp_path, stages=False)
    path = data / "published" / "toy" / "study.yaml"
    plain_text = path.read_text()
    bars = 'table: table-1, bars: {column: "# CPUs", label: Processors}}'
    path.write_text(plain_text.replace("table: table-1}", bars) + FINDING)
    study = load_study("toy", data)
    record = study.show("table-1").record
    assert "Processors" in record.drawing
    assert study.summary().record.title == f"Table 1: {record.title}"
    path.write_text(plain_text.replace("table: table-1}", bars.replace("# CPUs", "Disk")))
    with pytest.raises(StudyError, match="table-1: bars of 'Disk' can't be drawn"):
        check_exhibits(load_study("toy", data).study)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("table-1,lnwas,Memory [MB],9999,8192,why", "does not match the table"),
        ("table-1,lnwas#2,Memory [MB],81921,8192,why", "has no cell in row"),
        ("table-1,lnwas,Disk,81921,8192,why", "has no cell in row"),
    ],
)
def test_correction_must_match_its_table(tmp_path: Path, line: str, problem: str) -> None:
    data = toy.build(tmp_path, stages=False)
    path = data / "published" / "toy" / "tables" / "corrections.csv"
    path.write_text(f"table,row,column,printed,corrected,reason\n{line}\n")
    with pytest.raises(StudyError, match=problem) as caught:
        load_study("toy", data).show("table-1")
    assert caught.value.line == 2


def test_table_path_must_stay_in_its_folder(tmp_path: Path) -> None:
    data = toy.build(tmp_path, stages=False)
    study = data / "published" / "toy" / "study.yaml"
    study.write_text(study.read_text().replace("table: table-1", "table: ../../../secret"))
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    with pytest.raises(StudyError, match="is missing"):
        load_study("toy", data)


@pytest.mark.parametrize(
    ("n_columns", "is_turned"), [(MAX_COLUMNS, False), (MAX_COLUMNS + 1, True)]
)
def test_wide_table_of_numbers_is_turned(tmp_path: Path, n_columns: int, is_turned: bool) -> None:
    data = toy.build(tmp_path, stages=False)
    tables = data / "published" / "toy" / "tables"
    heads = ["jobs", *(f"faults {k}" for k in range(1, n_columns))]
    lines = [",".join(heads), *(",".join(["8", "1", *["2"] * (n_columns - 2)]) for _ in range(3))]
    (tables / "table-1.csv").write_text("\n".join(lines) + "\n")
    (tables / "corrections.csv").write_text("table,row,column,printed,corrected,reason\n")
    exhibit = load_study("toy", data).show("table-1")
    (grid,) = (block for block in exhibit.record.blocks if isinstance(block, Grid))
    assert (TURNED in plain(exhibit)) is is_turned
    if is_turned:
        assert grid.columns == ("jobs", "8", "8", "8") and grid.numeric == (1, 2, 3)
        assert grid.rows[0] == ("faults 1", "1", "1", "1") and len(grid.rows) == n_columns - 1
    else:
        assert grid.columns == tuple(heads) and len(grid.rows) == 3
    assert exhibit.record.numbers[0].columns == tuple(heads)  # the download is as printed


def test_footnote_is_shown_below_its_table(tmp_path: Path) -> None:
    data = toy.build(tmp_path, stages=False)
    path = data / "published" / "toy" / "study.yaml"
    path.write_text(
        path.read_text().replace(
            "table: table-1}", "table: table-1, footnotes: [an update of <b>3.0</b>]}"
        )
    )
    html = record_html(load_study("toy", data).show("table-1").record)
    assert html.index("</table>") < html.index("an update of &lt;b&gt;3.0&lt;/b&gt;")
