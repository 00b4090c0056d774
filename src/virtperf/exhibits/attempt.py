"""Results that may not exist: one quarantined run must not keep the rest of a report from rendering."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from virtperf.core.errors import VirtperfError


@dataclass(frozen=True)
class Unavailable:
    """Stands where a result could not be had, and says why; whatever is asked of it, the answer is itself."""

    reason: str

    def __getattr__(self, name: str) -> Unavailable:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *arguments: Any, **named: Any) -> Unavailable:
        return self


def attempt(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """The function's result, or `Unavailable` with the reason where it (or one of its arguments) has none.

    Only the package's own errors count as a reason; anything else is a fault and is raised.
    """
    for argument in (*arguments, *named.values()):
        if isinstance(argument, Unavailable):
            return argument
    try:
        return function(*arguments, **named)
    except VirtperfError as err:
        return Unavailable(str(err))
