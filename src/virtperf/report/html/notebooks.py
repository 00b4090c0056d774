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
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbformat import NotebookNode, from_dict
from papermill.exceptions import PapermillExecutionError
from papermill.execute import execute_notebook
from pydantic import ValidationError

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


_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
CELL_TIMEOUT_S = 600
# inline plots as in JupyterLab, whatever backend the caller's environment selects
_INLINE = "module://matplotlib_inline.backend_inline"
# a kernel stopped while it waits logs a spurious error; failures of cells are raised separately
_QUIET = "--Application.log_level=CRITICAL"


def execute(notebook: Path, out: Path, parameters: Mapping[str, Any]) -> Path:
    """Execute a notebook in its folder and, on success, write it normalised with its outputs.

    Raises `RawperfError` if the notebook is missing or invalid; a parameter is not in its cell
    `parameters`; a cell fails (with its number, the line in it and the exception).
    """
    _check(notebook, parameters)
    with tempfile.TemporaryDirectory(prefix="virtperf-") as folder:
        done = Path(folder) / "executed.ipynb"
        with _kernel_environment(Path(folder)):
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
                raise _cell_error(err, notebook, injected=bool(parameters)) from err
        finished = normalise(nbformat.read(done, as_version=4))
    write_atomically(out, serialize(finished))
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


@contextlib.contextmanager
def _kernel_environment(folder: Path) -> Iterator[None]:
    """Isolate the kernel from user settings: Jupyter and IPython folders within a temporary folder.

    Its path is short, as Unix sockets need; progress and log lines below errors are suppressed.
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


def _cell_error(err: PapermillExecutionError, notebook: Path, *, injected: bool) -> RawperfError:
    # papermill injects its cell behind the parameters, before all cells that can fail
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
    return RawperfError(
        f"cell {number} failed at line {line or 1} ({shown}) with {err.ename}: "
        f"{_ANSI.sub('', str(err.evalue))}",
        file=notebook.name,
        remedy="open the notebook in JupyterLab and run it up to that cell.",
    )


class _OwnInterpreter(KernelSpecManager):
    """Kernel spec manager with a single kernel: ipykernel of this interpreter; user kernels are
    ignored.
    """

    def _kernel_dirs_default(self) -> list[str]:
        return []


class LocalKernel(AsyncKernelManager):
    """Kernel manager with Unix sockets (IPC transport): notebooks started at the same time can't
    collide on a port.
    """

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.kernel_spec_manager = _OwnInterpreter()
        if sys.platform != "win32":
            self.transport = "ipc"
            # without a file of its own, its sockets are in the working folder, by the first free number
            self.connection_file = str(Path(tempfile.gettempdir(), f"kernel-{uuid4().hex}.json"))
