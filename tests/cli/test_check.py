"""`virtperf check`: exit status and messages."""

from __future__ import annotations

from tests.study.new.conftest import layout as layout
from virtperf.study.new.write import write_study

NONE = "no problems in 1 study, 0 measured runs, src/rawperf/metrics.yaml, data/readings.yaml, params.yaml."
LEFT = (
    "14 lines with EXAMPLE placeholders to be replaced: data/published/mine/claims.yaml (2), data/published/mine/study.yaml (8), "
    "data/published/mine/tables/table-1.csv (2), notebooks/mine.ipynb (2)."
)


def test_exit_status_reflects_problems(run, layout):
    write_study(layout, "mine")
    before = layout.parameters.read_text()
    layout.parameters.write_text(before.replace("- mine", "- mine\n    - first"))
    root = ("--root", str(layout.root))
    output = run(*root, "check", status=1).output.splitlines()
    assert output == [
        f"params.yaml line {before.count(chr(10), 0, before.index('- mine')) + 2}: studies/papers: first is not the id of a paper. "
        "Remove the line, or add the study",
        "1 problem in 1 study, 0 measured runs, src/rawperf/metrics.yaml, data/readings.yaml, params.yaml.",
        LEFT,
    ]
    layout.parameters.write_text(before)
    assert run(*root, "check", "mine").output.splitlines() == [NONE, LEFT]


def test_remaining_example_placeholders_are_counted(run, layout):
    folder, notebook = layout.published("mine"), layout.notebook("mine")
    write_study(layout, "mine")
    files = [folder / "study.yaml", folder / "claims.yaml", folder / "tables" / "table-1.csv"]
    for path in files:
        lines = path.read_text().splitlines()
        path.write_text(
            "\n".join(
                ln if ln.lstrip()[:1] == "#" else ln.replace("EXAMPLE", "Mine") for ln in lines
            )
        )
    left = run("--root", str(layout.root), "check").output.splitlines()
    assert run("--root", str(layout.root), "check", "--final", status=1).output.splitlines() == left
    assert left == [
        NONE,
        "2 lines with EXAMPLE placeholders to be replaced: notebooks/mine.ipynb (2).",
    ]
    notebook.write_text(notebook.read_text().replace("EXAMPLE", "Mine"))
    assert run("--root", str(layout.root), "check").output.splitlines() == [NONE]


def test_unknown_study_is_one_line(run, layout):
    write_study(layout, "mine")
    output = run("--root", str(layout.root), "check", "yours", status=1).output
    assert output.startswith("Error: there is no study 'yours'; expected one of mine")
