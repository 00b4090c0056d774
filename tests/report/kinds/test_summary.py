"""The head of a report: its findings with how sure they are, and the study in numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rawperf.core.errors import StudyError
from tests.report import toy
from tests.report.plain import links, plain
from virtperf.report.kinds.summary import measured_finding_text
from virtperf.report.loaded import LoadedStudy, load_study
from virtperf.report.written_for import basis, changes
from virtperf.study.yaml_edit import set_in_entry

FINDINGS = """
headline_figure: figure-2
findings:
  - {says: "Throughput of the host is highest with 8 guests, more or less.", rests_on: [best-at-8]}
  - {says: "It is flat from 4 to 8 guests, and best with 8 of them.", rests_on: [flat, best-at-8]}
"""


def with_findings(root: Path, findings: str) -> LoadedStudy:
    data = toy.build(root)
    path = data / "published" / "toy" / "study.yaml"
    path.write_text(path.read_text() + findings)
    found = {
        "dropped": ["flat"],
        "contradictions": [
            {"conflicts": [["best-at-8", "flat"]], "always": ["flat"], "choices": []}
        ],
    }
    (data / "reconstructed" / "toy" / "contradictions.json").write_text(json.dumps(found))
    return load_study("toy", data)


def test_a_finding_says_how_sure_it_is_and_links_to_what_it_rests_on(tmp_path: Path) -> None:
    study = with_findings(tmp_path, FINDINGS)
    shown = study.summary()
    said = plain(shown)
    verdicts = {c: study.data.result(c)["text_verdict"] for c in ("best-at-8", "flat")}
    assert "Throughput of the host is highest with 8 guests" in said
    assert {"claim:best-at-8", "claim:flat"} <= links(shown)
    assert ("#contradiction-1" in links(shown)) == bool(
        {"contradicted", "depends"} & set(verdicts.values())
    )
    assert shown.figure is not None and shown.record.drawing is not None
    assert "Figure 2: Throughput over guests" in shown.record.title


def test_a_finding_that_names_no_claim_is_an_error(tmp_path: Path) -> None:
    study = with_findings(tmp_path, FINDINGS.replace("[best-at-8]", "[best-at-9]"))
    with pytest.raises(StudyError, match="there is no claim 'best-at-9'"):
        study.summary()


def test_the_number_of_a_claim_that_prints_none_is_an_error(tmp_path: Path) -> None:
    study = with_findings(tmp_path, FINDINGS.replace("8 guests, more", "{best-at-8} guests, more"))
    with pytest.raises(StudyError, match="the claim best-at-8 has no number"):
        study.summary()


def test_without_findings_the_summary_of_the_study_is_shown(loaded: LoadedStudy) -> None:
    assert "plotted points known" in plain(loaded.summary())


MEASURED = """
findings:
  - says: "With eight guests, throughput is {kept} of that with four."
    numbers:
      kept: {of: "throughput[guests=8]", to: "throughput[guests=4]", show: percent, low: 100}
"""


def test_a_measured_finding_has_the_number_of_its_runs(tmp_path: Path) -> None:
    data = with_findings(tmp_path, MEASURED).data
    (finding,) = data.study.findings
    said, intervals = measured_finding_text(data, finding, 0.95)
    assert said == "With eight guests, throughput is 152 % of that with four."
    assert intervals.startswith("95 % CI 1") and intervals.endswith(" runs.")


def test_a_sentence_that_the_runs_do_not_support_is_an_error(tmp_path: Path) -> None:
    data = with_findings(tmp_path, MEASURED.replace("low: 100", "high: 100")).data
    with pytest.raises(StudyError, match="the runs do not support the limits given for kept"):
        measured_finding_text(data, data.study.findings[0], 0.95)


def test_a_number_that_nothing_measured_is_an_error(tmp_path: Path) -> None:
    data = with_findings(tmp_path, MEASURED.replace("guests=4", "guests=16")).data
    with pytest.raises(StudyError, match="no measured run for the number kept"):
        measured_finding_text(data, data.study.findings[0], 0.95)


BOTH = """
findings:
  - says: "With eight guests, throughput is {kept} of that with four."
    numbers:  # of runs
      kept: {of: "throughput[guests=8]", to: "throughput[guests=4]", show: percent, low: 100}
    rests_on: [flat, best-at-8]  # of the paper

  # the next one
"""


def test_a_finding_says_what_changed_since_it_was_written(tmp_path: Path) -> None:
    study = with_findings(tmp_path, BOTH)
    (finding,) = study.study.findings
    path = study.study.document.path
    now = basis(study.data, finding, 0.95)
    assert list(now) == ["kept", "flat", "best-at-8"] and now["kept"] == "152 %"
    set_in_entry(path, "findings", 0, "written_for", now)
    kept = load_study("toy", path.parents[2])
    assert changes(kept.data, kept.study.findings[0], 0.95) == ()
    text = path.read_text().replace('"152 %"', '"140 %"')
    path.write_text(text.replace('best-at-8: "', 'gone: "x"\n      best-at-8: "'))
    claims = path.with_name("claims.yaml")
    claims.write_text(claims.read_text().replace("margin: 0.02", "margin: 0.03"))
    changed = load_study("toy", path.parents[2])
    assert changes(changed.data, changed.study.findings[0], 0.95) == (
        "the number kept was 140 %, is 152 %",
        "the claim “Nothing is lost at 16 guests” was changed",
        "it no longer rests on gone",
    )


def test_the_head_of_a_report_tells_it(tmp_path: Path) -> None:
    stale = FINDINGS.replace(
        "rests_on: [best-at-8]", "rests_on: [best-at-8], written_for: {flat: x}"
    )
    said = plain(with_findings(tmp_path, stale).summary())
    assert said.count("Since this was written") == 1
    assert "it no longer rests on flat" in said and "it also rests on the claim" in said
