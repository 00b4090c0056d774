"""Simulated runs as raw run folders, in the tools' own formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from virtperf.core.parallel import workers
from virtperf.core.provenance import Provenance
from virtperf.simulate.file import Raw
from virtperf.simulate.files import raw_files
from virtperf.simulate.plan import RunPlan
from virtperf.simulate.signals import Run

try:
    from yaml import CSafeDumper as SafeDumper
except ImportError:  # PyYAML without libyaml
    from yaml import SafeDumper  # type: ignore[assignment]

COMMENT = "# Simulated from the paper's text; not a measurement.\n"


@contextmanager
def run_writer(
    study_id: str, raw: Raw, seed: int, folder: Path, *, scheduler: str = ""
) -> Iterator[Callable[[Sequence[RunPlan]], Iterator[RunPlan]]]:
    """A function that begins to write all run folders below `folder`; what it returns tells each that is written.

    Every run depends on its own plan and seed alone. All processors are used, by processes that begin to load what they
    need with the block and write while the caller does something else; or a cluster (`core.parallel.workers`).
    """
    with workers(study_id, raw, seed, folder, scheduler=scheduler, preload=__name__) as each:

        def begin(plans: Sequence[RunPlan]) -> Iterator[RunPlan]:
            return (plan for plan, _ in zip(plans, each(_write, plans), strict=True))

        yield begin


def _write(plan: RunPlan, study_id: str, raw: Raw, seed: int, folder: Path) -> None:
    write_run(study_id, raw, plan, seed, folder / plan.run_id)


def write_run(study_id: str, raw: Raw, plan: RunPlan, seed: int, folder: Path) -> None:
    """Write one run folder: the files that `raw.yaml` declares for it, and run.yaml.

    Raises `StudyError` as `raw_files`; for a path that is given twice or leads out of the folder; without files.
    """
    run = Run(raw, plan, seed)
    entries: dict[str, dict[str, Any]] = {}
    for path, data, entry in raw_files(run):
        if path in entries or PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
            raise run.error(f"{path!r} is written twice, or leads out of the run folder", ("blocks",))
        entries[path] = entry
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    if not entries:
        raise run.error("no block declares a file for it", ("blocks",))
    (folder / "run.yaml").write_text(COMMENT + _run_yaml(study_id, run, entries), encoding="utf-8")


def _run_yaml(study_id: str, run: Run, entries: dict[str, dict[str, Any]]) -> str:
    facts: dict[str, Any] = {"start": run.start.isoformat()}
    for name, fact in run.declared["run"].items():
        if name == "start":
            continue
        body, place = fact.body, fact.place
        facts[name] = [run.number(b, place) for b in body] if isinstance(body, list) else run.number(body, place)
    head = {
        "study": study_id,
        "run": run.plan.run_id,
        "provenance": Provenance.SIMULATED.value,
        "factors": dict(run.condition.levels),
        "replicate": run.plan.replicate,
        **facts,
        "files": [{"path": path, **entry} for path, entry in entries.items()],
    }
    return yaml.dump(head, Dumper=SafeDumper, sort_keys=False, width=200, default_flow_style=None)
