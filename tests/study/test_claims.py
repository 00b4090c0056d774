"""Claims: loading, expansion of series and `for_each`, mistakes with file and line."""

from __future__ import annotations

import pytest

from rawperf.core.errors import StudyError
from tests.conftest import ROOT
from tests.study.test_definition import STUDY, line_of, write
from virtperf.study.claims import load_claims
from virtperf.study.definition import load_study
from virtperf.study.readings import load_readings

CLAIMS = """\
study: toy
claims:
  - {id: faster, kind: percent_change, of: "speed[guests=4]", to: "speed[guests=1]", value: 50, half_width: 0.5,
     says: Four guests are faster., about: [figure-1], section: [One, Two], ledger: [c001, c002]}
  - {id: peak, kind: argmax, of: speed, over: guests, levels: [1, 2, 4], at: 4, for_each: {system: [a, b]},
     says: Four guests are fastest., about: [figure-1], section: One, ledger: c001, conflicts: [faster]}
  - {id: busy, kind: range, of: "load[guests=4]", low: 90, says: Four guests fill it., about: [text], section: One, ledger: c002}
assumptions:
  - {id: full, kind: range, of: load, low: 50, for_each: {guests: [1, 2]},
     says: Load is never low., why: A test., enabled: false}
  - {id: even, kind: linear, of: speed, over: guests, levels: [1, 2, 4], margin: 0.1, says: Speed is straight., why: A test.}
not_encoded:
  - {ledger: [c003, c004], reason: They say nothing.}
"""


def load(tmp_path, text=CLAIMS):
    folder = write(tmp_path)
    (folder / "claims.yaml").write_text(text, encoding="utf-8")
    return load_claims(load_study(folder))


def test_limits_come_from_the_printed_precision(tmp_path):
    claims = load(tmp_path)
    assert (claims["faster"].low, claims["faster"].high, claims["faster"].value) == (
        49.5,
        50.5,
        50.0,
    )
    assert (claims["busy"].low, claims["busy"].high, claims["busy"].value) == (
        90.0,
        float("inf"),
        None,
    )
    assert claims["faster"].n_places == 2


def test_implied_decrease_is_worded_as_less(tmp_path):
    claim = load(tmp_path)["faster"]
    words = [claim.implied_words(*ends, " %", single_pair=True) for ends in ((-39, -37), (-1, 2))]
    assert words == ["37 to 39 % less", "−1 to 2 %"]


def test_winner_is_first_for_every_level_of_for_each(tmp_path):
    instances = load(tmp_path)["peak"].instances
    at = [[dict(part.terms[0][1].at) for part in instance.parts] for instance in instances]
    assert [[(q["system"], q["guests"]) for q in parts] for parts in at] == [
        [("a", 4), ("a", 1), ("a", 2)],
        [("b", 4), ("b", 1), ("b", 2)],
    ]


def test_axis_of_a_series(tmp_path):
    claims = load(tmp_path)
    assert claims["even"].instances[0].axis == (1.0, 2.0, 4.0)


def test_assumptions_can_be_disabled(tmp_path):
    claims = load(tmp_path)

    def names(*off):
        return [c.id for c in claims.active(off)]

    assert names() == ["faster", "peak", "busy", "even"]
    assert names("even") == names("all") == ["faster", "peak", "busy"]
    assert names("+full") == ["faster", "peak", "busy", "full", "even"]
    assert names("all", "+full") == ["faster", "peak", "busy", "full"]
    assert names("faster") == names()  # the paper's claims remain


def test_omitted_notes_keep_their_reason(tmp_path):
    assert load(tmp_path).not_encoded == {"c003": "They say nothing.", "c004": "They say nothing."}


def test_about_finds_the_claims_of_an_exhibit(tmp_path):
    assert [c.id for c in load(tmp_path).about("figure-1")] == ["faster", "peak"]


