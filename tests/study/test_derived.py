"""Derived numbers in study.yaml: labels, units, parts, mistakes with line number."""

from __future__ import annotations

from pathlib import Path

import pytest

from rawperf.core.errors import StudyError
from tests.study.test_definition import STUDY, line_of, write
from virtperf.study.definition import load_study

DERIVED = """\
derived:
  - {id: gain, kind: ratio, about: [figure-1], label: "{system}, {guests} guests", of: speed, to: "speed[guests=1]",
     for_each: {system: [a, b], guests: [2, 4]}}
  - {id: busy, kind: ratio, about: [text], label: load per speed, of: "load[guests=2]", to: "speed[guests=2]"}
  - {id: rise, kind: line, about: [figure-1], label: A, of: speed, over: guests, levels: [1, 2, 4],
     gives: {slope: each, intercept: ""}}
  - {id: law, kind: usl, about: [figure-1], label: A, of: speed, over: guests, levels: [1, 2, 4], load: 8,
     gives: {peak_load: peak, capacity: at 8 guests}}
  - {id: break, kind: segmented, about: [figure-1], label: A, of: "load[guests=2]", over: guests, levels: [1, 2, 4, 8],
     dividend: 8, gives: {breakpoint: break}, unit: GB}
"""
EIGHT = STUDY.replace("levels: [1, 2, 4], label: guests", "levels: [1, 2, 4, 8], label: guests")


def test_label_of_one_is_singular(tmp_path: Path) -> None:
    one = DERIVED.replace(
        'label: "{system}, {guests} guests"', 'label: "{system}, {guests} guests / 1"'
    )
    study = load_study(write(tmp_path, EIGHT + one.replace("guests: [2, 4]", "guests: [1, 2]")))
    labels = [d.label for d in study.derivations if d.derived.id == "gain"]
    assert labels[:2] == ["System A, 1 guest / 1", "System A, 2 guests / 1"]


def test_numbers_have_label_unit_and_parts(tmp_path: Path) -> None:
    study = load_study(write(tmp_path, EIGHT + DERIVED))
    found = {(d.derived.id, d.label): d for d in study.derivations}
    assert [key[1] for key in found if key[0] == "gain"] == [
        "System A, 2 guests",
        "System A, 4 guests",
        "b, 2 guests",
        "b, 4 guests",
    ]
    gain = found["gain", "b, 4 guests"]
    assert [q.key() for part in gain.parts for _, q in part.terms] == [
        "speed[system=b, guests=4]",
        "speed[system=b, guests=1]",
    ]
    assert (gain.unit, found["busy", "load per speed"].unit) == ("", "% per 1")
    assert (found["rise", "A: each"].unit, found["rise", "A"].unit) == ("1 per guest", "1")
    assert (found["law", "A: peak"].unit, found["law", "A: at 8 guests"].unit) == ("guests", "1")
    assert (
        found["break", "A: break"].axis == (8, 4, 2, 1) and found["break", "A: break"].unit == "GB"
    )
    assert found["rise", "A: each"].axis == (1, 2, 4)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("id: busy", "id: gain", "duplicate id 'gain'"),
        ("about: [text]", "about: [figure-7]", "unknown exhibit 'figure-7'"),
        ("{system}, {guests} guests", "{system}", "duplicate label 'System A'"),
        (
            "{system}, {guests} guests",
            "{system}, {gests} {guests}",
            "{gests} in the label is not a factor of for_each",
        ),
        ("guests: [2, 4]}}", "guests: [2, 5]}}", "unknown level 5 of guests"),
        ('of: "load[guests=2]", to', 'of: "lod[guests=2]", to', "unknown quantity 'lod'"),
        (
            "gives: {slope: each",
            "gives: {steepness: each",
            "line has no result 'steepness', only intercept, slope",
        ),
        ("levels: [1, 2, 4], load: 8", "levels: [1, 2], load: 8", "usl needs at least 3 levels"),
        ("levels: [1, 2, 4], load: 8", "levels: [1, 2, 4]", "load is required with capacity"),
        (
            'kind: ratio, about: [text], label: load per speed, of: "load[guests=2]", to: "speed[guests=2]"',
            "kind: ratio, about: [text], label: load per speed, of: load",
            "'to' is missing",
        ),
        (
            'label: A, of: "load[guests=2]", over: guests, levels: [1, 2, 4, 8]',
            'label: A, of: "load[guests=2]", over: system, levels: [a, b, a, b]',
            "needs numeric levels",
        ),
        (
            "over: guests, levels: [1, 2, 4],\n     gives: {slope",
            "over: size, levels: [1, 2, 4],\n     gives: {slope",
            "unknown factor 'size'",
        ),
    ],
)
def test_mistakes_are_reported_with_line_number(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    assert DERIVED.count(old) == 1
    text = EIGHT + DERIVED.replace(old, new)
    with pytest.raises(StudyError) as error:
        load_study(write(tmp_path, text))
    assert words in str(error.value) and (error.value.line or 0) >= line_of(text, "derived:")
