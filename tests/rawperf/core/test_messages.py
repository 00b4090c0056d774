"""Messages name files without steering the terminal, and a full disk by its file."""

from __future__ import annotations

import errno

import pytest
from click.testing import CliRunner

from rawperf.core.errors import RawperfError
from rawperf.core.files import replace_file, replace_folder
from tests.cases import each_case
from virtperf.cli import main


def test_control_characters_of_a_file_name_are_escaped():
    text = str(RawperfError("is wrong", file="a\x1b[31m\nb\u202e\udcff", found="x\x1b]0;t\x07"))
    assert text == r"a\x1b[31m\nb\u202e\udcff: is wrong; found binary data"


@each_case("command", [["read"], ["compare"], ["--root"], ["new", "study", "--paper"]])
def test_commands_escape_file_names(command):
    result = CliRunner().invoke(main, [*command, "a\x1b[31mb", "a\x1b[31mb"], color=True)
    assert result.exit_code and "\x1b" not in result.output


@pytest.mark.parametrize("replace", [replace_file, replace_folder])
def test_a_full_disk_is_named(tmp_path, replace):
    with pytest.raises(OSError, match="No space") as caught, replace(tmp_path / "out"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert caught.value.filename == str(tmp_path / "out")
