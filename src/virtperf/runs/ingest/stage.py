"""The ingest stage: run folders parsed to tidy samples, cached by content.

A run with unchanged files, `run.yaml`, study and readers is taken from the cache; the output is
byte-identical either way. A run that can't be read is quarantined: it is listed in the index with
the reason, and the others are processed.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from rawperf.core.errors import RawperfError, RunError
from rawperf.core.files import json_text, replace_folder
from rawperf.core.metrics import MetricDictionary
from rawperf.registry import build_dictionary
from virtperf.core.parallel import workers
from virtperf.runs.ingest.cache import Cache, content_key, fingerprint
from virtperf.runs.ingest.folder import RUN_FILE, RunFolder, run_folders, state
from virtperf.runs.ingest.inputs import study_inputs
from virtperf.runs.ingest.packed import ARCHIVES
from virtperf.runs.ingest.runs import Run, load_run
from virtperf.runs.ingest.samples import RunSamples, read_run
from virtperf.study.definition import Study
from virtperf.study.run_groups import fact_differences

INDEX = "index.json"
INDEX_FIELDS = (
    "provenance",
    "replicate",
    "block",
    "factors",
    "start",
    "duration_s",
    "warmup_s",
    "window_s",
    "clients",
    "think_time_s",
    "tools",
    "machine",
    "disturbance",
    "disturbed",
)
"""Fields of `run.yaml` in the index."""
OPTIONAL_FIELDS = ("protocol", "wall_s", "attempts", "clocks", "warned")
"""Optional fields of `run.yaml` in the index."""
MAX_SERIAL_RUNS, MAX_SERIAL_BYTES = 4, 16_000_000
"""Number of runs, and total bytes, up to which runs are read serially: starting processes would
take longer."""


@dataclass(frozen=True)
class IngestSummary:
    """Summary of an ingest."""

    n_ok: int  # runs in the output
    n_excluded: int  # runs excluded in their run.yaml
    n_read: int  # cache misses among all runs, including quarantined ones
    quarantined: list[
        dict[str, Any]
    ]  # entries of the index: run, root, and the parts of the error (`refusal_error`)


@dataclass(frozen=True)
class _Task:
    """One run to read; `files` has SHA-256 and size of every raw file."""

    root: str
    folder: RunFolder
    files: Mapping[str, tuple[str, int]]
    key: str


def ingest(
    study: Study,
    roots: Mapping[str, Path],
    metrics: Path,
    out: Path,
    cache: Path,
    *,
    jobs: int | None = None,
    scheduler: str = "",
    progress: Callable[[str], None] = lambda _: None,
) -> IngestSummary:
    """Read all runs of a study.

    Parameters
    ----------
    roots : mapping of str to Path
        Folders of run folders by kind (`runs.ROOTS`); missing ones have no runs.
    metrics : Path
        The metric dictionary.
    out : Path
        Replaced atomically: ``<run_id>.parquet`` (the table `SAMPLES`) and ``index.json``.
    cache : Path
        Content-addressed cache; may be deleted at any time.
    jobs, scheduler
        As in `core.parallel.workers`.
    progress : callable, optional
        Callback for progress messages.

    Raises
    ------
    StudyError
        The metric dictionary is invalid, or the study names a metric by a name of an earlier
        version. Errors in a run quarantine that run.
    RunError
        A root changed while it was read, so that the output would not match its inputs.
    """
    before = {root: state(place) for root, place in roots.items()}
    dictionary = build_dictionary(metrics, study_inputs(study))
    require_current_names(study, dictionary)
    store = Cache(cache)
    progress("comparing files")
    tasks, quarantined = _tasks(roots, fingerprint(study, metrics))
    results = {task.key: stored for task in tasks if (stored := store.get(task.key)) is not None}
    missing = [task for task in tasks if task.key not in results]
    size = sum(size for task in missing for _, size in task.files.values())
    n_jobs = 1 if len(missing) <= MAX_SERIAL_RUNS and size <= MAX_SERIAL_BYTES else jobs
    with workers(
        study, dictionary, store, jobs=n_jobs, scheduler=scheduler, preload=__name__
    ) as each:
        for number, (task, entry) in enumerate(
            zip(missing, each(_read_one, missing), strict=True), start=1
        ):
            progress(f"run {number} of {len(missing)}")
            results[task.key] = entry
    entries = [_with_archive(results[task.key], task.folder) for task in tasks]
    read = [entry["run"] for entry in entries if "run" in entry]
    runs = [run for run in read if "excluded" not in run]
    _warn_of_differences(study, runs)
    quarantined += [entry["quarantined"] for entry in entries if "quarantined" in entry]
    quarantined.sort(key=lambda refused: (refused["run"], refused["root"]))
    for root, place in roots.items():
        _check_unchanged(root, before[root], state(place))
    progress("writing")
    described = describe_metrics(dictionary, {name for run in runs for name in run["metrics"]})
    index = {"study": study.id, "metrics": described, "runs": runs, "quarantined": quarantined}
    if len(read) > len(runs):
        left_out = ("run_id", "root", "provenance", "factors", "disturbed", "excluded")
        index["excluded"] = [
            {name: run[name] for name in left_out} for run in read if "excluded" in run
        ]
    counted = {run["run_id"] for run in runs}
    with replace_folder(out) as folder:
        for task in tasks:
            if task.folder.name in counted:
                # copy, so that changes of the output do not affect the cache
                shutil.copyfile(store.place(task.key), folder / f"{task.folder.name}.parquet")
        (folder / INDEX).write_text(json_text(index), encoding="utf-8")
    return IngestSummary(len(runs), len(read) - len(runs), len(missing), quarantined)


def describe_metrics(
    dictionary: MetricDictionary, used: Collection[str]
) -> dict[str, dict[str, Any]]:
    """Describe the metrics with samples, and those that count the events of such metrics."""
    described: dict[str, dict[str, Any]] = {}
    for name, metric in dictionary.metrics.items():
        counted = dictionary.counted(metric) if metric.counts else ()
        if name not in used and not any(m.name in used and m.event_formats for m in counted):
            continue
        of_events = list(dict.fromkeys(form for m in counted for form in m.event_formats))
        described[name] = {
            "unit": metric.unit,
            "kind": metric.kind,
            "formats": list(dict.fromkeys([*of_events, *metric.formats])),
            "kinds": metric.kinds,
            "events": of_events if metric.among else list(metric.event_formats),
            "definition": metric.definition,
        }
        if counted:
            described[name] |= {
                "counts": metric.counts,
                "counted": [m.name for m in counted],
                "share": bool(metric.among),
            }
    return described


def require_current_names(study: Study, dictionary: MetricDictionary) -> None:
    """Raise `StudyError` for the first metric that the study names as an earlier version did."""
    used: list[tuple[str, tuple[str | int, ...]]] = []
    for name, kind in study.quantities.items():
        if rule := kind.observed_by:
            read = (*rule.sources, *([rule.per] if rule.per else ()))
            used += [(source.metric, ("quantities", name, "observed")) for source in read]
    for position, exhibit in enumerate(study.exhibits):
        for row, spec in enumerate(exhibit.spec.get("series") or ()):
            if isinstance(spec, dict) and "metric" in spec:
                used.append((str(spec["metric"]), ("exhibits", position, "series", row)))
    for metric, place in used:
        if metric not in dictionary and metric in dictionary.renamed:
            remedy = dictionary.suggest(metric)
            raise study.document.error(f"there is no metric {metric!r}", *place, remedy=remedy)


def _warn_of_differences(study: Study, runs: list[dict[str, Any]]) -> None:
    """Add a warning to each run whose facts differ from other runs of its condition or experiment;
    cached entries are copied, not changed.
    """
    measured = [run for run in runs if run["provenance"] == "measured"]
    warnings: dict[str, list[str]] = {}
    for difference in fact_differences(study, measured):
        common = max(difference.runs, key=lambda value: len(difference.runs[value]))
        for value, run_ids in difference.runs.items():
            if value != common:
                for run_id in run_ids:
                    words = f"{difference.what}: {value} here, {common} in most other runs"
                    warnings.setdefault(run_id, []).append(f"differs from other runs: {words}")
    for place, run in enumerate(runs):
        if more := warnings.get(run["run_id"]):
            runs[place] = {**run, "warnings": [*more, *run["warnings"]]}


def _check_unchanged(root: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Raise `RunError` if files changed since `before`: results must match the recorded inputs."""
    changed = sorted(
        path for path in before.keys() | after.keys() if before.get(path) != after.get(path)
    )
    if changed:
        raise RunError(
            f"the {root} runs changed while they were read",
            file=changed[0],
            found=f"{len(changed)} changed file(s)",
            expected="no changes while the runs are read",
            remedy="run the command again.",
        )


