"""Commands that are forked from a process which has loaded what they need."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import nbformat
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.pipeline.conftest import locks
from virtperf import __version__
from virtperf.core.warm import ADDRESS, KERNEL, KILLED, OTHER, Command, ask
from virtperf.pipeline.run import FORKS
from virtperf.report.html.execute import execute

POWER = ("power", "--cv", "3", "--effect", "5", "-o", "power.svg")


def ran(address: str, folder: Path, *words: str) -> tuple[int, str, str]:
    """Status, output and errors of a command."""
    with (folder / "out").open("w+") as out, (folder / "err").open("w+") as err:
        ended = ask(address, words, folder, {}, out.fileno(), err.fileno()).wait()
        return ended, (folder / "out").read_text(), (folder / "err").read_text()


def test_a_command_has_its_own_files_folder_and_status(address, tmp_path):
    assert ran(address, tmp_path, "virtperf", "--version") == (
        0,
        f"virtperf, version {__version__}\n",
        "",
    )
    ended, out, err = ran(address, tmp_path, "virtperf", "judge", "none")
    assert (ended, out) == (1, "") and "there is no study 'none'" in err
    assert ran(address, tmp_path, "virtperf", "no-such-command")[0] == 2
    assert ran(address, tmp_path, "dvc", "repro", "--no-such-option")[0] == 254
    assert ran(address, tmp_path, "virtperf", *POWER)[0] == 0 and (tmp_path / "power.svg").is_file()


@pytest.fixture
def forked(address):
    """A function that waits for a process which was forked since."""
    server = next(p for p in psutil.Process().children() if FORKS in p.cmdline())
    before = set(server.children())  # those whose end nobody has noticed yet

    def wait() -> psutil.Process:
        while not (found := set(server.children()) - before):
            time.sleep(0.01)
        return found.pop()

    return wait


def test_a_command_that_is_killed_has_ended(address, forked):
    asked = socket.socket(socket.AF_UNIX)
    asked.connect(address)
    asked.sendall(OTHER)  # its process waits to be told what to run
    forked().kill()
    assert Command(asked).wait() == KILLED


def test_a_notebooks_kernel_is_forked(address, tmp_path, monkeypatch):
    code = "import os\nos.getppid()"
    nbformat.write(new_notebook(cells=[new_code_cell(code)]), tmp_path / "a.ipynb")
    monkeypatch.setenv(ADDRESS, address)
    execute(tmp_path / "a.ipynb", tmp_path / "b.ipynb", {})
    (output,) = nbformat.read(tmp_path / "b.ipynb", as_version=4).cells[0].outputs
    server = next(p for p in psutil.Process().children() if FORKS in p.cmdline())
    assert output.data["text/plain"] == str(server.pid)


def test_a_kernel_ends_when_nobody_is_left_who_asked_for_it(address, forked, tmp_path):
    environment = {
        "MPLBACKEND": "agg",
        "IPYTHONDIR": str(tmp_path),
        "JUPYTER_RUNTIME_DIR": str(tmp_path),
    }
    asked = ask(address, [KERNEL, "-f", str(tmp_path / "kernel.json")], tmp_path, environment, 1, 2)
    kernel = forked()
    assert kernel.pid == asked.pid and asked.poll() is None
    asked._asked.close()  # as when its process is killed
    while kernel.is_running() and kernel.status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)


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


def test_stages_of_ours_and_others_in_one_pipeline(repository, pipeline):
    (repository / "pipelines" / "a" / "dvc.yaml").write_text(STAGES)
    said = pipeline(repository, "a", status=1)
    assert (
        "a: Error: there is no study 'none'" in said
        and "failed to run: virtperf judge none, exited with 1" in said
    )
    assert (repository / "power.svg").is_file() and (repository / "out" / "a-1.txt").is_file()
    assert "first" in locks(repository)["pipelines/a/dvc.lock"].decode()
