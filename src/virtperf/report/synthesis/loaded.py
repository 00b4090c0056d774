"""Synthesis over the computed results of all studies, for its notebook."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from rawperf.core.errors import StudyError
from virtperf.core.numbers import even_interval, join_words
from virtperf.core.paths import Layout
from virtperf.core.provenance import Provenance
from virtperf.report.claim_words import ClaimWords, claim_in_words, estimate_unit
from virtperf.report.findings import length_error
from virtperf.report.frames import StudyData, load
from virtperf.report.kinds._figure import drawing
from virtperf.report.kinds.hypotheses import compared
from virtperf.report.loaded import ExhibitOutput, find_data
from virtperf.report.records import (
    Block,
    Grid,
    Heading,
    Listing,
    Numbers,
    Paragraph,
    Record,
    Span,
    Words,
)
from virtperf.report.synthesis.definition import (
    PLACE,
    SYNTHESIS_FILE,
    Sentence,
    SynthesisFile,
    load_file,
)
from virtperf.report.synthesis.numbers import answers_frame, curves_frame, pieces_frame
from virtperf.report.synthesis.references import NO_STUDY, look_up
from virtperf.report.synthesis.sentences import sentence_problems
from virtperf.study.claims import Claim

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOT_REPEATED = "No claim of this paper is measured again."
_NOT_DOWNLOADED = [
    *("question", "shared", "drawn", "name", "link", "reading", "words", "percent", "text"),
    "by_authors",
]


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
    """Joint questions to all studies, with the numbers that answer them as frames.

    Methods that show something return `ExhibitOutput`, which a notebook displays.
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
    def answers(self) -> pd.DataFrame:
        """One row a number that answers a question (`numbers.answers_frame`)."""
        return answers_frame(self.studies, self.file.questions, self.level)

    @cached_property
    def curves(self) -> pd.DataFrame:
        """One row a number at a tested overcommitment ratio (`numbers.curves_frame`)."""
        return curves_frame(self.studies, self.file.curves, self.level)

    @cached_property
    def repeated(self) -> pd.DataFrame:
        """One row a paper's claim that a measured study repeats, by paper in the order of `studies`.

        Columns: paper; claim and says (its id and our wording of it); study and hypothesis that
        repeat it, with the hypothesis's wording, its verdict and, in words, the quantity with its
        estimate and what the claim allows. A paper without a repeated claim has one row, with
        `NOT_REPEATED` for its claim.
        """
        repeated: dict[str, list[dict[str, str]]] = {
            name: [] for name, data in self.studies.items() if data.study.kind != "measured"
        }
        for name, data in self.studies.items():
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
                    "estimate": _tested(hypothesis, data, words),
                }
                repeated[hypothesis.origin.study].append(row)
        columns = (
            "paper",
            "claim",
            "says",
            "study",
            "hypothesis",
            "wording",
            "verdict",
            "estimate",
        )
        rows = [
            dict.fromkeys(columns, "") | {"paper": paper, **row}
            for paper, of_paper in repeated.items()
            for row in of_paper or [{"says": NOT_REPEATED}]
        ]
        return pd.DataFrame(rows, columns=columns)

    def question(
        self,
        name: str,
        table: pd.DataFrame,
        figure: Figure | None = None,
        narrow: Figure | None = None,
        notes: Sequence[str] = (),
    ) -> ExhibitOutput:
        """The answer to one question: a sentence and a picture, `narrow` for a phone; below a heading,
        the other sentences and a `table` of its numbers with `notes`.

        Raises `StudyError` for an unknown question, for the first problem of its sentences, and if
        the first one has too many words, or not the number that its picture begins with.
        """
        known = {question.id: question for question in self.file.questions}
        question = look_up(known, name, "there is no question")
        own = self.answers[self.answers["question"] == name]
        sentences = [s for s in self.file.sentences if s.rests_on[0] in set(own["row"])]
        for found in self.problems(sentences):
            raise found
        drawn = [row.id for row in question.rows if row.drawn]
        said = {name for name, _ in PLACE.findall(sentences[0].says)} if sentences else set()
        if drawn and said and drawn[0] not in said:
            raise StudyError(
                f"the picture of {name} does not begin with the number of its sentence",
                file=SYNTHESIS_FILE,
                expected=f"`drawn` for {' or '.join(sorted(said))}, before other rows with it",
                found=drawn[0],
            )
        if sentences and (error := length_error(self._filled(sentences[0]))):
            problem = f"sentences, {sentences[0].about}: {error.problem.removeprefix('findings: ')}"
            raise error.copy_as(StudyError, problem=problem, file=SYNTHESIS_FILE)
        lead: list[Block] = [Heading(text="Evidence")]
        if sentences:
            answer = Span(text=self._filled(sentences[0]), style="strong")
            every = Listing(items=tuple(map(self._sentence, sentences)))
            lead = [Paragraph(words=(answer,)), *lead, every]
        return self.show(
            name,
            table,
            title=question.label,
            notes=notes,
            numbers=own,
            figure=figure,
            narrow=narrow,
            blocks=lead,
            heading=question.label,
            note=question.asks,
            level=2,
        )

    def show(
        self,
        name: str,
        table: pd.DataFrame,
        *,
        title: str,
        notes: Sequence[str] = (),
        numbers: pd.DataFrame | None = None,
        figure: Figure | None = None,
        narrow: Figure | None = None,
        blocks: Sequence[Block] = (),
        ids: Sequence[str] = (),
        **parts: Any,
    ) -> ExhibitOutput:
        """Show a table in words, and a picture of its numbers.

        Parameters
        ----------
        name : str
            Its anchor on the page.
        table : DataFrame
            What is shown: text, numbers, columns of `noted` and `linked`, a missing value as "none".
        notes, blocks
            Remarks below the table, and what is above it.
        ids
            Anchors of the table's rows, "" for none.
        figure, narrow : Figure
            The picture, and a second layout of it for a phone.
        numbers : DataFrame
            The numbers behind it, for the download and, of rows as in `answers` or `curves`, their
            provenance.
        **parts
            Further fields of the record, such as `folded`.
        """
        cells = table.astype(object).where(table.notna(), "none").itertuples(index=False, name=None)
        rows = tuple(tuple(c if isinstance(c, tuple) else str(c) for c in row) for row in cells)
        grid = Grid(
            label=title,
            columns=tuple(map(str, table.columns)),
            rows=rows,
            ids=tuple(ids),
            stacks=True,
        )
        downloads: tuple[Numbers, ...] = ()
        provenances: set[str] = set()
        if numbers is not None:
            if "pieces" in numbers:
                provenances = set(numbers["provenance"])
                numbers = pieces_frame(numbers).drop(columns=_NOT_DOWNLOADED, errors="ignore")
            downloads = (Numbers.of(numbers, f"synthesis-{name}"),)
        if figure is not None:
            from matplotlib import pyplot

            words = f"Picture of the numbers that answer the question: {title}"
            parts |= drawing(figure, f"synthesis-{name}", title, words)
            phone = drawing(narrow, f"synthesis-{name}-narrow", title, words)
            parts["narrow"] = phone.get("drawing", "")
            for drawn in filter(None, (figure, narrow)):
                pyplot.close(drawn)  # else the inline backend would draw it again below the cell
        record = Record(
            kind="synthesis",
            id=name,
            study="",
            title=title,
            blocks=(*blocks, grid, *(Paragraph(words=note, style="small") for note in notes)),
            provenance=tuple(kind for kind in Provenance if str(kind) in provenances),
            numbers=downloads,
            **parts,
        )
        return ExhibitOutput(record, figure)

    def problems(self, sentences: Iterable[Sentence] | None = None) -> Iterator[StudyError]:
        """Yield what is wrong with sentences, by default all; see `sentences.sentence_problems`."""
        for sentence in self.file.sentences if sentences is None else sentences:
            for error in sentence_problems(sentence, self.file.rows, self.answers, self.studies):
                what = error.problem.removeprefix("findings: ")
                problem = f"sentences, {sentence.about}: {what}"
                yield error.copy_as(StudyError, problem=problem, file=SYNTHESIS_FILE)

    def _filled(self, sentence: Sentence) -> str:
        """A sentence with its numbers; without a study in a place, with systems and conditions."""

        def filled(place: re.Match[str]) -> str:
            name, study = place.groups()
            own = self.answers[self.answers["row"] == name]
            if study is None:
                return "; ".join(own["name"] + ": " + own["text"])
            look_up(self.studies, study, NO_STUDY)
            own = own[own["study"] == study]
            return join_words(own["text" if own["kind"].nunique() > 1 else "words"])

        return PLACE.sub(filled, " ".join(sentence.says.split()))

    def _sentence(self, sentence: Sentence) -> Words:
        """A sentence with links to the values that it rests on."""
        quoted = {study for _, study in PLACE.findall(sentence.says)}
        evidence = self.answers[self.answers["row"].isin(sentence.rests_on)]
        if quoted and "" not in quoted:
            evidence = evidence[evidence["study"].isin(quoted)]
        parts: list[str | Span] = [
            Span(text=f"{sentence.about}.", style="strong"),
            f" {self._filled(sentence)} Rests on ",
        ]
        for name, link in dict(evidence[["name", "link"]].to_numpy().tolist()).items():
            parts += [Span(text=name, link=link), "; "]
        return (*parts[:-1], ".")


