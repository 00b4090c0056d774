"""The command line as a whole: which commands there are, how fast they are listed, how errors look."""

from __future__ import annotations

import errno
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from tests.cases import each_case
from tests.study.new.conftest import layout as layout
from virtperf import cli
from virtperf.cli import main
from virtperf.study.new.write import write_study

STAGES = ["reconstruct", "runs", "report", "synthesis", "site", "pipeline"]
SLOW = (
    "numpy",
    "pandas",
    "scipy",
    "pydantic",
    "jsonschema",
    "rich",
    "yaml",
    "jinja2",
    "nbformat",
    "statsmodels",
)


def names() -> list[str]:
    return main.list_commands(click.Context(main))


def test_stages_come_first_and_in_order():
    listed = names()
    assert [name for name in listed if name in STAGES] == STAGES
    assert listed[: len(STAGES)] == STAGES


@each_case("name", names())
def test_every_command_has_help(name):
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert command.help, name
    assert CliRunner().invoke(main, [name, "--help"]).exit_code == 0


def test_the_list_of_commands_imports_nothing_that_takes_long():
    code = f"""
import sys
from virtperf.cli import main
try:
    main(["--help"])
except SystemExit:
    pass
print(sorted(set({SLOW!r}) & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    for name in names():
        assert f"\n  {name} " in done.stdout


def test_modules_that_begin_with_an_underscore_are_no_commands():
    assert "_terminal" not in cli._modules().values()
    assert main.get_command(click.Context(main), "-terminal") is None


def test_an_unknown_command_is_refused():
    result = CliRunner().invoke(main, ["chekc"])
    assert result.exit_code == 2
    assert "No such command 'chekc'" in result.output


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device", "data/runs/x"),
            "data/runs/x: No space left on device",
        ),
        (
            PermissionError(errno.EACCES, "Permission denied", "reports/x"),
            "reports/x: Permission denied",
        ),
        (OSError("the kernel did not start"), "the kernel did not start"),
    ],
)
def test_what_the_system_refuses_is_one_line(monkeypatch, tmp_path, error, said):
    def fails(*_, **__):
        raise error

    (tmp_path / "params.yaml").touch()
    (tmp_path / "data").mkdir()
    monkeypatch.setattr("virtperf.core.params.load_parameters", fails)
    result = CliRunner().invoke(main, ["--root", str(tmp_path), "site"])
    assert result.exit_code == 1 and result.output == f"Error: {said}\n"


@pytest.mark.parametrize("stage", ["runs", "report"])
def test_a_stage_before_its_inputs_exist_is_one_line(layout, stage):
    write_study(layout, "mine")
    layout.notebook("mine").unlink()
    (layout.measured("mine") / "README.md").unlink()
    layout.measured("mine").rmdir()
    result = CliRunner().invoke(main, ["--root", str(layout.root), stage, "mine"])
    assert isinstance(result.exception, SystemExit | None)
    assert result.output.count("\n") <= 1 and "Traceback" not in result.output


def test_it_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "virtperf.cli", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("virtperf, version ")
