"""The committed notebooks equal the pipeline's output."""

from __future__ import annotations

import json
import re

from tests.records import read_records
from virtperf.core.params import load_parameters, notebook_parameters
from virtperf.core.paths import Layout
from virtperf.core.provenance import Provenance
from virtperf.report.html.notebooks import IGNORE_OUTPUT_TAG

OWN, TOGETHER = "your-own-plot", "synthesis"
"""Notebooks without a study."""


def notebooks(root):
    return sorted(p for p in (root / "notebooks").glob("*.ipynb") if p.stem not in (OWN, TOGETHER))


def test_every_study_has_a_notebook(root):
    assert [p.stem for p in notebooks(root)] == Layout(root).studies()
    assert all((root / "notebooks" / f"{name}.ipynb").is_file() for name in (OWN, TOGETHER))


def test_notebook_defaults_equal_the_parameter_file(root):
    expected = load_parameters(root / "params.yaml")
    for path in notebooks(root):
        cells = json.loads(path.read_text())["cells"]
        (source,) = [
            "".join(c["source"]) for c in cells if "parameters" in c["metadata"].get("tags", ())
        ]
        values: dict[str, object] = {}
        exec(source, values)  # our own notebook
        given = notebook_parameters({k: v for k, v in values.items() if not k.startswith("__")})
        assert given.level == expected.level
        assert given.seed == expected.seed
        assert (
            given.model_dump(include=set(expected.report.model_dump()))
            == expected.report.model_dump()
        )


def test_committed_outputs_are_up_to_date(root):
    for path in [*notebooks(root), root / "notebooks" / f"{TOGETHER}.ipynb"]:
        executed = root / "build" / path.name
        assert executed.exists(), "the pipeline has not run: `dvc repro` first"
        own, done = (
            [c for c in json.loads(p.read_text())["cells"] if c["cell_type"] == "code"]
            for p in (path, executed)
        )
        done = [c for c in done if "injected-parameters" not in c["metadata"].get("tags", ())]
        for mine, new in zip(own, done, strict=True):
            if IGNORE_OUTPUT_TAG in mine["metadata"].get("tags", ()):
                assert mine["outputs"] == []
                continue
            before, now = (
                [(o["output_type"], o.get("data"), o.get("text")) for o in cell["outputs"]]
                for cell in (mine, new)
            )
            assert before == now, mine["source"]
        kept = [c for c in own if IGNORE_OUTPUT_TAG not in c["metadata"].get("tags", ())]
        assert all(c["outputs"] for c in kept if re.match(r"study\.", "".join(c["source"])))


def test_no_output_depends_on_example_runs(root):
    """Neither the provenance nor a run id of any interval, p-value, probability or figure."""
    together = read_records(root / "build" / f"{TOGETHER}.ipynb")
    assert together and not any(Provenance.EXAMPLE in record.provenance for record in together)
    for path in notebooks(root):
        executed, index = (
            root / "build" / path.name,
            root / "data" / "samples" / path.stem / "index.json",
        )
        assert executed.exists() and index.exists(), "the pipeline has not run: `dvc repro` first"
        runs = {
            r["run_id"]
            for r in json.loads(index.read_text())["runs"]
            if r["provenance"] == Provenance.EXAMPLE
        }
        records = read_records(executed)
        assert records
        for record in records:
            assert Provenance.EXAMPLE not in record.provenance, record.id
            assert not runs & set(re.split(r"[\s\";:]+", record.model_dump_json())), record.id


def test_no_cell_states_the_provenance_of_its_values(root):
    for path in notebooks(root):
        for cell in json.loads(path.read_text())["cells"]:
            source = "".join(cell["source"])
            # of a frame built by the cell from study.yaml
            stripped = re.sub(r"\.assign\(\s*provenance=", "", source)
            assert not re.search(r"\b(of|provenance)=\[?[\"']", stripped), (
                source
            )  # the provenance is derived from the values


def test_no_estimate_is_missing_due_to_a_misspelt_name(root):
    for path in notebooks(root):
        for cell in json.loads(path.read_text())["cells"]:
            for output in cell.get("outputs", ()):
                assert "unknown parameter" not in json.dumps(output), "".join(cell["source"])
