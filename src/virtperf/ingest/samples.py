"""Samples of one run: its raw files read, put on one clock, named by the metric dictionary, counters as rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from virtperf.core.errors import FormatError, VirtperfError
from virtperf.core.metrics import WHOLE, MetricDictionary
from virtperf.core.stage_tables import SAMPLES
from virtperf.formats import Reading, read_whole
from virtperf.formats.declared.read import DeclaredFormat
from virtperf.ingest.clocks import align
from virtperf.ingest.inputs import choose
from virtperf.ingest.runs import RawFile, Run

# Entities with a name of their own in a run; others (cpu 0, eth0, sda) are called "owner/name".
_NAMED = ("domain", "driver", "guest", "processor")
_SERIES = ["source", "entity_kind", "entity", "metric"]


@dataclass(frozen=True)
class RunSamples:
    """What was read of one run.

    Attributes
    ----------
    samples : DataFrame
        The table `SAMPLES`, sorted by its columns.
    files : list of dict
        One entry a raw file: path, format, entity, clock, records, samples, warnings.
    warnings : list of str
        What concerns the run as a whole.
    processors : int or None
        Real processors, where a file says how many.
    """

    samples: pd.DataFrame
    files: list[dict[str, Any]]
    warnings: list[str]
    processors: int | None


def read_run(
    folder: Path, run: Run, dictionary: MetricDictionary, inputs: Sequence[DeclaredFormat] = ()
) -> RunSamples:  # fmt: skip
    """Read all raw files of a run; `inputs` are the formats that its study declares.

    Raises
    ------
    VirtperfError
        The first file that can't be read, with file and line.
    """
    files: list[dict[str, Any]] = []
    parts: dict[str, list[tuple[pd.DataFrame, np.ndarray, np.ndarray, np.ndarray]]] = {}
    processors = None
    for number, file in enumerate(run.files):
        entry: dict[str, Any] = {"path": file.path, "format": None, "entity": file.entity, "clock": None,
                                 "records": 0, "samples": 0, "warnings": []}  # fmt: skip
        files.append(entry)
        found = read_file(folder, file, run.run_id, inputs)
        if found is None:
            entry["warnings"].append("not read: no format recognises it, and run.yaml does not name it")
            continue
        name, reading = found
        t = align(reading.records["t"].to_numpy(dtype=float), reading.clock, file, run)
        lines = np.zeros(len(reading.records), dtype=np.int64) if reading.lines is None else reading.lines
        entry |= {"format": name, "clock": reading.clock, "records": len(t), "warnings": list(reading.warnings)}
        entry["warnings"] += _clock_warnings(t, reading, run)
        parts.setdefault(name, []).append((reading.records, t, np.full(len(t), number), lines))
        if reading.info.get("cpus", "").isdecimal() and file.entity_kind == WHOLE:
            processors = int(reading.info["cpus"])
    frames: list[pd.DataFrame] = []
    for name, part in parts.items():
        records, *columns = zip(*part, strict=True)
        times, numbers, lines = map(np.concatenate, columns)
        together: pd.DataFrame = pd.concat(records, ignore_index=True).assign(t=times, file=numbers, line=lines)
        frames.append(dictionary.translate(together, name).assign(source=name))
    found_any = pd.concat(frames, ignore_index=True) if frames else None
    if found_any is None:
        return RunSamples(SAMPLES.frame(), files, ["no file of the run was read"], None)
    for number, entry in enumerate(files):
        if entry["format"] and not (found_any["file"] == number).any():
            entry["warnings"].append("nothing in it belongs to a metric of the dictionary")
    warnings: list[str] = []
    samples = _tidy(_owned(found_any, run.files), files, warnings, run.run_id)
    for entry, count in zip(files, np.bincount(samples["file"].to_numpy(dtype=int), minlength=len(files)), strict=True):
        entry["samples"] = int(count)
    paths = np.array([entry["path"] for entry in files], dtype=object)[samples["file"].to_numpy(dtype=int)]
    samples = samples.assign(file=pd.array(paths, dtype="str"), line=samples["line"].astype("int64"))
    return RunSamples(samples[list(SAMPLES.columns)], files, warnings, run.processors or processors)


def read_file(
    folder: Path, file: RawFile, run_id: str, inputs: Sequence[DeclaredFormat] = ()
) -> tuple[str, Reading] | None:  # fmt: skip
    """Format and content of one file; None for a file that run.yaml does not list and no format recognises."""
    place = f"{run_id}/{file.path}"
    data = (folder / file.path).read_bytes()
    try:
        chosen = choose(data, file.path, file.format, inputs, file=place)
    except FormatError:
        if file.listed or file.format is not None:
            raise
        return None
    try:
        return chosen.name, read_whole(chosen, data, file=place)
    except VirtperfError:
        raise
    except Exception as err:  # a reader's own fault must not stop the other runs
        raise FormatError(
            f"the reader of {chosen.name} failed", file=place, found=f"{type(err).__name__}: {err}",
            remedy="report it as an error of that reader, with the file.",
        ) from err  # fmt: skip


def _clock_warnings(t: np.ndarray, reading: Reading, run: Run) -> list[str]:
    timed = t[np.isfinite(t)]
    warnings = []
    if len(timed) and not ((timed >= 0) & (timed <= run.duration_s)).any():
        warnings.append(
            f"none of its samples falls into the run: they reach from {timed.min():.0f} s to {timed.max():.0f} s after "
            "its start; compare start in run.yaml with the file's clock"
        )
    for restart in reading.info.get("restarts", "").split():
        at = float(restart) - (run.start_epoch if reading.clock == "absolute" else run.start_epoch % 86400)
        if 0 <= at <= run.duration_s:
            warnings.append(f"the machine was restarted {at:.0f} s after the run's start")
    return warnings


def _owned(found: pd.DataFrame, files: tuple[RawFile, ...]) -> pd.DataFrame:
    """Entities by their names within the run: a file's owner stands for what the tool leaves unnamed."""
    number = found["file"].to_numpy(dtype=int)
    owner = np.array([file.entity for file in files], dtype=object)[number]
    kind = np.array([file.entity_kind for file in files], dtype=object)[number]
    entity = found["entity"].to_numpy(dtype=object)
    entity_kind = found["entity_kind"].to_numpy(dtype=object)
    unnamed = entity == ""
    part = ~unnamed & (owner != "") & ~np.isin(entity_kind.astype(str), _NAMED) & (kind != WHOLE)
    entity = np.where(unnamed, owner, np.where(part, owner + "/" + entity, entity))
    entity_kind = np.where(unnamed & (entity_kind == WHOLE), kind, entity_kind)
    return found.assign(entity=pd.array(entity, dtype="str"), entity_kind=pd.array(entity_kind, dtype="str"))


