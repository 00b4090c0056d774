"""Kinds of exhibits, a plugin registry: every module of this package with a `KIND` is a kind; there
is no other list.

A kind makes a `report.records.Record` from a study's data; the templates of `report.html` render it
as HTML. To add a kind, write a module here; `study.yaml` may then name it if its `KIND` has a
`spec`:

    class Spec(ExhibitSpec):
        table: str

    def record(
        context: Context, exhibit: Exhibit, figure: Figure | None = None, *shown: object
    ) -> Record: ...

    KIND = ExhibitKind("dot", record, spec=Spec)
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pandas as pd
from pydantic import BaseModel, ValidationError

from rawperf.core.errors import Report, StudyError, raise_problem, require_known
from rawperf.core.model import Model, Texts, problems
from virtperf.core.provenance import Origin
from virtperf.report.frames import StudyData, point_table
from virtperf.report.origins import TEXT
from virtperf.report.records import Block, Folded, Listing, Numbers, Paragraph, Record, Span, Words
from virtperf.report.wording import slug
from virtperf.study.definition import Exhibit, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure
else:
    Figure = Any  # importing Matplotlib takes half a second, which most commands don't need


class ExhibitSpec(Model):
    """Fields common to all entries of `exhibits` in study.yaml; a kind adds its own.

    `section` is the section of the paper; `shows` names the claims or hypotheses whose sentences are the
    title of the exhibit (`findings.title`); `note`, Markdown, is shown above it in reports.
    """

    id: str
    title: str
    kind: str
    section: str = ""
    shows: Texts = ()
    note: str = ""


@dataclass(frozen=True)
class Context:
    """Input of a kind: `level` is the confidence level of intervals; `assumptions` tells whether
    limits include our assumptions. Runs of provenance "example" are shown if `data` has them.
    """

    data: StudyData
    level: float = 0.95
    assumptions: bool = True
    seed: int = 0

    @property
    def study(self) -> Study:
        """The study's definition."""
        return self.data.study

    def points(self, exhibit: Exhibit) -> pd.DataFrame:
        """Points of a figure with the means of runs (`frames.point_table`)."""
        return point_table(self.data, exhibit, level=self.level, assumptions=self.assumptions)


@dataclass(frozen=True)
class ExhibitKind:
    """One kind of exhibit, by its name in study.yaml and `Record.kind`.

    `record`: for declared kinds ``record(context, exhibit, figure=None, *shown) -> Record`` with
        fits from a notebook as `shown`; other kinds have their own arguments.
    `spec`: the pydantic model of an entry in study.yaml, None for kinds that are not declared
        there.
    `draw`: the default picture, ``draw(context, exhibit, *shown) -> Figure``.
    `check`: ``check(study, exhibit)`` raises `StudyError` for errors beyond `spec`, such as a
        missing file of a table.
    """

    name: str
    record: Callable[..., Record]
    spec: type[BaseModel] | None = None
    draw: Callable[..., Figure | None] | None = None
    check: Callable[[Study, Exhibit], object] | None = None


def kinds() -> Mapping[str, ExhibitKind]:
    """All kinds by name, discovered among the modules of this package."""
    return _find_kinds(tuple(__path__))


@lru_cache(maxsize=4)
def _find_kinds(folders: tuple[str, ...]) -> dict[str, ExhibitKind]:
    modules = [
        importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(folders)
    ]
    return {module.KIND.name: module.KIND for module in modules if hasattr(module, "KIND")}


def find_kind(exhibit: Exhibit) -> ExhibitKind:
    """Kind of an exhibit in study.yaml; raises `StudyError` with close matches for an unknown kind."""
    declared = {name: kind for name, kind in kinds().items() if kind.spec is not None}
    require_known(
        exhibit.kind,
        declared,
        f"{exhibit.id}: there is no kind of exhibit {exhibit.kind!r}",
        StudyError,
        file="study.yaml",
        expected=f"one of {', '.join(sorted(declared))}",
    )
    return declared[exhibit.kind]