def _tested(hypothesis: Claim, data: StudyData, words: ClaimWords) -> str:
    """The quantity of a hypothesis, its estimate, and what the claim allows."""
    names = dict.fromkeys(quantity.name for quantity in hypothesis.quantities)
    labels = [data.study.quantities[name].label for name in names]
    divides = hypothesis.unit_cancels and not hypothesis.is_order and len(labels) == 2
    of = _quotient(*labels) if divides else join_words(labels)
    result = data.result(hypothesis.id)
    if not words.measured:
        beside, number = compared(hypothesis, words.measured_verdict, words.reason)
        return of + (f": {number}, {beside}" if number else ": each of several comparisons")
    unit = estimate_unit(hypothesis, data.study, result)
    low, high = (float(result[f"allowed_{end}"]) for end in ("low", "high"))
    return f"{of}: {words.measured}; the claim allows {even_interval(low, high, unit)}"


def _quotient(of: str, to: str) -> str:
    """Two labels as a quotient, what both begin with once: ``processor time, guest 3 / guest 1``."""
    begin, comma, rest = of.rpartition(", ")
    return f"{of} / {to.removeprefix(begin + comma) if comma and rest else to}"


def noted(texts: Iterable[str], notes: Iterable[str]) -> list[Words]:
    """A column for `Synthesis.show`: texts, each with a remark below it unless that is empty."""
    return [
        (text, Span(text=note, style="small")) if note else text
        for text, note in zip(texts, notes, strict=True)
    ]


def judged(verdicts: Iterable[str], texts: Iterable[str]) -> list[Words]:
    """A column for `Synthesis.show`: verdicts, each with a text beside it; "" without a verdict."""
    return [
        (Span(text=verdict, style="verdict"), f" {text}".rstrip()) if verdict else text
        for verdict, text in zip(verdicts, texts, strict=True)
    ]


def linked(texts: Iterable[str], links: Iterable[str]) -> list[Words]:
    """A column for `Synthesis.show`: texts with links (`core.shown.Span`)."""
    return [(Span(text=text, link=link),) for text, link in zip(texts, links, strict=True)]
