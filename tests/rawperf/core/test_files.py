"""Results are written atomically, with platform-independent numbers."""

from __future__ import annotations

import errno

import numpy as np
import pytest

from rawperf.core.files import replace_folder, write_atomically
from rawperf.core.table_columns import round_digits
from tests.cases import each_case


def test_folder_is_replaced_only_after_a_complete_write(tmp_path):
    out = tmp_path / "out"
    with replace_folder(out) as folder:
        (folder / "a.txt").write_text("old")
    with pytest.raises(RuntimeError), replace_folder(out) as folder:
        (folder / "a.txt").write_text("half of the new")
        raise RuntimeError
    assert (out / "a.txt").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_leftovers_of_a_killed_run_are_removed(tmp_path):
    (tmp_path / ".out.abc").mkdir()
    with replace_folder(tmp_path / "out") as folder:
        (folder / "a").touch()
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_replaced_folder_keeps_no_old_files(tmp_path):
    out = tmp_path / "out"
    for name in ("a", "b"):
        with replace_folder(out) as folder:
            (folder / name).touch()
    assert [p.name for p in out.iterdir()] == ["b"]


def test_file_is_written_atomically(tmp_path):
    write_atomically(tmp_path / "deep" / "x.html", "text")
    assert (tmp_path / "deep" / "x.html").read_text() == "text"
    assert len(list((tmp_path / "deep").iterdir())) == 1


def test_errors_name_the_target_and_not_the_temporary_file(tmp_path):
    def refuse(path):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    with pytest.raises(PermissionError) as caught, replace_folder(tmp_path / "out") as folder:
        refuse(folder / "a.txt")
    assert caught.value.filename == str(tmp_path / "out" / "a.txt")
    with pytest.raises(PermissionError) as caught, replace_folder(tmp_path / "out") as folder:
        refuse(folder)
    assert caught.value.filename == str(tmp_path / "out")
    with pytest.raises(PermissionError) as caught, replace_folder(tmp_path / "out"):
        refuse(tmp_path / "other")
    assert caught.value.filename == str(tmp_path / "other")
    (tmp_path / "x.svg").mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        write_atomically(tmp_path / "x.svg", "text")
    assert caught.value.filename == str(tmp_path / "x.svg")


def test_rounding_to_significant_digits():
    assert round_digits([123.456789, 1e-8 / 3, -2.5e10 / 3, 0, 1e-10], 3).tolist() == [
        123.0,
        3.33e-9,
        -8.33e9,
        0.0,
        0.0,
    ]
    assert round_digits([3e300, 4.94e-324]).tolist() == [3e300, 0.0]
    assert np.isnan(round_digits([np.nan])[0])
    assert round_digits([np.inf])[0] == np.inf


@each_case("digits", [3, 5, 7, 10])
def test_rounded_number_is_the_nearest_float(digits):
    numbers = 10.0 ** np.random.default_rng(7).uniform(-8, 20, 20_000)
    assert round_digits(numbers, digits).tolist() == [
        float(f"{number:.{digits - 1}e}") for number in numbers
    ]
