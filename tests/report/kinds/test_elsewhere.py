"""Verdicts of a measured study at other levels of a factor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.report.plain import plain
from virtperf.core.stage_tables import VERDICTS_BY_LEVEL
from virtperf.report.kinds.elsewhere import _held_elsewhere, record
from virtperf.report.loaded import LoadedStudy


def test_hypotheses_of_a_measured_study_are_listed_by_level(loaded: LoadedStudy) -> None:
    names = [f"{name}{end}" for name in ("estimate", "allowed") for end in ("_low", "_high")]
    nothing = {"estimate": np.nan, **dict.fromkeys(names, np.nan), "reason": ""}
    rows = [
        {
            "claim": "more-at-8",
            "level": "a",
            "measured_verdict": "does not hold here",
            "estimate": 52.0,
            "estimate_low": 48.0,
            "estimate_high": 56.0,
            "reason": "",
        },
        {
            "claim": "more-at-8",
            "level": "b",
            "measured_verdict": "holds here",
            "estimate": 60.0,
            "estimate_low": 58.0,
            "estimate_high": 62.0,
            "reason": "",
        },
        *(
            {"claim": claim, "level": "b", "measured_verdict": "no measurement", **nothing}
            for claim in ("best-at-8", "flat", "busy")
        ),
    ]
    study = loaded.data.study.model_copy(update={"kind": "measured", "judged_over": "system"})
    data = replace(loaded.data, study=study, verdicts_by_level=VERDICTS_BY_LEVEL.frame(rows))
    made = record(replace(loaded.context, data=data))
    text = " ".join(plain(made).split())
    assert "Printed" not in text and "left out (3)" in text
    assert (
        "does not hold here 52 (48 to 56) %" in text and "holds here 60.0 (58.0 to 62.0) %" in text
    )
    assert made.title == (
        "1 hypothesis holds on one system and fails on another; "
        "0 of 1 have the same verdict on every system"
    )
    verdicts = made.numbers[0].frame().set_index(["claim", "system"])["measured_verdict"]
    assert verdicts.to_dict() == {
        ("more-at-8", "a"): "does not hold here",
        ("more-at-8", "b"): "holds here",
    }


def test_verdict_over_every_level_has_its_own_column(loaded: LoadedStudy) -> None:
    numbers = {"estimate": 55.0, "estimate_low": 50.0, "estimate_high": 60.0, "reason": ""}
    rows = [
        {"claim": "more-at-8", "level": level, "measured_verdict": verdict, **numbers}
        for level, verdict in (("a", "holds here"), ("b", "holds here"), ("every", "undecided"))
    ]
    study = loaded.data.study.model_copy(update={"kind": "measured", "judged_over": "system"})
    data = replace(loaded.data, study=study, verdicts_by_level=VERDICTS_BY_LEVEL.frame(rows))
    text = " ".join(plain(record(replace(loaded.context, data=data))).split())
    assert "over every system" in text and "undecided 55 (50 to 60) %" in text


def test_claims_of_a_paper_that_hold_are_counted_at_other_levels(loaded: LoadedStudy) -> None:
    factor = loaded.study.factors["system"]
    first, second = factor.default, next(x for x in factor.levels if x != factor.default)
    found = {
        "more-at-8": ("reproduced", "refuted"),
        "flat": ("reproduced", "value agrees"),
        "busy": ("refuted", "reproduced"),
        "best-at-8": ("reproduced", "undecided"),
    }
    rows = [
        {"claim": claim, "level": level, "measured_verdict": verdict, "reason": ""}
        for claim, verdicts in found.items()
        for level, verdict in zip((first, second), verdicts, strict=True)
    ]
    study = loaded.data.study.model_copy(update={"judged_over": "system"})
    data = replace(loaded.data, study=study, verdicts_by_level=VERDICTS_BY_LEVEL.frame(rows))
    title = record(replace(loaded.context, data=data)).title
    assert title == f"Of orders and ratios hold 1 of 2 on {factor.show(second)}"


def test_most_orders_of_a_paper_hold_elsewhere_and_most_numbers_do_not(loaded: LoadedStudy) -> None:
    factor = loaded.study.factors["system"]
    first, second = factor.levels[:2]
    verdicts = [["reproduced", "reproduced"], ["reproduced", "refuted"]]
    assert _held_elsewhere(verdicts, [True, False], [first, second], factor) == (
        f"Most orders and ratios hold elsewhere (1 of 1 on {factor.show(second)}); "
        "most absolute numbers do not (0 of 1 do)"
    )


def test_undecided_everywhere_is_told_apart_from_agreement(loaded: LoadedStudy) -> None:
    rows = [
        {"claim": "more-at-8", "level": level, "measured_verdict": "undecided", "reason": ""}
        for level in ("a", "b")
    ]
    study = loaded.data.study.model_copy(update={"kind": "measured", "judged_over": "system"})
    data = replace(loaded.data, study=study, verdicts_by_level=VERDICTS_BY_LEVEL.frame(rows))
    assert record(replace(loaded.context, data=data)).title == (
        "No hypothesis holds on one system and fails on another; "
        "1 of 1 have the same verdict on every system (0 decided, 1 undecided)"
    )
