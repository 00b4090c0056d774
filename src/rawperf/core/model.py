"""Schema validation of hand-written YAML: errors name file, line, path and expected value."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from math import isfinite
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar, Union, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from rawperf.core.errors import RawperfError, Report, did_you_mean, raise_problem
from rawperf.core.yamlio import Document, load_yaml

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")


class Model(BaseModel):
    """Base model of a hand-written file: immutable, without unknown names and infinite numbers."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    short_forms: ClassVar[tuple[str, ...]] = ()
    """JSON types that a file may have in place of the mapping, for the JSON Schema."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        made = handler(core_schema)
        forms = [{"type": name} for name in cls.short_forms]
        return {"anyOf": [*forms, made]} if forms else made


_EXPONENT = re.compile(r"([+-]?\d+)(\.\d*)?[eE]([+-]?)(\d+)")


def _check_level(value: Any) -> Any:
    """Accept a string or a finite number unchanged (12 stays an int); reject booleans."""
    if isinstance(value, str) or (
        isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    ):
        return value
    is_list = isinstance(value, list) and any(isinstance(each, bool) for each in value)
    quotes = "; on, off, yes and no are truth values in YAML without quotes"
    raise PydanticCustomError("level", f"text or a number{quotes * is_list}")


def _check_distinct(values: Sequence[T]) -> Sequence[T]:
    duplicates = [value for position, value in enumerate(values) if value in values[:position]]
    if duplicates:
        raise ValueError(f"{duplicates[0]!r} occurs twice")
    return values


def _reject_numeric_strings(values: Sequence[Any]) -> Sequence[Any]:
    """Reject strings among numbers that were meant as numbers."""
    if any(not isinstance(value, str) for value in values):
        for value in values:
            if isinstance(value, str) and (remedy := _yaml_number_hint(value)):
                raise ValueError(f"{value!r} is text among numbers. {remedy}")
    return values


def _yaml_number_hint(text: str) -> str:
    """Suggest YAML's spelling of a number such as ``1e6``; "" for all other texts."""
    match = _EXPONENT.fullmatch(text)
    if not match:
        return ""
    integer, fraction, sign, power = match.groups()
    return f"YAML reads it as text: write {integer}{fraction or '.0'}e{sign or '+'}{power}"


def _insert_key_as_name(entries: Any) -> Any:
    if not isinstance(entries, Mapping):
        return entries
    return {
        key: {**entry, "<name>": key} if isinstance(entry, Mapping) else entry
        for key, entry in entries.items()
    }


Number = Annotated[float, Strict()]
NonNegative = Annotated[float, Strict(), Field(ge=0)]
Positive = Annotated[float, Strict(), Field(gt=0)]
Integer = Annotated[int, Strict()]
Count = Annotated[int, Strict(), Field(ge=1, le=10**9)]
Flag = Annotated[bool, Strict()]
Level = Annotated[str | int | float, BeforeValidator(_check_level)]
Levels = Annotated[
    tuple[Level, ...],
    Field(min_length=1),
    AfterValidator(_check_distinct),
    AfterValidator(_reject_numeric_strings),
]
WrapSingleString = BeforeValidator(
    lambda value: (value,) if isinstance(value, str) else value,
    json_schema_input_type=str | tuple[str, ...],
)
"""Wrap a single string in a tuple."""
Texts = Annotated[
    tuple[str, ...], Field(min_length=1), AfterValidator(_check_distinct), WrapSingleString
]
"""One string, or a list of distinct strings."""
InsertKeyAsName = BeforeValidator(_insert_key_as_name)
"""Mapping of models: passes each its key through the alias <name>, which no file uses."""


def load_model(
    path: Path,
    model: type[M],
    report: Report = raise_problem,
    *,
    aliases: bool = True,
    content: bytes | None = None,
) -> tuple[M, Document]:
    """Read a YAML file as a model; `aliases` and `content` as in `load_yaml`.

    Raises `StudyError` as `load_yaml` does, and for violations of the schema.
    """
    document = load_yaml(path, aliases=aliases, content=content)
    try:
        return model.model_validate(document.data), document
    except ValidationError as err:
        *others, last = sorted(
            problems(err, model, document), key=lambda p: (p.line or 0, p.problem)
        )
        for problem in others:
            report(problem)
        raise last from None