def _tidy(found: pd.DataFrame, files: list[dict[str, Any]], warnings: list[str], run_id: str) -> pd.DataFrame:
    total = (found["kind"] == "total").to_numpy(dtype=bool)
    found["t_s"] = np.where(total, np.nan, found["t"])
    incomplete = ~np.isfinite(found["value"].to_numpy(dtype=float))
    for metric, count in found.loc[incomplete, "metric"].value_counts(sort=False).items():
        warnings.append(f"{metric}: {count} value(s) left out, since not all their parts are there")
    untimed = ~total & np.isnan(found["t_s"].to_numpy(dtype=float))
    for number in np.unique(found.loc[untimed, "file"]):
        files[number]["warnings"].append("values without a time were left out; give at_s in run.yaml for a snapshot")
    found = found[~incomplete & ~untimed]
    snapshots = {n for n, entry in enumerate(files) if entry["clock"] == "none" and not entry["warnings"]}
    counter = (found["kind"] == "counter").to_numpy(dtype=bool)
    counters = _zeros_filled(found[counter], snapshots)
    found = pd.concat([found[~counter], rates(counters, warnings)], ignore_index=True)
    return _sorted(_once(found, warnings)).assign(run_id=run_id)


def _sorted(found: pd.DataFrame) -> pd.DataFrame:
    return found.sort_values([*_SERIES, "t_s", "file"], kind="stable", ignore_index=True)


def _once(found: pd.DataFrame, warnings: list[str]) -> pd.DataFrame:
    """Each value once: where two files give the same sample, the first file's is kept."""
    again = found.duplicated([*_SERIES, "t_s"]).to_numpy(dtype=bool)
    if again.any():
        first = found[again].iloc[0]
        warnings.append(
            f"{int(again.sum())} value(s) are given twice and were kept once, the first being {first['metric']} of "
            f"{first['entity'] or WHOLE} from {first['source']} at {first['t_s']:g} s"
        )
    return found[~again]


def _zeros_filled(counters: pd.DataFrame, snapshots: set[int]) -> pd.DataFrame:
    """Snapshots leave out counters that are zero: what one whole snapshot of an entity has, every other one has too."""
    rows = counters[counters["file"].isin(snapshots)]
    if rows.empty:
        return counters
    who = ["source", "entity_kind", "entity"]
    times = rows[[*who, "t_s", "file", "kind"]].drop_duplicates([*who, "t_s"])
    full = times.merge(rows[[*who, "metric"]].drop_duplicates(), on=who, sort=False)
    filled = full.merge(rows[[*_SERIES, "t_s", "value", "line"]], on=[*_SERIES, "t_s"], how="left", sort=False)
    filled = filled.fillna({"value": 0.0, "line": 0})
    return pd.concat([counters[~counters["file"].isin(snapshots)], filled], ignore_index=True)


def rates(counters: pd.DataFrame, warnings: list[str]) -> pd.DataFrame:
    """Growth per second since the sample before, at the later sample's time; none where a counter went back.

    Parameters
    ----------
    counters : DataFrame
        Cumulative values, with source, entity_kind, entity, metric, t_s, value and file (the file's number); further
        columns are kept.
    warnings : list of str
        Gets a sentence for each entity whose counters went back, and one for values that are given twice.
    """
    counters = _sorted(_once(counters, warnings))
    if counters.empty:
        return counters
    same = (counters[_SERIES] == counters[_SERIES].shift()).all(axis=1).to_numpy(dtype=bool)
    value, t = counters["value"].to_numpy(dtype=float), counters["t_s"].to_numpy(dtype=float)
    growth, time = np.diff(value, prepend=np.nan), np.diff(t, prepend=np.nan)
    back = same & (growth < 0)
    for entity, rows in counters[back].groupby("entity", sort=True):
        first = rows.iloc[0]
        warnings.append(
            f"{entity!s}: {', '.join(sorted(set(rows['metric'])))} went back at {first['t_s']:g} s, as after a "
            "restart; no rate is computed across it"
        )
    keep = same & ~back
    return counters.assign(value=np.where(keep, growth / np.where(keep, time, 1.0), np.nan))[keep]
