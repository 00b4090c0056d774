"""Validation of a study's notebook: parameters, loaded study, shown exhibits."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rawperf.core.errors import StudyError
from virtperf.check.problems import Problems
from virtperf.core.params import NotebookParameters, Parameters
from virtperf.study.definition import Study

_SHOWING = {"show", "exhibit", "exhibits"}
"""Methods of a loaded study that take exhibit ids; `exhibits()` without arguments shows all."""
_ASSIGNED = re.compile(r"^([a-z_]+)\s*=\s*([^#\n]+?)\s*(?:#.*)?$", re.M)


def check_notebook(
    path: Path, study: Study, parameters: Parameters | None, problems: Problems
) -> None:
    """Check `notebooks/<study>.ipynb` statically, without execution."""
    with problems.collected(path.parent):
        sources = _sources(path)
        tagged = [source for source, tags in sources if "parameters" in tags]
        if len(tagged) != 1:
            problems.add(
                "exactly one cell must have the tag parameters", path, found=f"{len(tagged)} cells"
            )
        else:
            _parameters(path, tagged[0], parameters, problems)
        text = "\n".join(source for source, _ in sources)
        if not re.search(rf"\bload_study\(\s*[\"']{re.escape(study.id)}[\"']", text):
            problems.add(
                "the notebook does not load its study",
                path,
                expected=f'load_study("{study.id}", data, ...)',
            )
        for number, (source, _) in enumerate(sources, 1):
            try:
                _parse(source)
            except SyntaxError as err:
                problems.add(f"code cell {number}, line {err.lineno}: {err.msg}", path)
        exhibits = list(dict.fromkeys(exhibit.id for exhibit in study.exhibits))
        _check_shown(
            path, shown_exhibits([source for source, _ in sources], exhibits), exhibits, problems
        )


def shown_exhibits(sources: Sequence[str], exhibits: Sequence[str]) -> set[str]:
    """Ids of the exhibits that a notebook's cells show; cells that are not Python are skipped.

    Besides the arguments of showing methods, every string in a cell that calls one counts if it is
    an exhibit id: a list of ids may be in a variable.
    """
    shown: set[str] = set()
    for source in sources:
        try:
            nodes = list(ast.walk(_parse(source)))
        except SyntaxError:
            continue
        calls = {
            node: node.func.attr
            for node in nodes
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _SHOWING
        }
        if calls:
            shown |= _texts(nodes) & set(exhibits)
        for call, method in calls.items():
            shown |= _texts(call.args)
            if method == "exhibits" and not call.args:
                shown |= set(exhibits)
    return shown


def _parse(source: str) -> ast.Module:
    """Parse a cell, which may have IPython's magics and shell commands; raises `SyntaxError`."""
    try:
        return ast.parse(source)
    except SyntaxError:
        from IPython.core.inputtransformer2 import TransformerManager  # slow to import

        return ast.parse(TransformerManager().transform_cell(source))


def _texts(nodes: Sequence[ast.AST]) -> set[str]:
    values = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return {value for value in values if isinstance(value, str)}


def _sources(path: Path) -> list[tuple[str, list[str]]]:
    if not path.is_file():
        raise StudyError("the study has no notebook", file=path, remedy="see docs/add-a-study.md")
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return [
            ("".join(cell["source"]), list(cell.get("metadata", {}).get("tags", ())))
            for cell in cells
            if cell["cell_type"] == "code"
        ]
    except (ValueError, KeyError, TypeError) as err:
        raise StudyError(f"not a notebook: {err}", file=path) from err


def _parameters(path: Path, source: str, parameters: Parameters | None, problems: Problems) -> None:
    assigned = dict(_ASSIGNED.findall(source))
    known = set(NotebookParameters.model_fields)
    for name in sorted(assigned.keys() - known):
        problems.add(
            f"unknown parameter {name}", path, expected=f"one of {', '.join(sorted(known))}"
        )
    for name in sorted(known - assigned.keys()):
        problems.add(f"the parameters cell does not set {name}", path, remedy=f"add {name} = ...")
    if parameters is None:
        return
    expected: dict[str, Any] = {
        "level": parameters.level,
        "seed": parameters.seed,
        **parameters.report.model_dump(),
    }
    for name, value in expected.items():
        if name in assigned and assigned[name].strip("\"'") != str(value):
            problems.add(
                f"the default of {name} differs from params.yaml",
                path,
                expected=str(value),
                found=assigned[name],
            )


def _check_shown(path: Path, shown: set[str], exhibits: list[str], problems: Problems) -> None:
    for exhibit in exhibits:
        if exhibit not in shown:
            problems.add(
                f"{exhibit} is not shown",
                path,
                expected=f'a cell with study.exhibit("{exhibit}")',
                remedy=f"virtperf add exhibit {path.stem} adds it",
            )
    for exhibit in sorted(shown):
        if exhibit not in exhibits:
            problems.add(
                f"{exhibit} is not an exhibit of study.yaml",
                path,
                expected=f"one of {', '.join(exhibits)}",
            )
