"""Synthesis of studies: numbers collected, shown and read at overcommitment ratios; mistakes
reported.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pandas as pd
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
from virtperf.report import run_estimates
from virtperf.report.findings import MAX_WORDS
from virtperf.report.html.record import record_html
from virtperf.report.synthesis.capacity import CURVE, at_ratios
from virtperf.report.synthesis.definition import Cell, Sentence, SynthesisFile
from virtperf.report.synthesis.loaded import NOT_REPEATED, Synthesis, linked, load_synthesis, noted
from virtperf.report.synthesis.numbers import (
    MEASURED,
    REFERENCE,
    in_words,
    pieces_frame,
    quotients,
    scaled,
)
from virtperf.report.synthesis.picture import draw_numbers
from virtperf.report.synthesis.references import instances
from virtperf.report.synthesis.sentences import sentence_problems
from virtperf.study.definition import load_study
from virtperf.study.derived_kinds.base import Bounds

INF = math.inf
RATIO = Bounds(0.0, INF, 1.0, 1.1)


def allows(*pieces: float) -> dict[str, Any]:
    return {"kind": "allows", "value": math.nan, "pieces": list(pieces), "searched": False}


def test_numbers_come_from_the_studies(synthesis: Synthesis) -> None:
    answers = synthesis.answers
    b, other, claim = answers[answers["row"] == "gain"].itertuples()
    assert (b.kind, b.pieces, b.words) == ("allows", [0.0, 3.0], "at most 3")
    # 90 is more than twenty times 4: only the lower limit is shown, both are stored
    assert (other.words, other.low, other.high, other.reading) == (
        "at least 4",
        4.0,
        90.0,
        "another system",
    )
    # a claim of 66 % more, between 65.5 and 66.5
    assert claim.kind == "states" and claim.pieces == [pytest.approx(1.655), pytest.approx(1.665)]
    assert claim.link == "claim:other/more-at-8" and claim.provenance == Provenance.PUBLISHED
    assert (other.system, other.name) == ("Other 2, 2026", "Other 2, 2026: Other")
    peak = answers[answers["row"] == "best"].iloc[-1]
    assert peak["words"] == "System A peaks at 8 guests" and math.isnan(peak["low"])
    assert peak["text"] == f"states: {peak['words']}"


def test_measured_runs_are_listed_with_the_text(synthesis: Synthesis) -> None:
    data = synthesis.studies["toy"]
    cell = Cell(study="toy", label="A", derived="gain")
    curve = synthesis.curves[synthesis.curves["measure"] == "throughput"]
    for levels, number in instances(data.study, cell, {"system": "a"}):
        estimate = run_estimates.estimate(data, number, 0.95)
        found = curve[(curve["ratio"] == levels["guests"] / 2) & (curve["kind"] == MEASURED)]
        if estimate is None or not estimate.available:
            assert found.empty
        else:
            (row,) = found[["value", "low", "high"]].to_numpy().tolist()
            assert row == [estimate.value, estimate.low, estimate.high]


def test_question_has_sentence_picture_and_evidence(synthesis: Synthesis) -> None:
    own = synthesis.answers
    evidence = pd.DataFrame(
        {
            "Comparison": noted(own["compared"], own["reading"]),
            "Value": own["text"],
            "Evidence": linked(own["number"], own["link"]),
        }
    )
    shown = synthesis.question("growth", evidence)
    assert shown.record is not None and shown.record.heading == "Growth"
    text = plain(shown)
    assert "Twice the guests: at most 3." in text and "another system" in text
    assert "B: allows at most 3; Other 2, 2026: Other: allows at least 4" in text
    assert "states: System A peaks at 8 guests" in text
    assert {"exhibit:toy/figure-2", "claim:other/more-at-8"} <= set(links(shown))
    assert shown.record.provenance == (Provenance.PUBLISHED, Provenance.RECONSTRUCTED)
    (numbers,) = shown.record.numbers
    assert len(numbers.rows) == len(pieces_frame(own)) and "link" not in numbers.columns
    with pytest.raises(RawperfError, match="growth"):
        synthesis.question("grwth", evidence)


def test_picture_has_a_second_layout_for_a_phone(synthesis: Synthesis) -> None:
    own = synthesis.answers.assign(drawn="Growth")
    wide, narrow = (draw_numbers(own[own["unit"] == "ratio"], narrow=n) for n in (False, True))
    evidence = pd.DataFrame({"Value": own["text"]})
    shown = synthesis.question("growth", evidence, wide, narrow)
    assert 'width="720"' in shown.record.drawing
    assert 'width="340"' in shown.record.narrow
    assert str(record_html(shown.record)).count("<svg") == 2


def test_missing_values_of_a_table_are_none(synthesis: Synthesis) -> None:
    table = pd.DataFrame({"n": pd.array([3, None], dtype="Int64"), "what": noted("ab", ["", "x"])})
    record = synthesis.show("counts", table, title="Counts").record
    assert record is not None and record.numbers == () and record.provenance == ()
    (grid,) = record.blocks
    assert grid.rows[0] == ("3", "a") and grid.rows[1][0] == "none"
    assert [getattr(word, "text", word) for word in grid.rows[1][1]] == ["b", "x"]


def result(curves: pd.DataFrame, **ratios: float) -> str:
    (words,) = at_ratios(curves, {"result": ratios})["result"]
    return words


def test_results_at_between_and_beyond_tested_ratios(synthesis: Synthesis) -> None:
    curves = synthesis.curves
    parts = dict(list(curves.groupby("measure", sort=False)))
    assert list(parts) == ["throughput", "throughput per guest", "CPU cost"]
    tested = [rows["ratio"].unique().tolist() for rows in parts.values()]
    assert tested == [[0.5, 1.0, 2.0], [0.5, 1.0, 2.0], [1.0, 2.0, 4.0]]
    toy, guest, other = parts.values()
    assert "1.8 to 16.6" in result(toy, cpu=1) and "about 1.66" in result(toy, cpu=2)
    assert result(toy, cpu=0.5) == "1 (reference)" and "about 0.415" in result(guest, cpu=2)
    assert set(other["system"]) == {"Other 2, 2026"} and set(other["of"]) == {"memory"}
    # in between: from minimum to maximum of both neighbours, without estimate
    ends = toy[toy["ratio"] >= 1]
    between = result(toy, cpu=1.5)
    assert f"{ends['low'].min():.3g} to {ends['high'].max():.3g}" in between
    assert between.endswith("between the tested ratios 1 and 2") and "about" not in between
    assert result(toy, cpu=2.5) == "outside the tested range, 0.5 to 2"


def test_curve_over_both_ratios_combines_their_neighbours() -> None:
    one = {"kind": REFERENCE, "value": math.nan, "pieces": [1.0, 1.0], "searched": False}
    cells = {(1.0, 1.0): one}
    cells |= {(x, y): allows(1 / x / y, 1) for x in (2.0, 4.0) for y in (2.0, 4.0)}
    curve = dict.fromkeys(CURVE, "c")
    rows = [
        {**curve, "cpu": x, "memory": y, **row}
        for (x, y), number in cells.items()
        for row in in_words([number], RATIO)
    ]
    grid = pd.DataFrame(rows)
    assert result(grid, cpu=1, memory=1) == "1 (reference)"
    assert result(grid, cpu=2, memory=4).startswith("allows")
    between = "between the tested ratios CPU 2 to 4 and memory 2 to 4"
    assert result(grid, cpu=3, memory=2.5) == f"allows 0.0625 to 1 {between}"
    assert result(grid, cpu=2, memory=3).endswith("CPU 2 and memory 2 to 4")
    missing = "a neighbouring tested ratio has no number"
    assert result(grid, cpu=1.5, memory=1.5) == missing
    outside = "outside the tested range, CPU ratios 1 to 4 and memory ratios 1 to 4"
    assert result(grid, cpu=5, memory=2) == outside


def test_quotients_and_multiples_are_conservative() -> None:
    (found,) = quotients([allows(2, 3)], [allows(4, 8)])
    assert found["pieces"] == [0.25, 0.75]
    assert quotients([allows(2, 3)], [allows(0, 8)])[0]["pieces"] == [0.25, INF]
    (half,) = in_words(scaled([allows(1.0, 1.2, 2.0, 2.2)], 0.5), RATIO)
    assert half["pieces"] == [0.5, 0.6, 1.0, 1.1] and half["words"] == "0.5 to 0.6 or 1 to 1.1"
    frame = pieces_frame(pd.DataFrame([half, {**half, "pieces": []}]))
    ends = frame[["low", "high"]].fillna(-1).to_numpy().tolist()
    assert ends == [[0.5, 0.6], [1.0, 1.1], [-1, -1]]


def test_related_study_needs_a_cell_or_a_reason(tmp_path: Path) -> None:
    data = build(tmp_path)
    other = load_study(data / "published" / "other")
    one_study = SYNTHESIS.replace("study: other, label: Other", "study: toy, label: Other")
    one_study = one_study.replace("{study: other, label: Said, claim: more-at-8}", "")
    one_study = one_study.replace("{study: other, label: B, claim: best-at-8}", "").replace(
        "          - \n", ""
    )
    one_study = one_study.replace("asks: What do more", "words: [guests]\n    asks: What do more")
    for unused, message in [
        ("", "other is relevant to the question 'growth'.*found factor guests"),
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
        assert [bool(re.search(message, str(problem))) for problem in problems] == [True] * bool(
            message
        ), list(problems)


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
            "at: {system: b, guests: 4}, to: {guests: 3}}",
            "no number for guests 3",
        ),
        (
            "at: {system: b, guests: 4}}",
            "at: {system: b, guests: 4}, claim: flat}",
            "exactly one of",
        ),
        ("derived: gain, at: {system: b, guests: 4}", "derived: storage", "storage is not a ratio"),
        ("one: 2", "one: 2, over: 3", "either"),
        (", memory: {over: 8, reference: 8}", "", "a curve needs"),
        (
            "system: only, label: Other, derived",
            "system: none, label: Other, derived",
            "has no system 'none'.*only",
        ),
        ("claim: more-at-8}", "claim: more-at-8, times: 2}", "need a `derived` number"),
        (
            "at: {system: a, guests: 4},",
            "at: {system: a, guests: 4}, half_width: 1,",
            "needs a `cl",
        ),
        (
            "label: A, derived: gain, at: {system: a}, measure: throughput",
            "label: A, derived: gain, measure: throughput",
            "the factors of gain are not the axes of the curve",
        ),
        ("rests_on: [gain]", "rests_on: [gin]", "no row 'gin'"),
        ("- id: best", "- id: gain", "two rows are named 'gain'"),
    ],
)
def test_mistakes_are_reported(tmp_path: Path, old: str, new: str, message: str) -> None:
    data = build(tmp_path)
    text = SYNTHESIS.replace(
        "study: other, label: Other", "study: other, system: only, label: Other"
    )
    text = text if "system: only" in old else SYNTHESIS
    assert old in text
    (data / "synthesis.yaml").write_text(text.replace(old, new, 1))
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
    given = (synthesis.file.rows, synthesis.answers, synthesis.studies)
    words = [str(problem) for problem in sentence_problems(sentence, *given)]
    assert [message in problem for problem in words] == [True] * bool(message), words
    reported = [str(problem) for problem in synthesis.problems([sentence])]
    assert all(text.startswith("synthesis.yaml: sentences, Throughput: ") for text in reported)
    assert len(reported) == len(words)


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


def test_pictures_have_numbers_of_one_unit() -> None:
    file = yaml.safe_load(SYNTHESIS)
    gain, *_, best = file["questions"][0]["rows"]
    best["drawn"] = "Guests at the peak"
    assert SynthesisFile.model_validate(file)
    gain["drawn"] = "Growth"
    with pytest.raises(ValueError, match="numbers of one unit, not of 'ratio', 'guests'"):
        SynthesisFile.model_validate(file)


def asked(synthesis: Synthesis, old: str, new: str) -> None:
    """Show the question of another file."""
    file = SynthesisFile.model_validate(yaml.safe_load(SYNTHESIS.replace(old, new)))
    other = Synthesis(file, synthesis._data, synthesis.level)
    other.question("growth", pd.DataFrame({"a": []}))


def test_picture_begins_with_the_number_of_the_sentence(synthesis: Synthesis) -> None:
    with pytest.raises(RawperfError, match=r"does not begin with the number.*`drawn` for gain"):
        asked(synthesis, "- id: same\n", "- id: same\n        drawn: As stated\n")


def test_answer_has_few_words(synthesis: Synthesis) -> None:
    says = " ".join(["Twice"] + ["surely"] * (MAX_WORDS - 6))
    asked(synthesis, "Twice", says)
    with pytest.raises(RawperfError, match=f"sentences, Throughput: .* has {MAX_WORDS + 1} words"):
        asked(synthesis, "Twice", f"{says} surely")


def test_ratios_in_per_cent_and_rounded_numbers() -> None:
    rows = [allows(0.815, 0.825), allows(0.459, 0.571), allows(0.001, 0.4995), allows(1.0, INF)]
    words = [row["words"] for row in in_words(rows, RATIO, percent=True)]
    assert words == ["82\u00a0%", "45.9 to 57.1\u00a0%", "at most 50\u00a0%", "order only: above 1"]
    plain = in_words([allows(0.815, 0.825), allows(1.055, 1.075), allows(2.0514, 2.0526)], RATIO)
    assert [row["words"] for row in plain] == ["0.82", "about 1.065 (1.055 to 1.075)", "2.05"]
    assert plain[0]["text"] == "allows about 0.820 (0.815 to 0.825)"


def test_words_of_a_printed_range_are_its_printed_limits(synthesis: Synthesis) -> None:
    text = SYNTHESIS.replace("claim: more-at-8}", "claim: more-at-8, half_width: 0.2}")
    file = SynthesisFile.model_validate(yaml.safe_load(text))
    answers = Synthesis(file, synthesis._data, synthesis.level).answers
    claim = answers[answers["row"] == "gain"].iloc[-1]  # 66 % more, with limits of 65.5 and 66.5
    assert claim["words"] == "1.657 to 1.663" and claim["text"] == "states 1.657 to 1.663"
    assert claim["pieces"] == [pytest.approx(1.655), pytest.approx(1.665)]


def test_digits_show_that_an_interval_excludes_no_change() -> None:
    runs = allows(0.905477, 0.995909) | {"kind": MEASURED, "value": 0.949617}
    (row,) = in_words([runs], RATIO, percent=True)
    assert row["words"] == "95.0 (90.5 to 99.6)\u00a0%"


def test_claims_that_are_measured_again_have_their_verdict(synthesis: Synthesis) -> None:
    (row,) = synthesis.repeated.query("paper == 'toy'").to_dict("records")
    assert row["says"] == NOT_REPEATED and row["verdict"] == ""
