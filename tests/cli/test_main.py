"""The command line: list of commands, import time, error messages."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tomllib

import click
import pytest
from click.testing import CliRunner

import rawperf
from tests.cases import each_case
from tests.study.new.conftest import layout as layout
from tests.toy_runs import write_run
from virtperf import __version__, cli
from virtperf.cli import main
from virtperf.study.new.write import write_study

STAGES = ["reconstruct", "hypotheses", "runs", "report", "synthesis", "site", "pipeline"]
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


def test_help_lists_stages_first_and_in_order():
    listed = names()
    assert [name for name in listed if name in STAGES] == STAGES
    assert listed[: len(STAGES)] == STAGES


@each_case("name", names())
def test_every_command_has_help(name):
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert command.help, name
    shown = CliRunner().invoke(main, [name, "--help"])
    assert shown.exit_code == 0 and "<=None" not in shown.output


def test_listing_commands_imports_no_heavy_modules():
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


def test_private_modules_are_not_commands():
    assert "_shared" not in cli._modules().values()
    assert main.get_command(click.Context(main), "-terminal") is None


def test_unknown_command_is_rejected():
    result = CliRunner().invoke(main, ["chekc"])
    assert result.exit_code == 2
    assert "No such command 'chekc'. Did you mean 'check'" in result.output
    result = CliRunner().invoke(main, ["add", "clam"])
    assert "No such command 'clam'. Did you mean 'claim'?" in result.output
    assert "Did you mean" not in CliRunner().invoke(main, ["qqqqqq"]).output


def test_misspelt_study_suggests_the_closest_name(layout):
    write_study(layout, "mine")
    result = CliRunner().invoke(main, ["--root", str(layout.root), "check", "mime"])
    assert "there is no study 'mime'; expected one of mine. Did you mean 'mine'?" in result.output


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device", "data/runs/x"),
            "data/runs/x: No space left on device. Free space in data/runs, or write to another "
            "folder; no output was kept",
        ),
        (
            PermissionError(errno.EACCES, "Permission denied", "reports/x"),
            "reports/x: Permission denied. Write to a folder for which you have write permission, or "
            "ask for the permission",
        ),
        (OSError("the kernel did not start"), "the kernel did not start"),
    ],
)
def test_operating_system_error_is_one_line(monkeypatch, tmp_path, error, message):
    def fails(*_, **__):
        raise error

    (tmp_path / "params.yaml").touch()
    (tmp_path / "data").mkdir()
    monkeypatch.setattr("virtperf.core.params.load_parameters", fails)
    result = CliRunner().invoke(main, ["--root", str(tmp_path), "site"])
    assert result.exit_code == 1 and result.output == f"Error: {message}\n"


def test_an_output_that_can_not_be_written_is_named_with_a_remedy(monkeypatch, tmp_path):
    for name, seconds in (("a", "2.0"), ("b", "3.0")):
        for k in range(2):
            file = tmp_path / name / f"{k}.csv"
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"seconds\n{seconds}{k}\n")
    system_open = os.open

    def refuse(path, flags, *more, **named):
        if ".x.html." in str(path):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return system_open(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["compare", "a", "b", "-o", "x.html"])
    assert result.exit_code == 2
    assert result.output == (
        "Error: x.html: Permission denied. Write to a folder for which you have write permission, or "
        "ask for the permission\n"
    )


@pytest.mark.parametrize("stage", ["runs", "report"])
def test_stage_with_missing_inputs_is_a_one_line_error(layout, stage):
    write_study(layout, "mine")
    layout.notebook("mine").unlink()
    (layout.measured("mine") / "README.md").unlink()
    layout.measured("mine").rmdir()
    result = CliRunner().invoke(main, ["--root", str(layout.root), stage, "mine"])
    assert isinstance(result.exception, SystemExit | None)
    assert result.output.count("\n") <= 1 and "Traceback" not in result.output


@pytest.mark.parametrize("module", ["virtperf.cli", "virtperf", "rawperf"])
def test_runs_as_a_python_module(module):
    done = subprocess.run(
        [sys.executable, "-m", module, "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{module.partition('.')[0]}, version {__version__}\n"


def test_both_packages_have_the_same_version(root):
    own = tomllib.loads((root / "src" / "rawperf" / "pyproject.toml").read_text())
    assert rawperf.__version__ == __version__ == own["project"]["version"]


def test_reconstruct_of_a_measured_study_does_nothing(layout):
    write_study(layout, "mine", measured=True)
    result = CliRunner().invoke(main, ["--root", str(layout.root), "reconstruct", "mine"])
    assert result.exit_code == 1
    assert "mine is a measured study and has no text to reconstruct from" in result.output


def test_runs_command_reports_what_it_read(layout):
    write_study(layout, "mine", measured=True)
    command = ["--root", str(layout.root), "runs", "mine"]
    assert CliRunner().invoke(main, command).output == "mine: 0 runs, none newly read\n"
    (layout.measured("mine") / "first").mkdir()
    (layout.measured("mine") / "first" / "run.yaml").write_text("study: mine\n")
    (layout.measured("mine") / "first" / "sar.txt").write_text("x\n")
    result = CliRunner().invoke(main, command)
    assert result.output.startswith("mine: 0 runs, 1 newly read; 1 quarantined\n")
    assert result.exit_code == 3


def test_runs_command_counts_runs_excluded_by_hand(layout):
    write_study(layout, "mine", measured=True)
    factors = {"processes": 1}
    reason = {"reason": "another load"}
    write_run(layout.measured("mine"), "r1", study="mine", factors=factors, excluded=reason)
    command = ["--root", str(layout.root), "runs", "mine"]
    assert CliRunner().invoke(main, command).output == "mine: 0 runs, 1 newly read; 1 excluded\n"


def test_unknown_revision_is_reported(layout):
    subprocess.run(["git", "init", "-q", layout.root], check=True)
    result = CliRunner().invoke(main, ["--root", str(layout.root), "verify", "nope"])
    assert "unknown git revision 'nope'; expected a tag, a branch" in result.output
