"""A study with everything that was computed for it: what a notebook works with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from rawperf.core.errors import VirtperfError
from virtperf.core.provenance import Origin, Provenance
from virtperf.report import data as stored
from virtperf.report import frames, origins
from virtperf.report.kinds import Context, check_exhibits, kind_of, kinds
from virtperf.report.records import Record
from virtperf.report.show import Shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
        The repository's `data` folder. None or "": that of the repository that the working folder
        lies in, else of the one that the package lies in.
    level : float
        Confidence level of intervals.
    seed : int
        For whatever draws random numbers; exhibits draw none.
    assumptions : bool
        Whether limits are shown with our assumptions; False shows what the paper alone allows.
    show_examples : bool
        Whether made-up example runs are shown and, where nothing was measured, judged; figures,
        estimates and verdicts say that they rest on examples.
    """
    found = stored.load(study_id, Path(data) if data else find_data(), examples=show_examples)
    check_exhibits(found.study)
    return LoadedStudy(Context(found, level, assumptions, show_examples, seed))


def find_data(start: Path | None = None) -> Path:
    """The `data` folder of the nearest folder upwards that has data/published, else of the
    package's repository.
    """
    here = (start or Path.cwd()).resolve()
    package = Path(__file__).resolve()
    for folder in (here, *here.parents, *package.parents):
        if (folder / "data" / "published").is_dir():
            return folder / "data"
    raise VirtperfError(
        "no repository of studies is near",
        expected="a folder with data/published at or above the working folder",
        found=str(here),
        remedy="name it: load_study(study_id, data='path/to/data').",
    )


