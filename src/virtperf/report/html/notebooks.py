"""Notebooks: read, write, normalise for reproducible files, execute with parameters by papermill,
extract records.
"""

from __future__ import annotations

import contextlib
import copy
import json
import logging
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import nbformat
import pandas as pd
from ipykernel.inprocess import BlockingInProcessKernelClient
from ipykernel.inprocess.ipkernel import InProcessKernel
from ipykernel.inprocess.socket import DummySocket
from ipykernel.iostream import IOPubThread
from ipykernel.zmqshell import ZMQInteractiveShell
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete
from nbformat import NotebookNode, from_dict
from papermill.engines import Engine, NotebookExecutionManager, papermill_engines
from papermill.exceptions import PapermillExecutionError
from papermill.execute import execute_notebook
from pydantic import ValidationError
from traitlets.config import Config

from rawperf.core.errors import RawperfError
from rawperf.core.files import write_atomically
from virtperf.report.records import MIME, NOTEBOOK_ONLY, Record

_CELL_METADATA = ("execution", "papermill", "collapsed", "scrolled", "jp-MarkdownHeadingCollapsed")
_KEPT_LANGUAGE = ("name", "file_extension", "mimetype", "pygments_lexer")


def normalise(notebook: NotebookNode) -> NotebookNode:
    """Copy of a notebook that is byte-identical between two executions of the same commit.

    Removed are times of papermill and the kernel, input and output paths, editor state, the
    interpreter's version and the random id of the injected parameter cell. Outputs are kept, except
    warnings on standard error, which name files of the machine.
    """
    clean = copy.deepcopy(notebook)
    metadata: dict[str, Any] = {}
    if "kernelspec" in clean.metadata:
        metadata["kernelspec"] = {
            "display_name": "Python 3",
            "language": "python",
            "name": "python3",
        }
    if "language_info" in clean.metadata:
        language = clean.metadata["language_info"]
        metadata["language_info"] = {k: language[k] for k in _KEPT_LANGUAGE if k in language}
    clean.metadata = from_dict(metadata)
    for position, cell in enumerate(clean.cells):
        for name in _CELL_METADATA:
            cell.metadata.pop(name, None)
        if "injected-parameters" in cell.metadata.get("tags", ()) and "id" in cell:
            cell["id"] = f"injected-parameters-{position}"
        if cell.cell_type == "code":
            cell.outputs = [
                o for o in cell.outputs if not (o.output_type == "stream" and o.name == "stderr")
            ]
            for output in cell.outputs:
                output.get("metadata", {}).pop("execution", None)
    return clean


def serialize(notebook: NotebookNode) -> str:
    """Serialize a notebook with the data of each output on one line: indentation would double the
    file.
    """
    content = json.loads(nbformat.writes(notebook))
    lines: list[str] = []
    for cell in content["cells"]:
        for output in (o for o in cell.get("outputs", ()) if "data" in o):
            data = {
                kind: "".join(part) if isinstance(part, list) else part
                for kind, part in output["data"].items()
            }
            lines.append(
                json.dumps(data, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
            )
            output["data"] = f"{MIME} {len(lines) - 1} of this notebook"
    text = json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True)
    for position, line in enumerate(lines):
        text = text.replace(json.dumps(f"{MIME} {position} of this notebook"), line, 1)
    return text + "\n"


def read_notebook(path: Path) -> NotebookNode:
    """Read a notebook file; raises `RawperfError` where it is missing or no notebook."""
    try:
        return nbformat.read(path, as_version=4)
    except FileNotFoundError as err:
        raise RawperfError("the notebook is missing", file=path) from err
    except (
        nbformat.reader.NotJSONError,
        nbformat.ValidationError,
        UnicodeDecodeError,
        AttributeError,
        KeyError,
    ) as err:
        raise RawperfError(f"not a notebook: {err}", file=path) from err


def output_record(output: NotebookNode) -> Record | None:
    """Parse the record in an output, with the picture beside it; None for other outputs.

    Raises `RawperfError` if the output is declared as a record but not valid in this version.
    """
    data = output.get("data", {})
    if MIME not in data:
        return None
    try:
        record = Record.model_validate(data[MIME])
    except ValidationError as err:
        first = err.errors()[0]
        raise RawperfError(
            f"an exhibit is not a valid record of this version: {'.'.join(map(str, first['loc']))}: {first['msg']}",
            remedy="execute the notebook again.",
        ) from err
    return record.with_picture(data.get("image/svg+xml", ""))


def for_notebook_only(output: NotebookNode) -> bool:
    """Whether the output repeats a record for readers of the notebook."""
    metadata = output.get("metadata", {})
    return all(metadata.get(name) == value for name, value in NOTEBOOK_ONLY.items())


IGNORE_OUTPUT_TAG = "nbval-ignore-output"
"""nbval's tag of cells with outputs neither kept nor compared."""


def ignores_output(cell: NotebookNode) -> bool:
    """Whether the outputs of a cell are dropped."""
    return IGNORE_OUTPUT_TAG in cell.metadata.get("tags", ())


