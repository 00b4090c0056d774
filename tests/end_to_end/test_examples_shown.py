"""Example runs are shown on request only and judge no claim; only changed runs are read again."""

from __future__ import annotations

import pytest

from tests.end_to_end.conftest import STUDY, Workplace
from virtperf.core.provenance import Provenance
from virtperf.report.loaded import load_study


def test_example_page_marks_them_as_made_up(root):
    page = root / "reports" / f"example-{STUDY}.html"
    assert page.exists(), "the pipeline has not run: `virtperf pipeline` first"
    assert "made up around known values" in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_examples_are_plotted_on_request_and_judge_nothing(workplace: Workplace):
    workplace.run("runs", STUDY)
    assert set(workplace.verdicts().values()) <= {"no measurement", "not judged"}
    for visible in (False, True):
        study = load_study(STUDY, workplace.root / "data", show_examples=visible)
        record = study.show("figure-6").record
        assert record is not None and (Provenance.EXAMPLE in record.provenance) is visible
        assert len(study.runs("figure-6")) == (12 if visible else 0)

    samples = workplace.root / "data" / "samples" / STUDY
    before = {p.name: p.read_bytes() for p in samples.glob("*.parquet")}
    log = workplace.examples / "example-scaling-xen-9-r1" / "drivers" / "triplet1.log"
    assert b"web err 0" in log.read_bytes()
    log.write_bytes(log.read_bytes().replace(b"web err 0", b"web err 1", 1))
    workplace.run("runs", STUDY)
    changed = {name for name, data in before.items() if (samples / name).read_bytes() != data}
    assert changed == {"example-scaling-xen-9-r1.parquet"}
