"""What `synthesis.yaml` says of other files: every study, derived number, level and claim that it names is there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from virtperf.core.errors import Report, VirtperfError
from virtperf.study.claims import Claim
from virtperf.study.definition import Study
from virtperf.synthesis.capacity import along
from virtperf.synthesis.definition import Curve, Reference, SynthesisFile
from virtperf.synthesis.values import claim_named, instance, study_named, turned_to

Known = Mapping[str, tuple[Study, Iterable[Claim]]]
"""Definition and claims by study."""


def check_synthesis(file: SynthesisFile, known: Known, report: Report) -> None:
    """Tell `report` of everything that is named and is not there."""
    for row in file.rows.values():
        for cell in row.cells:
            _told(report, _check_cell, cell, row.unit, known)
    for curve in file.curves:
        _told(report, _check_curve, curve, known)


def _told(report: Report, check: object, *given: object) -> None:
    try:
        check(*given)  # type: ignore[operator]
    except VirtperfError as err:
        report(err)


def _check_cell(cell: Reference, unit: str, known: Known) -> None:
    study, claims = study_named(known, cell.study)
    if cell.claim:
        claim_named(cell.study, claims, cell.claim)
    else:
        turned_to(instance(study, cell), unit)


def _check_curve(curve: Curve, known: Known) -> None:
    study, _ = study_named(known, curve.study)
    along(study, curve)
