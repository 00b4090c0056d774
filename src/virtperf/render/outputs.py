"""The records among a notebook's outputs."""

from __future__ import annotations

from pathlib import Path

from nbformat import NotebookNode
from pydantic import ValidationError

from virtperf.core.errors import VirtperfError
from virtperf.exhibits.records import MIME, Record, unpacked
from virtperf.exhibits.show import NOTEBOOK_ONLY
from virtperf.render.normalise import read_notebook


def record_of(output: NotebookNode) -> Record | None:
    """The record of one output, with the picture beside it; None for an output that is none.

    Raises
    ------
    VirtperfError
        The output says that it is a record, but is none that this version knows.
    """
    data = output.get("data", {})
    if MIME not in data:
        return None
    try:
        record = Record.model_validate(unpacked(data[MIME]))
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


def records_in(notebook: NotebookNode) -> list[Record]:
    """All records of an executed notebook, in order."""
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    return [record for output in outputs if (record := record_of(output)) is not None]


def records_of(path: Path) -> list[Record]:
    """All records of an executed notebook's file, in order; none where there is no such file yet.

    Raises
    ------
    VirtperfError
        The file is no notebook, or one of its records is of another version.
    """
    if not path.is_file():
        return []
    try:
        return records_in(read_notebook(path))
    except VirtperfError as err:
        raise VirtperfError(err.problem, file=path, remedy=err.remedy) from err
