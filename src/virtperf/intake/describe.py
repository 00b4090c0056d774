"""`run.yaml` of a run that has none: what is known of it, what has to be asked, and its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import yaml

from virtperf.intake.given import Given, parse_factor, parse_files, parse_start
from virtperf.intake.timing import Inspected, first_time
from virtperf.study.definition import Study


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


def run_text(study: Study, name: str, given: Given, files: Sequence[Inspected]) -> str:
    """The text of `run.yaml`; the formats that were recognised are written down."""
    head: dict[str, Any] = {
        "study": study.id, "run": name, "provenance": given.provenance, "factors": study.filled(given.factors),
        "replicate": given.replicate, "start": given.start, "duration_s": given.duration_s,
        "warmup_s": given.warmup_s, "window_s": list(given.window_s or ()),
    }  # fmt: skip
    if given.clients is not None:
        think = study.procedure.think_time_s
        head |= {"clients": given.clients} | ({} if think is None else {"think_time_s": think})
    head["files"] = [{"path": f.path, "format": f.format, **given.files.get(f.path, {})} for f in files if f.format]
    comment = "# Described by `virtperf add run`. docs/run-folders.md explains every field.\n"
    return comment + yaml.safe_dump(head, sort_keys=False, width=160, default_flow_style=None, allow_unicode=True)
