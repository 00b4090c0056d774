"""An analyst's own run: shown as solid points and judged when measured, shown only on request when made up."""

from __future__ import annotations

import re
import shutil

import pytest

from tests.end_to_end.conftest import STUDY, Workplace
from virtperf.core.provenance import Provenance
from virtperf.core.stage_tables import VERDICTS
from virtperf.report.loaded import load_study

EXAMPLE = "example-scaling-xen-9-r1"


def verdicts(workplace: Workplace) -> dict[str, str]:
    table = VERDICTS.read(workplace.root / "data" / "verdicts" / STUDY / VERDICTS.file)
    return dict(zip(table["claim"], table["measured_verdict"], strict=True))


@pytest.mark.slow
def test_examples_are_drawn_on_request_only_and_decide_nothing(workplace: Workplace):
    workplace.run("runs", STUDY)
    assert set(verdicts(workplace).values()) <= {"no measurement", "not judged"}
    for shown in (False, True):
        study = load_study(STUDY, workplace.root / "data", show_examples=shown)
        record = study.show("figure-6").record
        assert record is not None and (Provenance.EXAMPLE in record.provenance) is shown
        assert len(study.runs("figure-6")) == (27 if shown else 0)


@pytest.mark.slow
def test_a_run_of_a_users_own_is_drawn_solid_and_judges_claims(workplace: Workplace):
    # the same made-up files stand in for a user's run, in a folder that is thrown away
    target = workplace.measured / "scaling-xen-9-r1"
    shutil.copytree(workplace.examples / EXAMPLE, target)
    shutil.rmtree(workplace.examples)
    text = (target / "run.yaml").read_text()
    text = re.sub(r"provenance: \w+", "provenance: measured", text)
    (target / "run.yaml").write_text(text.replace(EXAMPLE, target.name))
    workplace.run("runs", STUDY)
    page = workplace.report()
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
