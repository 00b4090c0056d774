"""Command-line descriptions of a run: factor levels, times, and facts missing in raw files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

from rawperf.core.errors import RunError
from virtperf.runs.ingest.runs import local_time
from virtperf.study.definition import Study
from virtperf.study.quantities import Level, parse_level

TEXT_KEYS = ("format", "entity", "entity_kind")
NUMBER_KEYS = ("start_s", "interval_s", "at_s", "clock_offset_s")
"""Fields of an entry of `files` in run.yaml, besides the path."""


@dataclass(frozen=True)
class RunFacts:
    """Known facts about a run, initially from the user; None or missing ones are asked for, derived
    or omitted.
    """

    factors: Mapping[str, Level] = field(default_factory=dict)
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    start: datetime | None = None
    duration_s: float | None = None
    warmup_s: float | None = None
    window_s: tuple[float, float] | None = None
    clients: int | None = None
    replicate: int | None = None
    provenance: str = "measured"


def parse_factor(study: Study, text: str) -> tuple[str, Level]:
    """Parse ``name=level`` of the study; raises `RunError` with the known names or levels."""
    name, equals, level = text.partition("=")
    if not equals or name not in study.factors:
        raise RunError(
            f"invalid option --factor {text}",
            expected=f"name=level, where name is one of {', '.join(study.factors)}",
        )
    levels = study.factors[name].levels
    matching = [known for known in levels if known == parse_level(level) or str(known) == level]
    if not matching:
        raise RunError(
            f"unknown level of {name}",
            expected=f"one of {', '.join(map(str, levels))}",
            found=level,
        )
    return name, matching[0]


def parse_files(
    given: Sequence[tuple[str, str]], paths: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Parse entries by path from pairs of a pattern and ``key=value,...``; later ones win.

    Raises `RunError` for a pattern without a match, an unknown key, or a non-numeric value of a
    numeric key.
    """
    entries: dict[str, dict[str, Any]] = {}
    for pattern, text in given:
        matching = [path for path in paths if fnmatchcase(path, pattern)]
        if not matching:
            raise RunError(
                f"--file {pattern}: no raw file matches",
                expected=f"one of {', '.join(paths[:20])}",
            )
        for part in text.split(","):
            key, _, value = part.partition("=")
            if key not in (*TEXT_KEYS, *NUMBER_KEYS) or not value:
                raise RunError(
                    f"invalid option --file {pattern} {text}",
                    expected=f"key=value, where key is one of {', '.join((*TEXT_KEYS, *NUMBER_KEYS))}",
                )
            try:
                entry = {key: value if key in TEXT_KEYS else float(value)}
            except ValueError as err:
                raise RunError(f"--file {pattern}: {key} is not a number", found=value) from err
            for path in matching:
                entries.setdefault(path, {}).update(entry)
    return entries


def parse_start(text: str) -> datetime:
    """Parse a date and time without zone; raises `RunError` for anything else."""
    try:
        return local_time(text)
    except ValueError as err:
        remedy = None
        with suppress(ValueError):
            if datetime.fromisoformat(text).tzinfo is not None:
                remedy = (
                    "convert it to the time zone of the system under test and omit the offset; "
                    "there, `date +%FT%T` prints the time in this form"
                )
        raise RunError(
            "--start: invalid date and time", expected=str(err), found=repr(text), remedy=remedy
        ) from err