def problems(
    err: ValidationError, model: type[BaseModel], document: Document, *at: str | int
) -> Iterator[RawperfError]:
    """Convert a pydantic `ValidationError`, one `StudyError` a place.

    `at` is the path of the part that was validated as `model`.
    """
    errors = err.errors(include_url=False)
    for error in errors:
        size = len(error["loc"])
        if error["type"] == "too_short" and any(
            e["loc"][:size] == error["loc"] and e is not error for e in errors
        ):
            continue  # errors of its members are reported instead
        where = _existing_path(document.data, (*at, *error["loc"]))
        location = _path_label(document.data, where)
        name = error["loc"][-1] if error["loc"] else ""
        if error["type"] == "missing":
            present_keys = [
                str(n)
                for n in _mapping_at(document.data, where)
                if n not in _field_names(model, where[len(at) :])
            ]
            similar = difflib.get_close_matches(str(name), present_keys, n=1)
            remedy = (
                {"remedy": f"{similar[0]!r} may be a misspelling of it: correct it"}
                if similar
                else {}
            )
            yield document.error(f"{location}{name!r} is missing", *where, **remedy)
        elif error["type"] == "extra_forbidden":
            known_keys = [
                n for n in _field_names(model, where[len(at) : -1]) if not n.startswith("<")
            ]
            location = _path_label(document.data, where[:-1])
            yield document.error(
                f"{location}unknown key {name!r}", *where, remedy=did_you_mean(name, known_keys)
            )
        elif error["type"] == "value_error":
            yield document.error(f"{location}{error['ctx']['error']}", *where)
        else:
            yield document.error(
                f"{location.removesuffix(': ') or 'the file'}: wrong value",
                *where,
                **_value_error_parts(error),
            )


_TYPES = {
    "string_type": "text",
    "float_type": "a number",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "key: value lines",
    "model_type": "key: value lines",
    "model_attributes_type": "key: value lines",
    "finite_number": "a finite number",
    "invalid_key": "text before the colon",
}
_PATTERNS = {
    r"^[a-z0-9-]+$": "lower-case letters, digits and hyphens",
    r"^[a-z0-9][a-z0-9-]*$": "lower-case letters, digits and hyphens",
    r"^[a-z][a-z0-9-]*$": "lower-case letters, digits and hyphens, a letter first",
    r"^[a-z][a-z0-9_]*$": "lower-case letters, digits and _, a letter first",
    r"^[a-z0-9][a-z0-9._-]*$": "lower-case letters, digits, '.', '_' and '-'",
}


def _value_error_parts(error: Any) -> dict[str, str]:
    """Expected and found parts, and a remedy if known, for a wrong type or an out-of-range value."""
    value = error["input"]
    expected = _TYPES.get(error["type"]) or re.sub(
        r"^(Input|Value|\w+) should (be |have |match )?(?:'', )?| after validation, not \d+$",
        "",
        error["msg"],
    )
    if error["type"] == "string_pattern_mismatch":
        expected = _PATTERNS.get(error["ctx"]["pattern"], expected)
    is_date = isinstance(value, date)
    parts = {"expected": expected, "found": value.isoformat() if is_date else repr(value)}
    if error["type"] == "literal_error":
        parts["remedy"] = did_you_mean(value, re.findall(r"'([^']*)'", error["ctx"]["expected"]))
    elif expected.startswith("text") and value is not None and not isinstance(value, list | dict):
        parts["remedy"] = "put it in quotes: YAML does not read it as text"
    elif (
        isinstance(value, str)
        and expected.endswith("number")
        and (remedy := _yaml_number_hint(value))
    ):
        parts["remedy"] = remedy
    return parts


def _existing_path(data: Any, loc: Sequence[Any]) -> tuple[Any, ...]:
    """Part of pydantic's path that exists in the document; names of union members do not."""
    where: list[Any] = []
    for key in loc:
        try:
            data = data[key]
        except (LookupError, TypeError):
            continue
        where.append(key)
    return tuple(where)


def _mapping_at(data: Any, where: Sequence[Any]) -> Any:
    for key in where:
        data = data[key]
    return data if isinstance(data, dict) else {}


def _path_label(data: Any, where: Sequence[Any]) -> str:
    """Readable path, with list members by their own id, name or label.

    ``exhibits/figure-1/series/Xen: `` is an example.
    """
    steps = []
    for key in where:
        data = data[key]
        entry = data if isinstance(key, int) and isinstance(data, dict) else {}
        labels = [
            entry[name]
            for name in ("id", "name", "label", "path")
            if isinstance(entry.get(name), str)
        ]
        steps.append(labels[0] if labels else str(key))
    return "/".join(steps) + ": " if steps else ""


def _field_names(model: Any, where: Sequence[Any]) -> list[str]:
    """Field names that are valid at a path."""
    for key in where:
        model = _member_type(model, key)
    fields = (item for member in _models(model) for item in member.model_fields.items())
    return list(dict.fromkeys(field.alias or name for name, field in fields))


def _models(kind: Any) -> list[type[BaseModel]]:
    """The model that is a type, or the models in it: members of a union, items of a list."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return [kind]
    return [model for part in get_args(kind) for model in _models(part)]


def _member_type(kind: Any, key: Any) -> Any:
    """Type of a model's field, or item type of a list or mapping."""
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Annotated, Union, UnionType):
        return next((member for a in args if (member := _member_type(a, key)) is not None), None)
    if args:
        return args[-1] if origin is dict else args[0]
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return next(
            (f.annotation for name, f in kind.model_fields.items() if key in (f.alias, name)), None
        )
    return None
