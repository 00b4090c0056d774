"""A guest: one QEMU process that emulates a processor, with a kernel of its own, driven over its console.

With `-icount` an instruction takes 16 ns of the guest's time, however busy the machine is. That takes
one thread; without it each virtual processor is a thread of the host, in real time.
"""

from __future__ import annotations

import ctypes
import json
import queue
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

START = "2026-01-01T00:00:00"
"""What a guest's clock says when it is started."""
START_EPOCH_S = 1_767_225_600
SHIFT = 4
"""An instruction takes 2**SHIFT ns of the guest's time."""
KERNEL_ARGUMENTS = "console=ttyS0 quiet loglevel=1 panic=-1 mitigations=off no_timer_check tsc=reliable swiotlb=noforce"
PR_SET_THP_DISABLE = 41


class GuestError(Exception):
    """A guest that ended, or that did not answer; the text says which and what it said last."""


class Guest:
    """A guest from its start to its end; a context manager that kills what is left.

    Parameters
    ----------
    build : pathlib.Path
        Where `build.sh` has put kernel and initial RAM disk.
    name : str
    memory_mb : int
    options : sequence of str
        More options for QEMU.
    processors : int
        With more than one, and with `real_time`, there is no `-icount`: each is a thread in real time.
    real_time : bool
    enter : callable, optional
        Called in the new process before it becomes the emulator, such as to enter a control group.
    """

    def __init__(
        self,
        build: Path,
        name: str,
        *,
        memory_mb: int,
        options: Sequence[str] = (),
        processors: int = 1,
        real_time: bool = False,
        enter: Callable[[], None] | None = None,
    ) -> None:
        self.name, self.memory_mb = name, memory_mb
        self._said: list[str] = []
        self._folder = tempfile.TemporaryDirectory(prefix="virtperf-")
        control = Path(self._folder.name, "qmp")
        clock = ["-accel", "tcg,tb-size=32", "-icount", f"shift={SHIFT}"]
        if real_time or processors > 1:
            clock = ["-accel", "tcg,thread=multi,tb-size=32", "-smp", str(processors)]
        command = [
            *("qemu-system-x86_64", *clock),
            *("-machine", "pc,memory-backend=ram", "-cpu", "qemu64", "-nodefaults", "-nographic"),
            *("-m", f"{memory_mb}M,slots=2,maxmem=2G", "-no-reboot", "-serial", "stdio"),
            *("-object", f"memory-backend-ram,id=ram,size={memory_mb}M,merge=on"),
            *("-rtc", f"base={START},clock=vm", "-qmp", f"unix:{control},server=on,wait=off"),
            *("-kernel", str(build / "vmlinux"), "-initrd", str(build / "guest.cpio.gz")),
            *("-append", KERNEL_ARGUMENTS, *options),
        ]

        def before() -> None:
            # Without huge pages the guest's memory on the host is what it has touched, page by page.
            ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)
            if enter:
                enter()

        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            errors="replace",
            preexec_fn=before,
        )
        self.pid = self._process.pid
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self._control = _connected(control, self._process)
        self._answers = self._control.makefile("r")
        self._answers.readline()  # the greeting
        self._order("qmp_capabilities")

    def __enter__(self) -> Guest:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._control.close()
        self._folder.cleanup()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self._lines.put(line.rstrip("\r\n"))
        self._lines.put(None)

    def wait_for(self, begin: str, timeout_s: float) -> list[str]:
        """Lines that the guest prints until one begins with `begin`, which is the last of them."""
        found: list[str] = []
        until = time.monotonic() + timeout_s
        while not found or not found[-1].startswith(begin):
            try:
                line = self._lines.get(timeout=max(0.01, until - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                raise GuestError(
                    f"{self.name}: no line {begin!r} within {timeout_s:g} s; it said last: {found[-5:]}"
                )
            found.append(line)
        return found

    def ready(self, timeout_s: float = 120) -> None:
        """Wait until the guest takes commands."""
        self.wait_for("READY", timeout_s)

    def begin(self, command: str) -> None:
        """Let the guest's shell run a command; `end` waits for it."""
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()

    def end(self, timeout_s: float = 300) -> str:
        """What the command printed.

        Raises
        ------
        GuestError
            It failed, or did not end in time.
        """
        *lines, last = self.wait_for("END ", timeout_s)
        if last != "END 0":
            raise GuestError(f"{self.name}: a command failed ({last}): {lines[-5:]}")
        return "".join(f"{line}\n" for line in lines)

    def run(self, command: str, timeout_s: float = 300) -> str:
        """Run a command in the guest's shell, and return what it printed."""
        self.begin(command)
        return self.end(timeout_s)

    def _order(self, name: str, **arguments: object) -> Any:
        self._control.sendall(json.dumps({"execute": name, "arguments": arguments}).encode())
        for line in self._answers:
            answer = json.loads(line)
            if "return" in answer:
                return answer["return"]
            if "error" in answer:
                raise GuestError(f"{self.name}: {name}: {answer['error']['desc']}")
        raise GuestError(f"{self.name}: the emulator ended")

    def stand_still(self, into: Path, moment: str) -> str:
        """The guest's /proc/meminfo, also as a file of the run's folder; afterwards it is paused."""
        text = self.run("cat /proc/meminfo")
        self.pause()
        folder = into / "guests" / self.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"meminfo-{moment}.txt").write_text(text)
        return text

    def pause(self) -> None:
        """Let the guest's time stand still."""
        self._order("stop")

    def resume(self) -> None:
        """Let the guest's time go on."""
        self._order("cont")

    def balloon_to(self, mebibytes: int, timeout_s: float = 60) -> None:
        """Inflate or deflate the guest's balloon until the guest is left with this much memory.

        Raises
        ------
        GuestError
            The guest does not get there in time.
        """
        self._order("balloon", value=mebibytes << 20)
        until = time.monotonic() + timeout_s
        while (actual := self._order("query-balloon")["actual"] >> 20) != mebibytes:
            if time.monotonic() > until:
                raise GuestError(f"{self.name}: balloon at {actual} MiB, not at {mebibytes} MiB")
            time.sleep(0.1)


def _connected(path: Path, process: subprocess.Popen[str]) -> socket.socket:
    for _ in range(200):
        if process.poll() is not None:
            break
        control = socket.socket(socket.AF_UNIX)
        try:
            control.connect(str(path))
        except OSError:
            control.close()
            time.sleep(0.05)
        else:
            return control
    raise GuestError(f"QEMU did not start (status {process.poll()}); its error stands above")
