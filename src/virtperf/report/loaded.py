"""Notebook interface to a study and all results computed for it; and what a notebook shows and
stores of a record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from rawperf.core.errors import RawperfError, StudyError, require_known
from virtperf.core.estimate import Estimates
from virtperf.core.provenance import Origin, Provenance
from virtperf.core.shown import plain_text
from virtperf.report import findings, frames, origins
from virtperf.report.kinds import Context, check_exhibits, find_kind, kinds
from virtperf.report.kinds.estimates import fit_estimates
from virtperf.report.records import (
    MIME,
    NOTEBOOK_ONLY,
    Block,
    Diagram,
    Facts,
    Folded,
    Grid,
    Heading,
    Listing,
    Paragraph,
    Record,
    fold,
    fold_tables,
    joined_record,
    markdown_above,
)
from virtperf.report.run_estimates import ratios_to_baseline
from virtperf.report.wording import exhibit_name, printable
from virtperf.study.definition import Exhibit

if TYPE_CHECKING:
    from matplotlib.figure import Figure


APPENDIX = {
    "text": ("What the paper says elsewhere", ""),
    "contradictions": (
        "Contradictions",
        "Sets of claims that cannot all hold, found by linear programs. The reconstruction sets aside "
        "as few sentences as possible, so that the rest is consistent. If there are several ways "
        "to do so, ranges contain the values under each of them. A claim that is set aside is not "
        "necessarily the wrong one.",
    ),
    "readings": (
        "Readings of words",
        "Words such as *about*, *nearly* or *slight* are read as limits. This table shows what "
        "changes when they are read more strictly or more leniently.",
    ),
    "assumptions": (
        "Assumptions",
        "Not in the paper's text. Each can be switched off in `params.yaml`; the numbers in the "
        "details of each figure have what the text allows without all of them, too.",
    ),
    "errata": ("Errata", "Misprints of the paper, and places that are unclear or disagree."),
    "quality": ("Data quality", ""),
}
"""Report sections on the whole study: heading and note by name."""


def load_study(
    study_id: str,
    data: str | Path | None = None,
    *,
    level: float = 0.95,
    seed: int = 0,
    assumptions: bool = True,
    show_examples: bool = False,
) -> LoadedStudy:
    """Load a study.

    Parameters
    ----------
    study_id : str
        Its folder's name in data/published.
    data : path, optional
        The repository's `data` folder. None or "": that of the repository around the working
        folder, else of the one around the package.
    level : float
        Confidence level of intervals.
    seed : int
        Random seed; exhibits draw no random numbers.
    assumptions : bool
        Whether limits include our assumptions; False shows the limits of the paper alone.
    show_examples : bool
        Whether synthetic example runs are shown and, where nothing was measured, judged; figures,
        estimates and verdicts are labelled as based on examples.
    """
    stored_data = frames.load(study_id, Path(data) if data else find_data(), examples=show_examples)
    check_exhibits(stored_data.study)
    return LoadedStudy(Context(stored_data, level, assumptions, seed))


def find_data() -> Path:
    """Find the `data` folder of the nearest folder upwards with data/published, else of the
    package's repository.
    """
    here = Path.cwd().resolve()
    package = Path(__file__).resolve()
    for folder in (here, *here.parents, *package.parents):
        if (folder / "data" / "published").is_dir():
            return folder / "data"
    raise RawperfError(
        "no repository of studies found",
        expected="a folder with data/published at or above the working folder",
        found=str(here),
        remedy="pass its path: load_study(study_id, data='path/to/data').",
    )


class LoadedStudy:
    """Frames and exhibits of a study, addressed by the paper's names.

    Methods that return frames have a column provenance; methods that show something return `ExhibitOutput`,
    which a notebook displays. The provenance of values is read from the values, not passed by the
    caller.
    """

    def __init__(self, context: Context) -> None:
        self.context, self.data, self.study = context, context.data, context.study

    def points(self, exhibit_id: str) -> pd.DataFrame:
        """Ranges allowed by the text at every point of a figure: low, high, pieces, printed
        (`frames.points`).
        """
        return frames.points(self.data, exhibit_id, assumptions=self.context.assumptions)

    def runs(self, exhibit_id: str) -> pd.DataFrame:
        """Measured runs behind a figure, one row a run and point, perhaps none: run_id, value, se,
        provenance.

        Example runs replace them if the study was loaded with `show_examples` and none of the
        figure's runs was measured: the two are never mixed.
        """
        table = frames.runs(self.data, exhibit_id)
        measured = table["provenance"] == Provenance.MEASURED
        return table[measured].reset_index(drop=True) if measured.any() else table

    def over_time(self) -> pd.DataFrame:
        """A metric of every run over its length, warm-up included: t_s, value, relative to the mean
        within the window (`frames.over_time`).
        """
        return frames.over_time(self.data)

    def printed(self, exhibit_id: str) -> pd.DataFrame:
        """Printed numbers of a figure's points: value, half_width, se of rounding."""
        return frames.printed(self.data, exhibit_id)

    def means(self, exhibit_id: str) -> pd.DataFrame:
        """Means over runs, one row a point and provenance: value, low, high, se, df, n, runs."""
        return frames.means(self.data, exhibit_id, level=self.context.level)

    def show(self, exhibit_id: str, *shown: Any) -> ExhibitOutput:
        """Show an exhibit declared in study.yaml: a table, a diagram, a figure.

        `shown` may be a picture (a Matplotlib figure or axes, or a seaborn grid) in place of the
        default one, and fits (`virtperf.models.Fits`, or a mapping of series to a fit) to draw as
        curves in the default picture. Raises `StudyError` with close matches for an unknown
        exhibit, `ProvenanceError` if a fit's origin does not match the study's runs.
        """
        picture, fits, others = _split_arguments(shown)
        exhibit = frames.find_exhibit(self.data, exhibit_id)
        record, figure = self._drawn(exhibit, picture, [*fits, *others])
        return _shown(record, figure)

    def exhibit(
        self,
        exhibit_id: str,
        *shown: Any,
        ranges: bool | Sequence[str] = True,
        claims: bool = True,
        note: str = "",
        heading: bool = False,
        tables: Mapping[str, Mapping[str, Any]] | None = None,
        folded: bool = False,
    ) -> ExhibitOutput:
        """Show an exhibit with its related material in one record: the figure or table, estimates,
        derived numbers, the paper's claims.

        Parameters
        ----------
        exhibit_id : str
            Its id in study.yaml.
        *shown
            A picture and fits as in `show`; estimates of the fits are tabulated. Mappings of label
            to `virtperf.models.Estimate`, such as from `ratios`, become separate tables.
        ranges : bool or sequence of str
            Whether to show the derived numbers of study.yaml below; or the ids of those to show. A
            number based on several exhibits is shown below the first.
        claims : bool
            Whether to show the paper's claims about it below, collapsed.
        note : str
            Markdown above the exhibit; if empty, the note of study.yaml.
        heading : bool
            Whether to add a heading with its title.
        tables : mapping
            Further tables of estimates by title.
        folded : bool
            Whether it is collapsed behind its title.

        Raises
        ------
        StudyError
            There is no such exhibit or derived number.
        ProvenanceError
            The origin of a fit or an estimate does not match the study's runs.
        """
        exhibit, context, study = (
            frames.find_exhibit(self.data, exhibit_id),
            self.context,
            self.study,
        )
        picture, fits, estimates = _split_arguments(shown)
        record, figure = self._drawn(exhibit, picture, fits)
        fitted = [fit_estimates(context, exhibit, fit) for fit in fits if fit]
        fitted += [Estimates(item, getattr(item, "title", "") or "Estimates") for item in estimates]
        fitted += [Estimates(table, title) for title, table in (tables or {}).items()]
        measured = study.kind == "measured"
        title = f"{exhibit_name(exhibit.id, exhibit.kind)}. {exhibit.title}"
        parts = [
            kinds()["estimates"].record(context, table, title=f"{title}: {table.title}")
            for table in fitted
            if table
        ]
        if ranges is True:
            # a number based on several exhibits is shown below the first
            firsts = [] if measured else [(d.id, d.exhibits[:1]) for d in study.derived]
            ranges = [name for name, first in firsts if first == (exhibit.id,)]
        if ranges:
            parts.append(kinds()["ranges"].record(context, list(ranges)))
        stated = any(exhibit.id in claim.exhibits for claim in self.data.paper_claims)
        if claims and stated and not measured:
            parts.append(kinds()["claims"].record(context, exhibit.id))
        whole = joined_record(
            record,
            parts,
            heading=title if heading else "",
            note=note or str(exhibit.spec.get("note", "")),
            shows=findings.title(self.data, exhibit, context.level),
        )
        return _shown(fold(whole) if folded else whole, figure)

    def exhibits(
        self, *exhibit_ids: str, ranges: bool = True, claims: bool = True, folded: bool = False
    ) -> ExhibitOutputs:
        """Several exhibits, each below a heading with its title; without ids, all of study.yaml.

        `folded`: each is collapsed behind its title, which is no heading then.
        """
        names = exhibit_ids or tuple(exhibit.id for exhibit in self.study.exhibits)
        options: dict[str, Any] = {"ranges": ranges, "claims": claims, "folded": folded}
        return ExhibitOutputs(self.exhibit(name, heading=not folded, **options) for name in names)

    def ratios(self, exhibit_id: str, to: Mapping[str, Any]) -> Estimates:
        """Ratios of a figure's measured means to those at one level: ``to={"guests": 1}`` or
        ``to={"series": "z/VM"}``.

        The intervals are those of verdicts (`core.contrasts`): within blocks if both sides have
        them; empty without enough runs.
        """
        exhibit = frames.find_exhibit(self.data, exhibit_id)
        ((column, level),) = to.items()
        factor = self.study.axis(exhibit)
        if column not in (factor.name, "series"):
            raise StudyError(
                f"{exhibit_id}: {column} is not a column of its conditions",
                expected=f"{factor.name} or series",
            )
        return ratios_to_baseline(self.data, exhibit, column, level, self.context.level)

    def _drawn(
        self, exhibit: Exhibit, picture: Figure | None, fits: Sequence[Any]
    ) -> tuple[Record, Figure | None]:
        """Record and figure of an exhibit; the default figure without a `picture`."""
        labelled = [
            pair for argument in fits if isinstance(argument, Mapping) for pair in argument.items()
        ]
        for label, fit in labelled:
            if isinstance(origin := getattr(fit, "origin", None), Origin):
                origins.check(self.data, origin, str(label))
        kind = find_kind(exhibit)
        if picture is None and kind.draw:
            picture = kind.draw(self.context, exhibit, *fits)
        return kind.record(self.context, exhibit, picture, *fits), picture

    def claims(self, exhibit_id: str | None = None) -> ExhibitOutput:
        """Claims of the paper about an exhibit ("text": about none; None: all claims), with
        verdicts.
        """
        return self._show_kind("claims", exhibit_id, listed=True)

    def summary(self, picture: Any = None) -> ExhibitOutput:
        """The head of a report: the headline figure, findings, the study in a few numbers.

        `picture` is shown in place of the default one of the headline figure, as in `exhibit`.
        """
        kind = kinds()["summary"]
        assert kind.draw is not None
        figure = kind.draw(self.context) if picture is None else picture.figure
        return _shown(kind.record(self.context, figure), figure)

    def appendix(self, *parts: str) -> ExhibitOutputs:
        """Sections on the whole study, each below a heading; without names all of them.

        `parts` are names in `APPENDIX`: text (claims about no exhibit), contradictions, readings,
        assumptions, errata, quality.
        """
        for name in parts:
            expected = f"one of {', '.join(APPENDIX)}"
            problem = f"unknown part of a report: {name!r}"
            require_known(name, APPENDIX, problem, StudyError, expected=expected)
        records = []
        for name in parts or APPENDIX:
            heading, note = APPENDIX[name]
            about = ("claims", "text") if name == "text" else (name,)
            record = kinds()[about[0]].record(self.context, *about[1:])
            above = {"heading": heading, "note": note, "level": 2}
            record = fold_tables(record.model_copy(update=above))
            records.append(_shown(record, None))
        return ExhibitOutputs(records)

    def setup(self) -> ExhibitOutput:
        """Test set-up as described by the paper: machines, guests, workload, procedure; and our
        additions.
        """
        return self._show_kind("setup")

    def hypotheses(self) -> ExhibitOutput:
        """Hypotheses of a measured study, with their verdicts."""
        return self._show_kind("hypotheses")

    def elsewhere(self) -> ExhibitOutput:
        """Verdicts on claims, or on hypotheses of a measured study, by runs at other levels of one
        factor, such as other machines or sessions.
        """
        return self._show_kind("elsewhere")

    def contradictions(self) -> ExhibitOutput:
        """Claims of the paper that cannot all hold."""
        return self._show_kind("contradictions")

    def assumptions(self) -> ExhibitOutput:
        """Assumptions of ours."""
        return self._show_kind("assumptions")

    def readings(self) -> ExhibitOutput:
        """Conclusions that depend on how words such as "nearly" are read."""
        return self._show_kind("readings")

    def errata(self) -> ExhibitOutput:
        """Misprints and unclear places of the paper."""
        return self._show_kind("errata")

    def quality(self) -> ExhibitOutput:
        """Excluded runs, warnings, audits, warm-up, stationarity."""
        return self._show_kind("quality")

    def estimates(
        self, *estimates: Mapping[str, Any] | pd.DataFrame, title: str, unit: str = ""
    ) -> ExhibitOutput:
        """Table of estimates of one provenance: label to `Estimate`, or label to a mapping of them.

        Several mappings are rows of one table; raises `StudyError` if two have the same label. With
        nothing to compute from (an empty mapping or frame, None, or only values missing for
        lack of rows), this and `computed` show one line in the notebook and nothing in the report.
        """
        table: Mapping[str, Any] | pd.DataFrame = estimates[0]
        for more in estimates[1:]:
            if not isinstance(table, Mapping) or not isinstance(more, Mapping):
                raise StudyError("a table has several mappings of estimates, or one frame")
            if twice := table.keys() & more.keys():
                raise StudyError(f"two estimates of one table are named {min(twice)!r}")
            table = {**table, **more}
        return (
            ExhibitOutput(None)
            if _is_empty(table)
            else self._show_kind("estimates", table, title=title, unit=unit)
        )

    def ranges(
        self, names: str | Sequence[str], *, title: str = "", folded: bool = False
    ) -> ExhibitOutput:
        """Derived numbers with the range allowed by the text and measured values beside it;
        `folded` collapses them behind the title.

        `names`: exhibits, for all of their derived numbers, or ids of `derived` in study.yaml.
        """
        return self._show_kind("ranges", names, title=title, folded=folded)

    def own(
        self, figure: Figure, frame: pd.DataFrame, *, title: str, note: str = "", shows: str = ""
    ) -> ExhibitOutput:
        """A custom figure with the frame that it draws; the frame's column `provenance` states its
        origin. `shows`: what it shows, a sentence computed from the frame.
        """
        record = kinds()["own"].record(self.context, figure, frame, title=title, note=note)
        return _shown(record.model_copy(update={"shows": shows}), figure)

    def computed(
        self,
        frame: pd.DataFrame,
        *,
        title: str,
        note: str,
        shows: str = "",
        folded: bool = False,
    ) -> ExhibitOutput:
        """A small table computed in the notebook, with a note on the method; its column
        `provenance` states the source. `shows`: what it shows, a sentence computed from the frame.
        `folded` collapses it behind the title.
        """
        if _is_empty(frame):
            return ExhibitOutput(None)
        record = kinds()["computed"].record(self.context, frame, title=title, note=note)
        record = record.model_copy(update={"shows": shows})
        return _shown(fold(record) if folded else record, None)

    def _show_kind(
        self, kind: str, *arguments: Any, folded: bool = False, **named: Any
    ) -> ExhibitOutput:
        record = kinds()[kind].record(self.context, *arguments, **named)
        return _shown(fold(record) if folded else record, None)


