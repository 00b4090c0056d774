"""`run.yaml` of a run that has none: what is known of it, what has to be asked, and its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

import yaml

from virtperf.core.errors import RunError
from virtperf.intake.inspect import Inspected
from virtperf.intake.timing import Timing, first_time
from virtperf.study.definition import Study
from virtperf.study.quantities import Level, parse_level

TEXTS = ("format", "entity", "entity_kind")
NUMBERS = ("start_s", "interval_s", "at_s", "clock_offset_s")
"""What an entry of `files` in run.yaml may say beside the path."""


@dataclass(frozen=True)
class Given:
    """What a user says about a run; what is None or missing is asked, derived or left out."""

    factors: Mapping[str, Level] = field(default_factory=dict)
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    start: datetime | None = None
    duration_s: float | None = None
    warmup_s: float | None = None
    window_s: tuple[float, float] | None = None
    clients: int | None = None
    replicate: int | None = None
    provenance: str = "measured"


@dataclass(frozen=True)
class Question:
    """Something to be asked.

    Attributes
    ----------
    about : tuple of str
        ``("factors", name)``, ``("start",)`` or ``("files", path, key)``.
    text : str
    option : str
        The option that answers it.
    choices : tuple of str
        Empty where any number or date will do.
    default : str or None
        None where there is none.
    """

    about: tuple[str, ...]
    text: str
    option: str
    choices: tuple[str, ...] = ()
    default: str | None = None


def parse_factor(study: Study, text: str) -> tuple[str, Level]:
    """``name=level`` as the study has it; raises `RunError` listing what there is."""
    name, equals, level = text.partition("=")
    if not equals or name not in study.factors:
        raise RunError(f"--factor {text}", expected=f"name=level, the name one of {', '.join(study.factors)}")
    levels = study.factors[name].levels
    found = [known for known in levels if known == parse_level(level) or str(known) == level]
    if not found:
        raise RunError(f"unknown level of {name}", expected=f"one of {', '.join(map(str, levels))}", found=level)
    return name, found[0]


def parse_files(given: Sequence[tuple[str, str]], paths: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Entries by path from pairs of a pattern and ``key=value,...``; later ones win.

    Raises
    ------
    RunError
        A pattern that no file has, an unknown key, a value that is no number where one is needed.
    """
    entries: dict[str, dict[str, Any]] = {}
    for pattern, text in given:
        matching = [path for path in paths if fnmatchcase(path, pattern)]
        if not matching:
            raise RunError(f"--file {pattern}: no raw file has that path", expected=f"one of {', '.join(paths[:20])}")
        for part in text.split(","):
            key, _, value = part.partition("=")
            if key not in (*TEXTS, *NUMBERS) or not value:
                raise RunError(f"--file {pattern} {text}", expected=f"key=value, keys {', '.join((*TEXTS, *NUMBERS))}")
            try:
                entry = {key: value if key in TEXTS else float(value)}
            except ValueError as err:
                raise RunError(f"--file {pattern}: {key} is no number", found=value) from err
            for path in matching:
                entries.setdefault(path, {}).update(entry)
    return entries


def questions(study: Study, files: Sequence[Inspected], given: Given) -> list[Question]:
    """What is not known yet: factors, the start, times of samples that are only numbered."""
    asked = [
        Question(
            ("factors", name), f"{name} ({factor.label})" if factor.label != name else name, f"--factor {name}=...",
            tuple(map(str, factor.levels)), None if factor.default is None else str(factor.default),
        )
        for name, factor in study.factors.items()
        if name not in given.factors
    ]  # fmt: skip
    if given.start is None:
        known = first_time(files)
        default = None if known is None else known.isoformat()
        asked.append(
            Question(("start",), "start of the run, date and time", "--start 2009-01-31T14:00:00", (), default)
        )
    for file in files:
        missing = {"start_s", "interval_s"} - given.files.get(file.path, {}).keys() if file.clock == "sample" else ()
        words = {"start_s": "first sample, seconds after the start", "interval_s": "seconds between samples"}
        asked += [
            Question(("files", file.path, key), f"{file.path}: {words[key]}", f"--file {file.path} {key}=...")
            for key in sorted(missing, reverse=True)
        ]
    return asked


def answered(study: Study, given: Given, about: tuple[str, ...], answer: str) -> Given:
    """What is given, with one more answer; raises `RunError` where it is none."""
    if about[0] == "factors":
        name, level = parse_factor(study, f"{about[1]}={answer}")
        return replace(given, factors={**given.factors, name: level})
    if about[0] == "start":
        return replace(given, start=parse_start(answer))
    entry = parse_files([(about[1], f"{about[2]}={answer}")], [about[1]])[about[1]]
    return replace(given, files={**given.files, about[1]: {**given.files.get(about[1], {}), **entry}})


def parse_start(text: str) -> datetime:
    """A date and time without zone; raises `RunError` for anything else."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is not None or len(text) < 16:
        raise RunError(
            "no date and time of a local clock", expected="YYYY-MM-DDTHH:MM:SS without zone", found=repr(text)
        )
    return found


def run_text(study: Study, name: str, given: Given, timing: Timing, files: Sequence[Inspected]) -> str:
    """The text of `run.yaml`; the formats that were recognised are written down."""
    factors = {f.name: given.factors.get(f.name, f.default) for f in study.factors.values()}
    think = study.data.get("procedure", {}).get("think_time_s")
    head: dict[str, Any] = {
        "study": study.id, "run": name, "provenance": given.provenance, "factors": factors,
        "replicate": given.replicate or 1, "start": timing.start, "duration_s": timing.duration_s,
        "warmup_s": timing.warmup_s, "window_s": list(timing.window_s),
    }  # fmt: skip
    if given.clients is not None:
        head |= {"clients": given.clients} | ({} if think is None else {"think_time_s": think})
    head["files"] = [
        {"path": f.path, "format": f.format, **given.files.get(f.path, {})} for f in files if f.format
    ]  # fmt: skip
    comment = "# Described by `virtperf add run`. docs/run-folders.md explains every field.\n"
    return comment + yaml.safe_dump(head, sort_keys=False, width=160, default_flow_style=None, allow_unicode=True)
