"""Hand-written YAML: loaded safely, checked against a JSON schema, errors that name file and line."""

from __future__ import annotations

import difflib
import json
import sys
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from virtperf.core.errors import StudyError

# jsonschema imports every format checker that is installed; this one builds a grammar for a whole second, at the start
# of every command, and no schema here uses formats.
_SLOW = "rfc3987_syntax"
_before = sys.modules.get(_SLOW)
sys.modules[_SLOW] = None  # type: ignore[assignment]
try:
    import jsonschema
finally:
    if _before is None:
        del sys.modules[_SLOW]
    else:
        sys.modules[_SLOW] = _before

try:
    from yaml import CSafeLoader as SafeLoader
except ImportError:  # PyYAML without libyaml
    from yaml import SafeLoader  # type: ignore[assignment]


@dataclass(frozen=True)
class Document:
    """A YAML file's content with the line that each part begins on.

    Attributes
    ----------
    data : dict
    path : Path
    lines : dict of tuple to int
        Line from 1 by path within the document, e.g. ``("claims", 3, "value")``.
    """

    data: dict[str, Any]
    path: Path
    lines: dict[tuple[str | int, ...], int]

    def line(self, *where: str | int) -> int:
        """Line of the part at that path, or of the nearest part around it."""
        for end in range(len(where), -1, -1):
            if where[:end] in self.lines:
                return self.lines[where[:end]]
        return 1

    def error(self, problem: str, *where: str | int, **parts: str) -> StudyError:
        """A `StudyError` at that path of this file."""
        return StudyError(problem, file=self.path.name, line=self.line(*where), **parts)


def load_yaml(path: Path, schema: str | None = None) -> Document:
    """Read a YAML file with a mapping at its top.

    Parameters
    ----------
    path : Path
    schema : str, optional
        Name of a JSON schema shipped in `virtperf/study/schemas`, e.g. ``"claims"``.

    Raises
    ------
    StudyError
        File missing, not YAML, a key given twice, or against the schema; the error names the line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as err:
        raise StudyError("the file is missing", file=path, remedy="create it, or mend the name") from err
    try:
        node = yaml.compose(text, Loader=SafeLoader)
        data = yaml.load(text, Loader=SafeLoader)
    except yaml.MarkedYAMLError as err:
        mark = err.problem_mark
        raise StudyError(
            f"not valid YAML: {err.problem}", file=path.name, line=mark.line + 1 if mark else None
        ) from err
    if not isinstance(data, dict) or node is None:
        raise StudyError("the top of the file is not a mapping", file=path.name, line=1, expected="key: value lines")
    lines: dict[tuple[str | int, ...], int] = {}
    _collect_lines(node, (), lines, path)
    document = Document(data, path, lines)
    if schema is not None:
        check_schema(document, schema)
    return document


def check_schema(document: Document, schema: str) -> None:
    """Raise `StudyError` for the first place (by line) where the document breaks the schema."""
    for problem in schema_problems(document, schema):
        raise problem


def schema_problems(document: Document, schema: str) -> list[StudyError]:
    """All places where the document breaks the schema, by line."""
    validator = _validator(schema)
    problems = sorted(validator.iter_errors(document.data), key=lambda e: (document.line(*e.absolute_path), e.message))
    see = f"see src/virtperf/study/schemas/{schema}.json ({len(problems)} problem(s) in this file)."
    found = []
    for problem in problems:
        worst = jsonschema.exceptions.best_match([problem]) or problem
        where = tuple(worst.absolute_path)
        wrong, known = _misnamed(worst)
        if worst.validator == "additionalProperties":
            where = (*where, *wrong[:1])
        close = [match for name in wrong[:1] for match in difflib.get_close_matches(name, known, n=1)]
        remedy = f"did you mean {close[0]!r}? Else {see}" if close else see
        found.append(document.error(f"{_place(document, where)}: {worst.message}", *where, remedy=remedy))
    return found


def _misnamed(problem: Any) -> tuple[list[str], list[str]]:
    """Names that the schema does not know, and those that it knows in their place."""
    if problem.validator == "additionalProperties" and isinstance(problem.instance, dict):
        known = list(problem.schema.get("properties", ()))
        return [str(key) for key in problem.instance if key not in known], known
    if problem.validator == "enum":
        return [str(problem.instance)], [str(value) for value in problem.validator_value]
    return [], []


def _place(document: Document, where: tuple[str | int, ...]) -> str:
    """The path in words: members of a list by their own name, where they have one."""
    words, part = [], document.data
    for key in where:
        try:
            part = part[key]  # type: ignore[index]
        except (LookupError, TypeError):
            part = {}
        named = isinstance(key, int) and isinstance(part, dict)
        own = next((part[name] for name in ("id", "name") if isinstance(part.get(name), str)), None) if named else None
        words.append(str(key if own is None else own))
    return "/".join(words) or "document"


@cache
def _validator(schema: str) -> Any:
    text = resources.files("virtperf.study").joinpath("schemas", f"{schema}.json").read_text(encoding="utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def _collect_lines(
    node: yaml.Node, where: tuple[str | int, ...], lines: dict[tuple[str | int, ...], int], path: Path
) -> None:
    lines[where] = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            name = key.value
            if name in seen:
                raise StudyError(
                    f"the key {name!r} is given twice",
                    file=path.name,
                    line=key.start_mark.line + 1,
                    remedy="remove one of the two; YAML would silently keep the last.",
                )
            seen.add(name)
            _collect_lines(value, (*where, name), lines, path)
            lines[(*where, name)] = key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        for position, item in enumerate(node.value):
            _collect_lines(item, (*where, position), lines, path)
