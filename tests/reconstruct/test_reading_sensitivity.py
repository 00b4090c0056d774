"""Effects of alternative readings, by hand and against a full recomputation."""

from __future__ import annotations

import shutil
from math import inf

import pandas as pd
import pytest

from tests.cases import each_case
from tests.conftest import ROOT
from tests.reconstruct.conftest import STUDY
from virtperf.reconstruct import reading_sensitivity as module
from virtperf.reconstruct.feasible import solve
from virtperf.reconstruct.leave_one_out import LeaveOneOut
from virtperf.reconstruct.ranges import Answers, ranges
from virtperf.reconstruct.reading_sensitivity import differs, other_readings, solve_other_readings
from virtperf.study.claims import load_claims
from virtperf.study.definition import load_study

TEXT = """
study: tiny
not_encoded: []
claims:
  - {id: one-is-40, kind: value, of: "throughput[guests=1]", value: 40, half_width: 0.5, says: One is 40., about: [figure-1], section: s, ledger: a}
  - {id: two-is-70, kind: value, of: "throughput[guests=2]", value: 70, half_width: 0.5, says: Two is 70., about: [figure-1], section: s, ledger: b}
  - {id: nearly-double, kind: ratio, of: "throughput[guests=2]", to: "throughput[guests=1]", word: nearly, value: 2,
     says: Nearly double., about: [figure-1], section: s, ledger: c}
  - {id: slow, kind: value, of: "response_time[guests=1]", value: 50, half_width: 0.5, says: One takes 50., about: [figure-2], section: s, ledger: d}
"""


DERIVED = """
derived:
  - {id: gain, kind: ratio, of: "throughput[guests=2]", to: "throughput[guests=1]", about: [figure-1], label: gain}
  - {id: slowness, kind: value, of: "response_time[guests=1]", about: [figure-2], label: response time}
"""


@pytest.fixture
def tiny(tmp_path):
    folder = tmp_path / "published" / "tiny"
    folder.mkdir(parents=True)
    (folder / "study.yaml").write_text(STUDY + DERIVED)
    (folder / "claims.yaml").write_text(TEXT)
    shutil.copy(ROOT / "data" / "readings.yaml", tmp_path)
    return load_study(folder)


def tables(study, reading):
    """Claims, feasible set and tables of a reading as in the stage, limited to the compared columns."""
    claims = load_claims(study, reading=reading)
    text = solve(study, claims, ("all",), explain=False)
    quantities = dict.fromkeys(q for e in study.exhibits for _, _, q in study.points(e))
    ends = {q.key(): [e.value for e in text.interval(q)] for q in quantities}
    points = pd.DataFrame(
        [{"quantity": q, "low_text": low, "high_text": high} for q, (low, high) in ends.items()]
    )
    verdicts = pd.DataFrame(
        [{"claim": c.id, "text_verdict": LeaveOneOut(text).judge(c).verdict} for c in claims]
    )
    return claims, text, points, verdicts


def effects(study, reading):
    """The table `READINGS`, as the stage computes it."""
    claims, text, points, verdicts = tables(study, reading)
    others = solve_other_readings(study, claims, text)
    answers = Answers([text, *(other.feasible for other in others)], 1)
    derived = ranges(claims, text, text, answers)
    return other_readings(others, text, answers, points, verdicts, derived)


def at(guests: int) -> str:
    return f"throughput[system=a, guests={guests}]"


def test_changes_computed_by_hand(tiny):
    found = effects(tiny, "default")
    # 69.5 to 70.5 over 39.5 to 40.5 is 1.716 to 1.785: within 1.7 to 2 and 1.5 to 2, not within 1.78 to 2
    assert found.query("kind == 'verdict'")[
        ["reading", "name", "verdict", "verdict_read"]
    ].values.tolist() == [["strict", "nearly-double", "corroborated", "independent"]]
    ranges = found.query("kind == 'range'").set_index(["reading", "name"])
    assert ranges.index.tolist() == [("strict", at(1)), ("strict", at(2))]
    assert ranges.loc[("strict", at(1))][
        ["low", "high", "low_read", "high_read"]
    ].tolist() == pytest.approx([39.5, 40.5, 39.5, 70.5 / 1.78])
    assert ranges.loc[("strict", at(2))][["low_read", "high_read"]].tolist() == pytest.approx(
        [39.5 * 1.78, 70.5]
    )


