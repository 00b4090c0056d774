"""Generation of a missing `run.yaml`: known facts, questions for the rest, clock alignment of
files, their common coverage, and the measurement window.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from rawperf.core.errors import RunError
from rawperf.declared.read import DeclaredFormat
from virtperf.runs.ingest.clocks import DAY, align
from virtperf.runs.ingest.folder import RUN_FILE
from virtperf.runs.ingest.inputs import study_inputs
from virtperf.runs.ingest.runs import RawFile, Run
from virtperf.runs.ingest.samples import file_blocks
from virtperf.runs.intake.doubts import known_runs
from virtperf.runs.intake.given import RunFacts, parse_factor, parse_files, parse_start
from virtperf.runs.intake.overlap import (
    ZONE_TOLERANCE_S,
    TimeSpan,
    check_inside,
    overlap_error,
)
from virtperf.study.definition import Study
from virtperf.study.parts import Procedure

MAX_MISSING_INTERVALS = 1.5
"""Sampling intervals that may be missing at the ends of a window, as in the audit of coverage."""

RELATIVE = ("elapsed", "sample")
"""Clocks relative to the start of a tool, usable only if the run's start is known."""


@dataclass(frozen=True)
class FileTimes:
    """One raw file: its format, and its distinct times on its own clock, ascending.

    `format` and `clock` are "" for an unknown format.
    """

    path: str
    format: str = ""
    clock: str = ""
    times: np.ndarray = field(default_factory=lambda: np.empty(0))


def inspect(
    folder: Path,
    paths: Sequence[str],
    formats: Mapping[str, str],
    inputs: Sequence[DeclaredFormat] = (),
) -> list[FileTimes]:
    """Read every raw file once, in the given format, else in the one detected by name or content.

    Raises `FormatError` if a recognised file can't be read, with file and line, and for an unknown
    format.
    """
    inspected = []
    for path in paths:
        file = RawFile.model_validate({"path": path, "format": formats.get(path)})
        read = file_blocks(folder, file, folder.name, inputs)
        if read is None:
            inspected.append(FileTimes(path))
            continue
        name, blocks = read
        clock, times = "", [np.empty(0)]
        for block in blocks:
            clock, t = block.clock, block.records["t"].to_numpy(dtype=float)
            times.append(np.unique(t[np.isfinite(t)]))
        inspected.append(FileTimes(path, name, clock, np.unique(np.concatenate(times))))
    return inspected


def first_time(
    files: Sequence[FileTimes], entries: Mapping[str, Mapping[str, Any]]
) -> tuple[datetime, str] | None:
    """Return the begin of the first interval of the files with absolute times, in whole seconds,
    and a note on its source; None if there is none, or if the clock of any file depends on the
    run's start.

    A sample covers the interval that ends at its time; that of a single sample is unknown.
    `entries` are the known fields of the files, by path: `clock_offset_s` is added.
    """
    if any(file.clock in RELATIVE for file in files):
        return None
    begins = []
    for file in files:
        if file.clock == "absolute" and len(file.times):
            interval = float(np.median(np.diff(file.times))) if len(file.times) > 1 else 0.0
            offset = float(entries.get(file.path, {}).get("clock_offset_s", 0.0))
            begins.append((float(file.times[0]) + offset - interval, file.path, interval))
    if not begins:
        return None
    begin, path, interval = min(begins)
    where = (
        f"one interval ({interval:g} s) before the first sample of {path}"
        if interval
        else f"the time of the only sample of {path}, whose interval is unknown"
    )
    try:
        start = datetime.fromtimestamp(begin, UTC).replace(tzinfo=None, microsecond=0)
    except (ValueError, OverflowError):  # past the year 9999
        return None
    return start, f"start: {where}"


