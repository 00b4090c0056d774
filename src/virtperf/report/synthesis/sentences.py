"""Checks of the sentences of `synthesis.yaml`: each number is one of a study's results, as in the
findings of studies (`report.findings`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from rawperf.core.errors import StudyError
from virtperf.core.provenance import Provenance
from virtperf.report.findings import (
    outside_page,
    two_groups_error,
    typed_tokens,
    unsupported_words,
    utilization_error,
)
from virtperf.report.frames import StudyData
from virtperf.report.number_words import wrong_origin
from virtperf.report.synthesis.definition import PLACE, RATIO, Cell, QuantityRow, Sentence
from virtperf.report.synthesis.numbers import MEASURED
from virtperf.report.synthesis.references import (
    NO_STUDY,
    find_claim,
    instance,
    look_up,
    named_quantity,
)


def sentence_problems(
    sentence: Sentence,
    rows: Mapping[str, QuantityRow],
    answers: pd.DataFrame,
    studies: Mapping[str, StudyData],
) -> Iterator[StudyError]:
    """Yield what is wrong with a sentence.

    - A place for a row that it does not rest on, or without a number.
    - A number or a ratio in words that is neither a result nor in the words of a row or a number
      that it rests on.
    - A mean of runs that fall into two groups.
    - A number called printed although it was measured, or measured although it was not.
    - A utilization presented as use; a printed number outside the range that its page gives.
    """
    evidence = answers[answers["row"].isin(sentence.rests_on)]
    ratios: list[tuple[float, float]] = []
    for place in PLACE.finditer(sentence.says):
        name, study = place.groups()
        if name not in sentence.rests_on:
            yield StudyError(f"the row {name} is not in rests_on")
            continue
        placed = evidence[evidence["row"] == name]
        placed = placed if study is None else placed[placed["study"] == study]
        ratios += zip(placed["low"], placed["high"], strict=True)
        if not placed["pieces"].map(len).any():
            yield StudyError(f"{place[0]} has no number")
        measured = set(placed["kind"] == MEASURED)
        if len(measured) == 1 and (
            word := wrong_origin(sentence.says, place, measured=measured == {True})
        ):
            yield StudyError(f"{place[0]} stands beside the word “{word}”")
        for cell in rows[name].cells:
            if study in (None, cell.study):
                data = look_up(studies, cell.study, NO_STUDY)
                yield from _cell_problems(sentence.says, rows[name], cell, data)
    texts = evidence[["quantity", "compared", "reading", "system", "number"]].to_numpy().ravel()
    for token in sorted(typed_tokens([PLACE.sub(" ", sentence.says)]) - typed_tokens(texts)):
        yield StudyError(
            f"the number {token} is typed, not computed",
            remedy="write {row} or {row/study}, or say in the row which condition it describes.",
        )
    yield from unsupported_words(PLACE.sub("{}", sentence.says), texts, ratios)


def _cell_problems(
    says: str, row: QuantityRow, cell: Cell, data: StudyData
) -> Iterator[StudyError]:
    if cell.claim:
        yield from outside_page(data, find_claim(cell.study, data.claims or (), cell.claim))
        return
    if cell.quantity:
        terms = [named_quantity(data.study, cell.quantity)]
    else:
        number = instance(data.study, cell, cell.at)
        terms = [quantity for part in number.parts for _, quantity in part.terms]
    if row.unit == RATIO and (error := utilization_error(data.study, terms, says)):
        yield error
    samples = data.samples(Provenance.MEASURED)
    for quantity in dict.fromkeys(terms):
        if quantity in samples and (error := two_groups_error(data, quantity)):
            yield error
