"""The path of one raw value: modules and representations between a line of xentop and its page.

`tools/benchmarks/value_path.py` creates a study with one run in a temporary folder. One guest has the
same CPU share in every sample, so that samples, mean and the number on the page are equal, and
unique in the study. The stages run in this process under a profiler, and after each call of
rawperf or virtperf the arguments, variables and result are searched for that number.

Counted are the modules whose functions ran, the modules that held the value, and the
representations: the types of object that directly hold it. The way to the mark in the figure is
counted apart from what leaves it: verdicts, stored raw lines, and the record and page around the
picture.
"""

from __future__ import annotations

import dataclasses
import math
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import nbformat
import numpy as np
import pandas as pd
import pyarrow as pa
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_output
from pydantic import BaseModel

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import virtperf
from tools.benchmarks.raw_files import WIDTHS
from virtperf.core.paths import Layout
from virtperf.report.html.report import render
from virtperf.report.kinds import find_kind
from virtperf.runs.stage import process_runs
from virtperf.study.definition import load_study

PERCENT = "73.9"
VALUES = (73.9, 0.739)
"""The value as xentop prints it, in percent of a processor, and in processors."""
TEXTS = tuple(map(str, VALUES))
SAMPLES, EVERY_S = 40, 10
MAX_DEPTH = 4
BRANCHES = {
    "virtperf.runs.summarize.audits": "audits",
    "virtperf.verdicts.stage": "verdicts",
    "virtperf.runs.raw_lines": "raw lines",
}
"""Modules whose functions, with all that they call, are not on the way to a mark."""
PLAIN = {"float", "list", "str", "tuple"}
"""Types that do not count as a representation: a number, its text, plain containers."""
STUDY = """\
study: path
kind: measured
title: One value
question: Where does one value go?
factors:
  guests: {levels: [1, 2], label: guests}
quantities:
  cpu:
    label: CPU of the guest
    unit: "%"
    bounds: [0, 100]
    observed: {from: [{metric: guest_cpu, entity_kind: domain, entity: g1}], combine: sum}
exhibits:
  - {id: figure-1, kind: line, title: CPU, quantity: cpu, over: guests, series: [{label: g1, levels: [1, 2]}]}
machines:
  host: {label: Host, machine: a machine, cpus: 1, memory_mb: 2048}
"""
HYPOTHESES = """\
study: path
hypotheses:
  - {id: busy, kind: range, of: "cpu[guests=1]", low: 50, high: 90, says: The guest is busy., about: [figure-1]}
"""
RUN = """\
study: path
run: r1
provenance: measured
factors: {guests: 1}
replicate: 1
start: "2026-01-05T00:00:00"
duration_s: 400
warmup_s: 0
window_s: [0, 400]
files: [{path: xentop.txt, format: xentop, start_s: 0, interval_s: 10}]
"""


def write_study(root: Path) -> None:
    """A repository with one study of one run; domain g1 has `PERCENT` in every sample."""
    folder = root / "data" / "measured" / "path"
    (folder / "r1").mkdir(parents=True)
    (root / "data" / "published").mkdir()
    (root / "params.yaml").write_text((Path(__file__).parents[2] / "params.yaml").read_text())
    (folder / "study.yaml").write_text(STUDY)
    (folder / "hypotheses.yaml").write_text(HYPOTHESES)
    (folder / "r1" / "run.yaml").write_text(RUN)
    lines = []
    for sample in range(SAMPLES):
        rows = [list(WIDTHS)]
        for name, share in (("Domain-0", "1.0"), ("g1", PERCENT)):
            cells = dict.fromkeys(WIDTHS, "0") | {
                "NAME": name,
                "STATE": "-----r",
                "CPU(sec)": str(100 + sample * EVERY_S),
                "CPU(%)": share,
                "MEM(k)": "131072",
                "MEM(%)": "6.3",
                "MAXMEM(k)": "131072",
                "MAXMEM(%)": "6.3",
                "VCPUS": "1",
            }
            rows.append(list(cells.values()))
        lines += [
            " ".join(cell.rjust(w) for cell, w in zip(row, WIDTHS.values(), strict=True))
            for row in rows
        ]
    (folder / "r1" / "xentop.txt").write_text("\n".join(lines) + "\n")


def holders(value: Any, kind: str = "", depth: int = 0) -> Iterator[str]:
    """Types of object within `value` that directly hold the number; `kind` is that of the
    enclosing object.
    """
    if isinstance(value, str | bytes):
        words = value if isinstance(value, str) else value.decode("latin-1")
        if any(text in words for text in TEXTS):
            yield kind or type(value).__name__
    elif isinstance(value, float | np.floating):
        if any(math.isclose(value, v, rel_tol=1e-9) for v in VALUES):
            yield kind or "float"
    elif isinstance(value, np.ndarray):
        yield from _array_holders(value, kind, depth)
    elif isinstance(value, pa.Table):
        yield from holders(value.to_pandas(), "", depth)
    elif isinstance(value, pd.DataFrame):
        columns = [c for c in value.columns if any(holders(value[c].to_numpy(), "x", depth))]
        if columns:
            yield _frame_kind(value)
    elif isinstance(value, pd.Series | pd.Index):
        if any(holders(value.to_numpy(), "x", depth)):
            yield "Series"
    elif depth < MAX_DEPTH:
        yield from _nested_holders(value, kind, depth)


_FRAMES: dict[frozenset[str], str] = {}


def _frame_kind(frame: pd.DataFrame) -> str:
    """A data frame identified by its columns; more of them, or a selection, do not make another
    representation.
    """
    columns = frozenset(map(str, frame.columns))
    for known, kind in _FRAMES.items():
        if known <= columns or columns <= known:
            return kind
    kind = f"DataFrame: {', '.join(map(str, frame.columns))}"
    return _FRAMES.setdefault(columns, kind)


