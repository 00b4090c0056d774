"""A small repository with one study of two figures that the whole pipeline runs through in seconds."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import nbformat

from tests.toy_runs import console, write_run
from virtperf.cli import main
from virtperf.core.params import load_parameters
from virtperf.new_study.notebook import notebook_text
from virtperf.render.normalise import normalise
from virtperf.study.definition import load_study
from virtperf.verify.replay import Task

STUDY = """\
study: toy
title: A toy
bibliography: {publisher: nobody}
claims_in_ledger: 3
factors:
  test: {levels: [load, memory], default: load}
  guests: {label: guests, levels: [1, 2, 3]}
quantities:
  throughput:
    label: Throughput
    unit: elements/s
    bounds: [0, null]
    observed: {from: [{metric: page_element_throughput, entity_kind: driver}], combine: sum}
exhibits:
  - {id: table-1, kind: table, title: Guests, section: Setup, table: table-1}
  - id: figure-1
    kind: line
    title: Throughput over guests
    section: Results
    quantity: throughput
    over: guests
    series: [{label: load, at: {test: load}, levels: [1, 2, 3]}]
  - id: figure-2
    kind: line
    title: Throughput with little memory
    section: Results
    quantity: throughput
    over: guests
    series: [{label: memory, at: {test: memory}, levels: [1, 2, 3]}]
"""

CLAIMS = """\
study: toy
claims:
  - {id: rises, kind: range, says: One guest gives 80 to 120, of: "throughput[guests=1]", low: 80, high: 120,
     about: [figure-1], section: Results, ledger: a}
  - {id: doubles, kind: ratio, says: Two guests give twice as much, of: "throughput[guests=2]",
     to: "throughput[guests=1]", value: 2, half_width: 0.05, about: [figure-1], section: Results, ledger: b}
  - {id: memory-at-1, kind: value, says: With little memory one guest gives 50, of: "throughput[test=memory, guests=1]",
     value: 50, half_width: 0.5, about: [figure-2], section: Results, ledger: c}
assumptions: []
not_encoded: []
"""

TABLE = "Guest,CPUs\nweb,1\ndatabase,2\n"
PARAMETERS = "seed: 1\nlevel: 0.95\n"
RUNS = {"load-1": ("load", 1, 100.0), "load-2": ("load", 2, 202.0), "load-3": ("load", 3, 290.0),
        "memory-1": ("memory", 1, 50.0)}  # fmt: skip
SLOPE = """\
from virtperf.exhibits.attempt import attempt
from virtperf.models import linear

runs = book.observations("figure-1", "measured")
fit = attempt(linear.fit_line, runs["x"].astype(float), runs["value"])
book.estimates({"growth per guest": attempt(fit.slope, 1 - level)}, title="Growth per guest", provenance="measured")
"""


def build(root: Path, repository: Path) -> Path:
    """Write what people write; `repository` has the metric dictionary."""
    published = root / "data" / "published" / "toy"
    (published / "tables").mkdir(parents=True)
    (published / "study.yaml").write_text(STUDY)
    (published / "claims.yaml").write_text(CLAIMS)
    (published / "tables" / "table-1.csv").write_text(TABLE)
    (root / "params.yaml").write_text(PARAMETERS)
    shutil.copy(repository / "data" / "metrics.yaml", root / "data" / "metrics.yaml")
    for name, (test, guests, rate) in RUNS.items():
        write_run(
            root / "data" / "measured" / "toy", name, raw={"d1.log": console(rate, seed=name)},
            factors={"test": test, "guests": guests},
            files=[{"path": "d1.log", "entity": "d1", "start_s": 10, "interval_s": 10}],
        )  # fmt: skip
    (root / "notebooks").mkdir()
    notebook = nbformat.reads(notebook_text(load_study(published), load_parameters(root / "params.yaml")), as_version=4)
    place = next(k for k, cell in enumerate(notebook.cells) if cell.source == 'book.claims("figure-1")')
    notebook.cells.insert(place, nbformat.v4.new_code_cell(SLOPE, id="slope"))
    nbformat.write(notebook, root / "notebooks" / "toy.ipynb")
    return root


def run_stages(root: Path) -> Path:
    """All stages, in this process; the notebook's cells too, since a kernel takes longer to start than all of them."""
    for stage in ("reconstruct", "ingest", "summarize", "judge"):
        main(["--root", str(root), stage, "toy"], standalone_mode=False)
    execute(root)
    main(["--root", str(root), "report", "toy"], standalone_mode=False)
    return root


def execute(root: Path) -> None:
    """What `virtperf notebook` writes, by the interpreter that runs this."""
    notebook = nbformat.read(root / "notebooks" / "toy.ipynb", as_version=4)
    names: dict[str, object] = {}
    for cell in (c for c in notebook.cells if c.cell_type == "code"):
        *body, last = ast.parse(cell.source).body
        exec(compile(ast.Module(body, []), "cell", "exec"), names)  # our own notebook
        if not isinstance(last, ast.Expr):
            exec(compile(ast.Module([last], []), "cell", "exec"), names)
            names["data"] = str(root / "data")
            continue
        shown = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        cell.outputs = [nbformat.v4.new_output("execute_result", shown._repr_mimebundle_(), execution_count=1)]
    (root / "build").mkdir(exist_ok=True)
    nbformat.write(normalise(notebook), root / "build" / "toy.ipynb")


def replayed(task: Task, progress: object) -> None:
    """In place of `virtperf.verify.replay.run_stages`, which starts a process."""
    run_stages(task.place.root)
