"""Raw files of one's own in the forms that a paper's study declares: observed as its own runs are."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import yaml

from rawperf.core.files import hash_file
from rawperf.text import HEAD_BYTES, extract_head
from virtperf.comparison.sides import Side
from virtperf.core.paths import Layout
from virtperf.core.provenance import Provenance
from virtperf.runs.addresses import Addresses
from virtperf.runs.ingest.folder import RUN_FILE
from virtperf.runs.ingest.inputs import study_inputs
from virtperf.runs.one_run import preview
from virtperf.runs.run_values import RunValues
from virtperf.study.definition import Study
from virtperf.study.quantities import Quantity
from virtperf.study.study_samples import StudySamples, samples_by_quantity


def read_declared_forms(
    study: Study,
    conditions: Sequence[Quantity],
    places: Sequence[str | Path],
    layout: Layout,
    level: float,
) -> tuple[StudySamples, list[Side]] | None:
    """The quantities of each condition by the study's own `observed` rules, each file of its place
    one run; None unless all files are in a form that the study's `inputs` declare.

    A place is the address of a file, or a pattern of addresses. Raises `RunError` as
    `virtperf.runs.one_run.preview`.
    """
    forms = study_inputs(study)
    rows, sides = [], []
    with TemporaryDirectory(prefix="virtperf-") as scratch:
        addresses = Addresses(Path(scratch, "packed"))
        found = [[f for f in addresses.find(str(place)) if f.is_file()] for place in places]
        for files in found:
            heads = [(file.name, _head(file)) for file in files]
            if not heads or not all(any(form.matches_file(*h) for form in forms) for h in heads):
                return None
        for number, (condition, files) in enumerate(zip(conditions, found, strict=True), start=1):
            runs = []
            for replicate, file in enumerate(files, start=1):
                name = f"c{number}-r{replicate}"
                about = {
                    "study": study.id,
                    "run": name,
                    "provenance": Provenance.MEASURED.value,
                    "factors": {factor: at for factor, at in condition.at if at is not None},
                    "replicate": replicate,
                }
                folder = Path(scratch, name)
                folder.mkdir()
                shutil.copyfile(file, folder / file.name)
                (folder / RUN_FILE).write_text(yaml.safe_dump(about), encoding="utf-8")
                read = preview(study, folder, layout.metrics, level=level)
                rows.append(read.quantities)
                place = addresses.address(str(file))
                runs.append(RunValues(file.name, {}, digest=hash_file(file)[0], place=place))
            sides.append(Side(str(places[number - 1]), tuple(runs), {}))
    table = pd.concat(rows, ignore_index=True)
    return samples_by_quantity(study, table, Provenance.MEASURED, level), sides


def _head(path: Path) -> bytes:
    with path.open("rb") as stream:
        return extract_head(stream.read(HEAD_BYTES))
