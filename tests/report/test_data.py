"""Stored results of a study: typed, empty before their stage has run, rejected if damaged."""

from __future__ import annotations

import shutil

import pytest

from rawperf.core.errors import RawperfError
from tests.report.toy import build
from virtperf.core import stage_tables
from virtperf.core.provenance import Provenance
from virtperf.report.frames import load


@pytest.fixture
def data(tmp_path):
    return build(tmp_path)


def test_tables_are_empty_and_typed_before_the_stages_have_run(tmp_path):
    found = load("toy", build(tmp_path, stages=False))
    assert (
        "runs/toy/means.parquet" in found.missing
        and "published/toy/claims.yaml" not in found.missing
    )
    factors = list(found.study.factors)
    for frame, table in (
        (found.points, stage_tables.POINTS),
        (found.means, stage_tables.MEANS),
        (found.verdicts, stage_tables.VERDICTS),
        (found.lineage, stage_tables.LINEAGE),
        (found.raw_lines, stage_tables.RAW_LINES),
    ):
        assert frame.empty and list(frame) == list(table.kinds(factors))
    assert found.index == {} and found.contradictions == {} and found.observed == {}
    assert found.mean(found.study.quantity("throughput[system=a, guests=8]"), "measured") is None


def test_missing_stage_is_reported(data):
    load("toy", data).require_stages()
    (data / "runs" / "toy" / "means.parquet").unlink()
    with pytest.raises(RawperfError, match=r"data/runs/toy/means\.parquet is missing"):
        load("toy", data).require_stages()
    shutil.rmtree(data / "reconstructed")
    message = "data/reconstructed/toy is missing. Run `virtperf pipeline toy`"
    with pytest.raises(RawperfError, match=message):
        load("toy", data).require_stages()


def test_mean_has_scale_and_origin(data):
    found = load("toy", data)
    quantity = found.study.quantity("throughput[system=a, guests=8]")
    mean = found.mean(quantity, Provenance.MEASURED)
    assert mean.value == pytest.approx(152) and mean.n == 3  # relative, as in the figures
    assert mean.origin.provenance is Provenance.MEASURED and len(mean.origin.runs) == 3
    assert mean.origin.study == "toy" and mean.origin.runs == tuple(sorted(mean.origin.runs))
    rows = found.observations.iloc[found.observed[quantity]]
    assert set(mean.origin.runs) == set(rows.loc[rows["provenance"] == "measured", "run_id"])
    assert found.mean(quantity, "example") is None


def test_claims_have_both_verdicts(data):
    result = load("toy", data).result("flat")
    assert (result["text_verdict"], result["measured_verdict"], result["dropped"]) == (
        "contradicted",
        "no measurement",
        True,
    )
    assert result["conflicts"] == ["more-at-8"]


@pytest.mark.parametrize(
    ("path", "stage"),
    [("runs/toy/means.parquet", "runs"), ("verdicts/toy/verdicts.parquet", "runs")],
)
def test_damaged_table_reports_the_stage_to_run(data, path, stage):
    (data / path).write_bytes(b"PAR1 half of a file")
    with pytest.raises(
        RawperfError, match=rf"{path.split('/', 1)[1]}: .*Run the stage {stage} again"
    ):
        load("toy", data)


def test_damaged_index_is_reported(data):
    (data / "samples/toy/index.json").write_text('{"runs": [')
    with pytest.raises(
        RawperfError,
        match=r"samples/toy/index\.json: the file can't be read as JSON.*Rerun the stage",
    ):
        load("toy", data)


def test_unknown_study_lists_the_known_ones(data):
    with pytest.raises(RawperfError, match=r"no study 'toys'.*expected one of toy"):
        load("toys", data)
