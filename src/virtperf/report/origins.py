"""Checks of the origin of shown values against the study's own runs and exhibits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from rawperf.core.errors import require_known
from virtperf.core.provenance import (
    RUN_KINDS,
    Origin,
    Provenance,
    ProvenanceError,
    common_origin,
    origin_of,
)
from virtperf.report import frames
from virtperf.report.frames import StudyData

TEXT = "text"  # pseudo-exhibit for the paper's prose, as in claims.yaml


def shared_origin(data: StudyData, values: Mapping[str, Any]) -> Origin | None:
    """Return the origin shared by all values, checked; None if all values are missing and without
    an origin.

    `values`: by label, estimates or other objects with `origin` and, if they may be missing,
    `available`. Raises `ProvenanceError` if a value has no origin, two values have different
    provenances, or an origin does not match this study.
    """
    origins: dict[str, Origin] = {}
    for label, value in values.items():
        origin = getattr(value, "origin", None)
        if isinstance(origin, Origin):
            check(data, origin, label)
            origins[label] = origin
        elif getattr(value, "available", True):
            raise ProvenanceError(
                f"{label}: the value has no origin",
                expected="a value computed from a frame of the study",
                remedy="compute it from a frame of the study (study.runs, study.printed) with virtperf.models, or, for "
                "a model of your own, pass origin=virtperf.core.provenance.origin_of(frame).",
            )
    kinds: dict[Provenance, str] = {}
    for label, origin in origins.items():
        kinds.setdefault(origin.provenance, label)
    if len(kinds) > 1:
        descriptions = [f"{label} is {kind}" for kind, label in kinds.items()]
        raise ProvenanceError(
            f"one table can't mix {' and '.join(sorted(kinds))} values",
            found="; ".join(descriptions),
            remedy="show each provenance in a separate table.",
        )
    return common_origin(origins.values())


def frame_origin(data: StudyData, frame: pd.DataFrame, label: str) -> Origin:
    """The origin of a frame, checked; raises `ProvenanceError` as `shared_origin` does."""
    origin = origin_of(frame)
    if origin is None:
        raise ProvenanceError(
            f"{label}: the frame has no column `provenance`",
            expected="a frame with its provenance",
            remedy="keep the columns provenance, run_id and exhibit of the frames that it was computed from.",
        )
    check(data, origin, label)
    return origin


def check(data: StudyData, origin: Origin, label: str) -> None:
    """Check that an origin matches this study, as far as can be determined.

    Raises `ProvenanceError` if it belongs to another study; it names runs or exhibits that the
    study does not have; its runs are of another provenance; values from runs name none; values from
    the text name runs, or exhibits without such values.
    """
    word, runs = (
        origin.provenance,
        {run["run_id"]: run["provenance"] for run in data.index.get("runs", ())},
    )
    if origin.study and origin.study != data.study.id:
        raise ProvenanceError(
            f"{label}: it was computed from values of {origin.study}",
            expected=data.study.id,
            found=origin.study,
            remedy="show it with the study that it belongs to.",
        )
    exhibits = (TEXT, *(e.id for e in data.study.exhibits))
    for name in origin.exhibits:
        problem = f"{label}: the study has no exhibit {name!r}"
        require_known(name, exhibits, problem, ProvenanceError)
    if word is Provenance.OWN_DATA:
        return
    for run in origin.runs:
        require_known(run, runs, f"{label}: the study has no run {run!r}", ProvenanceError)
        if word not in RUN_KINDS or runs[run] != word:
            raise ProvenanceError(
                f"{label}: its provenance is {word}, but run {run} is {runs[run]}",
                expected=runs[run],
                found=str(word),
                remedy="leave the column `provenance` as it is.",
            )
    if word in RUN_KINDS and not origin.runs:
        raise ProvenanceError(
            f"{label}: its provenance is {word}, but it names no run",
            expected=f"the ids of {word} runs",
            remedy="keep the column `run_id` of the frame that it was computed from.",
        )
    if word in RUN_KINDS:
        return
    if not origin.exhibits:
        raise ProvenanceError(
            f"{label}: its provenance is {word}, but it names no exhibit",
            expected="the exhibits it comes from",
            remedy="keep the column `exhibit` of the frame that it was computed from.",
        )
    for name in origin.exhibits:
        if not _has_values(data, name, word):
            having = [e.id for e in data.study.exhibits if _has_values(data, e.id, word)]
            raise ProvenanceError(
                f"{label}: its provenance is {word}, but {name} has no {word} value",
                found=str(word),
                expected=f"one of {', '.join(having) or 'no exhibit'}",
            )


def _has_values(data: StudyData, exhibit_id: str, word: Provenance) -> bool:
    """Whether an exhibit has published or reconstructed values; tables, diagrams and prose count as
    published.
    """
    if exhibit_id == TEXT:
        return word is Provenance.PUBLISHED
    exhibit = data.study.exhibit(exhibit_id)
    if word is Provenance.RECONSTRUCTED:
        return exhibit_id in set(data.points["exhibit"])
    return not exhibit.series or not frames.printed(data, exhibit).empty
