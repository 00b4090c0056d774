"""The data files that a notebook really opens are what its stage depends on: nothing stale, nothing needless."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from virtperf.core.paths import Layout
from virtperf.pipeline.stages import load_stages

# Runs a notebook's cells in one namespace and prints every file below data/ that was opened. Parquet is read by a
# library that opens files on its own, hence the second way of listening. Nothing is drawn: that opens nothing.
LISTEN = """
import json, os, sys
from pathlib import Path
import pyarrow.parquet as pq
from matplotlib.figure import Figure
root, notebook = Path(sys.argv[1]), Path(sys.argv[2])
opened = set()
def note(path):
    path = Path(os.path.abspath(path))
    if path.is_relative_to(root / "data"):
        opened.add(str(path.relative_to(root)))
sys.addaudithook(lambda event, a: note(os.fsdecode(a[0])) if event == "open" and isinstance(a[0], (str, bytes, os.PathLike)) else None)
read = pq.read_table
pq.read_table = lambda path, *a, **k: (note(path), read(path, *a, **k))[1]
Figure.savefig = lambda self, target, **k: target.write("<svg xmlns='http://www.w3.org/2000/svg'/>")
os.chdir(notebook.parent)
space = {}
for cell in json.loads(notebook.read_text())["cells"]:
    if cell["cell_type"] == "code":
        exec(compile("".join(cell["source"]), "cell", "exec"), space)
print(json.dumps(sorted(opened)))
"""


@pytest.mark.parametrize("study", Layout(ROOT).studies())
def test_a_notebook_opens_what_its_stage_lists(study: str) -> None:
    notebook = ROOT / "notebooks" / f"{study}.ipynb"
    done = subprocess.run(
        [sys.executable, "-c", LISTEN, str(ROOT), str(notebook)], capture_output=True, text=True,
        env={**os.environ, "MPLBACKEND": "agg"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    opened = {Path(p) for p in json.loads(done.stdout.splitlines()[-1])}
    (stage,) = [stage for stage in load_stages(ROOT) if (stage.study, stage.name) == (study, "notebook")]
    listed = [Path(dep) for dep in stage.deps if dep.startswith("data/")]
    missed = {str(p) for p in opened if not any(p == dep or p.is_relative_to(dep) for dep in listed)}
    assert not missed, f"add to deps of notebook in dvc.yaml: {sorted(missed)}"
    idle = {str(dep) for dep in listed if not any(p == dep or p.is_relative_to(dep) for p in opened)}
    idle -= {"data/readings.yaml"}  # a study whose claims name no word opens no readings
    assert not idle, f"remove from deps of notebook in dvc.yaml: {sorted(idle)}"
