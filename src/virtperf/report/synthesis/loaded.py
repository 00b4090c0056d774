"""Synthesis over the computed results of all studies, for its notebook and `virtperf what-if`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from rawperf.core.errors import StudyError, did_you_mean
from virtperf.core.paths import Layout
from virtperf.report.exhibit import fold
from virtperf.report.frames import StudyData, load
from virtperf.report.kinds._figure import drawing
from virtperf.report.loaded import find_data
from virtperf.report.records import Record, Shown, Span, Words
from virtperf.report.synthesis import capacity, tables
from virtperf.report.synthesis.capacity import CurveValues, RatioGrid
from virtperf.report.synthesis.definition import (
    PLACE,
    RATIO,
    SYNTHESIS_FILE,
    QuantityRow,
    Sentence,
    SynthesisFile,
    load_file,
)
from virtperf.report.synthesis.sentences import sentence_problems
from virtperf.report.synthesis.values import Value, find_study, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def load_synthesis(data: str | Path | None = None, *, level: float = 0.95) -> Synthesis:
    """Load `data/synthesis.yaml` and the stage results of its studies.

    Parameters
    ----------
    data : path, optional
        The repository's `data` folder; None or "": found as by `load_study`.
    level : float
        Confidence level of intervals.

    Raises
    ------
    StudyError
        The file is invalid, or names an unknown study, number or claim.
    """
    folder = Path(data) if data else find_data()
    return Synthesis(load_file(folder / SYNTHESIS_FILE), folder, level)


class Synthesis:
    """Joint questions to all studies, with the numbers that answer them.

    Methods that show something return `Shown`, which a notebook displays.
    """

    def __init__(self, file: SynthesisFile, data: Path, level: float) -> None:
        self.file, self._data, self.level = file, data, level

    @cached_property
    def studies(self) -> Mapping[str, StudyData]:
        """All stage results by study, papers first."""
        studies = {name: load(name, self._data) for name in Layout(self._data.parent).studies()}
        return dict(
            sorted(studies.items(), key=lambda item: (item[1].study.kind == "measured", item[0]))
        )

    @cached_property
    def _of_curves(self) -> Mapping[str, StudyData]:
        """Studies of curves and grids, without claims, which halves the loading time."""
        if "studies" in self.__dict__:
            return self.studies
        return capacity.load_studies([*self.file.curves, *self.file.grids], self._data)

    @cached_property
    def values(self) -> Mapping[str, Sequence[Value]]:
        """Numbers of every row, by its id."""
        return {name: values(self.studies, row, self.level) for name, row in self.file.rows.items()}

    @cached_property
    def curve_values(self) -> Sequence[CurveValues]:
        """Curves over an overcommitment ratio."""
        return capacity.curve_values(self._of_curves, self.file.curves, self.level)

    @cached_property
    def grids(self) -> Sequence[RatioGrid]:
        """Grids over CPU and memory ratios."""
        return capacity.grids(self._of_curves, self.file.grids, self.level)

    def matrix(self) -> Shown:
        """Count the numbers of each system for each question."""
        return Shown(tables.matrix(self.file.questions, self.values, list(self.studies)))

    def question(self, name: str) -> Shown:
        """The answer to one question: a sentence, a picture of its ratios, and all numbers with
        their evidence.

        Raises `StudyError` for an unknown question, and for the first problem of its sentences.
        """
        from virtperf.report.synthesis import picture

        known = {question.id: question for question in self.file.questions}
        if name not in known:
            raise StudyError(
                f"there is no question {name!r}",
                file=SYNTHESIS_FILE,
                remedy=did_you_mean(name, known),
            )
        spec = known[name]
        own = {row.id: row for row in spec.rows}
        sentences = [s for s in self.file.sentences if s.rests_on[0] in own]
        for sentence in sentences:
            for problem in self._problems(sentence):
                raise problem
        lead: list[Words] = [(Span(text=self._filled(s), style="strong"),) for s in sentences[:1]]
        record = tables.question(spec, self.values, [*lead, *map(self._sentence, sentences)])
        rows = self._drawn_rows(own)
        figure = picture.ratios_figure(rows, {name: self.values[name] for name in rows})
        return Shown(record) if figure is None else _with_drawing(record, figure)

    def _drawn_rows(self, own: Mapping[str, QuantityRow]) -> dict[str, QuantityRow]:
        """Rows of a question in its picture, by id: those of `answers` in their words, else the
        first one with ratios.
        """
        chosen = {
            answer.row: own[answer.row].model_copy(update={"says": answer.says})
            for answer in self.file.answers
            if answer.row in own
        }
        ratios = ((name, row) for name, row in own.items() if row.unit == RATIO)
        return chosen or dict(islice(ratios, 1))

    def problems(self) -> Iterator[StudyError]:
        """Yield what is wrong with the sentences; see `sentences.sentence_problems`."""
        for sentence in self.file.sentences:
            yield from self._problems(sentence)

    def _problems(self, sentence: Sentence) -> Iterator[StudyError]:
        return sentence_problems(sentence, self.file.rows, self.values, self.studies)

    def agreements(self) -> Shown:
        """Shared quantities, and whether the studies agree."""
        return Shown(fold(tables.agreements(self.file.questions, self.values)))

    def capacity(self, of: str, ratios: Sequence[float], measure: str = "throughput") -> Shown:
        """Values of every study at overcommitment ratios of "cpu" or "memory"."""
        from virtperf.report.synthesis import picture

        record = tables.capacities(self.curve_values, of, ratios)
        figure = picture.capacity(self.curve_values, of, measure, self.level)
        return Shown(record) if figure is None else _with_drawing(record, figure)

    def joint(self, pairs: Sequence[tuple[float, float]]) -> Shown:
        """Values of every study at pairs of a CPU ratio and a memory ratio."""
        return Shown(tables.joint(self.grids, pairs))

    def limits(self) -> Shown:
        """Tested overcommitment ratios at which each system loses throughput."""
        return Shown(tables.limits_record(self.curve_values))

    def coverage(self) -> Shown:
        """Encoded content of each study, in numbers."""
        return Shown(tables.coverage(self.studies))

    def _filled(self, sentence: Sentence) -> str:
        """A sentence with its numbers."""

        def filled(place: re.Match[str]) -> str:
            name, study = place.groups()
            if name not in self.values:
                raise StudyError(
                    f"sentences: there is no row {name!r}",
                    file=SYNTHESIS_FILE,
                    remedy=did_you_mean(name, self.values),
                )
            if study:
                find_study(self.studies, study)
            selected = [v for v in self.values[name] if study in (None, v.study)]
            return tables.values_text(selected, named=study is None)

        return PLACE.sub(filled, " ".join(sentence.says.split()))

    def _sentence(self, sentence: Sentence) -> Words:
        """A sentence with links to the values that it rests on."""
        parts: list[str | Span] = [
            Span(text=f"{sentence.about}.", style="strong"),
            f" {self._filled(sentence)} Rests on ",
        ]
        quoted = {study for _, study in PLACE.findall(sentence.says)}
        links = {
            value.name: value
            for name in sentence.rests_on
            for value in self.values[name]
            if not quoted or "" in quoted or value.study in quoted
        }
        for k, value in enumerate(links.values()):
            parts += [
                "; " if k else "",
                Span(text=value.name, link=value.link),
            ]
        return (*parts, ".")


def _with_drawing(record: Record, figure: Figure) -> Shown:
    from matplotlib import pyplot

    pyplot.close(figure)
    words = f"Picture of the numbers that answer the question: {record.title}"
    picture = drawing(figure, f"synthesis-{record.id}", record.title, words, record.numbers)
    return Shown(record.model_copy(update={"drawing": picture}), figure)
