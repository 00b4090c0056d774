"""Notebook stages depend on exactly the data files that the notebooks open."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT
from tests.dvc_stages import load_stages

STUDIES = ["firecracker-nsdi-2020", "xen-2026", "zvm-update-2011"]
"""A paper with published data, a measured study, a paper; all studies have the same stages."""

# Runs the cells of each notebook in a separate process and namespace, and prints the opened files below data/.
# Parquet files are opened by a native library, hence the second hook. Nothing is drawn, since drawing opens no data.
LISTEN = """
import json, os, sys
from pathlib import Path
import pyarrow.parquet as pq
import seaborn, statsmodels.api
from matplotlib.figure import Figure
import virtperf.report.loaded, virtperf.report.plot, virtperf.models
root = Path(sys.argv[1])
opened = set()
def note(path):
    path = Path(os.path.abspath(path))
    if path.is_relative_to(root / "data"):
        opened.add(str(path.relative_to(root)))
sys.addaudithook(lambda event, a: note(os.fsdecode(a[0])) if event == "open" and isinstance(a[0], (str, bytes, os.PathLike)) else None)
read = pq.ParquetFile
pq.ParquetFile = lambda path, *a, **k: (note(path), read(path, *a, **k))[1]
Figure.savefig = lambda self, target, **k: target.write("<svg xmlns='http://www.w3.org/2000/svg'></svg>")
os.chdir(root / "notebooks")
for study in sys.argv[2:]:
    if os.fork():
        assert os.wait()[1] == 0, study
        continue
    space = {"display": lambda *shown: [*map(repr, shown)]}
    for cell in json.loads(Path(study + ".ipynb").read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), "cell", "exec"), space)
    print(json.dumps([study, sorted(opened)]))
    sys.exit()
"""


def test_notebook_inputs_equal_stage_dependencies() -> None:
    done = subprocess.run(
        [sys.executable, "-u", "-c", LISTEN, str(ROOT), *STUDIES],
        capture_output=True,
        text=True,
        env={**os.environ, "MPLBACKEND": "agg"},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = dict(json.loads(line) for line in done.stdout.splitlines() if line.startswith('["'))
    assert list(found) == STUDIES
    reports = ("report", "measured-report")
    stages = {stage.study: stage for stage in load_stages(ROOT) if stage.name in reports}
    for study in STUDIES:
        opened = {Path(p) for p in found[study]}
        listed = [Path(dep) for dep in stages[study].deps if dep.startswith("data/")]
        digests = Path("data", "hypotheses", f"{study}.json")
        if digests in listed:  # stands for the files that it lists
            covered = {Path("data", name) for name in json.loads((ROOT / digests).read_text())}
            assert opened & covered
            listed.remove(digests)
            opened -= covered
        missed = {
            str(p) for p in opened if not any(p == dep or p.is_relative_to(dep) for dep in listed)
        }
        assert not missed, f"{study}: add to deps of report in dvc.yaml: {sorted(missed)}"
        idle = {
            str(dep) for dep in listed if not any(p == dep or p.is_relative_to(dep) for p in opened)
        }
        idle -= {"data/readings.yaml"}  # a study whose claims use no word opens no readings
        assert not idle, f"{study}: remove from deps of report in dvc.yaml: {sorted(idle)}"
