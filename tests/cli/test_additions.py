"""`virtperf add exhibit` and `virtperf add claim` write entries that `virtperf check` accepts but for EXAMPLE."""

from __future__ import annotations

import json

import pytest

from rawperf.core.errors import StudyError
from tests.study.new.conftest import layout as layout
from virtperf.check.everything import check_everything, placeholders
from virtperf.check.study_notebook import shown_exhibits
from virtperf.core.paths import Layout
from virtperf.study.definition import load_study
from virtperf.study.hypotheses import study_claims
from virtperf.study.new.additions import add_claim
from virtperf.study.new.write import write_study

STUDY = "mine"


def test_each_exhibit_kind_gets_entry_file_and_cell(run, layout: Layout) -> None:
    for measured in (False, True):
        study_id = f"{STUDY}-{measured}".lower()
        write_study(layout, study_id, measured=measured)
        cells = len(json.loads(layout.notebook(study_id).read_text())["cells"])
        add = ("--root", str(layout.root), "add", "exhibit", study_id)
        assert run(*add).output == "Nothing to add.\n"
        run(*add, "figure-7", "line", "title=A: of all")
        if not measured:
            output = run(*add, "table-2", "table").output
            assert f"data/published/{study_id}/tables/table-2.csv" in output
        refused = run(*add, "figure-8", "bar", "quantity=through", status=1).output
        assert "unknown quantity 'through'" in refused
        assert "no kind of exhibit 'lines'" in run(*add, "figure-8", "lines", status=1).output
        study = load_study(layout.definition(study_id))
        figure = next(exhibit for exhibit in study.exhibits if exhibit.id == "figure-7")
        assert figure.title == "A: of all" and len(figure.series) == 1
        problems, _ = check_everything(layout, [study_id])
        assert [str(p) for p in problems] == []
        notebook = json.loads(layout.notebook(study_id).read_text())["cells"]
        sources = ["".join(cell["source"]) for cell in notebook]
        # a new paper's notebook shows all exhibits in one cell
        assert len(notebook) == cells + measured
        ids = [exhibit.id for exhibit in study.exhibits]
        assert shown_exhibits(sources, ids) >= set(ids)


def test_rejected_arguments_are_quoted_in_the_error(run, layout: Layout) -> None:
    write_study(layout, STUDY)
    key = "throughput[system=b, guests=4]"
    add = ("--root", str(layout.root), "add", "claim", STUDY, "half", "value", f"of={key}")
    for given, message in (
        ("value=abc", "Error: value=abc: wrong value; expected a number\n"),
        (
            "value=1e3",
            "value=1e3: wrong value; expected a number. YAML reads it as text: write 1.0",
        ),
        ("value=2026-11-28", "Error: value=2026-11-28: wrong value; expected a number\n"),
        ("off=2", "Error: claims/half: unknown key 'off'. Did you mean 'of'"),
        ("valu=2", "Error: claims/half: unknown key 'valu'. Did you mean 'value'"),
        ("about=[figure-9]", "unknown exhibit 'figure-9'"),
    ):
        output = run(*add, given, status=1).output
        assert message in output and " line " not in output
    assert "'of=2': of is given twice" in run(*add, "of=2", status=2).output
    add = ("--root", str(layout.root), "add", "exhibit", STUDY, "figure-8", "line")
    output = run(*add, "headline=1", status=1).output
    assert "line 1" not in output


def test_claim_is_inserted_in_order(run, layout: Layout) -> None:
    for measured, key in (
        (False, "throughput[system=b, guests=4]"),
        (True, "throughput[processes=4]"),
    ):
        study_id = f"{STUDY}-{measured}".lower()
        write_study(layout, study_id, measured=measured)
        add = ("--root", str(layout.root), "add", "claim", study_id)
        other = key.replace("4]", "1]")
        run(*add, "half", "ratio", f"of={key}", f"to={other}", "value=0.5", "half_width=0.05")
        study = load_study(layout.definition(study_id))
        claim = study_claims(study)["half"]
        assert (claim.low, claim.high) == (0.45, 0.55) and claim.exhibits == ("figure-1",)
        assert claim.ledger == (() if measured else ("c002",))
        problems, _ = check_everything(layout, [study_id])
        assert [str(problem) for problem in problems] == []
        assert "EXAMPLE" in placeholders(layout, [study_id])
        run(*add, "twice", "value", f"of=2 {key} - {other}", "value=1", "half_width=0.5")
        assert study_claims(load_study(study.folder))["twice"].exhibits == ("figure-1",)
        files = {p: p.read_bytes() for p in layout.definition(study_id).glob("*.yaml")}
        with pytest.raises(StudyError, match="'to' is missing"):
            add_claim(study, "other", "ratio", {"of": key, "value": 1, "half_width": 0.5})
        assert {p: p.read_bytes() for p in files} == files


def test_hypothesis_about_no_figure(run, layout: Layout) -> None:
    write_study(layout, STUDY, measured=True)
    path = layout.definition(STUDY) / "study.yaml"
    text = path.read_text()
    path.write_text(text[: text.index("exhibits:")] + "exhibits: []\n")
    hypotheses = path.with_name("hypotheses.yaml")
    hypotheses.write_text(hypotheses.read_text().replace(", about: [figure-1]", ""))
    key = "of=throughput[processes=4]"
    run("--root", str(layout.root), "add", "claim", STUDY, "one", "value", key, "low=1")
    assert study_claims(load_study(path.parent))["one"].exhibits == ()
    hypotheses.write_text(f"{hypotheses.read_text()}    about: text\n")
    problems, _ = check_everything(layout, [STUDY])
    assert any("unknown exhibit 'text'" in str(problem) for problem in problems)
