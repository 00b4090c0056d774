"""Simulated runs as raw run folders, in the tools' own formats."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
import yaml

from rawperf import Reading, get_writer
from rawperf.base import RECORD_COLUMNS
from rawperf.core.errors import FormatError
from rawperf.text import exact_text
from virtperf.core.parallel import workers
from virtperf.core.provenance import Provenance
from virtperf.simulate.expressions import Value
from virtperf.simulate.file import NUMBERS, Declared, Place, Raw, applies
from virtperf.simulate.plan import RunPlan
from virtperf.simulate.signals import Run

DAY = 86400
_T = ""  # the time of records, among the values by field
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def raw_files(run: Run) -> Iterator[tuple[str, bytes, dict[str, Any]]]:
    """Path, content and entry in run.yaml of every file; a declaration with `each` is one for each
    entity of that set.

    Raises `StudyError` with the line of `raw.yaml`: an expression has no value, records vary over
    something else than they list, a placeholder stands for nothing, the format can't print what it
    is given.
    """
    for declared in run.declared["files"].values():
        body, place = declared.body, declared.place
        tables = [
            _Table(run, body, Declared(part, (*place, "records", i)))
            for i, part in enumerate(body["records"])
            if applies(part, run.condition.levels)
        ]
        written: dict[tuple[str | bytes, ...], bytes] = {}
        for owner, attributes in enumerate(run.entities(body["each"]) if "each" in body else [{}]):
            labels = _labels(run) | attributes
            path, entry = filled(run, body["path"], labels, place), _entry(run, declared, labels)
            if "text" in body["records"][0]:
                yield (
                    path,
                    "".join(table.printed(owner, labels) for table in tables).encode(),
                    entry,
                )
                continue
            said = body.get("info", {}).items()
            info = {
                filled(run, key, labels, place): filled(run, str(text), labels, place)
                for key, text in said
            }
            columns = _joined([table.columns(owner) for table in tables], body.get("order", "time"))
            same = (
                *info.values(),
                *columns["entity"],
                columns["t"].tobytes(),
                columns["value"].tobytes(),
            )
            if same not in written:
                try:
                    reading = Reading(pd.DataFrame(columns), body["clock"], info)
                    written[same] = get_writer(body["format"]).write(reading)
                except FormatError as err:
                    raise run.error(str(err), place) from err
            yield path, written[same], entry


def _labels(run: Run) -> dict[str, Any]:
    """What placeholders stand for in every file of a run: its id, its date, its factor levels,
    declared labels.
    """
    declared = {name: label.body for name, label in run.declared["labels"].items()}
    return {**run.condition.levels, **declared, "run": run.plan.run_id, "date": run.start.date()}


def filled(run: Run, text: str, labels: Mapping[str, Any], place: Place) -> str:
    """A text with ``{name}`` replaced by what `labels` say of it."""
    unknown = sorted(set(_PLACEHOLDER.findall(text)) - labels.keys())
    if unknown:
        raise run.error(
            f"{text!r}: nothing stands for {unknown[0]!r}, only for {', '.join(labels)}", place
        )
    return _PLACEHOLDER.sub(lambda match: str(labels[match[1]]), text)


def _entry(run: Run, file: Declared, labels: Mapping[str, Any]) -> dict[str, Any]:
    entry = {"format": file.body["format"], **({"entity": "{name}"} if "each" in file.body else {})}
    for key, said in file.body.get("entry", {}).items():
        entry[key] = run.number(said, (*file.place, "entry", key)) if key in NUMBERS else said
    return entry | (
        {"entity": filled(run, entry["entity"], labels, file.place)} if "entity" in entry else {}
    )


class _Table:
    """Records of one report, for all entities that own such a file at once."""

    def __init__(self, run: Run, file: Mapping[str, Any], declared: Declared) -> None:
        part, place = declared.body, declared.place
        times, of, self.each = part.get("times", ""), part.get("entities", ""), file.get("each", "")
        self.report, self.kind = part.get("report", ""), part.get("kind", "")
        self.run, self.part, self.place = run, part, place
        entity = part.get("entity", "{name}")
        self.rows = run.entities(of) if of else [{} if "text" in part else {"name": ""}]
        self.entities = (
            []
            if "text" in part
            else [filled(run, entity, _labels(run) | row, place) for row in self.rows]
        )
        members = of or self.each
        self.samples = len(run.times(times)) if times else 1
        self.values: dict[str, Value] = {}
        written = {**part.get("fields", {}), _T: part.get("when", "t" if times else 0)}
        for name, text in written.items():
            spot = (*place, "when") if name == _T else (*place, "fields", name)
            found = self.values[name] = run.value(text, spot, times, members)
            if found.times not in ("", times) or found.entities not in ("", members, self.each):
                problem = f"{name} varies over {found.times} {found.entities}, its records over {times} {members}"
                raise run.error(problem, spot)
        start = run.start.replace(tzinfo=UTC).timestamp()
        self.shift = {"absolute": start, "time-of-day": start % DAY}.get(file["clock"], 0.0)
        if not times and "when" not in part:
            self.shift = np.nan
        self.counted = file["clock"] == "sample"

    def printed(self, owner: int, labels: Mapping[str, Any]) -> str:
        """The text of the records of one owner, in the order of time and entity."""
        own = self._own(owner, (self.samples, len(self.rows)))
        own.pop(_T)
        place = (*self.place, "text")
        texts = [
            filled(
                self.run,
                self.part["text"],
                {
                    **labels,
                    **row,
                    **{name: exact_text(v[sample, i] + 0.0) for name, v in own.items()},
                },
                place,
            )
            for sample in range(self.samples)
            for i, row in enumerate(self.rows)
        ]
        return str(self.part.get("between", "")).join(texts)

    def _own(self, owner: int, shape: tuple[int, int]) -> dict[str, np.ndarray]:
        """The values of one owner by field, each of that shape."""
        return {
            name: np.broadcast_to(
                v.data[:, [owner]] if v.entities and v.entities == self.each else v.data, shape
            )
            for name, v in self.values.items()
        }

    def columns(self, owner: int) -> dict[str, np.ndarray]:
        """The columns of the records of one owner, in the order of time, entity and field."""
        own = self._own(owner, (self.samples, len(self.entities)))
        t = own.pop(_T) + self.shift
        if self.counted:
            t = np.arange(self.samples)[:, None] + 0 * t
        count, f = self.samples * len(self.entities) * len(own), len(own)
        named = {"report": [self.report], "entity_kind": [self.kind], "field": list(own)}
        columns = {
            name: np.tile(np.array(said, dtype=object), count // len(said))
            for name, said in named.items()
        }
        columns["entity"] = np.tile(
            np.repeat(np.array(self.entities, dtype=object), f), self.samples
        )
        values = (
            np.stack(list(own.values()), axis=2).ravel() + 0.0
        )  # no negative zero, which no tool prints
        return {**columns, "t": np.repeat(t.ravel(), f), "value": values}


def _joined(tables: list[dict[str, np.ndarray]], order: str) -> dict[str, np.ndarray]:
    """All records of a file: by time, or one table after the other; NaN stands for what a tool
    leaves out.
    """
    joined = {name: np.concatenate([table[name] for table in tables]) for name in RECORD_COLUMNS}
    rows = (
        np.argsort(joined["t"], kind="stable") if order == "time" else np.arange(len(joined["t"]))
    )
    rows = rows[~np.isnan(joined["value"][rows])]
    return {name: column[rows] for name, column in joined.items()}


try:
    from yaml import CSafeDumper as SafeDumper
except ImportError:  # PyYAML without libyaml
    from yaml import SafeDumper  # type: ignore[assignment]

COMMENT = "# Simulated from the paper's text; not a measurement.\n"


@contextmanager
def run_writer(
    study_id: str, raw: Raw, seed: int, folder: Path, *, scheduler: str = ""
) -> Iterator[Callable[[Sequence[RunPlan]], Iterator[RunPlan]]]:
    """A function that begins to write all run folders below `folder`; what it returns tells each
    that is written.

    Every run depends on its own plan and seed alone. All processors are used, by processes that
    begin to load what they need with the block and write while the caller does something else; or a
    cluster (`core.parallel.workers`).
    """
    with workers(study_id, raw, seed, folder, scheduler=scheduler, preload=__name__) as each:
        yield lambda plans: (plan for plan, _ in zip(plans, each(write_run, plans), strict=True))


def write_run(plan: RunPlan, study_id: str, raw: Raw, seed: int, root: Path) -> None:
    """Write one run's folder below `root`: the files that `raw.yaml` declares for it, and run.yaml.

    Raises `StudyError` as `raw_files`; for a path that is given twice or leads out of the folder;
    without files.
    """
    run, folder = Run(raw, plan, seed), root / plan.run_id
    entries: dict[str, dict[str, Any]] = {}
    for path, data, entry in raw_files(run):
        if (
            path in entries
            or PurePosixPath(path).is_absolute()
            or ".." in PurePosixPath(path).parts
        ):
            raise run.error(
                f"{path!r} is written twice, or leads out of the run folder", ("blocks",)
            )
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
        facts[name] = (
            [run.number(b, place) for b in body]
            if isinstance(body, list)
            else run.number(body, place)
        )
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