def complete_times(
    files: Sequence[FileTimes],
    given: RunFacts,
    procedure: Procedure,
    *,
    start_from_files: bool = False,
) -> tuple[RunFacts, list[str]]:
    """Complete the run's length, warm-up and window; also returns notes on their sources.

    Missing values are taken from the study's procedure, else from the files: the run ends with the
    last sample, and the window is the common coverage of all files after the warm-up.
    `start_from_files`: the start is from `first_time`.

    Raises `RunError`: samples are only numbered without known times; all lie outside the run; there
    is no common coverage after the warm-up; a given window is outside the run or in its warm-up.
    """
    known_duration = given.duration_s or procedure.run_s
    spans = coverage_spans(files, given, float(known_duration or DAY))
    notes = []
    if given.window_s is None or not known_duration:
        check_inside(spans, given.start, known_duration)
    duration = float(known_duration or max((end for _, end in spans.values()), default=0.0))
    warmup = float(procedure.warmup_s or 0.0 if given.warmup_s is None else given.warmup_s)
    low, high = 0.0, duration
    if spans:
        low, high = (
            max(0.0, *(b for b, _ in spans.values())),
            min(duration, *(e for _, e in spans.values())),
        )
        if low < high:
            notes.append(f"common coverage of all files: {low:g} to {high:g} s")
        elif given.window_s is not None:
            notes.append(f"warning: {overlap_error(spans, start_from_files=start_from_files)}")
        path, (first, _) = min(spans.items(), key=lambda item: item[1])
        if first > max(warmup, ZONE_TOLERANCE_S):
            notes.append(
                f"warning: the first sample, in {path}, belongs to an interval that begins {first:g} s "
                "after the start: compare --start with the file's clock"
            )
    if not known_duration:
        notes.append("duration: taken from the files")
    if duration <= 0:
        raise RunError("the duration of the run is unknown", remedy="give --duration")
    window = (
        given.window_s
        or _procedure_window(procedure, files, spans, warmup, notes)
        or (max(low, warmup), high)
    )
    if given.window_s is None and not window[0] < window[1]:
        raise overlap_error(spans, start_from_files=start_from_files)
    if given.window_s is not None:
        _check_given_window(given.window_s, duration, warmup)
    begin, end = map(_tidy, window)
    return replace(
        given, duration_s=_tidy(duration), warmup_s=_tidy(warmup), window_s=(begin, end)
    ), notes


def _check_given_window(window: TimeSpan, duration: float, warmup: float) -> None:
    """Raise `RunError`, naming the option, for a window outside the run or in its warm-up."""
    begin, end = window
    if begin >= end:
        problem, expected = "the window ends before it begins", "BEGIN END, where BEGIN < END"
    elif end > duration:
        problem, expected = "the window ends after the run", f"an end of at most {duration:g} s"
    elif begin < warmup:
        problem = "the window begins in the warm-up"
        expected = f"a begin of at least {warmup:g} s, or a shorter --warmup"
    else:
        return
    raise RunError(f"--window {begin:g} {end:g}: {problem}", expected=expected)


def _procedure_window(
    procedure: Procedure,
    files: Sequence[FileTimes],
    spans: Mapping[str, TimeSpan],
    warmup: float,
    notes: list[str],
) -> TimeSpan | None:
    """Return the procedure's window, if covered by all files and not in the warm-up."""
    if procedure.window_s is None:
        return None
    begin, end = procedure.window_s
    words = f"window of the study's procedure, {begin:g} to {end:g} s"
    for file in files:
        low, high = spans.get(file.path, (begin, end))
        step = (high - low) / len(file.times) if len(file.times) else 0.0
        if max(0.0, low - begin) + max(0.0, end - high) > MAX_MISSING_INTERVALS * step:
            notes.append(f"{words}: not used, since {file.path} does not cover it")
            return None
    if begin < warmup:
        notes.append(f"{words}: not used, since it begins in the warm-up")
        return None
    notes.append(f"{words}: used")
    return begin, end


def coverage_spans(
    files: Sequence[FileTimes], given: RunFacts, duration_s: float
) -> dict[str, TimeSpan]:
    """Return the time span of each file with several samples, in seconds from the start of a run of
    about that length.

    A sample covers the interval that ends at its time.
    """
    run = Run.model_construct(run_id="run", start=given.start, duration_s=duration_s)
    spans = {}
    for file in files:
        if len(file.times) > 1:
            entry = RawFile.model_construct(path=file.path, **given.files.get(file.path, {}))
            seconds = align(file.times, file.clock, entry, run)
            spans[file.path] = (float(seconds[0] - np.median(np.diff(seconds))), float(seconds[-1]))
    return spans


