"""Checks of the sentences of `synthesis.yaml`: each number is one of a study's results, as the
findings of studies (`report.findings`), and each measured one is computed again from the means.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rawperf.core.errors import StudyError
from virtperf.core.groups import two_groups
from virtperf.core.provenance import Provenance
from virtperf.report.findings import (
    UTILIZATION_WORDS,
    is_utilization,
    level_text,
    outside_page,
    typed_tokens,
    unsupported_words,
)
from virtperf.report.frames import StudyData
from virtperf.report.number_words import wrong_origin
from virtperf.report.synthesis.definition import (
    PLACE,
    RATIO,
    SYNTHESIS_FILE,
    QuantityRow,
    Reference,
    Sentence,
)
from virtperf.report.synthesis.values import (
    Value,
    find_claim,
    find_study,
    instance,
    system_name,
    unit_conversion,
)
from virtperf.report.wording import as_precise, interval
from virtperf.study.derived_kinds.base import Derivation
from virtperf.study.quantities import percent_of_ratio

MEASURED = "measured"


def sentence_problems(
    sentence: Sentence,
    rows: Mapping[str, QuantityRow],
    values: Mapping[str, Sequence[Value]],
    studies: Mapping[str, StudyData],
) -> Iterator[StudyError]:
    """Yield what is wrong with a sentence.

    - A place for a row that it does not rest on, or without a number.
    - A number or a ratio in words that is neither a result nor in the words of a row, a study or a
      claim that it rests on.
    - A measured number that is not that of the plotted means, or of runs that fall into two groups.
    - A number called printed although it was measured, or measured although it was not.
    - A utilization presented as use; a printed number outside the range that its page gives.
    """
    placed: list[Value] = []
    for place in PLACE.finditer(sentence.says):
        name, study = place.groups()
        if name not in sentence.rests_on:
            yield _problem(sentence, f"the row {name} is not in rests_on")
            continue
        chosen = [v for v in values[name] if study in (None, v.study)]
        placed += chosen
        if not any(value.pieces for value in chosen):
            yield _problem(sentence, f"{place[0]} has no number")
        kinds = {value.kind == MEASURED for value in chosen}
        if len(kinds) == 1 and (
            word := wrong_origin(sentence.says, place, measured=kinds == {True})
        ):
            yield _problem(sentence, f"{place[0]} stands beside the word “{word}”")
        for cell in rows[name].cells:
            if study in (None, cell.study):
                yield from _cell(sentence, rows[name], cell, studies, values[name])
    named = [rows[name] for name in sentence.rests_on if name in rows]
    texts = [text for row in named for text in _texts(row, studies)]
    known = typed_tokens(texts)
    for token in sorted(typed_tokens([PLACE.sub(" ", sentence.says)]) - known):
        yield _problem(
            sentence,
            f"the number {token} is typed, not computed",
            remedy="write {row} or {row/study}, or say in the row which condition it describes.",
        )
    ratios = (value.ends for value in placed)
    for error in unsupported_words(PLACE.sub("{}", sentence.says), texts, ratios):
        yield _problem(sentence, error.problem.removeprefix("findings: "), found=error.found)


def _problem(
    sentence: Sentence,
    what: str,
    *,
    found: str | None = None,
    expected: str | None = None,
    remedy: str | None = None,
) -> StudyError:
    return StudyError(
        f"sentences, {sentence.about}: {what}",
        file=SYNTHESIS_FILE,
        found=found,
        expected=expected,
        remedy=remedy,
    )


def _texts(row: QuantityRow, studies: Mapping[str, StudyData]) -> Iterator[str]:
    """Yield the words of a row's conditions, and of the studies and claims that it names."""
    yield row.says
    for cell in row.cells:
        data = find_study(studies, cell.study)
        yield from (cell.label, cell.reading, system_name(data.study, cell.system))
        yield from (level_text(level) for level in (*cell.at.values(), *cell.to.values()))
        if cell.claim:
            yield find_claim(cell.study, data.claims or (), cell.claim).says


def _cell(
    sentence: Sentence,
    row: QuantityRow,
    cell: Reference,
    studies: Mapping[str, StudyData],
    values: Iterable[Value],
) -> Iterator[StudyError]:
    data = find_study(studies, cell.study)
    if cell.claim:
        for error in outside_page(data, find_claim(cell.study, data.claims or (), cell.claim)):
            yield _problem(sentence, error.problem.removeprefix("findings: "), found=error.found)
        return
    number = instance(data.study, cell)
    terms = [q for part in number.parts for _, q in part.terms]
    if (
        row.unit == RATIO
        and len({q.at for q in terms}) > 1
        and all(is_utilization(data.study.quantities[q.name]) for q in terms)
        and not any(word in sentence.says.lower() for word in UTILIZATION_WORDS)
    ):
        yield _problem(
            sentence,
            f"{number.label} is a ratio of utilizations, without the word utilization or load",
            remedy="say that it is a utilization: with another run time the processor time differs.",
        )
    for value in values:
        if (value.study, value.label, value.kind) == (cell.study, cell.label, MEASURED):
            yield from _measured(sentence, row, cell, number, data, value)


def _measured(
    sentence: Sentence,
    row: QuantityRow,
    cell: Reference,
    number: Derivation,
    data: StudyData,
    value: Value,
) -> Iterator[StudyError]:
    samples = data.samples(Provenance.MEASURED)
    for quantity in {q for part in number.parts for _, q in part.terms}:
        groups = two_groups(samples[quantity].units.tolist())
        if groups is not None:
            yield _problem(
                sentence,
                f"no mean describes {data.study.show(quantity)}: its runs fall into two groups",
                found=" and ".join(interval(float(g[0]), float(g[-1])) for g in groups),
            )
    if not number.derived.of_reference:
        return
    over, under = (
        math.fsum(
            c * getattr(data.mean(q, Provenance.MEASURED), "value", math.nan) for c, q in part.terms
        )
        for part in number.parts
    )
    share = percent_of_ratio(over / under) if number.derived.in_percent else over / under
    again = unit_conversion(number, row.unit)(share)
    low, high = (end / cell.times for end in value.ends)  # the digits are those of the ratio itself
    shown, expected = (as_precise(v, low, high)[0] for v in (value.value / cell.times, again))
    if shown != expected:
        yield _problem(
            sentence,
            f"{value.name} is not the number of the plotted means",
            expected=expected,
            found=shown,
        )
