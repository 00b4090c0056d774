"""`run.yaml` of a run that has none: what is known of it, what has to be asked, and its text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from rawperf.core.errors import RunError, VirtperfError
from virtperf.runs.ingest.folder import RUN_FILE, raw_files, run_folders
from virtperf.runs.ingest.inputs import inputs_of
from virtperf.runs.ingest.runs import load_run
from virtperf.runs.intake.given import Given, parse_factor, parse_files, parse_start
from virtperf.runs.intake.timing import Inspected, first_time, inspect, timed
from virtperf.study.definition import Study


@dataclass(frozen=True)
class PromptQuestion:
    """Something to be asked.

    `about` is ``("factors", name)``, ``("start",)`` or ``("files", path, key)``; `option` answers
        it too; without
    `choices` any number or date will do.
    """

    about: tuple[str, ...]
    text: str
    option: str
    choices: tuple[str, ...] = ()
    default: str | None = None


def questions(study: Study, files: Sequence[Inspected], given: Given) -> list[PromptQuestion]:
    """What is not known yet: factors, the start, times of samples that are only numbered."""
    asked = [
        PromptQuestion(
            ("factors", name),
            f"{name} ({factor.label})" if factor.label != name else name,
            f"--factor {name}=...",
            tuple(map(str, factor.levels)),
            None if factor.default is None else str(factor.default),
        )
        for name, factor in study.factors.items()
        if name not in given.factors
    ]
    if given.start is None:
        known = first_time(files)
        default = None if known is None else known.isoformat()
        asked.append(
            PromptQuestion(
                ("start",),
                "start of the run, date and time",
                "--start 2009-01-31T14:00:00",
                (),
                default,
            )
        )
    for file in files:
        missing = (
            {"start_s", "interval_s"} - given.files.get(file.path, {}).keys()
            if file.clock == "sample"
            else ()
        )
        words = {
            "start_s": "first sample, seconds after the start",
            "interval_s": "seconds between samples",
        }
        asked += [
            PromptQuestion(
                ("files", file.path, key),
                f"{file.path}: {words[key]}",
                f"--file {file.path} {key}=...",
            )
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
    return replace(
        given, files={**given.files, about[1]: {**given.files.get(about[1], {}), **entry}}
    )


def run_text(study: Study, name: str, given: Given, files: Sequence[Inspected]) -> str:
    """The text of `run.yaml`; the formats that were recognised are written down."""
    head: dict[str, Any] = {
        "study": study.id,
        "run": name,
        "provenance": given.provenance,
        "factors": study.filled(given.factors),
        "replicate": given.replicate,
        "start": given.start,
        "duration_s": given.duration_s,
        "warmup_s": given.warmup_s,
        "window_s": list(given.window_s or ()),
    }
    if given.clients is not None:
        think = study.procedure.think_time_s
        head |= {"clients": given.clients} | ({} if think is None else {"think_time_s": think})
    head["files"] = [
        {"path": f.path, "format": f.format, **given.files.get(f.path, {})}
        for f in files
        if f.format
    ]
    comment = "# Described by `virtperf add run`. docs/run-folders.md explains every field.\n"
    return comment + yaml.safe_dump(
        head, sort_keys=False, width=160, default_flow_style=None, allow_unicode=True
    )


def describe(
    study: Study,
    folder: Path,
    raw: Sequence[str],
    given: Given,
    measured: Path,
    ask: Callable[[PromptQuestion], str] | None,
) -> list[str]:
    """Write the `run.yaml` of a folder of raw files; notes on how the run's times were found.

    Parameters
    ----------
    given : Given
        What is known about the run already.
    measured : Path
        The study's run folders, among which replicates are counted.
    ask : callable or None
        Answers questions; without it defaults are taken.

    Raises `RunError`: something is not known and nobody can be asked; a file can't be read; an
    answer is none.
    """
    formats = {
        path: str(entry["format"]) for path, entry in given.files.items() if "format" in entry
    }
    files = inspect(folder, raw, formats, inputs_of(study))
    asked = questions(study, files, given)
    missing = [q for q in asked if q.default is None]
    if missing and not ask:
        problem = f"not everything is known about the run: {', '.join(dict.fromkeys(q.about[-1] for q in missing))}"
        expected = "; ".join(
            f"{q.option} ({', '.join(q.choices)})".removesuffix(" ()") for q in missing
        )
        remedy = "give these options, write a run.yaml, or answer on a terminal"
        raise RunError(problem, file=folder.name, expected=expected, remedy=remedy)
    for question in asked:
        given = answered(
            study, given, question.about, ask(question) if ask else str(question.default)
        )
    given, notes = timed(files, given, study.procedure)
    if given.replicate is None:
        given = replace(given, replicate=_next_replicate(study, given, measured))
    (folder / RUN_FILE).write_text(run_text(study, folder.name, given, files), encoding="utf-8")
    return notes


def _next_replicate(study: Study, given: Given, measured: Path) -> int:
    """One more than the runs of this condition that are there."""
    wanted, taken = study.filled(given.factors), [0]
    for folder in run_folders(measured):
        with suppress(
            VirtperfError
        ):  # whatever is wrong with another run is for `virtperf check` to say
            other = load_run(folder, study, "measured", raw_files(folder))
            if other.factors == wanted:
                taken.append(other.replicate)
    return max(taken) + 1