def _array_holders(value: np.ndarray, kind: str, depth: int) -> Iterator[str]:
    if value.dtype.names:
        found = any(
            any(holders(value[name], "x", depth)) for name in value.dtype.names if value.size
        )
        if found:
            yield f"array of rows: {', '.join(value.dtype.names)}"
    elif value.dtype.kind == "f":
        if any(np.isclose(value, v, rtol=1e-9, atol=0).any() for v in VALUES):
            yield kind or "array"
    elif value.dtype.kind in "OSU":
        yield from list(
            {kind or "array" for item in value.flat for _ in holders(item, "x", depth + 1)}
        )


def _nested_holders(value: Any, kind: str, depth: int) -> Iterator[str]:
    name = type(value).__name__
    if isinstance(value, dict):
        members = list(value.values())
    elif isinstance(value, list | tuple | set | frozenset):
        members = list(value)
        if not hasattr(value, "_fields"):
            name = kind or name
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        members = [getattr(value, f.name, None) for f in dataclasses.fields(value)]
    elif isinstance(value, BaseModel):
        members = [getattr(value, f) for f in type(value).model_fields]
    elif type(value).__module__.partition(".")[0] in ("rawperf", "virtperf"):
        members = list(getattr(value, "__dict__", {}).values())
    else:
        return
    for member in members[:1000]:
        yield from holders(member, name, depth + 1)


class Tracer:
    """Records where the value is seen: by branch, representations created by each module's functions.

    A function creates what its variables or result hold at its end, except what its arguments held
    at the start and what called functions returned.
    """

    def __init__(self, stage: str) -> None:
        self.makes: dict[str, dict[str, dict[str, None]]] = {}
        self.ran: set[str] = set()
        # per call: held before, received, branch
        self._calls: list[tuple[set[str], set[str], str]] = [(set(), set(), stage)]
        self._busy = False

    def __call__(self, frame: FrameType, event: str, result: Any) -> None:
        """A profiler for `sys.setprofile`."""
        module = frame.f_globals.get("__name__", "")
        if self._busy or module.partition(".")[0] not in ("rawperf", "virtperf"):
            return
        if event not in ("call", "return") or frame.f_code.co_name == "<module>":
            return
        self._busy = True
        try:
            self.ran.add(module)
            if event == "call":
                branch = BRANCHES.get(module, self._calls[-1][2])
                self._calls.append((self._held(frame.f_locals.values()), set(), branch))
            elif len(self._calls) > 1:
                had, given, branch = self._calls.pop()
                gained = self._held((*frame.f_locals.values(), result)) - had
                if gained or had:
                    made = self.makes.setdefault(branch, {}).setdefault(module, {})
                    made.update(dict.fromkeys(sorted(gained - given)))
                self._calls[-1][1].update(gained)
        finally:
            self._busy = False

    @staticmethod
    def _held(values: Iterable[Any]) -> set[str]:
        found = {kind for value in values for kind in holders(value)}
        return found - PLAIN


def draw_figure(root: Path) -> None:
    """Draw the figure that shows the value, as its exhibit does."""
    study = virtperf.load_study("path", root / "data")
    exhibit = study.study.exhibit("figure-1")
    draw = find_kind(exhibit).draw
    assert draw is not None
    assert draw(study.context, exhibit) is not None


def show_exhibit(root: Path) -> list[NotebookNode]:
    """Outputs of the notebook cell that shows the value."""
    study = virtperf.load_study("path", root / "data")
    bundles = study.exhibit("figure-1").bundles()
    return [new_output("display_data", data, metadata=metadata) for data, metadata in bundles]


def write_page(root: Path, outputs: list[NotebookNode]) -> None:
    """Write a report of that one cell."""
    notebook = new_notebook(cells=[new_code_cell("study.exhibit('figure-1')", outputs=outputs)])
    executed = root / "build" / "path.ipynb"
    executed.parent.mkdir()
    nbformat.write(notebook, executed)
    study = load_study(Layout(root).known("path"))
    render(executed, Layout(root).report("path"), title="One value", study=study)


def main() -> None:
    """Print modules and representations, on the way to the mark and beside it."""
    kinds: dict[str, None] = {}
    held: set[str] = set()
    ran: set[str] = set()
    outputs: list[NotebookNode] = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_study(root)
        stages: dict[str, Callable[[], Any]] = {
            "runs": lambda: process_runs(Layout(root), "path", jobs=1),
            "figure": lambda: draw_figure(root),
            "record": lambda: outputs.extend(show_exhibit(root)),
            "page": lambda: write_page(root, outputs),
        }
        made: dict[str, dict[str, dict[str, None]]] = {}
        for stage, work in stages.items():
            tracer = Tracer(stage)
            sys.setprofile(tracer)
            try:
                work()
            finally:
                sys.setprofile(None)
            made |= tracer.makes
            ran |= tracer.ran
        if PERCENT not in Layout(root).report("path").read_text():
            raise SystemExit(f"{PERCENT} does not stand on the page")
    for branch in ("runs", "figure", *BRANCHES.values(), "record", "page"):
        print(f"{branch}:")
        for module, types in made[branch].items():
            new = [kind for kind in types if kind not in kinds]
            kinds.update(dict.fromkeys(new))
            print("   ", module, *(f"\n        {kind}" for kind in new))
        held |= made[branch].keys()
        print(f"    so far {len(held)} modules held the value, {len(kinds)} representations")
    print(f"{len(ran)} modules ran")


if __name__ == "__main__":
    main()
