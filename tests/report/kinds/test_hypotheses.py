"""The page of hypotheses: detectable differences, and expected false verdicts."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from tests.report.plain import plain
from virtperf.report.kinds.hypotheses import _against, _smaller_in_percent
from virtperf.report.loaded import LoadedStudy


def test_states_detectable_differences_and_expected_false_verdicts(loaded: LoadedStudy) -> None:
    text = plain(loaded.hypotheses())
    assert "6.5 % of the ratio" in text
    # four claims at a level of 95 %
    assert "at most 0.2 wrong decisions are expected for 4 hypotheses" in text


def test_undetectable_difference_has_no_number(loaded: LoadedStudy) -> None:
    huge = loaded.data.verdicts.assign(detectable=1e9)
    context = replace(loaded.context, data=replace(loaded.data, verdicts=huge))
    text = plain(LoadedStudy(context).hypotheses())
    assert "more than 1,000 % of the ratio" in text


def test_verdict_changed_by_another_reading_is_reported(loaded: LoadedStudy) -> None:
    row = {
        "reading": "lenient",
        "claim": "flat",
        "measured_verdict": "refuted",
        "measured_verdict_read": "undecided",
        "reason": "",
    }
    data = replace(loaded.data, verdicts_read=pd.DataFrame([row]))
    exhibit = LoadedStudy(replace(loaded.context, data=data)).hypotheses()
    (folded,) = [block for block in exhibit.record.blocks if block.block == "folded"]
    assert folded.summary == "With other readings of words, 1 of 4 verdicts differs"
    assert [cell[0].text for cell in folded.blocks[0].rows[0][1:]] == [
        "refuted",
        "refuted",
        "undecided",
    ]


def test_note_stands_below_the_hypothesis(loaded: LoadedStudy) -> None:
    claims = loaded.data.claims
    noted = claims.claims[0].model_copy(update={"note": "refuted by a ratio above 2"})
    data = replace(loaded.data, claims=replace(claims, claims=(noted, *claims.claims[1:])))
    text = plain(LoadedStudy(replace(loaded.context, data=data)).hypotheses())
    assert "Note: refuted by a ratio above 2" in text
    assert "Note:" not in plain(loaded.hypotheses())


def test_number_of_an_order_of_several_pairs_is_that_of_the_reason(loaded: LoadedStudy) -> None:
    order = next(claim.id for claim in loaded.data.claims.claims if claim.is_order)
    reason = "x, 8 to x, 4: measured 1,200 % (95 % CI 1,100 to 1,300, 3 runs per condition)"
    verdicts = loaded.data.verdicts.copy()
    verdicts.loc[verdicts["claim"] == order, "estimate"] = float("nan")
    verdicts.loc[verdicts["claim"] == order, "reason"] = reason
    data = replace(loaded.data, verdicts=verdicts)
    text = plain(LoadedStudy(replace(loaded.context, data=data)).hypotheses())
    assert "1,200 % (1,100 to 1,300; x: 8 against 4)." in text


def test_compared_conditions_name_what_they_share_once() -> None:
    assert _against("2 guests, disk to 2 guests, segment") == "2 guests: disk against segment"
    assert _against("disk to segment") == "disk against segment"
    assert _against("2 guests") == "2 guests"


def test_part_of_the_larger_side_is_in_percent(loaded: LoadedStudy) -> None:
    orders = (claim for claim in loaded.data.claims.claims if claim.is_order)
    order = next(claim for claim in orders if len(claim.instances) == 1)
    reason = "x, a to x, b: measured 20.0 (95 % CI 16.0 to 25.0, 3 runs per condition)"
    less = f"{reason}; the hypothesis allows more than 10"
    shown = _smaller_in_percent(order, "holds here", less).replace("\xa0", " ")
    assert shown == "5.0 (4.0 to 6.2) % (x: b against a; the hypothesis allows less than 10 %)"
    # an order of the sides themselves, or more than a part of one, needs no other number
    assert not _smaller_in_percent(
        order, "holds here", f"{reason}; the hypothesis allows more than 1"
    )
    assert not _smaller_in_percent(
        order, "holds here", f"{reason}; the hypothesis allows more than 0.5"
    )
    assert not _smaller_in_percent(order, "holds here", reason)
