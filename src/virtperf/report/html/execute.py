"""Executing a notebook with parameters, by papermill, on the interpreter that runs this."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from papermill.exceptions import PapermillExecutionError
from papermill.execute import execute_notebook

from rawperf.core.errors import VirtperfError
from rawperf.core.files import write_atomically
from virtperf.report.html.notebooks import normalise, read_notebook, written

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
CELL_TIMEOUT_S = 600
# Plots appear below their cells as in JupyterLab, whatever backend the caller's environment names.
_INLINE = "module://matplotlib_inline.backend_inline"
# A kernel that is told to stop while it waits logs an error that is none; what fails in a cell
# comes by another way.
_QUIET = "--Application.log_level=CRITICAL"


def execute(notebook: Path, out: Path, parameters: Mapping[str, Any]) -> Path:
    """Execute a notebook in its folder and write it, normalised, with its outputs, after the last
    cell has ended well.

    Raises `VirtperfError` where the notebook is missing or no notebook; a parameter is not in its
    cell `parameters`; a cell fails (with its number, the line in it and the exception).
    """
    _check(notebook, parameters)
    with tempfile.TemporaryDirectory(prefix="virtperf-") as folder:
        done = Path(folder) / "executed.ipynb"
        with _surroundings(Path(folder)):
            try:
                execute_notebook(
                    str(notebook),
                    str(done),
                    parameters=dict(parameters),
                    kernel_name="python3",
                    language="python",
                    progress_bar=sys.stderr.isatty(),
                    cwd=str(notebook.parent),
                    log_output=False,
                    execution_timeout=CELL_TIMEOUT_S,
                    request_save_on_cell_execute=False,
                    autosave_cell_every=0,
                    kernel_manager_class=LocalKernel,
                    extra_arguments=[_QUIET],
                )
            except PapermillExecutionError as err:
                raise _explain(err, notebook, injected=bool(parameters)) from err
        finished = normalise(nbformat.read(done, as_version=4))
    write_atomically(out, written(finished))
    return out


def _check(notebook: Path, parameters: Mapping[str, Any]) -> None:
    content = read_notebook(notebook)
    tagged = [
        c
        for c in content.cells
        if c.cell_type == "code" and "parameters" in c.metadata.get("tags", ())
    ]
    known = set(
        re.findall(
            r"^([A-Za-z_]\w*)\s*(?::[^=\n]*)?=",
            "\n".join(c.source for c in tagged),
            flags=re.MULTILINE,
        )
    )
    unknown = sorted(set(parameters) - known)
    if unknown:
        raise VirtperfError(
            f"the notebook takes no parameter {unknown[0]!r}",
            file=notebook.name,
            expected=f"one of {', '.join(sorted(known)) or 'none (no cell is tagged parameters)'}",
        )


@contextlib.contextmanager
def _surroundings(folder: Path) -> Iterator[None]:
    """Jupyter's and IPython's folders inside a temporary one, so that no user's settings reach the
    kernel.

    The folder's path is short, as sockets need; progress and log lines stay quiet unless they are
    errors.
    """
    changed = {
        "JUPYTER_RUNTIME_DIR": str(folder),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_PLATFORM_DIRS": "1",
        "PYTHONHASHSEED": "0",
        "MPLBACKEND": _INLINE,
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
    before = os.environ.copy()
    logger = logging.getLogger("papermill")
    level = logger.level
    os.environ.update(changed)
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
        for name in changed.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


def _explain(err: PapermillExecutionError, notebook: Path, *, injected: bool) -> VirtperfError:
    # The cell that papermill puts in stands behind the parameters, before all that can fail.
    number = err.cell_index + (0 if injected else 1)
    traceback = _ANSI.sub("", "\n".join(err.traceback))
    lines = [
        int(n)
        for n in re.findall(
            r"(?:Cell In\[\d+\]|<ipython-input[^>]*>)[^\n]*?,? line (\d+)", traceback
        )
    ]
    source = err.source.splitlines()
    line = lines[0] if lines else None
    shown = (
        source[line - 1].strip()
        if line is not None and 0 < line <= len(source)
        else (source[0] if source else "")
    )
    return VirtperfError(
        f"cell {number} fails at its line {line or 1} ({shown}) with {err.ename}: "
        f"{_ANSI.sub('', str(err.evalue))}",
        file=notebook.name,
        remedy="open the notebook in JupyterLab and run it up to that cell.",
    )


class _OwnInterpreter(KernelSpecManager):
    """Knows one kernel: ipykernel of this interpreter, whatever kernels a user has installed."""

    def _kernel_dirs_default(self) -> list[str]:
        return []


class LocalKernel(AsyncKernelManager):
    """A kernel that is reached by sockets in a folder: notebooks that start at once can't collide
    on a port.
    """

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.kernel_spec_manager = _OwnInterpreter()
        if sys.platform != "win32":
            self.transport = "ipc"