def _tasks(roots: Mapping[str, Path], code_hash: str) -> tuple[list[_Task], list[dict[str, Any]]]:
    """List the run folders to read by name, and those rejected beforehand: unsafe ones, and
    duplicates.

    Roots are processed in the given order: of two runs with the same name or the same files the
    later is rejected, so that example files copied among measured ones are detected.
    """
    tasks: dict[str, _Task] = {}
    refused: list[dict[str, Any]] = []
    contents: dict[str, str] = {}
    found: list[tuple[str, RunFolder]] = []
    for root, place in roots.items():

        def refuse(name: str, err: RunError, root: str = root) -> None:
            refused.append(refusal(name, root, err))

        found += [(root, folder) for folder in run_folders(place, refuse)]
    for root, folder in found:
        name = folder.name
        try:
            files = folder.hashes(folder.raw_files())
            # a missing or linked run.yaml is rejected when the run is read; do not open it here
            run_hash = hashlib.sha256(folder.read(RUN_FILE) or b"").hexdigest()
            same = "".join(sorted(digest for digest, _ in files.values()))
            if name in tasks:
                problem = f"the {tasks[name].root} runs also contain a run with this name"
                raise RunError(problem, file=name, remedy="rename one of the two runs.")
            whole = any(size for _, size in files.values())
            if whole and same in contents:
                problem = f"its raw files are identical to those of run {contents[same]}"
                raise RunError(
                    problem, file=name, remedy="remove one of the two runs, or replace its files."
                )
        except (RawperfError, OSError) as err:
            refused.append(refusal(name, root, err))
        else:
            contents[same] = name
            key = content_key(
                code_hash,
                root,
                name,
                run_hash,
                *(f"{path} {digest}" for path, (digest, _) in files.items()),
            )
            tasks[name] = _Task(root, folder, files, key)
    return [tasks[name] for name in sorted(tasks)], refused


