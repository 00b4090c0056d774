"""Raw files of one's own in the forms that a paper's study declares: observed as its own runs are."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import yaml

from rawperf.registry import HEAD_BYTES, extract_head
from virtperf.core.paths import Layout
from virtperf.core.provenance import Provenance
from virtperf.runs.addresses import Addresses
from virtperf.runs.ingest.folder import RUN_FILE
from virtperf.runs.ingest.inputs import study_inputs
from virtperf.runs.intake.preview import preview
from virtperf.study.definition import Study
from virtperf.study.quantities import Quantity
from virtperf.study.samples import StudySamples, samples_by_quantity


def files_in_declared_forms(
    study: Study, places: Sequence[str | Path], addresses: Addresses
) -> list[list[Path]] | None:
    """The files of each place, if each is in a form that the study's `inputs` declare; else None.

    A place is the address of a file, or a pattern of addresses.
    """
    forms = study_inputs(study)
    found = [[f for f in addresses.find(str(place)) if f.is_file()] for place in places]
    recognised = forms and all(
        files and all(any(form.matches_file(f.name, _head(f)) for form in forms) for f in files)
        for files in found
    )
    return found if recognised else None


def observed(
    study: Study,
    conditions: Mapping[Quantity, Sequence[Path]],
    layout: Layout,
    level: float,
) -> StudySamples:
    """The quantities of each condition, each file one run, by the study's own `observed` rules.

    Raises `RunError` as `virtperf.runs.intake.preview.preview`.
    """
    rows = []
    for number, (condition, files) in enumerate(conditions.items(), start=1):
        for replicate, file in enumerate(files, start=1):
            with TemporaryDirectory(prefix="virtperf-") as scratch:
                folder = Path(scratch, "runs", f"c{number}-r{replicate}")
                folder.mkdir(parents=True)
                shutil.copyfile(file, folder / file.name)
                about = {
                    "study": study.id,
                    "run": folder.name,
                    "provenance": Provenance.MEASURED.value,
                    "factors": {name: at for name, at in condition.at if at is not None},
                    "replicate": replicate,
                }
                (folder / RUN_FILE).write_text(yaml.safe_dump(about), encoding="utf-8")
                read = preview(study, folder, layout.metrics, Path(scratch, "work"), level=level)
            rows.append(read.quantities)
    table = pd.concat(rows, ignore_index=True)
    return samples_by_quantity(study, table, Provenance.MEASURED, level)


def _head(path: Path) -> bytes:
    with path.open("rb") as stream:
        return extract_head(stream.read(HEAD_BYTES))
