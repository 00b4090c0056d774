"""Numbers in the sentences of findings, and what is wrong with such a sentence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rawperf.core.errors import StudyError
from tests.cases import each_case
from tests.report import toy
from virtperf.core.contrasts import LinearRatio, LogRatio, Replicates
from virtperf.core.statistics import two_groups
from virtperf.report.findings import (
    MAX_WORDS,
    _range_over_units,
    interval_text,
    is_utilization,
    length_error,
    problems,
    state,
)
from virtperf.report.frames import StudyData, load
from virtperf.report.run_estimates import contrast_of_means
from virtperf.study.parts import Finding, QuantityKind
from virtperf.study.quantities import Quantity
from virtperf.study.study_samples import StudySamples

LEVEL = 0.95
FOUR, EIGHT = "throughput[guests=4]", "throughput[guests=8]"


def finding(says: str, *claims: str, **numbers: object) -> Finding:
    rests_on = {"rests_on": list(claims)} if claims else {}
    return Finding.model_validate({"says": says, "numbers": numbers, **rests_on})


@pytest.fixture
def data(tmp_path: Path) -> StudyData:
    return load("toy", toy.build(tmp_path))


def with_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **values: tuple[float, ...]
) -> StudyData:
    """The toy study with other runs of 4 and 8 guests; 4 guests are the reference."""
    changed = [
        (*run[:5], values.get({4: "four", 8: "eight"}.get(run[2], ""), run[5]))
        if run[0] == "measured" and run[1] == "a"
        else run
        for run in toy.RUNS
    ]
    monkeypatch.setattr(toy, "RUNS", changed)
    return load("toy", toy.build(tmp_path))


def lint(data: StudyData, of: Finding) -> list[str]:
    return [f"{err.problem}; {err.expected}; {err.remedy}" for err in problems(data, of, LEVEL)]


KEPT = {"of": EIGHT, "to": FOUR, "show": "percent", "low": 100}


def test_number_is_taken_from_runs(data: StudyData) -> None:
    stated = state(data, finding("With eight guests, throughput is {kept}.", kept=KEPT), LEVEL)
    assert stated.sentence == "With eight guests, throughput is 152 %."
    assert stated.detail.startswith("95 % CI 1") and stated.detail.endswith(" runs.")


@each_case(
    ("changed", "message"),
    [
        ({"low": 160}, "the runs do not support the limits given for kept"),
        ({"to": "throughput[guests=16]"}, "no measured run for the number kept"),
        ({"of": "utilization[system=b, guests=4]", "to": "", "show": "value"}, "no exhibit shows"),
    ],
)
def test_unsupported_number_is_an_error(
    data: StudyData, changed: dict[str, object], message: str
) -> None:
    if "no exhibit" in message:
        exhibits = tuple(e for e in data.study.exhibits if e.id != "figure-3")
        kept = tuple(derived for derived in data.study.derived if derived.id != "busy")
        study = data.study.model_copy(update={"exhibits": exhibits, "derived": kept})
        data = replace(data, study=study)
    with pytest.raises(StudyError, match=message):
        state(data, finding("Throughput is {kept} of that.", kept={**KEPT, **changed}), LEVEL)


def test_printed_numbers_are_those_of_claims_and_derived_numbers(data: StudyData) -> None:
    of = finding("It gains {more-at-8}, at most {more-at-8.high}; {storage} of it.", "more-at-8")
    assert state(data, of, LEVEL).sentence == (
        "It gains 66\N{NO-BREAK SPACE}%, at most 66.5\N{NO-BREAK SPACE}%; 1 to 3 % of reference of it."
    )
    for name, message in (
        ("gain", "derived number gain has no closed range"),
        ("more-at-8.slope", "the claim more-at-8 has no slope"),
        ("nothing", "there is no claim 'nothing'"),
    ):
        with pytest.raises(StudyError, match=message):
            state(data, finding(f"The number is {{{name}}}, it says.", "more-at-8"), LEVEL)


def test_words_of_a_finding_are_counted_with_its_numbers(data: StudyData) -> None:
    says = " ".join(["It", *["surely"] * (MAX_WORDS - 3), "gains", "{more-at-8}."])
    sentence = state(data, finding(says, "more-at-8"), LEVEL).sentence
    error = length_error(sentence)  # the number and its unit are two words
    assert error is not None and f"a sentence has {MAX_WORDS + 1} words" in error.problem
    assert length_error(sentence.replace("surely ", "", 1)) is None


def test_typed_result_is_reported(data: StudyData) -> None:
    (typed,) = lint(data, finding("With 8 guests instead of 4, it gains 66 %.", "more-at-8"))
    assert "the number 66 is typed" in typed and "Write {more-at-8}" in typed.replace(
        "write", "Write"
    )
    assert not lint(data, finding("With 8 guests instead of 4, it gains {more-at-8}.", "more-at-8"))
    (invented,) = lint(data, finding("It gains {more-at-8}, or 1,234 a second.", "more-at-8"))
    assert "the number 1234 is typed" in invented
    assert not lint(data, finding("DB2 on a z196 with SHA-1 gains {more-at-8}.", "more-at-8"))


def test_number_outside_of_the_range_of_the_page_is_reported(data: StudyData) -> None:
    of = finding("Hardware encryption needs {busy}, it says.", "busy")
    assert not lint(data, of)
    points = data.points.copy()
    row = points.index[(points["exhibit"] == "figure-3") & (points["x"] == "hardware")][0]
    changed = points["pieces_text"].tolist()
    changed[row] = np.array([60.0, 70.0])
    points["pieces_text"] = changed
    (outside,) = lint(replace(data, points=points), of)
    assert "the number of busy lies outside the page's own range; 60 to 70" in outside
    disputed = data.claim_results.assign(text_verdict="contradicted")
    assert not lint(replace(data, points=points, claim_results=disputed), of)


@each_case(
    ("unit", "label", "expected"),
    [
        ("%", "CPU utilization", True),
        ("% of one CPU", "CPU use", True),
        ("IFLs", "LPAR CPU load", True),
        ("%", "Memory returned", False),
        ("% of reference", "CPU per transaction", False),
        ("ms", "Processor time per request", False),
    ],
)
def test_utilization_is_known_by_its_unit(unit: str, label: str, *, expected: bool) -> None:
    kind = QuantityKind.model_validate({"<name>": "q", "label": label, "unit": unit})
    assert is_utilization(kind) == expected


def test_utilization_is_not_called_use(data: StudyData) -> None:
    terms = {"of": "utilization[cipher=hardware, guests=4]", "to": "utilization[guests=4]"}
    claims = data.claims
    assert claims is not None
    (claim,) = (c for c in claims if c.id == "more-at-8")
    parts = tuple(data.study.expression(text) for text in terms.values())
    change = claim.model_copy(
        update={"id": "busier", "instances": (replace(claim.instances[0], parts=parts),)}
    )
    changed = replace(data, claims=replace(claims, claims=(change,)))
    (wrong,) = lint(changed, finding("With encryption, it uses {busier} more CPU.", "busier"))
    assert "a change of “CPU utilization” is stated without the word utilization" in wrong
    right = finding("With encryption, CPU utilization is {busier} higher.", "busier")
    assert not lint(changed, right)
    # two guests of one run: the same time, so shares are amounts
    same = tuple(data.study.expression("utilization[guests=4]") for _ in parts)
    within = change.model_copy(update={"instances": (replace(claim.instances[0], parts=same),)})
    beside = replace(data, claims=replace(claims, claims=(within,)))
    assert not lint(beside, finding("One guest uses {busier} more CPU.", "busier"))


def test_ratio_in_words_needs_evidence(data: StudyData) -> None:
    (wrong,) = lint(data, finding("It gains {more-at-8}, twice as much.", "more-at-8"))
    assert "nothing supports the words “twice”" in wrong
    assert not lint(data, finding("It gains {more-at-8}, more than half more.", "more-at-8"))
    of = finding("It keeps more than half, {kept} of that.", kept=KEPT)
    assert not lint(data, of)


def test_measured_number_is_not_called_printed(data: StudyData) -> None:
    (wrong,) = lint(data, finding("It reaches the printed {kept} of that.", kept=KEPT))
    assert "the number kept stands beside the word “printed”" in wrong
    (other,) = lint(data, finding("It gains the measured {more-at-8}.", "more-at-8"))
    assert "more-at-8 stands beside the word “measured”" in other


SCATTERED = (12160.0, 14746.0, 16967.0, 1606.0, 1046.0, 1094.0)


def test_two_groups() -> None:
    groups = two_groups(SCATTERED)
    assert groups is not None
    assert [g.tolist() for g in groups] == [[1046, 1094, 1606], [12160, 14746, 16967]]
    assert two_groups((100, 101, 99, 102, 98, 100)) is None  # no gap
    assert two_groups((1, 1.01, 1.02, 1.1, 1.11, 1.12)) is None  # groups, but close to the mean
    assert two_groups((1, 1, 1, 1, 1, 50)) is None  # one outlying run
    assert two_groups((1, 1, 50, 50)) is None  # too few
    assert two_groups((-1, 1, 1, 50, 50)) is None


def test_mean_of_two_groups_is_an_error_and_their_range_is_stated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    four = (100000.0, 101000.0, 99000.0, 100500.0, 99500.0, 100000.0)
    eight = tuple(value / 3 for value in SCATTERED)  # the toy study's driver counts three elements
    data = with_runs(tmp_path, monkeypatch, four=four, eight=eight)
    number = {"of": EIGHT, "to": FOUR, "show": "percent", "low": 0, "high": 50}
    with pytest.raises(StudyError, match="runs fall into two groups") as caught:
        state(data, finding("They keep {kept} of their throughput.", kept=number), LEVEL)
    assert "1,046 to 1,606 and 12,160 to 16,967" in str(caught.value)
    value = {"of": EIGHT, "low": 0, "mean": False}
    stated = state(data, finding("They reach {kept} of requests.", kept=value), LEVEL)
    assert "1,046 to 16,967" in stated.sentence
    assert "range over 6 runs, which fall into two groups" in stated.detail


def test_number_of_a_single_run_has_no_interval(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = with_runs(tmp_path, monkeypatch, four=(100000.0,), eight=(120000.0,))
    value = {"of": EIGHT, "low": 0, "mean": False}
    stated = state(data, finding("The single run reaches {reached}.", reached=value), LEVEL)
    assert stated.detail.endswith("1 run, no interval.") and " to " not in stated.sentence


def test_difference_of_single_runs_needs_no_common_block(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = (Quantity(name, ()) for name in ("a", "b"))
    made = {a: Replicates(np.array([148.0]), ("x",)), b: Replicates(np.array([99.0]), ("y",))}
    monkeypatch.setattr(StudyData, "samples", lambda *_: StudySamples(made))
    data = StudyData.__new__(StudyData)
    assert _range_over_units(data, "more", {a: 1.0, b: -1.0}, {}) == (49.0, 49.0)


def samples(*conditions: tuple[float, ...]) -> tuple[StudySamples, list[Quantity]]:
    names = [Quantity(name, ()) for name in ("a", "b")]
    blocks = tuple(f"block {k}" for k in range(len(conditions[0])))
    made = {q: Replicates(np.array(v), blocks) for q, v in zip(names, conditions, strict=True)}
    return StudySamples(made), names


def test_ratio_that_rounds_apart_from_that_of_the_means_is_still_the_one_of_verdicts() -> None:
    blocks, (a, b) = samples(
        (92.445, 99.402, 72.692, 96.586, 98.480), (178.92, 224.44, 152.14, 210.28, 184.16)
    )
    found = contrast_of_means(blocks, {a: 1.0}, {b: 1.0}, LEVEL)
    assert isinstance(found, LogRatio)
    means = (np.mean(blocks[q].values) for q in (a, b))
    assert (f"{found.value:.2f}", f"{next(means) / next(means):.2f}") == ("0.49", "0.48")


def test_ratio_is_that_of_the_plotted_means() -> None:
    even, (a, b) = samples((98.0, 100, 102, 101, 99, 100), (49.0, 50, 51, 50, 50, 50))
    assert isinstance(contrast_of_means(even, {a: 1.0}, {b: 1.0}, LEVEL), LogRatio)
    wild, (a, b) = samples((12000.0, 9000, 6000, 4000, 2000, 1000), (1e5, 1e5, 1e5, 1e5, 1e5, 1e5))
    found = contrast_of_means(wild, {a: 1.0}, {b: 1.0}, LEVEL)
    assert isinstance(found, LinearRatio)
    assert found.value == pytest.approx(34000 / 6 / 1e5)  # the geometric mean would be 0.0416
    assert contrast_of_means(wild, {a: 1.0}, {}, LEVEL).value == pytest.approx(34000 / 6)


def test_number_of_other_blocks_than_the_plotted_means_is_an_error(data: StudyData) -> None:
    means = data.means.copy()
    at = (means["quantity"] == "throughput") & (means["guests"] == 8) & (means["scale"] == "own")
    assert at.any()
    means.loc[at, "value"] *= 1.2
    with pytest.raises(StudyError, match="the number kept is not that of the plotted means"):
        state(replace(data, means=means), finding("It is {kept} of that.", kept=KEPT), LEVEL)


@each_case(
    ("ends", "shown"),
    [
        ((52.9291, 52.9349), "52.929 to 52.935 MiB"),
        ((52.91, 52.96), "52.91 to 52.96 MiB"),
        ((0.2713, 0.2746), "0.2713 to 0.2746 MiB"),
        ((53.0, 53.0), "no spread"),
    ],
)
def test_interval_has_at_most_two_digits_of_its_width(ends, shown):
    assert interval_text(sum(ends) / 2, *ends, " MiB") == shown