def keep_outputs(executed: Path, notebook: Path) -> None:
    """Copy the outputs of an executed notebook into its source notebook, cell by cell, without
    metadata.

    `executed` has one injected cell of parameters. Cells tagged `IGNORE_OUTPUT_TAG` keep no outputs, so that
    a large notebook stays small in git; its report has all of them. Raises `RawperfError` if the
    notebook was edited after the execution.
    """
    source, done = (read_notebook(path) for path in (notebook, executed))
    cells = [
        cell for cell in done.cells if "injected-parameters" not in cell.metadata.get("tags", ())
    ]
    if [cell.source for cell in cells] != [cell.source for cell in source.cells]:
        raise RawperfError(
            "the notebook was edited after its execution",
            file=notebook,
            remedy="run `dvc repro`, then try again.",
        )
    for cell, with_outputs in zip(source.cells, cells, strict=True):
        if cell.cell_type == "code":
            cell.outputs = [] if ignores_output(cell) else with_outputs.outputs
            cell.execution_count = None
    for count, cell in enumerate((c for c in source.cells if c.cell_type == "code"), start=1):
        cell.execution_count = count
        for output in cell.outputs:
            if "execution_count" in output:
                output["execution_count"] = count
    write_atomically(notebook, serialize(normalise(source)))


ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def execute(notebook: Path, out: Path, parameters: Mapping[str, Any]) -> Path:
    """Execute a notebook in its folder and, on success, write it normalised with its outputs.

    Raises `RawperfError` if the notebook is missing or invalid; a parameter is not in its cell
    `parameters`; a cell fails (with its number, the line in it and the exception).
    """
    _check(notebook, parameters)
    logger = logging.getLogger("papermill")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        finished = execute_notebook(
            str(notebook),
            None,
            parameters=dict(parameters),
            engine_name=_ENGINE,
            kernel_name="python3",
            language="python",
            progress_bar=sys.stderr.isatty(),
            cwd=str(notebook.parent),
        )
    except PapermillExecutionError as err:
        raise _cell_error(err, notebook, injected=bool(parameters)) from err
    finally:
        logger.setLevel(level)
    write_atomically(out, serialize(normalise(finished)))
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
        raise RawperfError(
            f"the notebook takes no parameter {unknown[0]!r}",
            file=notebook.name,
            expected=f"one of {', '.join(sorted(known)) or 'none (no cell is tagged parameters)'}",
        )


def _cell_error(err: PapermillExecutionError, notebook: Path, *, injected: bool) -> RawperfError:
    # papermill injects its cell behind the parameters, before all cells that can fail
    number = err.cell_index + (0 if injected else 1)
    traceback = ANSI.sub("", "\n".join(err.traceback))
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
    return RawperfError(
        f"cell {number} failed at line {line or 1} ({shown}) with {err.ename}: "
        f"{ANSI.sub('', str(err.evalue))}",
        file=notebook.name,
        remedy="open the notebook in JupyterLab and run it up to that cell.",
    )


_ENGINE = "same-process"


class _SameProcess(Engine):
    """Engine of papermill that runs the cells in this process.

    A kernel of its own is a second interpreter: to start it and to import everything again takes
    longer than the cells of most notebooks.
    """

    @classmethod
    def execute_managed_notebook(
        cls, nb_man: NotebookExecutionManager, kernel_name: str, **settings: Any
    ) -> None:
        """Run the cells in order, up to the first one that fails."""
        reader = NotebookClient(nb_man.nb, record_timing=False)
        reader.clear_before_next_output = False
        with _kernel() as (kernel, client):
            for position, cell in enumerate(nb_man.nb.cells):
                nb_man.cell_start(cell, position)
                if cell.cell_type == "code" and cell.source.strip():
                    client.execute(cell.source)
                    with contextlib.suppress(CellExecutionComplete):
                        while True:
                            reader.process_message(client.get_iopub_msg(), cell, position)
                failed = any(output.output_type == "error" for output in cell.get("outputs", ()))
                if failed:
                    nb_man.cell_exception(cell, position)
                nb_man.cell_complete(cell, position)
                if failed:
                    break
            nb_man.nb.metadata["language_info"] = kernel.language_info


papermill_engines.register(_ENGINE, _SameProcess)


class _ZMQShell(ZMQInteractiveShell):
    """The shell of notebooks; pandas recognises one by the name of its class."""

    def enable_gui(self, gui: str | None = None) -> None:
        """Inline plots need no event loop."""


@contextlib.contextmanager
def _kernel() -> Iterator[tuple[InProcessKernel, BlockingInProcessKernelClient]]:
    """IPython's kernel in this process, without names and user settings, and a client for it.

    As in a kernel of its own, modules of the working folder can be imported, and plots appear inline,
    whatever backend the caller's environment selects.
    """
    main, path, variables = sys.modules["__main__"], sys.path.copy(), os.environ.copy()
    sender = IOPubThread(DummySocket())  # not started: it sends at once
    with (
        tempfile.TemporaryDirectory(prefix="virtperf-") as folder,
        mpl.rc_context(),
        warnings.catch_warnings(action="ignore"),  # they would name files of the machine
        pd.option_context("display.max_columns", 20),  # pandas' default in a notebook
    ):
        sys.path.insert(0, "")
        os.environ["IPYTHONDIR"] = folder
        try:
            kernel = InProcessKernel(
                shell_class=_ZMQShell,
                iopub_thread=sender,
                _underlying_iopub_socket=sender.socket,
                config=Config(HistoryManager={"enabled": False}),
            )
            assert kernel.shell is not None
            kernel.shell.reset()  # a process has one shell, for all its kernels
            kernel.shell.enable_matplotlib("inline")
            client = BlockingInProcessKernelClient(kernel=kernel, session=kernel.session)
            client.start_channels()
            yield kernel, client
        finally:
            sender.io_loop.close(all_fds=True)
            sys.modules["__main__"], sys.path[:] = main, path
            os.environ.clear()
            os.environ.update(variables)
