"""A study's results in one place, as items: from the stages' files in full, from the executed notebook the rest."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from virtperf.core.errors import VirtperfError
from virtperf.core.params import load_parameters
from virtperf.core.paths import Layout
from virtperf.exhibits.book import Book
from virtperf.exhibits.claim_words import verdict_words
from virtperf.verify.documents import Fragment, notebook_fragments, page_fragments
from virtperf.verify.items import Item
from virtperf.verify.sheets import Row, cell_items, line_items, read_csv, table_items

CLAIMS = "claims"
"""The name under which the statements are compared."""
_NO_FRAMES: dict[str, pd.DataFrame] = {}
_NO_CLAIMS: dict[str, tuple[str, ...]] = {}
_FROM_RUNS = ("reconstructed", "measured", "example")


@dataclass(frozen=True)
class Results:
    """What one place holds of a study.

    Attributes
    ----------
    study : str
    title : str
        The paper's, or the id where the study can't be read.
    notebook, page, kept : dict of str to Fragment
        Exhibits of the executed notebook, of the report, and of the notebook as it is kept with the code; empty where
        there is none.
    frames : dict of str to DataFrame
        The numbers of every figure, and the statements as `CLAIMS`, read from the stages' files by this package; empty
        where a file is missing or has another layout.
    claim_exhibits : dict of str to tuple of str
        The exhibits that each statement speaks of.
    """

    study: str
    title: str
    notebook: Mapping[str, Fragment] = field(default_factory=dict)
    page: Mapping[str, Fragment] = field(default_factory=dict)
    kept: Mapping[str, Fragment] = field(default_factory=dict)
    frames: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    claim_exhibits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def shown(self) -> Mapping[str, Fragment]:
        """The exhibits: those that were executed, else those that are kept with the code."""
        return self.notebook or self.kept

    @property
    def empty(self) -> bool:
        """Whether there is nothing to compare."""
        return not self.shown and not self.frames

    def items(self, *, full: bool) -> list[Item]:
        """Everything to compare.

        Parameters
        ----------
        full : bool
            Figures and statements from `frames` rather than from the notebook's downloads, which have fewer digits.
        """
        found: list[Item] = []
        for name, fragment in self.shown.items():
            if fragment.csv:
                found.append(Item(name, "caption", "", "registers", words=fragment.caption))
            if not full or (name not in self.frames and fragment.kind != "claims"):
                found += _fragment_items(name, fragment)
        if full:
            for name, frame in self.frames.items():
                found += table_items(name, _rows(frame), "verdicts" if name == CLAIMS else _full_kind)
        return found


def results(layout: Layout, study: str) -> Results:
    """Read what a place holds of a study; nothing of it has to be there."""
    title, frames, about = study, _NO_FRAMES, _NO_CLAIMS
    # Another layout than this package's, or none: the documents tell the rest.
    with contextlib.suppress(VirtperfError, LookupError, ValueError, TypeError):
        title, frames, about = _frames(layout, study)
    return Results(
        study, title, _read(layout.executed(study), study, notebook_fragments),
        _read(layout.report(study), study, page_fragments), _read(layout.notebook(study), study, notebook_fragments),
        frames, about,
    )  # fmt: skip


def _read(path: Path, study: str, read: Callable[[Path, str], dict[str, Fragment]]) -> dict[str, Fragment]:
    return read(path, study) if path.is_file() else {}


def _fragment_items(name: str, fragment: Fragment) -> list[Item]:
    if fragment.kind == "printed":
        return cell_items(name, read_csv(fragment.csv))
    if fragment.csv:
        return table_items(name, read_csv(fragment.csv), "estimates")
    return line_items(name, fragment.lines)


def _full_kind(name: str) -> str:
    return "means" if name.startswith((*_FROM_RUNS, "value", "t_s")) else "limits"


def _frames(layout: Layout, study: str) -> tuple[str, dict[str, pd.DataFrame], dict[str, tuple[str, ...]]]:
    parameters = load_parameters(layout.parameters)
    report = parameters.report
    book = Book(
        study, layout.root / "data", level=parameters.level, seed=parameters.seed, assumptions=report.assumptions,
        show_examples=report.show_examples,
    )  # fmt: skip
    if any(not part.endswith("claims.yaml") for part in book.data.missing):
        return book.study.data["title"], _NO_FRAMES, _NO_CLAIMS
    frames = dict(_NO_FRAMES)
    for exhibit in book.study.exhibits:
        if exhibit.kind == "timeseries":
            frames[exhibit.id] = book.samples(exhibit.id)
        elif exhibit.series:
            frames[exhibit.id] = book.points(exhibit.id)
    claims = book.data.claims or ()
    frames[CLAIMS] = pd.DataFrame([_claim_row(claim, book.data.result(claim.id)) for claim in claims])
    return book.study.data["title"], frames, {claim.id: claim.exhibits for claim in claims}


def _rows(frame: pd.DataFrame) -> list[Row]:
    return [{str(k): None if _absent(v) else v for k, v in row.items()} for row in frame.to_dict("records")]


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _claim_row(claim: Any, result: Mapping[str, Any]) -> Row:
    from_text, measured = verdict_words(claim, dict(result))
    numbers = ("implied_low", "implied_high", "information", "estimate", "estimate_low", "estimate_high",
               "reconstructed_estimate", "reconstructed_low", "reconstructed_high")  # fmt: skip
    return {
        "claim": claim.id, "says": claim.says, "kind": claim.kind, "printed": claim.value, "printed_low": claim.low,
        "printed_high": claim.high, "text_verdict": from_text, "measured_verdict": measured,
        **{name: None if _absent(result.get(name)) else result.get(name) for name in numbers},
        "contradicts": result.get("conflicts", ""), "set aside": str(result.get("dropped", "")),
        "reason": str(result.get("reason", "")),
    }  # fmt: skip