def _is_empty(values: Any) -> bool:
    """Whether there was nothing to compute from: no value, or only missing values without an
    origin.
    """
    if values is None or (isinstance(values, pd.DataFrame) and values.empty):
        return True
    if isinstance(values, Mapping):
        return all(map(_is_empty, values.values()))
    return not getattr(values, "available", True) and getattr(values, "origin", None) is None


def _split_arguments(
    shown: Iterable[Any],
) -> tuple[Figure | None, list[Any], list[Mapping[str, Any]]]:
    """Split the arguments of a notebook call: last picture, fits, mappings of estimates."""
    picture = None
    fits: list[Any] = []
    estimates: list[Mapping[str, Any]] = []
    for item in shown:
        if item is None:
            continue
        if not isinstance(item, Mapping):
            if hasattr(item, "figure"):
                picture = item.figure
            else:
                fits.append(item)
        elif hasattr(item, "estimates") or any(hasattr(v, "predict") for v in item.values()):
            fits.append(item)
        else:
            estimates.append(item)
    return picture, fits, estimates


def _shown(record: Record, figure: Figure | None) -> ExhibitOutput:
    if figure is not None:
        from matplotlib import pyplot

        pyplot.close(figure)  # else the inline backend would draw it again below the cell
    return ExhibitOutput(record, figure)


