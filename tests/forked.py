"""A call as a process of its own, forked from the tests' process: an interpreter that starts anew imports for seconds.

It has what tests use of `subprocess.Popen`, with standard output and standard error in one text.
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable


class Forked:
    """A running call; `prepare` is called first in its process, like `preexec_fn` of `Popen`."""

    def __init__(
        self, call: Callable[[], object], prepare: Callable[[], object] = lambda: None
    ) -> None:
        self.returncode: int | None = None
        reading, writing = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            os.close(reading)
            _run(call, prepare, writing)
        os.close(writing)
        self._written: list[str] = []
        self._reader = threading.Thread(target=self._read, args=(reading,), daemon=True)
        self._reader.start()

    def _read(self, pipe: int) -> None:
        with os.fdopen(pipe, encoding="utf-8", errors="replace") as stream:
            self._written.extend(stream)

    def poll(self) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def wait(self, timeout: float) -> int:
        until = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > until:
                raise subprocess.TimeoutExpired("a forked call", timeout)
            time.sleep(0.005)
        return code

    def output(self, timeout: float = 300) -> str:
        """Wait for the end of the process; what it has written."""
        self.wait(timeout)
        self._reader.join(timeout)
        return "".join(self._written)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _run(call: Callable[[], object], prepare: Callable[[], object], output: int) -> None:
    """The child's part, which never returns."""
    code = 1
    try:
        gc.freeze()  # the collector would copy every page of what the tests have imported
        nothing = os.open(os.devnull, os.O_RDONLY)
        for target, source in enumerate((nothing, output, output)):
            os.dup2(source, target)
        os.close(output)
        sys.stdin, sys.stdout, sys.stderr = (
            os.fdopen(number, mode, encoding="utf-8", buffering=1)
            for number, mode in enumerate(("r", "w", "w"))
        )
        prepare()
        if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:  # as when Python starts
            signal.signal(signal.SIGINT, signal.default_int_handler)
        call()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
