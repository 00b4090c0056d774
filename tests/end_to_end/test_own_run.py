"""An analyst's own run: shown as solid points and judged when measured, shown only on request when made up."""

from __future__ import annotations

import re
import shutil

import pytest

from tests.end_to_end.conftest import STUDY, Workplace
from virtperf.core.provenance import Provenance
from virtperf.core.stage_tables import VERDICTS
from virtperf.report.loaded import load_study

EXAMPLE = "example-xen-9"


def place(workplace: Workplace, root, provenance: str) -> None:
    target = workplace.measured / EXAMPLE
    shutil.copytree(root / "examples" / STUDY / EXAMPLE, target)
    text = (target / "run.yaml").read_text()
    (target / "run.yaml").write_text(re.sub(r"provenance: \w+", f"provenance: {provenance}", text))


def verdicts(workplace: Workplace) -> dict[str, str]:
    table = VERDICTS.read(workplace.root / "data" / "verdicts" / STUDY / VERDICTS.file)
    return dict(zip(table["claim"], table["measured_verdict"], strict=True))


@pytest.mark.slow
def test_an_example_is_drawn_on_request_only_and_decides_nothing(workplace: Workplace, root):
    place(workplace, root, "example")
    for stage in ("ingest", "summarize", "judge"):
        workplace.run(stage, STUDY)
    assert set(verdicts(workplace).values()) <= {"no measurement", "not judged"}
    for shown in (False, True):
        record = (
            load_study(STUDY, workplace.root / "data", show_examples=shown).show("figure-6").record
        )
        assert record is not None and (Provenance.EXAMPLE in record.provenance) is shown
    parameters = workplace.root / "params.yaml"
    parameters.write_text(
        parameters.read_text().replace("show_examples: false", "show_examples: true")
    )
    page = workplace.after_ingest()
    assert "made up for documentation" in page
    assert set(verdicts(workplace).values()) <= {"no measurement", "not judged"}


@pytest.mark.slow
def test_a_run_of_a_users_own_is_drawn_solid_and_judges_claims(workplace: Workplace, root):
    # the same made-up files stand in for a user's run, in a folder that is thrown away
    place(workplace, root, "measured")
    workplace.run("ingest", STUDY)
    page = workplace.after_ingest()
    assert "measured, 95 % interval" in page
    assert (
        "no common scale with the paper" in page
    )  # nobody has run z/VM, whose 12 guests are 100 %
    decided = {
        claim: verdict
        for claim, verdict in verdicts(workplace).items()
        if verdict not in ("no measurement", "not judged")
    }
    assert decided, "one run of Xen at 9 guests speaks of its CPU utilization at least"