MISTAKES = {
    "unknown factor": ('"speed[guests=4]"', '"speed[gests=4]"', "unknown factor 'gests'"),
    "unknown level": ('"speed[guests=4]"', '"speed[guests=3]"', "unknown level 3 of guests"),
    "unknown quantity": ('"load[guests=4]"', '"lode[guests=4]"', "unknown quantity 'lode'"),
    "level missing": ('"load[guests=4]"', '"load[system=a]"', "no level for guests"),
    "unreadable sum": (
        '"load[guests=4]"',
        '"load[guests=4] * 2"',
        "expected + or - and a quantity at character",
    ),
    "unknown exhibit": ("[text]", "[figure-9]", "unknown exhibit 'figure-9'"),
    "limits exclude the value": (
        "half_width: 0.5,",
        "half_width: 0.5, high: 49.8,",
        "49.5 to 49.8 exclude the printed value 50",
    ),
    "limits crossed": ("low: 90,", "low: 90, high: 80,", "low 90 is above high 80"),
    "winner not among levels": (
        "at: 4, for_each",
        "at: 3, for_each",
        "at: 3 is not one of the levels",
    ),
    "conflict with nothing": (
        "conflicts: [faster]",
        "conflicts: [slower]",
        "unknown claim 'slower'",
    ),
    "id given twice": ("{id: busy,", "{id: faster,", "duplicate id 'faster'"),
    "key given twice": ("low: 90,", "low: 90, low: 91,", "'low' is given twice"),
    "half width missing": (
        "value: 50, half_width: 0.5,",
        "value: 50,",
        "no limits: set value and half_width",
    ),
    "unknown kind": (
        "{id: full, kind: range",
        "{id: full, kind: rang",
        "'concave', 'equivalence', 'sum', 'relative_mean' or 'rule'; found 'rang'. Did you mean 'range'",
    ),
    "a sentence of nobody else": (
        "low: 90,",
        "low: 90, sentence: alone,",
        "no other claim has the sentence 'alone'",
    ),
    "a rule over names": (
        "kind: linear, of: speed, over: guests, levels: [1, 2, 4], margin: 0.1",
        "kind: rule, of: speed, over: system, levels: [a, b], intercept: 1, slope: 2, intercept_half_width: 0, slope_half_width: 0",
        "rule needs numeric levels",
    ),
    "a line over names": (
        "over: guests, levels: [1, 2, 4], margin: 0.1",
        "over: system, levels: [a, b, c], margin: 0.1",
        "linear needs numeric levels",
    ),
    "a line of two points": (
        "levels: [1, 2, 4], margin: 0.1",
        "levels: [1, 2], margin: 0.1",
        "linear needs at least 3 levels",
    ),
    "a curve against its axis": (
        "kind: linear, of: speed, over: guests, levels: [1, 2, 4], margin: 0.1",
        "kind: concave, of: speed, over: guests, levels: [4, 2, 1]",
        "levels must be ascending",
    ),
    "a level given twice": (
        "levels: [1, 2, 4], at: 4",
        "levels: [1, 2, 4, 4], at: 4",
        "peak/levels: 4 occurs twice",
    ),
    "a level of for_each given twice": (
        "for_each: {system: [a, b]}",
        "for_each: {system: [a, b, a]}",
        "for_each/system: 'a' occurs twice",
    ),
    "factor given twice": (
        '"load[guests=4]"',
        '"load[guests=4, guests=2]"',
        "'load[guests=4, guests=2]' gives guests twice",
    ),
    "sides equal": (
        'to: "speed[guests=1]"',
        'to: "speed[system=a, guests=4]"',
        "speed[system=a, guests=4] is compared with itself",
    ),
    "over without effect": (
        "kind: linear, of: speed,",
        'kind: linear, of: "speed[guests=2]",',
        "speed[system=a, guests=2] is compared with itself",
    ),
    "for_each without effect": (
        "of: load, low: 50,",
        'of: "load[guests=1]", low: 50,',
        "for_each repeats the same relation",
    ),
    "levels unsorted": (
        "levels: [1, 2, 4], margin",
        "levels: [1, 4, 2], margin",
        "levels are not in order",
    ),
    "levels of a concave claim descend": (
        "kind: linear, of: speed, over: guests, levels: [1, 2, 4], margin: 0.1",
        "kind: concave, of: speed, over: guests, levels: [4, 2, 1]",
        "levels must be ascending",
    ),
    "field of another kind": (
        "at: 4, for_each",
        "at: 4, value: 4, half_width: 0, for_each",
        "argmax does not use half_width, value",
    ),
    "number that is not finite": (
        "value: 50, half_width: 0.5",
        "value: .nan, half_width: 0.5",
        "claims/faster/value: wrong value; expected a finite number; found nan",
    ),
    "no reason": ("why: A test.}", "enabled: true}", "'why' is missing"),
    "reason too short": ("reason: They say nothing.", "reason: none", "at least 10 characters"),
}


@pytest.mark.parametrize(("old", "new", "problem"), MISTAKES.values(), ids=MISTAKES)
def test_mistake_is_reported_with_file_and_line(tmp_path, old, new, problem):
    assert CLAIMS.count(old) == 1
    text = CLAIMS.replace(old, new)
    with pytest.raises(StudyError) as caught:
        load(tmp_path, text)
    assert problem in str(caught.value)
    assert caught.value.file == "claims.yaml"
    # the line of the claim or of its invalid part
    end = line_of(text, new)
    assert caught.value.line is not None
    assert end - 1 <= caught.value.line <= end
    assert f"claims.yaml line {caught.value.line}" in str(caught.value)


def test_levels_may_descend(tmp_path):
    claims = load(
        tmp_path, CLAIMS.replace("levels: [1, 2, 4], margin", "levels: [4, 2, 1], margin")
    )
    assert claims["even"].instances[0].axis == (4.0, 2.0, 1.0)


def test_file_without_claims(tmp_path):
    assert list(load(tmp_path, "study: toy\n")) == []


def test_one_exhibit_needs_no_list(tmp_path):
    claims = load(tmp_path, CLAIMS.replace("about: [text]", "about: text"))
    assert claims["busy"].exhibits == ("text",)


def test_missing_claims_file(tmp_path):
    with pytest.raises(StudyError, match=r"claims\.yaml: the file is missing"):
        load_claims(load_study(write(tmp_path, STUDY)))


RULE = """\
study: toy
claims:
  - {id: line, kind: rule, of: "speed[system=a]", over: guests, levels: [1, 2, 4], intercept: 12, slope: 63, intercept_half_width: 0.5,
     slope_half_width: 0.5, says: Speed follows a line., about: [figure-1], section: One, ledger: c001}
not_encoded: []
"""


def test_rule_has_the_rounding_of_its_coefficients(tmp_path):
    # 12 +- 0.5 + x (63 +- 0.5)
    assert load(tmp_path, RULE)["line"].bounds == ((74, 76), (136.5, 139.5), (261.5, 266.5))


def test_rule_applies_its_word_at_every_level(tmp_path):
    readings = load_readings(ROOT / "data" / "readings.yaml")
    line = load(tmp_path, RULE)["line"].model_copy(update={"word": "approximately"}).read(readings)
    for x, (low, high) in zip((1, 2, 4), line.bounds, strict=True):
        one = readings.number_limits("approximately", 12 + 63 * x, 0.5 + 0.5 * x)
        assert (low, high) == (one.low, one.high)
    assert line.reading.startswith("approximately: 0.95")