def _read_one(
    task: _Task, study: Study, dictionary: MetricDictionary, store: Cache
) -> dict[str, Any]:
    """Read a run and cache the result; rejections are cached too."""
    pa.set_memory_pool(
        pa.system_memory_pool()
    )  # Arrow's own pool returns memory that the next part needs again
    try:
        digests = {path: digest for path, (digest, _) in task.files.items()}
        run = load_run(task.folder, study, task.root, sorted(digests), digests=digests)
        with task.folder.opened() as folder:
            result = read_run(
                folder,
                run,
                dictionary,
                store.place(task.key),
                study_inputs(study),
                study.not_read,
            )
    except Exception as err:  # errors in one run must not stop the others
        entry: dict[str, Any] = {"quarantined": refusal(task.folder.name, task.root, err)}
        store.put(task.key, entry)
        return entry
    for file in result.files:
        digest, size = task.files[file["path"]]
        file.update(bytes=size, sha256=digest)
    entry = {"run": index_entry(run, task.root, result)}
    store.put(task.key, entry, file=True)
    return entry


def index_entry(run: Run, root: str, read: RunSamples) -> dict[str, Any]:
    """Entry of the index for a run."""
    fields = run.model_dump(mode="json", include=set(INDEX_FIELDS))
    optional = run.model_dump(
        mode="json", include={*OPTIONAL_FIELDS, "excluded"}, exclude_none=True
    )
    return {
        "run_id": run.run_id,
        "root": root,
        **{name: fields[name] for name in INDEX_FIELDS},
        **{name: value for name, value in optional.items() if value not in (None, [])},
        "processors": read.processors,
        "samples": read.samples,
        "metrics": read.metrics,
        "warnings": read.warnings,
        "files": read.files,
    }


def _with_archive(entry: dict[str, Any], folder: RunFolder) -> dict[str, Any]:
    """Name the archive of a packed run, which is no part of the cached entry."""
    if folder.archive is None or "run" not in entry:
        return entry
    return {"run": {**entry["run"], "archive": f"{ARCHIVES}/{folder.archive.path.name}"}}


def refusal(run: str, root: str, err: Exception) -> dict[str, Any]:
    """Entry of the index for a run that can't be read."""
    if not isinstance(err, RawperfError):
        name = Path(str(err.filename)).name if isinstance(err, OSError) and err.filename else run
        err = RunError(
            f"can't be read ({type(err).__name__})",
            file=name,
            found=getattr(err, "strerror", None) or str(err),
            remedy=None
            if isinstance(err, OSError)
            else "report a bug in virtperf, and attach the run.",
        )
    return {"run": run, "root": root, **err.parts}


def refusal_error(refused: Mapping[str, Any]) -> RunError:
    """Rebuild the error of a quarantined run from its entry in the index."""
    return RunError(
        **{part: part_text for part, part_text in refused.items() if part not in ("run", "root")}
    )