def test_derived_number_and_dropped_claims_change(tiny):
    found = effects(tiny, "default")
    row = found.query("kind == 'derived'").iloc[0]
    assert (row["reading"], row["name"], row["label"]) == ("strict", "gain", "gain")
    assert row[["low", "high", "low_read", "high_read"]].tolist() == pytest.approx(
        [69.5 / 40.5, 70.5 / 39.5, 1.78, 70.5 / 39.5]
    )
    assert list(row["claims"]) == ["nearly-double"]
    assert len(found.query("kind == 'derived'")) == 1  # no other claim about the response time
    path = tiny.folder / "claims.yaml"
    path.write_text(TEXT.replace("value: 70,", "value: 60,"))  # 1.47 to 1.53: none is nearly double
    found = effects(tiny, "default").query("kind == 'set aside'")
    assert found[["reading", "name", "verdict", "verdict_read"]].values.tolist() == [
        ["lenient", name, "set aside, or another", "kept"]
        for name in ("one-is-40", "two-is-70", "nearly-double")
    ]


@pytest.mark.parametrize("reading", ["strict", "default", "lenient"])
def test_only_affected_results_are_recomputed_and_none_is_missed(tiny, monkeypatch, reading):
    base = tables(tiny, reading)
    anew = []

    def watched(*arguments, **more):
        anew.append(solve(*arguments, **more))
        return anew[-1]

    monkeypatch.setattr(module, "solve", watched)
    claims, text, points, verdicts = base
    others = solve_other_readings(tiny, claims, text)
    answers = Answers([text, *(other.feasible for other in others)], 1)
    found = other_readings(
        others, text, answers, points, verdicts, ranges(claims, text, text, answers)
    )
    for feasible in anew:
        others = [s for s in feasible.systems if s not in base[1].systems]
        claimed = {owner for system in others for owner in system.owner if owner}
        assert claimed == {"one-is-40", "two-is-70", "nearly-double"}
    for other in {"strict", "default", "lenient"} - {reading}:
        _, _, points, verdicts = tables(tiny, other)
        changed = {
            row.quantity
            for before, row in zip(base[2].itertuples(), points.itertuples(), strict=True)
            if differs((before.low_text, before.high_text), (row.low_text, row.high_text), 0.1)
        }
        changed |= set(verdicts["claim"][verdicts["text_verdict"] != base[3]["text_verdict"]])
        reported = found.query("reading == @other and kind in ('verdict', 'range')")
        assert set(reported["name"]) == changed, other


def test_claims_without_words_need_no_computation(tiny, monkeypatch):
    path = tiny.folder / "claims.yaml"
    path.write_text(TEXT.replace("word: nearly, value: 2", "value: 2, half_width: 0.2"))
    claims, text, *_ = tables(tiny, "default")
    monkeypatch.setattr(module, "solve", None)
    assert solve_other_readings(tiny, claims, text) == []


@each_case(
    ("before", "after", "result"),
    [
        ((10, 20), (10.5, 20), False),  # 5 % of the width
        ((10, 20), (10.6, 20), True),
        ((10, 10.5), (10.09, 10.5), False),  # less than the resolution
        ((10, inf), (10, 30), True),
        ((10, 30), (10, inf), True),
        ((10, inf), (10.4, inf), False),
        ((10, inf), (10.6, inf), True),
        ((-inf, inf), (-inf, inf), False),
    ],
)
def test_change_is_significant_from_a_twentieth_of_the_width(before, after, result):
    assert differs(before, after, 0.1) is result
