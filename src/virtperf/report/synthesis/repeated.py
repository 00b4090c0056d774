"""Claims of papers that measured studies repeat, with the verdicts of their runs."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from virtperf.report.claim_words import claim_in_words
from virtperf.report.frames import StudyData

NOT_REPEATED = "No claim of this paper is measured again."


def repeated_claims(studies: Mapping[str, StudyData]) -> pd.DataFrame:
    """Frame with one row a repeated claim, by paper in the order of `studies`.

    Columns: paper; claim and says (its id and our wording of it); study and hypothesis that repeat
    it, with the hypothesis's wording, its verdict and the estimate in words, "" without one. A
    paper without a repeated claim has one row, with `NOT_REPEATED` for its claim.
    """
    repeated: dict[str, list[dict[str, str]]] = {
        name: [] for name, data in studies.items() if data.study.kind != "measured"
    }
    for name, data in studies.items():
        for hypothesis in data.paper_claims:
            if hypothesis.origin is None or hypothesis.origin.study not in repeated:
                continue
            words = claim_in_words(hypothesis, data)
            row = {
                "claim": hypothesis.origin.claim,
                "says": hypothesis.repeats,
                "study": name,
                "hypothesis": hypothesis.id,
                "wording": hypothesis.says,
                "verdict": words.measured_verdict,
                "estimate": words.measured,
            }
            repeated[hypothesis.origin.study].append(row)
    columns = ("paper", "claim", "says", "study", "hypothesis", "wording", "verdict", "estimate")
    rows = [
        dict.fromkeys(columns, "") | {"paper": paper, **row}
        for paper, of_paper in repeated.items()
        for row in of_paper or [{"says": NOT_REPEATED}]
    ]
    return pd.DataFrame(rows, columns=columns)
