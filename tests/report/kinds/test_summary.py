"""The head of a report: findings with certainty, and the study's key numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rawperf.core.errors import StudyError
from tests.cases import each_case
from tests.report import toy
from tests.report.plain import links, plain
from virtperf.core.stage_tables import RANGES
from virtperf.report import plot
from virtperf.report.findings import title
from virtperf.report.frames import StudyData
from virtperf.report.html.record import record_html
from virtperf.report.loaded import LoadedStudy, load_study
from virtperf.report.written_for import basis, changes
from virtperf.study.parts import Finding
from virtperf.study.yaml_edit import set_in_entry

FINDINGS = """
findings:
  - {says: "Throughput of the host is highest with 8 guests, more or less.", rests_on: [best-at-8], figure: figure-2}
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


def test_finding_has_certainty_and_links_to_evidence(tmp_path: Path) -> None:
    study = with_findings(tmp_path, FINDINGS)
    exhibit = study.summary()
    text = plain(exhibit)
    verdicts = {c: study.data.result(c)["text_verdict"] for c in ("best-at-8", "flat")}
    assert "Throughput of the host is highest with 8 guests" in text
    assert {"claim:best-at-8", "claim:flat"} <= links(exhibit)
    assert ("#contradiction-1" in links(exhibit)) == bool(
        {"contradicted", "depends"} & set(verdicts.values())
    )
    assert exhibit.figure is not None and exhibit.record.drawing
    assert "Figure 2: Throughput over guests" in exhibit.record.title


def test_headline_figure_can_be_drawn_by_the_notebook(tmp_path: Path) -> None:
    study = with_findings(tmp_path, FINDINGS)
    picture = plot.lines(study.points("figure-2"), x="guests", hue="series")
    exhibit = study.summary(picture.axes[0])
    assert exhibit.figure is picture and exhibit.record.drawing
    assert exhibit.record.title == study.summary().record.title


def test_finding_is_the_title_of_its_figure(tmp_path: Path) -> None:
    study = with_findings(tmp_path, FINDINGS)
    shown = study.exhibit("figure-2").record
    assert shown.shows == "Throughput of the host is highest with 8 guests, more or less."
    page = str(record_html(shown))
    assert page.index(shown.shows) < page.index("<svg")
    assert not study.exhibit("figure-5").record.shows


def test_sentence_of_the_claim_that_an_exhibit_shows_is_its_title(tmp_path: Path) -> None:
    data = toy.build(tmp_path)
    path = data / "published" / "toy" / "study.yaml"
    caption = "title: Utilization by encryption\n"
    path.write_text(path.read_text().replace(caption, f"{caption}    shows: busy\n") + FINDINGS)
    study = load_study("toy", data)
    titles = {e.id: study.exhibit(e.id).record.shows for e in study.study.exhibits}
    assert titles["figure-3"] == "Hardware encryption needs 80 %."
    assert titles["figure-2"].startswith("Throughput of the host") and not titles["figure-5"]


BUSY = "Hardware encryption needs 80 %."


def judged(loaded: LoadedStudy, **verdicts: str) -> StudyData:
    """The toy study with other verdicts on the claim `busy`: `text_verdict`, `measured_verdict`."""
    tables = {"text_verdict": "claim_results", "measured_verdict": "verdicts"}
    changed = {}
    for column, verdict in verdicts.items():
        table = getattr(loaded.data, tables[column]).copy()
        table.loc[table["claim"] == "busy", column] = verdict
        changed[tables[column]] = table
    return replace(loaded.data, **changed)


@each_case(
    ("verdict", "added"),
    [
        ("independent", ""),
        ("corroborated", ""),
        ("contradicted", " Other claims conflict with this."),
        ("depends", " Other claims disagree on this."),
    ],
)
@each_case("named", [True, False])
def test_title_says_that_other_claims_conflict(
    loaded: LoadedStudy, verdict: str, added: str, named: bool
) -> None:
    data = judged(loaded, text_verdict=verdict)
    exhibit = loaded.study.exhibit("figure-3")
    if named:
        exhibit = exhibit.model_copy(update={"shows": ("busy",)})
    else:
        finding = Finding.model_validate({"says": BUSY, "rests_on": ["busy"], "figure": "figure-3"})
        data = replace(data, study=data.study.model_copy(update={"findings": (finding,)}))
    assert title(data, exhibit, 0.95) == f"{BUSY}{added}"


