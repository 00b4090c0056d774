"""Plain text of a record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from virtperf.report.loaded import ExhibitOutput
from virtperf.report.records import Record

_NAMES = frozenset({"block", "style", "link", "id", "ids", "numeric", "stacks", "label"})


def plain(shown: ExhibitOutput | Record) -> str:
    """All text of a record's caption and blocks, one line each."""
    record = shown.record if isinstance(shown, ExhibitOutput) else shown
    return "\n".join(
        [record.name, record.title, record.caption, *_words(record.model_dump()["blocks"])]
    )


def _words(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        keep = (
            _NAMES - {"label"}
            if "value" in part or part.get("block") == "diagram" or "rows" in part
            else _NAMES
        )
        for name, inner in part.items():
            if name not in keep:
                yield from _words(inner)
    elif isinstance(part, list | tuple):
        for inner in part:
            yield from _words(inner)


def links(record: ExhibitOutput) -> set[str]:
    """Targets of all links of a record."""

    def found(part: Any) -> Iterator[str]:
        if isinstance(part, dict):
            yield from [part["link"]] if part.get("link") else []
            part = list(part.values())
        if isinstance(part, list | tuple):
            for inner in part:
                yield from found(inner)

    return set(found(record.record.model_dump()["blocks"]))