def parse_spec(exhibit: Exhibit) -> Any:
    """Parse an exhibit's entry in study.yaml by its kind's model; `check_exhibits` has validated
    it.
    """
    model = find_kind(exhibit).spec
    assert model is not None
    return model.model_validate(exhibit.spec)


def check_exhibits(study: Study, report: Report = raise_problem) -> None:
    """Validate the kind and the entry of every exhibit; each problem goes to `report`."""
    for position, exhibit in enumerate(study.exhibits):
        where = ("exhibits", position)
        try:
            kind = find_kind(exhibit)
            parse_spec(exhibit)
            if kind.check is not None:
                kind.check(study, exhibit)
        except ValidationError as err:
            assert kind.spec is not None
            for problem in problems(err, kind.spec, study.document, *where):
                report(problem)
        except StudyError as err:
            parts = {"expected": err.expected, "found": err.found, "remedy": err.remedy}
            details = {name: part for name, part in parts.items() if part}
            report(
                err
                if err.line is not None
                else study.document.error(err.problem, *where, **details)
            )


def register(
    context: Context,
    kind: str,
    *blocks: Block,
    title: str = "",
    claims: Iterable[str] = (),
    **more: Any,
) -> Record:
    """Build the record of a kind with one exhibit a study; the record's id is the kind."""
    return Record(
        kind=kind,
        id=kind,
        study=context.study.id,
        title=title,
        blocks=blocks,
        claims=tuple(claims),
        **more,
    )


def note(words: str) -> Paragraph:
    """A remark, set off from the text."""
    return Paragraph(words=words, style="note")


def first_items(items: Iterable[Words], total: int) -> Listing:
    """A list of the first of `total` items, with how many more the details have."""
    shown = tuple(items)
    rest = (f"{total - len(shown):,} more in the details.",) if total > len(shown) else ()
    return Listing(items=(*shown, *rest))


def analysis(
    context: Context,
    kind: str,
    title: str,
    origin: Origin | None,
    numbers: pd.DataFrame,
    *blocks: Block,
    **more: Any,
) -> Record:
    """Build the record of a notebook's own computation, named after its title, with its origin.

    Its lineage lists exhibits, whose traces lead to the runs; the runs if there is no exhibit.
    """
    study, anchor = context.study.id, slug(title)
    exhibits = (
        [] if origin is None else [f"exhibit:{name}" for name in origin.exhibits if name != TEXT]
    )
    runs = [] if origin is None else [f"run:{name}" for name in origin.runs]
    return Record(
        kind=kind,
        id=anchor,
        study=study,
        title=title,
        provenance=() if origin is None else (origin.provenance,),
        lineage=tuple(exhibits or runs),
        numbers=(Numbers.of(numbers, f"{study}-{anchor}"),),
        blocks=blocks,
        **more,
    )


def source(study: Study, exhibit: Exhibit, before: str, *after: str | Span) -> Folded:
    """Source of an exhibit: its section of the paper, with text around it."""
    place = f"section “{exhibit.section}”" if exhibit.section else "the paper"
    return Folded(summary="Source", blocks=(Paragraph(words=(f"{before}{place}", *after)),))


def attribution(study: Study) -> tuple[Paragraph, ...]:
    """Attribution of the measured data in an exhibit, if published by the paper's authors; else
    empty.
    """
    if study.artifact is None:
        return ()
    words = study.artifact.words
    return (Paragraph(words=f"{words[:1].upper()}{words[1:]}.", style="small"),)


def trace(study: Study, exhibit: Exhibit, words: str = "Trace of values") -> Paragraph:
    """Link to the claims, runs, files and lines behind every point of a figure or cell of a table."""
    return Paragraph(
        words=(Span(text=words, link=f"trace:{study.id}/{exhibit.id}"),), style="small"
    )