def test_title_leaves_a_conflict_by_our_readings_only_to_the_details(loaded: LoadedStudy) -> None:
    entry = {"conflicts": [["busy", "idle"]], "readings": ["idle"]}
    data = replace(
        judged(loaded, text_verdict="contradicted"), contradictions={"contradictions": [entry]}
    )
    exhibit = loaded.study.exhibit("figure-3").model_copy(update={"shows": ("busy",)})
    assert title(data, exhibit, 0.95) == BUSY


@each_case(
    ("verdict", "added"),
    [("reproduced", ""), ("undecided", ""), ("refuted", " Measured runs refute this.")],
)
def test_title_says_that_runs_of_others_refute_it(
    loaded: LoadedStudy, verdict: str, added: str
) -> None:
    data = judged(loaded, measured_verdict=verdict)
    exhibit = loaded.study.exhibit("figure-3").model_copy(update={"shows": ("busy",)})
    assert title(data, exhibit, 0.95) == f"{BUSY}{added}"


@each_case("verdict", ["undecided", "refuted", "no measurement"])
def test_title_that_own_runs_do_not_support_is_an_error(loaded: LoadedStudy, verdict: str) -> None:
    data = judged(loaded, measured_verdict=verdict)
    data = replace(data, study=data.study.model_copy(update={"kind": "measured"}))
    exhibit = loaded.study.exhibit("figure-3").model_copy(update={"shows": ("busy",)})
    with pytest.raises(StudyError, match="figure-3: the runs do not support the title") as caught:
        title(data, exhibit, 0.95)
    assert caught.value.found == verdict or verdict in str(caught.value)


def test_finding_with_an_unknown_figure_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="figure 'figure-22' is not a figure with points") as error:
        with_findings(tmp_path, FINDINGS.replace("figure: figure-2", "figure: figure-22"))
    assert "figure-2" in str(error.value)


def test_finding_without_claim_is_an_error(tmp_path: Path) -> None:
    study = with_findings(tmp_path, FINDINGS.replace("[best-at-8]", "[best-at-9]"))
    with pytest.raises(StudyError, match="there is no claim 'best-at-9'"):
        study.summary()


def test_number_of_a_claim_without_number_is_an_error(tmp_path: Path) -> None:
    study = with_findings(tmp_path, FINDINGS.replace("8 guests, more", "{best-at-8} guests, more"))
    with pytest.raises(StudyError, match="the claim best-at-8 has no number"):
        study.summary()


def test_summary_is_shown_without_findings(loaded: LoadedStudy) -> None:
    assert "plotted points known" in plain(loaded.summary())


BOTH = """
findings:
  - says: "With eight guests, throughput is {kept} of that with four."
    numbers:  # of runs
      kept: {of: "throughput[guests=8]", to: "throughput[guests=4]", show: percent, low: 100}
    rests_on: [flat, best-at-8]  # of the paper

  # the next one
"""


def test_outdated_finding_is_reported(tmp_path: Path) -> None:
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


def test_report_head_shows_outdated_findings(tmp_path: Path) -> None:
    stale = FINDINGS.replace(
        "rests_on: [best-at-8]", "rests_on: [best-at-8], written_for: {flat: x}"
    )
    text = plain(with_findings(tmp_path, stale).summary())
    assert text.count("Since this was written") == 1
    assert "it no longer rests on flat" in text and "it also rests on the claim" in text


def test_finding_names_the_range_that_excludes_its_printed_number(tmp_path: Path) -> None:
    finding = '\nfindings:\n  - {says: "Rises by {more-at-8}.", rests_on: [more-at-8]}\n'
    loaded = with_findings(tmp_path, finding)
    assert "by all its statements" not in plain(loaded.summary())
    path = next(tmp_path.rglob(RANGES.file))
    table = RANGES.read(path)
    row = table.index[table["label"].str.contains("8 / 4 guests")][0]
    table.at[row, "printed"] = [1.66]
    table.at[row, "low_text"], table.at[row, "high_text"] = 1.7, 1.8
    RANGES.write(table, path)
    text = plain(load_study("toy", path.parents[2]).summary())
    assert f"by all its statements, {table.at[row, 'label']}: 1.7 to 1.8" in text