class LoadedStudy:
    """A study's frames and exhibits, by the paper's names for them.

    Methods that give frames have provenance in a column; methods that show something return
    `Shown`, which a notebook displays. What values rest on is read from the values: nobody passes
        it.
    """

    def __init__(self, context: Context) -> None:
        self.context, self.data, self.study = context, context.data, context.study

    def points(self, exhibit_id: str) -> pd.DataFrame:
        """What the text allows at every point of a figure: low, high, pieces, printed
        (`exhibits.frames.points`).
        """
        return frames.points(self.data, exhibit_id, assumptions=self.context.assumptions)

    def runs(self, exhibit_id: str) -> pd.DataFrame:
        """The measured runs behind a figure, one row a run and point, perhaps none: run_id, value,
        se, provenance.

        Made-up example runs are among them where the study was loaded with `show_examples`.
        """
        return self._without_examples(frames.runs(self.data, exhibit_id))

    def printed(self, exhibit_id: str) -> pd.DataFrame:
        """The numbers that the paper prints for a figure's points: value, half_width, se of
        rounding.
        """
        return frames.printed(self.data, exhibit_id)

    def means(self, exhibit_id: str) -> pd.DataFrame:
        """The means over runs, one row a point and provenance: value, low, high, se, df, n,
        runs.
        """
        return self._without_examples(frames.means(self.data, exhibit_id, level=self.context.level))

    def _without_examples(self, frame: pd.DataFrame) -> pd.DataFrame:
        if self.context.examples:
            return frame
        return frame[frame["provenance"] != Provenance.EXAMPLE].reset_index(drop=True)

    def show(self, exhibit_id: str, *shown: Any) -> Shown:
        """An exhibit that study.yaml declares: a table, a diagram, a figure.

        `shown` may be a picture (a Matplotlib figure or axes, or a grid of seaborn), where it is
        not the default one, and fits (`virtperf.models.Fits`, or a mapping of series to a fit) that
        the default picture has curves of. A
        `StudyError` names near exhibits where there is no such one; `ProvenanceError` where a fit
        says what is not true of the study's runs.
        """
        exhibit = frames.named(self.data, exhibit_id)
        kind = kind_of(exhibit)
        pictures = [
            item.figure
            for item in shown
            if hasattr(item, "figure") and not isinstance(item, Mapping)
        ]
        fits = [
            item
            for item in shown
            if isinstance(item, Mapping) or not (item is None or hasattr(item, "figure"))
        ]
        for label, fit in (
            pair for item in fits if isinstance(item, Mapping) for pair in item.items()
        ):
            if isinstance(origin := getattr(fit, "origin", None), Origin):
                origins.check(self.data, origin, str(label))
        figure = (
            pictures[-1]
            if pictures
            else kind.draw(self.context, exhibit, *fits)
            if kind.draw
            else None
        )
        return _shown(kind.record(self.context, exhibit, figure, *fits), figure)

    def claims(self, exhibit_id: str | None = None) -> Shown:
        """What the paper says about an exhibit ("text": about none; None: everything), with
        verdicts.
        """
        return self._made("claims", exhibit_id)

    def summary(self) -> Shown:
        """The head of a report: the telling figure, findings, the study in a few numbers."""
        kind = kinds()["summary"]
        assert kind.draw is not None
        figure = kind.draw(self.context)
        return _shown(kind.record(self.context, figure), figure)

    def results(self, *exhibit_ids: str) -> list[Shown]:
        """The exhibits, without names all, with fits and comparisons as study.yaml declares
        them.
        """
        from virtperf.report.results import results

        asked = [frames.named(self.data, exhibit_id) for exhibit_id in exhibit_ids]
        return list(results(self, asked or self.study.exhibits))

    def setup(self) -> Shown:
        """How the study was measured, as its paper says: machines, guests, workload, procedure;
        what we added.
        """
        return self._made("setup")

    def hypotheses(self) -> Shown:
        """What a measured study expects, and what its runs say."""
        return self._made("hypotheses")

    def contradictions(self) -> Shown:
        """Claims of the paper that cannot all hold."""
        return self._made("contradictions")

    def assumptions(self) -> Shown:
        """Assumptions of ours."""
        return self._made("assumptions")

    def readings(self) -> Shown:
        """Conclusions that depend on how words such as "nearly" are read."""
        return self._made("readings")

    def errata(self) -> Shown:
        """Misprints and unclear places of the paper."""
        return self._made("errata")

    def quality(self) -> Shown:
        """Excluded runs, warnings, audits, warm-up, stationarity."""
        return self._made("quality")

    def estimates(
        self, estimates: Mapping[str, Any] | pd.DataFrame, *, title: str, unit: str = ""
    ) -> Shown:
        """A table of estimates of one provenance: label to `Estimate`, or label to a mapping of
        them.

        This and `computed` show one line in the notebook and nothing in the report where there is
        nothing to compute from: an empty mapping or frame, None, or only values that are missing
        since there are no rows.
        """
        return (
            Shown(None)
            if _is_nothing(estimates)
            else self._made("estimates", estimates, title=title, unit=unit)
        )

    def ranges(self, names: str | Sequence[str], *, title: str = "") -> Shown:
        """Numbers that follow from plotted values, with the range that the text allows, and
        measured ones beside it.

        `names`: exhibits, for all of their derived numbers, or ids of `derived` in study.yaml.
        """
        return self._made("ranges", names, title=title)

    def own(self, figure: Figure, frame: pd.DataFrame, *, title: str, note: str = "") -> Shown:
        """A figure of one's own with the frame that it draws, whose column `provenance` says what
        it rests on.
        """
        return _shown(
            kinds()["own"].record(self.context, figure, frame, title=title, note=note), figure
        )

    def computed(self, frame: pd.DataFrame, *, title: str, note: str) -> Shown:
        """A small table that the notebook has computed, and how; its column `provenance` says from
        what.
        """
        return (
            Shown(None)
            if _is_nothing(frame)
            else self._made("computed", frame, title=title, note=note)
        )

    def _made(self, kind: str, *arguments: Any, **named: Any) -> Shown:
        return _shown(kinds()[kind].record(self.context, *arguments, **named), None)


def _is_nothing(values: Any) -> bool:
    """Whether there was nothing to compute from: no value at all, or none that rests on
    anything.
    """
    if values is None or (isinstance(values, pd.DataFrame) and values.empty):
        return True
    if isinstance(values, Mapping):
        return all(map(_is_nothing, values.values()))
    return not getattr(values, "available", True) and getattr(values, "origin", None) is None


def _shown(record: Record, figure: Figure | None) -> Shown:
    if figure is not None:
        from matplotlib import pyplot

        pyplot.close(figure)  # else the inline backend would draw it again below the cell
    return Shown(record, figure)
