"""Notebooks read, and freed of what differs between two runs: times, paths, random ids, versions of the machine."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode, from_dict

from virtperf.core.errors import VirtperfError
from virtperf.exhibits.records import MIME

_CELL_METADATA = ("execution", "papermill", "collapsed", "scrolled", "jp-MarkdownHeadingCollapsed")
_KEPT_LANGUAGE = ("name", "file_extension", "mimetype", "pygments_lexer")


def normalise(notebook: NotebookNode) -> NotebookNode:
    """A copy of a notebook in which two executions of the same commit agree byte by byte.

    Removed are papermill's and the kernel's times, input and output paths, editor state, the interpreter's version and
    the random id of the injected parameter cell. Outputs stay as they are, warnings on standard error excepted, since
    they name files of the machine.
    """
    clean = copy.deepcopy(notebook)
    metadata: dict[str, Any] = {}
    if "kernelspec" in clean.metadata:
        metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
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
            cell.outputs = [_output(o) for o in cell.outputs if not (o.output_type == "stream" and o.name == "stderr")]
    return clean


def _output(output: NotebookNode) -> NotebookNode:
    if "metadata" in output:
        output.metadata.pop("execution", None)
    return output


def written(notebook: NotebookNode) -> str:
    """A notebook as the text of a file, with the data of each output on one line: indented, they would double it."""
    content = json.loads(nbformat.writes(notebook))
    lines: list[str] = []
    for cell in content["cells"]:
        for output in (o for o in cell.get("outputs", ()) if "data" in o):
            data = {kind: "".join(part) if isinstance(part, list) else part for kind, part in output["data"].items()}
            lines.append(json.dumps(data, ensure_ascii=False, separators=(",", ":"), sort_keys=True))
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
        nbformat.reader.NotJSONError, nbformat.ValidationError, UnicodeDecodeError, AttributeError, KeyError,
    ) as err:  # fmt: skip
        raise VirtperfError(f"not a notebook: {err}", file=path) from err
