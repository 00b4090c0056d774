"""The page of hypotheses: what the runs could have shown, and how many verdicts chance may decide."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from tests.report.plain import plain
from virtperf.report.loaded import LoadedStudy


def test_it_says_what_the_runs_could_show_and_what_chance_may_decide(loaded: LoadedStudy) -> None:
    said = plain(loaded.hypotheses())
    assert "6.5 % of the ratio" in said
    # four claims at a level of 95 %
    assert "at most 0.2 wrong decisions are expected for 4 hypotheses" in said


def test_a_difference_that_nothing_could_show_has_no_number(loaded: LoadedStudy) -> None:
    huge = loaded.data.verdicts.assign(detectable=1e9)
    context = replace(loaded.context, data=replace(loaded.data, verdicts=huge))
    said = plain(LoadedStudy(context).hypotheses())
    assert "more than 1,000 % of the ratio" in said


def test_a_verdict_that_another_reading_of_words_changes_is_told(loaded: LoadedStudy) -> None:
    row = {
        "reading": "lenient",
        "claim": "flat",
        "measured_verdict": "refuted",
        "measured_verdict_read": "undecided",
        "reason": "",
    }
    data = replace(loaded.data, verdicts_read=pd.DataFrame([row]))
    shown = LoadedStudy(replace(loaded.context, data=data)).hypotheses()
    (folded,) = [block for block in shown.record.blocks if block.block == "folded"]
    assert folded.summary == "With other readings of words, 1 of 4 verdicts differs"
    assert [cell[0].text for cell in folded.blocks[0].rows[0][1:]] == [
        "refuted",
        "refuted",
        "undecided",
    ]
