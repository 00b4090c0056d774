"""Provenance of numbers: a category that travels with every value, and the runs behind it.

Frames carry it in their columns `provenance`, `run_id`, `exhibit` and `study`; means, estimates and
exhibit records carry an `Origin`. It is never passed as an argument.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import pandas as pd

from rawperf.core.errors import RawperfError


class Provenance(StrEnum):
    """Source of a value, with its description for readers."""

    words: str

    PUBLISHED = "published", "printed in the paper"
    COMPUTED = "computed", "computed by us from numbers that the paper prints"
    REDRAWN = "redrawn", "drawn by us from the paper's words; the paper's picture is not available"
    RECONSTRUCTED = "reconstructed", "computed from the paper's claims only, not measured"
    MEASURED = "measured", "from raw files that a tool wrote on a real or emulated machine"
    EXAMPLE = "example", "made up to show what raw files become; not a measurement"
    OWN_DATA = "own data", "from a file that is not a run of this study"

    def __new__(cls, value: str, words: str = "") -> Provenance:
        member = str.__new__(cls, value)
        member._value_, member.words = value, words
        return member


RUN_KINDS = (Provenance.MEASURED, Provenance.EXAMPLE)
"""Provenances of runs; published values are the paper's."""


class ProvenanceError(RawperfError):
    """Values of different provenances in one estimate, or a provenance that contradicts its runs."""


@dataclass(frozen=True)
class Origin:
    """Inputs that a value was computed from.

    `study`: the study's id; "" for data of no study.
    `runs`: sorted run ids; empty for published and reconstructed values.
    `exhibits`: the exhibits whose values were used, in order of first use.
    `files`: files of a reader's own, where provenance is `OWN_DATA`.
    """

    provenance: Provenance
    study: str = ""
    runs: tuple[str, ...] = ()
    exhibits: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def common_origin(origins: Iterable[Origin | None]) -> Origin | None:
    """Merge the origins of a value's inputs; None if all are None. Raises `ProvenanceError` for
    mixed provenances.
    """
    parts = list(origins)
    known = [part for part in parts if part is not None]
    if not known:
        return None
    kinds = dict.fromkeys(part.provenance for part in known)
    if len(kinds) > 1 or len(known) < len(parts):
        words = [*map(str, kinds), *(["unknown"] if len(known) < len(parts) else [])]
        raise ProvenanceError(
            f"one estimate would mix {' and '.join(words)} values",
            expected="values of one provenance",
            remedy="choose one, for example frame[frame['provenance'] == 'measured'].",
        )
    studies = dict.fromkeys(part.study for part in known if part.study)
    return Origin(
        known[0].provenance,
        " ".join(studies),
        tuple(sorted({run for part in known for run in part.runs})),
        tuple(dict.fromkeys(e for part in known for e in part.exhibits)),
        tuple(dict.fromkeys(f for part in known for f in part.files)),
    )


def origin_of(frame: pd.DataFrame) -> Origin | None:
    """Return the origin of a tidy frame, from its columns `provenance`, `run_id`, `exhibit`,
    `study` and `file`.

    None for a frame without the column `provenance`, or without rows. Raises `ProvenanceError` for
    several provenances, or an unknown one.
    """
    if "provenance" not in frame.columns or frame.empty:
        return None
    kinds = list(dict.fromkeys(map(str, frame["provenance"])))
    unknown = [kind for kind in kinds if kind not in set(Provenance)]
    if unknown:
        raise ProvenanceError(
            f"unknown provenance {unknown[0]!r}",
            expected=f"one of {', '.join(Provenance)}",
            found=unknown[0],
        )
    columns: dict[str, tuple[str, ...]] = {}
    for name in ("study", "run_id", "exhibit", "file"):
        values = frame[name].dropna().astype(str) if name in frame.columns else ()
        columns[name] = tuple(dict.fromkeys(value for value in values if value))
    runs, files = (
        tuple(sorted(columns["run_id"])),
        columns["file"] if Provenance.OWN_DATA in kinds else (),
    )
    study = " ".join(columns["study"])
    return common_origin(
        Origin(Provenance(kind), study, runs, columns["exhibit"], files) for kind in kinds
    )
