"""What `synthesis.yaml` says of other files: every study, derived number, level and claim that it
names is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rawperf.core.errors import Report, VirtperfError
from virtperf.report.synthesis.capacity import along
from virtperf.report.synthesis.definition import Curve, Reference, SynthesisFile
from virtperf.report.synthesis.values import claim_named, instance, study_named, turned_to
from virtperf.study.claims import Claim
from virtperf.study.definition import Study

Known = Mapping[str, tuple[Study, Iterable[Claim]]]
"""Definition and claims by study."""


def check_synthesis(file: SynthesisFile, known: Known, report: Report) -> None:
    """Tell `report` of everything that is named and is not there."""
    named: list[tuple[Reference | Curve, str]] = [
        (c, row.unit) for row in file.rows.values() for c in row.cells
    ]
    named += [(curve, "") for curve in file.curves]
    for asked, unit in named:
        try:
            study, claims = study_named(known, asked.study)
            if isinstance(asked, Curve):
                along(study, asked)
            elif asked.claim:
                claim_named(asked.study, claims, asked.claim)
            else:
                turned_to(instance(study, asked), unit)
        except VirtperfError as err:
            report(err)