Bundle = tuple[dict[str, Any], dict[str, Any]]
NO_MEASURED_RUNS = "no measured runs: nothing to estimate"


@dataclass(frozen=True)
class ExhibitOutput:
    """Return value of a study's methods, displayed as the last expression of a cell.

    `record` is the input of pages, downloads and comparisons; None if there was nothing to compute
    from, which only the notebook shows. `figure` is the picture's Matplotlib figure, to be changed,
    saved or shown again.
    """

    record: Record | None
    figure: Figure | None = None

    def __repr__(self) -> str:
        return NO_MEASURED_RUNS if self.record is None else "\n".join(text_parts(self.record))

    def _ipython_display_(self) -> None:
        from IPython.display import display

        for data, metadata in self.bundles():
            display(data, metadata=metadata, raw=True)

    def bundles(self) -> list[Bundle]:
        """MIME bundles stored by the notebook: data by MIME type, and metadata.

        A record without a drawing is one output with the record, its HTML and its text. One with a
        drawing is two: the record with its picture and text, then the HTML of caption and links.
        Pages leave out that HTML, the Markdown of a heading or note before it, and the line of text
        that stands for a missing record.
        """
        if self.record is None:
            return [({"text/plain": NO_MEASURED_RUNS}, dict(NOTEBOOK_ONLY))]
        above = markdown_above(self.record)
        heading = [({"text/markdown": above, "text/plain": ""}, dict(NOTEBOOK_ONLY))]
        return [*(heading if above else []), *self._bundles(self.record)]

    def _bundles(self, record: Record) -> list[Bundle]:
        # only a notebook's display needs the templates of pages
        from virtperf.report.html.record import record_html

        html = str(record_html(record, notebook=True, heading=record.heading))
        # JupyterLab and pages show the HTML; repeated text would be a seventh of the committed
        # notebook.
        text = next(text_parts(record), "").partition("\n")[0]
        content = record.with_picture("").model_dump(mode="json")
        if not record.drawing:
            return [({MIME: content, "text/html": html, "text/plain": text}, {})]
        picture = {MIME: content, "image/svg+xml": record.drawing, "text/plain": text}
        return [
            (picture, {"needs_background": "light"}),
            ({"text/html": html, "text/plain": ""}, dict(NOTEBOOK_ONLY)),
        ]


