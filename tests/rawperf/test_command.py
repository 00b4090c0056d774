"""The command `rawperf`: one-line errors for unwritable files, CSV safe for spreadsheets."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from click.testing import CliRunner

from rawperf.cli import main, os_error

CSV = 'time,host,v\n1,"=cmd|x",2\n2,@a,-3\n3,b,4\n'
DECLARATION = (
    "name: mine\nreads: csv\ntime: {field: time, since: start}\nentity: {name: host}\n"
    "fields: [{field: v}]\n"
)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "mine.csv").write_text(CSV, encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(DECLARATION, encoding="utf-8")
    return str(tmp_path / "mine.csv"), str(tmp_path / "mine.yaml")


def test_formula_cells_are_quoted_on_request(files: tuple[str, str]) -> None:
    arguments = ["read", files[0], "--input-format", files[1], "-o", "-"]
    entities = [
        [line.split(",")[2] for line in CliRunner().invoke(main, given).output.splitlines()[1:]]
        for given in (arguments, [*arguments, "--spreadsheet"])
    ]
    assert entities == [["=cmd|x", "@a", "b"], ["'=cmd|x", "'@a", "b"]]


def test_unwritable_output_is_reported(files: tuple[str, str], tmp_path: Path) -> None:
    output = "/proc/table.csv"  # not even root can write here
    result = CliRunner().invoke(main, ["read", files[0], "--input-format", files[1], "-o", output])
    assert result.exit_code == 1
    assert output in result.output and result.output.count("\n") == 1


@pytest.mark.parametrize("kind", ["itself", "symbolic link", "hard link"])
def test_input_file_is_not_overwritten(kind: str, files: tuple[str, str], tmp_path: Path) -> None:
    output = tmp_path / ("mine.csv" if kind == "itself" else "linked.csv")
    if kind == "symbolic link":
        output.symlink_to(files[0])
    elif kind == "hard link":
        output.hardlink_to(files[0])
    command = ["read", files[0], "--input-format", files[1], "-o", str(output)]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 2 and "Name another file" in result.output
    assert Path(files[0]).read_text(encoding="utf-8") == CSV


def test_full_disk_error_names_the_path(tmp_path: Path) -> None:
    err = OSError(errno.ENOSPC, "No space left on device")
    said = os_error(err, str(tmp_path / "table.parquet"))
    assert "table.parquet: No space left on device" in said
    assert f"free space in {tmp_path}" in said
    assert "standard output" in os_error(err, None)


def test_content_of_an_unknown_text_is_not_printed(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("password hunter2\n", encoding="utf-8")
    result = CliRunner().invoke(main, ["read", str(path)])
    assert result.exit_code == 1
    assert "hunter2" not in result.output and "2 words" in result.output
