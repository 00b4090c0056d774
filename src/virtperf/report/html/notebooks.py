"""Notebooks read and written: freed of what differs between two runs, as they stand in git, and the
records in them.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode, from_dict
from pydantic import ValidationError

from rawperf.core.errors import VirtperfError
from rawperf.core.files import write_atomically
from virtperf.report.records import MIME, Record
from virtperf.report.show import NOTEBOOK_ONLY

_CELL_METADATA = ("execution", "papermill", "collapsed", "scrolled", "jp-MarkdownHeadingCollapsed")
_KEPT_LANGUAGE = ("name", "file_extension", "mimetype", "pygments_lexer")


def normalise(notebook: NotebookNode) -> NotebookNode:
    """A copy of a notebook in which two executions of the same commit agree byte by byte.

    Removed are papermill's and the kernel's times, input and output paths, editor state, the
    interpreter's version and the random id of the injected parameter cell. Outputs stay as they
    are, warnings on standard error excepted, since they name files of the machine.
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


def written(notebook: NotebookNode) -> str:
    """A notebook as the text of a file, with the data of each output on one line: indented, they
    would double it.
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
    """Read a notebook file; raises `VirtperfError` where it is missing or no notebook."""
    try:
        return nbformat.read(path, as_version=4)
    except FileNotFoundError as err:
        raise VirtperfError("the notebook is missing", file=path) from err
    except (
        nbformat.reader.NotJSONError,
        nbformat.ValidationError,
        UnicodeDecodeError,
        AttributeError,
        KeyError,
    ) as err:
        raise VirtperfError(f"not a notebook: {err}", file=path) from err


def record_of(output: NotebookNode) -> Record | None:
    """The record of one output, with the picture beside it; None for an output that is none.

    Raises `VirtperfError` where the output says that it is a record, but is none that this version
    knows.
    """
    data = output.get("data", {})
    if MIME not in data:
        return None
    try:
        record = Record.model_validate(data[MIME])
    except ValidationError as err:
        first = err.errors()[0]
        raise VirtperfError(
            f"an exhibit is no record of this version: {'.'.join(map(str, first['loc']))}: {first['msg']}",
            remedy="execute the notebook again.",
        ) from err
    return record.with_picture(data.get("image/svg+xml", ""))


def for_notebook_only(output: NotebookNode) -> bool:
    """Whether the output repeats for readers of the notebook what a record says."""
    metadata = output.get("metadata", {})
    return all(metadata.get(name) == value for name, value in NOTEBOOK_ONLY.items())


def records_of(path: Path) -> list[Record]:
    """All records of an executed notebook's file, in order; none where there is no such file yet.

    Raises `VirtperfError` where the file is no notebook, or one of its records is of another
    version.
    """
    if not path.is_file():
        return []
    try:
        outputs = [
            output for cell in read_notebook(path).cells for output in cell.get("outputs", ())
        ]
        return [record for output in outputs if (record := record_of(output)) is not None]
    except VirtperfError as err:
        raise VirtperfError(err.problem, file=path, remedy=err.remedy) from err


LEFT_OUT = "nbval-ignore-output"  # the tag of a cell whose outputs are neither kept nor compared; nbval's own


def is_left_out(cell: NotebookNode) -> bool:
    """Whether the outputs of a cell are not kept."""
    return LEFT_OUT in cell.metadata.get("tags", ())


def keep_outputs(executed: Path, notebook: Path) -> None:
    """Copy the outputs of an executed notebook into the notebook that it came from, cell by cell,
    without any metadata.

    `executed` has one injected cell of parameters. Cells with the tag `LEFT_OUT` keep no outputs: a
    large notebook stays small in git, and its report has them all. Raises `VirtperfError` where the
    notebook was edited since it was executed.
    """
    source, done = (read_notebook(path) for path in (notebook, executed))
    own = [
        cell for cell in done.cells if "injected-parameters" not in cell.metadata.get("tags", ())
    ]
    if [cell.source for cell in own] != [cell.source for cell in source.cells]:
        raise VirtperfError(
            "the notebook was edited since it was executed",
            file=notebook,
            remedy="run `dvc repro`, then try again.",
        )
    for cell, with_outputs in zip(source.cells, own, strict=True):
        if cell.cell_type == "code":
            cell.outputs = [] if is_left_out(cell) else with_outputs.outputs
            cell.execution_count = None
    for count, cell in enumerate((c for c in source.cells if c.cell_type == "code"), start=1):
        cell.execution_count = count
        for output in cell.outputs:
            if "execution_count" in output:
                output["execution_count"] = count
    write_atomically(notebook, written(normalise(source)))
