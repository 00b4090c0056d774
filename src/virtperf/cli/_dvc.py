"""DVC that runs stages in forks of its process, as `python -m virtperf.cli._dvc ARGUMENTS`.

Imports of pandas, statsmodels and Matplotlib take one to three seconds, which each of some thirty
stages would spend again in a process of its own.
"""

from __future__ import annotations

import gc
import importlib
import os
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from typing import Any

from dvc.cli import main as dvc_main
from dvc.progress import Tqdm
from dvc.stage import run as dvc_run
from dvc.stage.exceptions import StageCmdFailedError

from virtperf.cli import main
from virtperf.core.parallel import is_single_threaded

_COMMAND = re.compile(r"virtperf(?P<arguments>( [\w.@/-]+)+)")
"""Commands that a shell does not change."""
_MODULES = {
    "reconstruct": "virtperf.reconstruct.stage",
    "runs": "virtperf.runs.stage",
    "report": "virtperf.report.stage",
    "synthesis": "virtperf.report.stage",
    "site": "virtperf.report.html.site.build",
}
"""What a stage imports, by its command."""


def run_dvc(arguments: Sequence[str]) -> int:
    """Run DVC with stages in forks; returns its exit status.

    Commands of other programs, a stage whose modules can't be imported, and all commands while this
    process has other threads run in a shell as usual: a fork has copies of locks, but not the threads
    that hold them.
    """
    Tqdm.monitor_interval = 0  # no thread of progress bars, which are not shown
    in_shell = dvc_run._run

    def run(executable: str | None, cmd: str, *, env: Mapping[str, str], **options: Any) -> None:
        match = _COMMAND.fullmatch(cmd)
        words = match["arguments"].split() if match else [""]
        if not _is_imported(words[0]) or not is_single_threaded():
            in_shell(executable, cmd, env=env, **options)
        elif status := _in_fork(words, env, options["cwd"]):
            raise StageCmdFailedError(cmd, status)

    dvc_run._run = run
    return int(dvc_main(list(arguments)))


def _is_imported(command: str) -> bool:
    """Import what a stage needs; whether it is a stage, and succeeded."""
    if command not in _MODULES:
        return False
    try:
        importlib.import_module(_MODULES[command])
    except Exception:
        return False
    return True


def _in_fork(arguments: Sequence[str], variables: Mapping[str, str], folder: str) -> int | None:
    """Run a command of `virtperf` in a fork; returns its exit status."""
    gc.freeze()  # passes of the collector would copy the pages of imported modules
    fork = get_context("fork").Process(target=_command, args=(arguments, variables, folder))
    handler = signal.getsignal(signal.SIGINT)
    fork.start()
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # as DVC does: the command ends, then DVC
        fork.join()
    finally:
        signal.signal(signal.SIGINT, handler)
    return fork.exitcode


def _command(arguments: Sequence[str], variables: Mapping[str, str], folder: str) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    sys.argv = ["virtperf", *arguments]
    main(list(arguments), prog_name="virtperf")


if __name__ == "__main__":
    sys.exit(run_dvc(sys.argv[1:]))
