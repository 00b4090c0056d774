"""The process from which `virtperf pipeline` forks DVC, stages and kernels of notebooks
(`virtperf.core.warm`).
"""

from __future__ import annotations

import gc
import importlib
import json
import multiprocessing
import os
import re
import select
import shlex
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rawperf import all_formats
from virtperf.cli import main as virtperf
from virtperf.core.warm import ADDRESS, KERNEL, OTHER, ask, say

OF_DVC = ("dvc.commands.repro", "dvc.repo.reproduce")
OF_OTHERS = (
    "virtperf.reconstruct.stage",
    "virtperf.runs.ingest.stage",
    "virtperf.runs.summarize.stage",
    "virtperf.verdicts.from_runs",
    "virtperf.report.html.execute",
    "virtperf.report.html.report",
    "virtperf.report.html.site.build",
    "virtperf.report.synthesis.loaded",
    "virtperf.report.loaded",
    "virtperf.report.plot",
    "virtperf.models",
    "ipykernel.ipkernel",
    "matplotlib_inline.backend_inline",
    "statsmodels.api",
    "statsmodels.formula.api",
)
"""What DVC, and what the stages and the notebooks import when they begin."""

PLAIN = re.compile(r"virtperf( [\w./=-]+)*")
"""A command of ours that a shell takes as it stands."""


def main() -> None:
    """Fork a process for every command that is asked for, until whoever started this one has
    ended.
    """
    listener, address = socket.socket(fileno=int(sys.argv[1])), sys.argv[2]
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # those who ask are interrupted themselves, and so are the commands
    gc.set_threshold(50_000, 20, 20)  # commands make many objects, end soon, and leave few cycles
    _load(OF_DVC)
    ready = False
    while listener in select.select([listener, sys.stdin], (), ())[0]:
        connection, _ = listener.accept()
        if not ready and connection.recv(1, socket.MSG_PEEK) == OTHER:
            _load(OF_OTHERS)
            all_formats()  # found by entry points, and the declared ones in their files
            ready = True
        multiprocessing.get_context("fork").Process(
            target=_serve, args=(listener, connection, address)
        ).start()
        connection.close()
    listener.close()  # commands that are still running ask in vain


def _load(modules: Sequence[str]) -> None:
    for module in modules:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()  # what is shared with the forked processes is not written to


def _serve(listener: socket.socket, connection: socket.socket, address: str) -> None:
    """Run one command with the files, folder and environment that were sent, and send its
    status.
    """
    listener.close()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with connection:
        for number, file in enumerate(socket.recv_fds(connection, 1, 2)[1], start=1):
            os.dup2(file, number)
            os.close(file)
        with connection.makefile(encoding="utf-8") as sent:
            words, folder, environment = json.load(sent)
        os.chdir(folder)
        os.environ |= {ADDRESS: address, **environment}
        if words[0] == KERNEL:
            os.setsid()  # whoever interrupts the pipeline does not mean a cell
            threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
        say(connection, os.getpid())
        ended = _run(words, address)
        sys.stdout.flush()
        sys.stderr.flush()
        say(connection, ended)


def _end_with(connection: socket.socket) -> None:
    """End this process when the other end of a connection is closed."""
    closed = select.poll()
    closed.register(connection, 0)
    closed.poll()
    os._exit(1)


def _run(words: Sequence[str], address: str) -> int:
    try:
        if words[0] == "dvc":
            return _dvc(words[1:], address)
        return (
            _kernel(words[1:]) if words[0] == KERNEL else virtperf(words[1:], prog_name="virtperf")
        )
    except SystemExit as err:
        return err.code if isinstance(err.code, int) else int(err.code is not None)
    except BaseException:  # as the interpreter would end
        traceback.print_exc()
        return 1


def _kernel(words: Sequence[str]) -> int:
    """A notebook's kernel."""
    import matplotlib as mpl
    from ipykernel.kernelapp import IPKernelApp

    mpl.rcParams["backend"] = os.environ["MPLBACKEND"]  # read when Matplotlib was imported
    IPKernelApp.launch_instance(list(words))
    return 0


def _dvc(words: Sequence[str], address: str) -> int:
    """DVC, whose stages are forked where they are commands of ours."""
    from dvc.cli import main as dvc
    from dvc.stage import run
    from dvc.stage.exceptions import StageCmdFailedError

    started = run._run

    def forked(
        executable: str, command: str, *, cwd: str, env: Mapping[str, str], **others: Any
    ) -> None:
        if not PLAIN.fullmatch(command):
            started(executable, command, cwd=cwd, env=env, **others)
            return
        changed = {name: value for name, value in env.items() if os.environ.get(name) != value}
        ended = ask(address, shlex.split(command), Path(cwd), changed, 1, 2).wait()
        if ended:
            raise StageCmdFailedError(command, ended)

    run._run = forked
    return int(dvc(words))


if __name__ == "__main__":
    main()
