"""Synthesis of studies: values collected, compared, tabulated and plotted; mistakes reported."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from rawperf.core.errors import RawperfError
from tests.cases import each_case
from tests.report.plain import links, plain
from tests.report.synthesis.conftest import SYNTHESIS, build
from virtperf.check.everything import check_synthesis_file
from virtperf.check.problems import Problems
from virtperf.core.paths import Layout
from virtperf.core.provenance import Provenance
from virtperf.report import from_runs
from virtperf.report.synthesis.capacity import CurveValues, RatioGrid
from virtperf.report.synthesis.checks import matching_label
from virtperf.report.synthesis.definition import (
    Curve,
    JointGrid,
    QuantityRow,
    Reference,
    Sentence,
    SynthesisFile,
)
from virtperf.report.synthesis.loaded import Synthesis, load_synthesis
from virtperf.report.synthesis.sentences import sentence_problems
from virtperf.report.synthesis.tables import agreement
from virtperf.report.synthesis.values import (
    REFERENCE,
    Value,
    instances,
    quotients,
    scale_value,
    values,
)
from virtperf.study.definition import load_study

INF = math.inf


def value(study: str, *pieces: tuple[float, float]) -> Value:
    return Value(study, "label", "number", "allows", "", pieces, Provenance.RECONSTRUCTED, "")


def test_values_come_from_the_studies(synthesis: Synthesis) -> None:
    b, other, claim = synthesis.values["gain"]
    assert (b.kind, b.pieces, b.words) == ("allows", ((0.0, 3.0),), "at most 3")
    # 90 is more than twenty times 4: only the lower limit is shown, both are stored
    assert (other.words, other.pieces, other.reading) == (
        "at least 4",
        ((4.0, 90.0),),
        "another system",
    )
    # a claim of 66 % more, between 65.5 and 66.5
    assert claim.kind == "states" and claim.pieces == (
        (pytest.approx(1.655), pytest.approx(1.665)),
    )
    assert claim.link == "claim:other/more-at-8" and claim.provenance is Provenance.PUBLISHED
    assert (other.system, other.name) == ("Other 2, 2026", "Other 2, 2026: Other")
    peak = synthesis.values["best"][-1]
    assert peak.words == "System A peaks at 8 guests" and peak.text == f"states: {peak.words}"


def test_measured_runs_are_listed_with_the_text(synthesis: Synthesis) -> None:
    data = synthesis.studies["toy"]
    for levels, number in instances(data.study, "gain", {"system": "a"}):
        estimate = from_runs.estimate(data, number, 0.95)
        course = next(c for c in synthesis.curve_values if c.curve.study == "toy")
        (found,) = [values for ratio, values in course.points if ratio == levels[0] / 2]
        measured = [v for v in found if v.kind == "measured"]
        assert len(measured) == (estimate is not None and estimate.available)
        assert all(
            (v.value, v.pieces) == (estimate.value, ((estimate.low, estimate.high),))
            for v in measured
        )


@each_case(
    ("pieces", "outcome"),
    [
        ([((1.0, 1.02),), ((1.01, 1.04),)], "They agree within 5 %, from 1 to 1.04."),
        ([((1.951, 1.967),), ((2.0001, 2.0014),)], "They agree within 5 %, from 1.95 to 2."),
        ([((1.0, 1.1),), ((1.2, 1.3),)], "They differ."),
        # touching intervals, and ranges of which each holds much that the other excludes
        (
            [((0.92, 0.965),), ((0.962, 1.0),)],
            "Not decided: the ranges overlap or are less than 5 % apart.",
        ),
        (
            [((1.0, 1.2), (1.3, 1.4)), ((1.22, 1.24),)],
            "Not decided: the ranges overlap or are less than 5 % apart.",
        ),
    ],
)
def test_studies_agree_if_all_values_are_close(pieces, outcome) -> None:
    found = agreement([value(f"s{k}", *p) for k, p in enumerate(pieces)])
    assert found is not None and found.words == outcome
    assert bool(found.apart) == (outcome == "They differ.") and not found.left_out


def test_only_values_with_two_close_limits_are_compared() -> None:
    assert agreement([value("a", (1, 1.1)), value("a", (3, 3.1))]) is None
    for open_or_wide in ((1.1, INF), (0.0, 1.145), (0.014, 1.145), (1.0, 1.6)):
        assert agreement([value("a", (1, 1.1)), value("b", open_or_wide), value("c")]) is None
    found = agreement([value("a", (1, 1.1)), value("b", (1, 1.1)), value("c", (1.1, INF))])
    assert found is not None and [v.study for v in found.left_out] == ["c"]


def test_pages_show_questions_and_answers(synthesis: Synthesis) -> None:
    head = synthesis.question("growth")
    assert head.record is not None and head.record.drawing is not None
    text = plain(head)
    assert head.record.heading == "Growth" and "Twice the guests: at most 3." in text
    assert "Nothing of B: allows at most 3; Other 2, 2026: Other: allows at least 4" in text
    assert {"exhibit:toy/figure-2", "claim:other/more-at-8"} <= set(links(head))
    assert head.record.provenance == (Provenance.PUBLISHED, Provenance.RECONSTRUCTED)
    matrix = plain(synthesis.matrix())
    assert "Other 2, 2026" in matrix and "Growth, toy" not in matrix
    # B at most 3, Other at least 4: neither has two limits
    assert "Throughput with eight guests" not in plain(synthesis.agreements())
    growth = text
    assert "another system" in growth and "states: System A peaks at 8 guests" in growth
    assert "6 of 7" in plain(synthesis.coverage())
    with pytest.raises(RawperfError, match="growth"):
        synthesis.question("grwth")


def test_capacity_at_between_and_beyond_tested_ratios(synthesis: Synthesis) -> None:
    toy, second, other = synthesis.curve_values
    assert [[ratio for ratio, _ in course.points] for course in synthesis.curve_values] == [
        [0.5, 1.0, 2.0],
        [0.5, 1.0, 2.0],
        [1.0, 2.0, 4.0],
    ]
    assert "1.8 to 16.6" in toy.at(1).words and "about 1.66" in toy.at(2).words
    assert toy.at(0.5).words == "1 (reference)"
    assert second.measure == "throughput per guest" and "about 0.415" in second.at(2).words
    assert other.system == "Other 2, 2026" and other.measure == "CPU cost"
    # in between: from minimum to maximum of both neighbours, without estimate
    low, high = toy.at(1.5).ends
    ends = [e for _, values in toy.points[1:] for v in values for piece in v.pieces for e in piece]
    assert (low, high) == (min(ends), max(ends))
    assert "between the tested ratios 1 and 2" in toy.at(1.5).words
    assert "about" not in toy.at(1.5).words
    assert toy.at(2.5).words == "outside the tested range, 0.5 to 2" and math.isnan(
        toy.at(2.5).ends[0]
    )
    exhibit = synthesis.capacity("cpu", [1, 2.5])
    assert exhibit.figure is not None and "outside the tested range" in plain(exhibit)
    assert synthesis.capacity("memory", [2]).figure is None  # its curve has no throughput
    assert "At least 95 % at" in plain(synthesis.limits())


def test_tested_ratios_are_sorted_by_certainty() -> None:
    curve = Curve(
        study="s",
        label="l",
        derived="d",
        of="cpu",
        measure="throughput",
        against="a",
        one=1,
        reference=1,
    )
    points = ((1.0, (1, 1)), (2.0, (0.95, 1.2)), (3.0, (0.9, 0.96)), (4.0, (0.5, 0.9)))
    found = CurveValues(
        curve, "", "throughput", tuple((r, (value("s", ends),)) for r, ends in points)
    )
    assert (found.limits.kept, found.limits.unknown, found.limits.lost) == ((2.0,), (3.0,), (4.0,))


def test_quotients_and_multiples_are_conservative() -> None:
    (found,) = quotients([value("s", (2, 3))], [value("s", (4, 8))])
    assert found.pieces == ((0.25, 0.75),)
    assert quotients([value("s", (2, 3))], [value("s", (0, 8))])[0].pieces == ((0.25, INF),)
    half = scale_value(value("s", (1.0, 1.2), (2.0, 2.2)), 0.5)
    assert half.pieces == ((0.5, 0.6), (1.0, 1.1)) and half.words == "0.5 to 0.6 or 1 to 1.1"


def test_grid_combines_both_ratios() -> None:
    axis = {"over": 8, "reference": 8}
    asked = JointGrid(
        study="s",
        label="l",
        derived="d",
        measure="throughput",
        against="all",
        cpu={"factor": "cpus", **axis},
        memory={"factor": "memory", **axis},
    )
    reference = Value("s", "l", "n", REFERENCE, "", ((1, 1),), Provenance.RECONSTRUCTED, "")
    cells = {(1.0, 1.0): (reference,)}
    cells |= {(x, y): (value("s", (1 / x / y, 1)),) for x in (2.0, 4.0) for y in (2.0, 4.0)}
    grid = RatioGrid(asked, "S 1, 2026", cells)
    assert grid.at(1, 1) == "1 (reference)" and grid.at(2, 4).startswith("allows")
    between = "between the tested ratios: CPU 2 to 4 and memory 2 to 4"
    assert grid.at(3, 2.5) == f"allows 0.0625 to 1 {between}"
    assert grid.at(2, 3).endswith("CPU 2 and memory 2 to 4")
    assert "a neighbouring tested ratio has no number" in grid.at(1.5, 1.5)
    assert grid.at(5, 2) == "outside the tested range, CPU ratios 1 to 4 and memory ratios 1 to 4"


def test_related_study_needs_a_cell_or_a_reason(tmp_path: Path) -> None:
    data = build(tmp_path)
    other = load_study(data / "published" / "other")
    assert matching_label(other, ["guests"]).startswith("factor guests")
    assert matching_label(other, ["nowhere"]) == ""
    one_study = SYNTHESIS.replace("study: other, label: Other", "study: toy, label: Other")
    one_study = one_study.replace("{study: other, label: Said, claim: more-at-8}", "")
    one_study = one_study.replace("{study: other, label: B, claim: best-at-8}", "").replace(
        "          - \n", ""
    )
    one_study = one_study.replace("asks: What do more", "words: [guests]\n    asks: What do more")
    for unused, message in [
        ("", "other is relevant to the question 'growth'"),
        ("    unused: {other: It varies something else.}\n", ""),
        (
            "    unused: {toy: It varies something else., other: It varies something.}\n",
            "names toy",
        ),
    ]:
        text = one_study.replace("    words: [guests]\n", f"    words: [guests]\n{unused}")
        (data / "synthesis.yaml").write_text(text)
        problems = Problems(tmp_path)
        studies = {"toy": load_study(data / "published" / "toy"), "other": other}
        check_synthesis_file(Layout(tmp_path), studies, problems)
        assert [message in str(problem) for problem in problems] == [True] * bool(message), list(
            problems
        )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("derived: peak", "derived: peek", "has no derived number 'peek'.*peak"),
        ("claim: best-at-8", "claim: best-at-9", "no claim 'best-at-9'.*best-at-8"),
        ("study: other, label: Other", "study: othr, label: Other", "no study 'othr'.*other"),
        ("at: {system: b, guests: 4}", "at: {system: b}", "gain has 2 numbers"),
        ("at: {system: b, guests: 4}", "at: {system: b, guests: 3}", "no number for guests 3"),
        (
            "at: {system: b, guests: 4}}",
            "at: {system: b, guests: 4}, claim: flat}",
            "exactly one of",
        ),
        ("derived: gain, at: {system: b, guests: 4}", "derived: storage", "storage is not a ratio"),
        ("one: 2", "one: 2, over: 3", "either"),
        (
            "label: Other, derived",
            "system: none, label: Other, derived",
            "has no system 'none'.*only",
        ),
        ("claim: more-at-8}", "claim: more-at-8, times: 2}", "need a `derived` number"),
        (
            "label: A, derived: gain, at: {system: a}, of: cpu",
            "label: A, derived: gain, of: cpu",
            "has no numeric axis",
        ),
        ("rests_on: [gain]", "rests_on: [gin]", "no row 'gin'"),
        ("- id: best", "- id: gain", "two rows are named 'gain'"),
    ],
)
def test_mistakes_are_reported(tmp_path: Path, old: str, new: str, message: str) -> None:
    data = build(tmp_path)
    assert old in SYNTHESIS
    (data / "synthesis.yaml").write_text(SYNTHESIS.replace(old, new, 1))
    studies = {name: load_study(data / "published" / name) for name in ("toy", "other")}
    problems = Problems(tmp_path)
    check_synthesis_file(Layout(tmp_path), studies, problems)
    (found,) = problems
    assert re.search(message, str(found)), str(found)


@each_case(
    ("says", "rests_on", "message"),
    [
        ("With eight guests it is {gain/toy}, or 1,234.", "gain", "the number 1234 is typed"),
        ("With eight guests it is {best/toy}.", "gain", "the row best is not in rests_on"),
        ("The measured ratio is {gain/other}.", "gain", "beside the word “measured”"),
        (
            "It is {gain/toy}, and ten times as much elsewhere.",
            "gain",
            "supports the words “ten times”",
        ),
        ("It is {best/other}.", "best", "has no number"),
        ("With eight guests against four it is {gain/toy}.", "gain", ""),
    ],
)
def test_sentences_are_checked(
    synthesis: Synthesis, says: str, rests_on: str, message: str
) -> None:
    sentence = Sentence(about="Throughput", says=says, rests_on=(rests_on,))
    found = sentence_problems(sentence, synthesis.file.rows, synthesis.values, synthesis.studies)
    words = [str(problem) for problem in found]
    assert [message in problem for problem in words] == [True] * bool(message), words


def test_measured_value_is_computed_again_from_the_means(synthesis: Synthesis) -> None:
    cell = Reference(study="toy", label="A", derived="gain", at={"system": "a", "guests": 4})
    row = QuantityRow(id="again", says="Throughput of eight guests", cells=(cell,))
    sentence = Sentence(about="Throughput", says="It is {again}.", rests_on=("again",))
    found = values(synthesis.studies, row, synthesis.level)
    assert [value.kind for value in found][-1] == "measured"

    def problems(given: list[Value]) -> list[str]:
        rows = {"again": row}
        studies = synthesis.studies
        return [str(p) for p in sentence_problems(sentence, rows, {"again": given}, studies)]

    assert not problems(found)
    wrong = replace(found[-1], value=1.3 * found[-1].value)
    assert any("not the number of the plotted means" in p for p in problems([*found[:-1], wrong]))


def test_example_has_no_problems(tmp_path: Path) -> None:
    data = build(tmp_path)
    problems = Problems(tmp_path)
    check_synthesis_file(
        Layout(tmp_path),
        {n: load_study(data / "published" / n) for n in ("toy", "other")},
        problems,
    )
    assert not len(problems)
    (data / "synthesis.yaml").unlink()
    check_synthesis_file(Layout(tmp_path), {}, problems)  # the file is optional
    assert not len(problems)
    with pytest.raises(RawperfError, match=r"synthesis\.yaml"):
        load_synthesis(data)


def test_pictures_have_rows_of_ratios() -> None:
    file = yaml.safe_load(SYNTHESIS)
    file["answers"] = [{"says": "Eight guests against two", "row": "none"}]
    with pytest.raises(ValueError, match="no row 'none'"):
        SynthesisFile.model_validate(file)
    file["answers"] = [{"says": "Eight guests against two", "row": "best"}]
    with pytest.raises(ValueError, match="not ratios"):
        SynthesisFile.model_validate(file)
