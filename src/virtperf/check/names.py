"""Names of facts that a report would show as study.yaml has them, though the study's texts write them otherwise."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from virtperf.core.errors import Report
from virtperf.exhibits.kinds.setup import SPELLED, UNITS, called_of, named
from virtperf.study.definition import Study

_ENTRIES, _FACTS = ("machines", "guests", "networks"), ("workload", "procedure")
_TOKEN = re.compile(r"[A-Za-z][\w/.+-]{0,40}")

Place = tuple[str | int, ...]


def check_names(study: Study, report: Report) -> None:
    """Tell of every name of a fact that is not the word which the study's own texts have for it: ``zvm`` for z/VM."""
    spelled, called = _spellings(study.data), called_of(study)
    for place, name in _names(study.data):
        if name in called:
            continue
        for word in name.split("_"):
            right = "" if word in SPELLED or word in UNITS else spelled.get(word, "")
            if right and right not in named(name):
                report(study.document.error(
                    f"the report would show {named(name)!r}, while the study writes {right!r}", *place,
                    remedy=f"say under `names` what {name} is called",
                ))  # fmt: skip


def _names(data: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    for part in _ENTRIES:
        for key, entry in (data.get(part) or {}).items():
            yield from _facts(entry, (part, key))
    for part in _FACTS:
        yield from _facts(data.get(part), (part,))


def _facts(value: Any, place: Place) -> Iterator[tuple[Place, str]]:
    for name, inner in value.items() if isinstance(value, Mapping) else ():
        yield (*place, str(name)), str(name)
        yield from _facts(inner, (*place, str(name)))


def _spellings(data: Any) -> dict[str, str]:
    """By its letters and digits: the one way in which texts write a word with capitals or signs within."""
    found: dict[str, Counter[str]] = {}
    for text in _texts(data):
        for token in _TOKEN.findall(text):
            word = token.rstrip("/.+-")
            found.setdefault(re.sub(r"[^a-z0-9]", "", word.lower()), Counter())[word] += 1
    plain = {
        key for key, words in found.items() if any(word[1:] == word[1:].lower() and word.isalnum() for word in words)
    }
    return {key: words.most_common(1)[0][0] for key, words in found.items() if key not in plain}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