def _tidy(seconds: float) -> float | int:
    rounded = round(float(seconds), 3)
    return int(rounded) if rounded == int(rounded) else rounded


@dataclass(frozen=True)
class PromptQuestion:
    """A question to the user.

    `about` is ``("factors", name)``, ``("start",)`` or ``("files", path, key)``; `option` is the
    equivalent command-line option; without `choices` any number or date is accepted.
    """

    about: tuple[str, ...]
    text: str
    option: str
    choices: tuple[str, ...] = ()
    default: str | None = None


def questions(study: Study, files: Sequence[FileTimes], given: RunFacts) -> list[PromptQuestion]:
    """Questions for missing facts: factors, the start, times of samples that are only numbered."""
    prompts = [
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
        known = first_time(files, given.files)
        default = None if known is None else known[0].isoformat()
        prompts.append(
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
            "start_s": "time of the first sample, in seconds after the start",
            "interval_s": "seconds between samples",
        }
        prompts += [
            PromptQuestion(
                ("files", file.path, key),
                f"{file.path}: {words[key]}",
                f"--file {file.path} {key}=...",
            )
            for key in sorted(missing, reverse=True)
        ]
    return prompts


def apply_answer(study: Study, given: RunFacts, about: tuple[str, ...], answer: str) -> RunFacts:
    """Add an answer to the known facts; raises `RunError` for an invalid one."""
    if about[0] == "factors":
        name, level = parse_factor(study, f"{about[1]}={answer}")
        return replace(given, factors={**given.factors, name: level})
    if about[0] == "start":
        return replace(given, start=parse_start(answer))
    entry = parse_files([(about[1], f"{about[2]}={answer}")], [about[1]])[about[1]]
    return replace(
        given, files={**given.files, about[1]: {**given.files.get(about[1], {}), **entry}}
    )


def run_text(study: Study, name: str, given: RunFacts, files: Sequence[FileTimes]) -> str:
    """Format the text of `run.yaml`, including the detected formats."""
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
    given: RunFacts,
    measured: Path,
    ask: Callable[[PromptQuestion], str] | None,
) -> list[str]:
    """Write the `run.yaml` of a folder of raw files; returns notes on the sources of its times.

    Parameters
    ----------
    given : RunFacts
        Facts already known about the run.
    measured : Path
        The study's run folders, to number replicates.
    ask : callable or None
        Callback that answers questions; None uses the defaults.

    Raises `RunError`: a fact is unknown and can't be asked for; a file can't be read; an answer is
    invalid.
    """
    formats = {
        path: str(entry["format"]) for path, entry in given.files.items() if "format" in entry
    }
    files = inspect(folder, raw, formats, study_inputs(study))
    prompts = questions(study, files, given)
    missing = [q for q in prompts if q.default is None]
    if missing and not ask:
        problem = (
            f"missing facts about the run: {', '.join(dict.fromkeys(q.about[-1] for q in missing))}"
        )
        expected = "; ".join(
            f"{q.option} ({', '.join(q.choices)})".removesuffix(" ()") for q in missing
        )
        remedy = "set these options, write a run.yaml, or answer the prompts on a terminal"
        raise RunError(problem, file=folder.name, expected=expected, remedy=remedy)
    for question in prompts:
        given = apply_answer(
            study, given, question.about, ask(question) if ask else str(question.default)
        )
    known = first_time(files, given.files) if ("start",) in [q.about for q in prompts] else None
    source = [known[1]] if known is not None and given.start == known[0] else []
    given, notes = complete_times(files, given, study.procedure, start_from_files=bool(source))
    if given.replicate is None:
        given = replace(given, replicate=_next_replicate(study, given, measured))
    (folder / RUN_FILE).write_text(run_text(study, folder.name, given, files), encoding="utf-8")
    return [*source, *notes]


def _next_replicate(study: Study, given: RunFacts, measured: Path) -> int:
    """One more than the largest replicate number of this condition."""
    levels = study.filled(given.factors)
    used = (run.replicate for run in known_runs(study, measured) if run.factors == levels)
    return max(used, default=0) + 1
