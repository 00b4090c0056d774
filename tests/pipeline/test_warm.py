"""Commands that are forked from a process which has loaded what they need."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

import psutil
import pytest

from tests.pipeline.conftest import locks, pipeline
from virtperf import __version__
from virtperf.pipeline.run import FORKS
from virtperf.core.warm import KILLED, ask, warm

POWER = ("power", "--cv", "3", "--effect", "5", "-o", "power.svg")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("warm")
    with (folder / "lock").open("w") as lock, warm(FORKS, folder, os.environ, lock.fileno()) as found:
        yield found


def ran(address: str, folder: Path, *words: str) -> tuple[int, str, str]:
    """Status, output and errors of a command."""
    with (folder / "out").open("w+") as out, (folder / "err").open("w+") as err:
        ended = status(ask(address, words, folder, {}, out.fileno(), err.fileno()))
        return ended, (folder / "out").read_text(), (folder / "err").read_text()


def test_a_command_has_its_own_files_folder_and_status(address, tmp_path):
    assert ran(address, tmp_path, "virtperf", "--version") == (0, f"virtperf, version {__version__}\n", "")
    ended, out, err = ran(address, tmp_path, "virtperf", "judge", "none")
    assert (ended, out) == (1, "") and "there is no study 'none'" in err
    assert ran(address, tmp_path, "virtperf", "no-such-command")[0] == 2
    assert ran(address, tmp_path, "dvc", "repro", "--no-such-option")[0] == 254
    assert ran(address, tmp_path, "virtperf", *POWER)[0] == 0 and (tmp_path / "power.svg").is_file()


def test_a_command_that_is_killed_has_ended(address):
    server = next(p for p in psutil.Process().children() if FORKS in p.cmdline())
    before = server.children()  # those whose end nobody has noticed yet
    asked = socket.socket(socket.AF_UNIX)
    asked.connect(address)  # its process waits to be told what to run
    while not (found := set(server.children()) - set(before)):
        time.sleep(0.01)
    found.pop().kill()
    assert status(asked) == KILLED


STAGES = f"""\
stages:
  first:
    wdir: ../..
    cmd: [virtperf {" ".join(POWER)}, "python step.py in/a.txt out/a-1.txt && echo done"]
    deps: [in/a.txt]
    outs: [out/a-1.txt, power.svg]
  second:
    wdir: ../..
    cmd: virtperf judge none
    deps: [power.svg]
    outs: [none.txt]
"""


def test_stages_of_ours_and_others_in_one_pipeline(repository):
    (repository / "pipelines" / "a" / "dvc.yaml").write_text(STAGES)
    said = pipeline(repository, "a", status=1)
    assert "a: Error: there is no study 'none'" in said and "failed to run: virtperf judge none, exited with 1" in said
    assert (repository / "power.svg").is_file() and (repository / "out" / "a-1.txt").is_file()
    assert "first" in locks(repository)["pipelines/a/dvc.lock"].decode()
