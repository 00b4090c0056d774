"""virtperf check: exit status and words."""

from __future__ import annotations

from tests.skeleton.conftest import layout as layout
from virtperf.skeleton.write import write_study


def test_status_tells_whether_there_are_problems(run, layout):
    write_study(layout, "mine")
    root = ("--root", str(layout.root))
    said = run(*root, "check", status=1).output.splitlines()
    assert said == [
        "dvc.yaml line 4: reconstruct, ingest for 'first', which has no study.yaml. Remove it from foreach, or add the study",
        "1 problem in 1 study, 0 measured runs, data/metrics.yaml, params.yaml, dvc.yaml.",
    ]
    pipeline = layout.root / "dvc.yaml"
    pipeline.write_text(pipeline.read_text().replace("      - first   # the oldest one\n", ""))
    assert (
        run(*root, "check", "mine").output
        == "no problems in 1 study, 0 measured runs, data/metrics.yaml, params.yaml, dvc.yaml.\n"
    )


def test_an_unknown_study_is_one_line(run, layout):
    write_study(layout, "mine")
    said = run("--root", str(layout.root), "check", "yours", status=1).output
    assert said.startswith("Error: there is no study 'yours'; expected one of mine")