class ExhibitOutputs(tuple[ExhibitOutput, ...]):
    """Several exhibits displayed by one cell, one below the other."""

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self))

    def _ipython_display_(self) -> None:
        for shown in self:
            shown._ipython_display_()


MAX_CELL_CHARACTERS = 36


def text_parts(record: Record) -> Iterator[str]:
    """Plain text of a record: title, caption and blocks, without small remarks."""
    title = ". ".join(filter(None, (record.name, record.title)))
    return filter(None, chain((title, record.caption), _lines(record.blocks)))


def _lines(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Paragraph():
                yield plain_text(block.words) if block.style != "small" else ""
            case Heading():
                yield block.text
            case Listing():
                yield from (f"- {plain_text(item)}" for item in block.items)
            case Grid():
                rows, columns = (
                    [[plain_text(cell) for cell in row] for row in block.rows],
                    block.columns,
                )
                if block.ids:  # names that a reader may use: `claim-more-at-8`
                    rows, columns = (
                        [[i, *row] for i, row in zip(block.ids, rows, strict=True)],
                        ("id", *columns),
                    )
                yield _table_text(columns, rows)
            case Facts():
                yield _table_text(
                    ("value", "what"), [[fact.value, fact.label] for fact in block.facts]
                )
            case Diagram():
                yield _table_text(("from", "to", "connection"), block.edges)
            case Folded():
                yield from _lines(block.blocks)


def _table_text(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format a table with long cells truncated."""
    cells = [[" ".join(printable(cell).split()) for cell in row] for row in rows]
    table = pd.DataFrame(cells, columns=list(columns))
    return table.to_string(index=False, max_colwidth=MAX_CELL_CHARACTERS)
