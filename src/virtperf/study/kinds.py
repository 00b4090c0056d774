"""Entries of hand-written files whose `kind` names the class of their fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

K = TypeVar("K", bound=BaseModel)


def classes_by_kind(union: Any) -> dict[str, Any]:
    """Members of a union of models by the name in their field `kind`, a Literal."""
    return {get_args(c.model_fields["kind"].annotation)[0]: c for c in get_args(union)}


def class_of_kind(entry: Mapping[Any, Any], kinds: Mapping[str, type[K]]) -> type[K]:
    """The class of an entry's kind; raises `ValidationError` for a missing or unknown kind."""
    if "kind" not in entry:
        raise validation_error({"type": "missing", "loc": ("kind",), "input": entry})
    name = entry["kind"]
    if not isinstance(name, str) or name not in kinds:
        *names, last = map(repr, kinds)
        context = {"expected": f"{', '.join(names)} or {last}"}
        problem = {"type": "literal_error", "loc": ("kind",), "input": name, "ctx": context}
        raise validation_error(problem)
    return kinds[name]


def validation_error(*problems: Any) -> ValidationError:
    """Error with these problems of a part of the file, merged into those of the whole."""
    return ValidationError.from_exception_data("entry", list(problems))
