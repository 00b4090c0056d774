"""Samples of one run: its raw files read, put on one clock, named by the metric dictionary,
counters as rates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from rawperf import Format, Reading, blocks_of, by_sample
from rawperf.choose import choose_format
from rawperf.core.errors import FormatError, VirtperfError
from rawperf.core.files import replaced_file
from rawperf.core.metrics import WHOLE, MetricDictionary
from rawperf.declared.read import DeclaredFormat
from rawperf.packed import CHUNK
from virtperf.core.stage_tables import SAMPLES
from virtperf.runs.ingest.clocks import FileClock
from virtperf.runs.ingest.gathered import Gathered
from virtperf.runs.ingest.runs import RawFile, Run
from virtperf.runs.ingest.spill import Spill


@dataclass(frozen=True)
class RunSamples:
    """What was read of one run.

    `files` has of each raw file path, format, entity, clock, records, samples, warnings; `warnings`
    are of the run as a whole; `processors` are real ones, where a file says how many.
    """

    files: list[dict[str, Any]]
    warnings: list[str]
    processors: int | None = None
    metrics: list[str] = field(default_factory=list)
    samples: int = 0


def read_run(
    folder: Path,
    run: Run,
    dictionary: MetricDictionary,
    out: Path,
    inputs: Sequence[DeclaredFormat] = (),
    not_read: Mapping[str, str] | None = None,
) -> RunSamples:
    """Read all raw files of a run part by part, and write the table `SAMPLES` to the file `out`.

    `inputs` are the formats that its study declares; `not_read` are patterns of files that it
    leaves out, each with the reason, where run.yaml does not list them. Raises the `VirtperfError` of the first file
    that can't be read, with file and line.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    files: list[dict[str, Any]] = []
    processors = None
    with Spill(out.parent) as spill:
        gathered = Gathered(run, dictionary, spill)
        clocks: dict[int, FileClock] = {}
        for number, file in enumerate(run.files):
            entry: dict[str, Any] = {
                "path": file.path,
                "format": None,
                "entity": file.entity,
                "clock": None,
                "records": 0,
                "samples": 0,
                "warnings": [],
            }
            files.append(entry)
            if not file.listed and (why := _left_out(file.path, not_read or {})):
                entry["not_read"] = why
                continue
            found = file_blocks(folder, file, run.run_id, inputs)
            if found is None:
                empty = not (folder / file.path).stat().st_size
                why = "no format recognises it, and run.yaml does not name it"
                entry["warnings"].append(f"not read: {'it is empty' if empty else why}")
                continue
            clocks[number], info = _read(number, file, run, *found, entry, gathered)
            if info.get("cpus", "").isdecimal() and file.entity_kind == WHOLE:
                processors = int(info["cpus"])
        gathered.end(
            {number: clock.days for number, clock in clocks.items()},
            [file["warnings"] for file in files],
        )
        with replaced_file(out) as stream:
            SAMPLES.write_parts(gathered.frames(), stream)
    if all(entry["format"] is None for entry in files):
        return RunSamples(files, ["no file of the run was read"])
    for entry, count in zip(files, gathered.counts.tolist(), strict=True):
        entry["samples"] = count
    return RunSamples(
        files,
        gathered.sentences(),
        run.processors or processors,
        sorted(gathered.metrics),
        int(gathered.counts.sum()),
    )


def _left_out(path: str, not_read: Mapping[str, str]) -> str:
    """Why a file is not read; empty where it is."""
    return next((why for pattern, why in not_read.items() if fnmatchcase(path, pattern)), "")


def file_blocks(
    folder: Path, file: RawFile, run_id: str, inputs: Sequence[DeclaredFormat] = ()
) -> tuple[str, Iterator[Reading]] | None:
    """Format and content of one file; None for a file that run.yaml does not list and no format
    recognises.
    """
    place, path = f"{run_id}/{file.path}", folder / file.path
    with path.open("rb") as stream:
        head = stream.read(CHUNK)
    try:
        chosen = choose_format(head, file.path, file.format, inputs, file=place)
    except FormatError:
        if file.listed or file.format is not None:
            raise
        return None
    return chosen.name, _blocks(chosen, path, place)


def _blocks(chosen: Format, path: Path, place: str) -> Iterator[Reading]:
    try:
        with path.open("rb") as stream:
            yield from blocks_of(chosen, stream, file=place, coded=True)
    except (VirtperfError, OSError):
        raise
    except Exception as err:  # a reader's own fault must not stop the other runs
        raise FormatError(
            f"the reader of {chosen.name} failed",
            file=place,
            found=f"{type(err).__name__}: {err}",
            remedy="report it as an error of that reader, with the file.",
        ) from err


def _read(
    number: int,
    file: RawFile,
    run: Run,
    name: str,
    blocks: Iterator[Reading],
    entry: dict[str, Any],
    gathered: Gathered,
) -> tuple[FileClock, dict[str, str]]:
    """Pass a file's records on, and note in its entry what is to be said of it; its clock, and what
    its head says.
    """
    clock: FileClock | None = None
    info: dict[str, str] = {}
    last = 0
    for block in by_sample(blocks):
        clock = clock or FileClock(block.clock, file, run)
        seconds = clock.seconds(block.records["t"].to_numpy(dtype=float))
        entry["records"] += len(seconds)
        entry["warnings"] += block.warnings
        info = block.info
        if block.lines is not None:
            last = max(last, int(block.lines.max(initial=0)))
        gathered.add(block, seconds, number, name)
    if file.lines is not None and last != file.lines:
        raise FormatError(
            "the file has not as many lines as run.yaml says",
            file=f"{run.run_id}/{file.path}",
            line=last,
            expected=f"a last line {file.lines}",
            found=f"a last line {last}",
            remedy="it was cut off or changed: copy it again from where it comes from.",
        )
    assert clock is not None  # a reader gives one block at least
    entry |= {"format": name, "clock": clock.clock}
    entry["warnings"] += _clock_warnings(clock, info, run)
    return clock, info


def _clock_warnings(clock: FileClock, info: dict[str, str], run: Run) -> list[str]:
    warnings = []
    if clock.low <= clock.high and not clock.inside:
        low, high = clock.low + clock.days, clock.high + clock.days
        warnings.append(
            f"none of its samples falls into the run: they reach from {low:.0f} s to {high:.0f} s after "
            "its start; compare start in run.yaml with the file's clock"
        )
    if run.duration_s is None:
        return warnings
    for restart in info.get("restarts", "").split():
        at = float(restart) - (
            run.start_epoch if clock.clock == "absolute" else run.start_epoch % 86400
        )
        if 0 <= at <= run.duration_s:
            warnings.append(f"the machine was restarted {at:.0f} s after the run's start")
    return warnings
