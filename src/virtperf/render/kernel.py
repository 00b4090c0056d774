"""Kernels of notebooks that are executed: of this interpreter, and forked where a warm process stands by."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import LocalProvisioner

from virtperf.core.warm import ADDRESS, KERNEL, ask


class _OwnInterpreter(KernelSpecManager):
    """Knows one kernel: ipykernel of this interpreter, whatever kernels a user has installed."""

    def _kernel_dirs_default(self) -> list[str]:
        return []


class _Forked(LocalProvisioner):
    """Has a kernel forked from the process at `address`, which has loaded what notebooks import."""

    address: str

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Fork it; the words of `cmd` up to the module's name start an interpreter, and are not needed."""
        words = [KERNEL, *cmd[cmd.index("-f") :]]
        self.cwd = Path(kwargs.get("cwd") or Path.cwd())
        command = ask(self.address, words, self.cwd, kwargs["env"], 1, 2)
        self.process, self.pid = command, command.pid  # type: ignore[assignment]
        return self.connection_info


class LocalKernel(AsyncKernelManager):
    """A kernel that is reached by sockets in a folder: notebooks that start at once can't collide on a port."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.kernel_spec_manager = _OwnInterpreter()
        if sys.platform != "win32":
            self.transport = "ipc"
        if address := os.environ.get(ADDRESS):
            self.provisioner = _Forked(kernel_id="", kernel_spec=self.kernel_spec, parent=self)
            self.provisioner.address = address
