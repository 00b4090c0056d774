"""What studies say together: the values found, compared, tabled and drawn; mistakes in the file named."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from rawperf.core.errors import VirtperfError
from tests.report.plain import links, plain
from tests.report.synthesis.conftest import SYNTHESIS, build
from virtperf.check.everything import check_synthesis_file
from virtperf.check.problems import Problems
from virtperf.core.paths import Layout
from virtperf.core.provenance import Provenance
from virtperf.report import from_runs
from virtperf.report.synthesis.agreement import agreement, overlap
from virtperf.report.synthesis.loaded import Synthesis, load_synthesis
from virtperf.report.synthesis.values import Value, instances
from virtperf.study.definition import load_study

INF = math.inf


def value(study: str, *pieces: tuple[float, float]) -> Value:
    return Value(study, "label", "number", "allows", "", pieces, Provenance.RECONSTRUCTED, "")


def test_values_are_those_of_the_studies(synthesis: Synthesis) -> None:
    b, other, said = synthesis.values["gain"]
    assert (b.kind, b.pieces, b.words) == ("allows", ((0.0, 3.0),), "at most 3")
    # 90 is more than twenty times 4: only the lower end is told, both are kept
    assert (other.words, other.pieces, other.reading) == (
        "at least 4",
        ((4.0, 90.0),),
        "another system",
    )
    # a claim of 66 % more, between 65.5 and 66.5
    assert said.kind == "states" and said.pieces == ((pytest.approx(1.655), pytest.approx(1.665)),)
    assert said.link == "claim:other/more-at-8" and said.provenance is Provenance.PUBLISHED
    assert synthesis.values["best"][-1].words == "order only: System A peaks at 8 guests"


def test_measured_runs_stand_beside_the_text(synthesis: Synthesis) -> None:
    data = synthesis.studies["toy"]
    for levels, number in instances(data.study, "gain", {"system": "a"}):
        estimate = from_runs.estimate(data, number, 0.95)
        (course,) = [c for c in synthesis.courses if c.curve.study == "toy"]
        (found,) = [values for ratio, values in course.points if ratio == levels[0] / 2]
        measured = [v for v in found if v.kind == "measured"]
        assert len(measured) == (estimate is not None and estimate.available)
        assert all(
            (v.value, v.pieces) == (estimate.value, ((estimate.low, estimate.high),))
            for v in measured
        )


@pytest.mark.parametrize(
    ("pieces", "apart", "common"),
    [
        ([((1, 2),), ((2, 3),)], 0, ((2, 2),)),
        ([((1, 2),), ((2.1, 3),)], 1, ()),
        ([((1, 2), (4, 5)), ((1.5, 4.5),)], 0, ((1.5, 2), (4, 4.5))),
        ([((1, INF),), ((0, 3),), ((2, 9),)], 0, ((2, 3),)),
    ],
)
def test_studies_agree_where_ranges_meet(pieces, apart, common) -> None:
    found = agreement([value(f"s{k}", *p) for k, p in enumerate(pieces)])
    assert found is not None and (len(found.apart), found.common) == (apart, common)
    assert ("nothing in common" in found.words) == bool(apart)


def test_values_without_limits_or_of_one_study_are_not_compared() -> None:
    assert agreement([value("a", (1, 2)), value("a", (3, 4))]) is None
    assert agreement([value("a", (1, 2)), value("b", (-INF, INF)), value("c")]) is None
    within = agreement([value("a", (1, 2)), value("a", (3, 4)), value("b", (0, 9))])
    assert within is not None and not within.apart and "Within a study" in within.words
    assert overlap([(0, 1)], [(2, 3)]) == ()


def test_pages(synthesis: Synthesis) -> None:
    head = synthesis.summary()
    assert head.record is not None and head.record.drawing is not None
    assert (
        "Twice the guests: B: allows at most 3. Nothing of B: allows at most 3; Other: allows at least 4"
        in plain(head)
    )
    assert {"exhibit:toy/figure-2", "claim:other/more-at-8"} <= set(links(head))
    assert head.record.provenance == (Provenance.PUBLISHED, Provenance.RECONSTRUCTED)
    matrix = plain(synthesis.matrix())
    assert (
        "Throughput with eight guests against four" in matrix
        and "order only: System A peaks" in matrix
    )
    # B at most 3, Other at least 4, Said about 1.66: B and Said can agree, Other's two differ within one study
    agreements = plain(synthesis.agreements())
    assert (
        "1 pair of values has nothing in common" in agreements
        and "Where the peak is" not in agreements
    )
    assert "another system" in plain(synthesis.question("growth"))
    assert "6 of 7" in plain(synthesis.coverage())
    with pytest.raises(VirtperfError, match="growth"):
        synthesis.question("grwth")


def test_capacity_at_between_and_beyond_tested_ratios(synthesis: Synthesis) -> None:
    toy, other = synthesis.courses
    assert [ratio for ratio, _ in toy.points] == [1.0, 2.0] and [
        ratio for ratio, _ in other.points
    ] == [2.0, 4.0]
    assert "1.8 to 16.6" in toy.at(1).words and "about 1.66" in toy.at(2).words
    # between: from the smallest to the largest on both sides
    low, high = toy.at(1.5).ends
    ends = [e for _, values in toy.points for v in values for piece in v.pieces for e in piece]
    assert (low, high) == (min(ends), max(ends)) and "between the tested ratios 1 and 2" in toy.at(
        1.5
    ).words
    assert toy.at(2.5).words == "not tested (only 1 to 2)" and math.isnan(toy.at(2.5).ends[0])
    shown = synthesis.capacity("cpu", [1, 2.5])
    assert shown.figure is not None and "not tested" in plain(shown)
    assert synthesis.capacity("memory", [2]).figure is None  # its curve has no throughput


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("derived: peak", "derived: peek", "derives no 'peek'.*peak"),
        ("claim: best-at-8", "claim: best-at-9", "no claim 'best-at-9'.*best-at-8"),
        ("study: other, label: Other", "study: othr, label: Other", "no study 'othr'.*other"),
        ("at: {system: b, guests: 4}", "at: {system: b}", "stands for 2 numbers"),
        ("at: {system: b, guests: 4}", "at: {system: b, guests: 3}", "no number for guests 3"),
        ("at: {system: b, guests: 4}}", "at: {system: b, guests: 4}, claim: flat}", "either"),
        ("derived: gain, at: {system: b, guests: 4}", "derived: storage", "storage is no ratio"),
        ("one: 2", "one: 2, over: 3", "either"),
        (
            "label: A, derived: gain, at: {system: a}, of: cpu",
            "label: A, derived: gain, of: cpu",
            "has no axis",
        ),
        ("rests_on: [gain]", "rests_on: [gin]", "no row 'gin'"),
        ("- id: best", "- id: gain", "two rows are called 'gain'"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    data = build(tmp_path)
    assert old in SYNTHESIS
    (data / "synthesis.yaml").write_text(SYNTHESIS.replace(old, new, 1))
    studies = {name: load_study(data / "published" / name) for name in ("toy", "other")}
    problems = Problems(tmp_path)
    check_synthesis_file(Layout(tmp_path), studies, problems)
    (found,) = problems
    assert re.search(said, str(found)), str(found)


def test_nothing_is_wrong_with_the_example(tmp_path: Path) -> None:
    data = build(tmp_path)
    problems = Problems(tmp_path)
    check_synthesis_file(
        Layout(tmp_path),
        {n: load_study(data / "published" / n) for n in ("toy", "other")},
        problems,
    )
    assert not len(problems)
    (data / "synthesis.yaml").unlink()
    check_synthesis_file(Layout(tmp_path), {}, problems)  # a repository need not have one
    assert not len(problems)
    with pytest.raises(VirtperfError, match=r"synthesis\.yaml"):
        load_synthesis(data)
