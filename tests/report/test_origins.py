"""Values cannot be shown with a false provenance."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.cases import each_case
from tests.report.toy import HOSTILE
from virtperf import models
from virtperf.core.estimate import Estimate
from virtperf.core.provenance import Origin, Provenance, ProvenanceError, origin_of
from virtperf.report import frames
from virtperf.report.frames import load
from virtperf.report.loaded import LoadedStudy


def estimate(origin: Origin | None) -> Estimate:
    return Estimate(1.0, 0.5, 1.5, 0.95, "t", (), origin)


@pytest.fixture
def runs(measured: LoadedStudy) -> pd.DataFrame:
    frame = measured.runs("figure-2")
    assert len(frame)
    return frame


@pytest.fixture
def examples(toy_data: Path) -> pd.DataFrame:
    """Example runs."""
    frame = frames.runs(load("toy", toy_data, examples=True), "figure-2")
    return frame[frame["provenance"] == "example"].reset_index(drop=True)


def test_provenance_of_a_frame_reaches_the_report(loaded: LoadedStudy, runs: pd.DataFrame) -> None:
    exhibit = loaded.estimates({"ratio": estimate(origin_of(runs))}, title="Ratio")
    assert exhibit.record.provenance == (Provenance.MEASURED,)


def test_examples_keep_their_provenance(measured: LoadedStudy, examples: pd.DataFrame) -> None:
    for word in ("measured", "example", "published", "reconstructed"):
        with pytest.raises(ProvenanceError, match=r"the study has no run 'example-a-2-r1'"):
            measured.estimates(
                {"ratio": estimate(origin_of(examples.assign(provenance=word)))}, title="Ratio"
            )


def test_modified_provenance_column_is_detected(loaded: LoadedStudy, runs: pd.DataFrame) -> None:
    for word in ("example", "published", "reconstructed"):
        changed = runs.assign(provenance=word)
        with pytest.raises(
            ProvenanceError, match=rf"its provenance is {word}, but run measured-a-4-r1 is measured"
        ):
            loaded.estimates({"ratio": estimate(origin_of(changed))}, title="Ratio")
        with pytest.raises(
            ProvenanceError, match=rf"its provenance is {word}, but run measured-a-4-r1 is measured"
        ):
            loaded.computed(changed, title="Values", note="as they are")


def test_values_of_runs_list_their_runs(loaded: LoadedStudy, runs: pd.DataFrame) -> None:
    for word in ("measured", "example"):
        changed = runs.drop(columns="run_id").assign(provenance=word)
        with pytest.raises(ProvenanceError, match=f"its provenance is {word}, but it names no run"):
            loaded.estimates({"ratio": estimate(origin_of(changed))}, title="Ratio")


@each_case(
    ("origin", "problem"),
    [
        (Origin(Provenance.MEASURED, "toy", ("example-a-4-r1",)), "no run 'example-a-4-r1'"),
        (Origin(Provenance.MEASURED, "", ("example-a-4-r1",)), "no run 'example-a-4-r1'"),
        (
            Origin(Provenance.MEASURED, "toy", ("measured-a-4-r1", "example-a-4-r1")),
            "no run 'example-a-4-r1'",
        ),
        (
            Origin(Provenance.MEASURED, "toy", ("measured-a-4-r9",)),
            "no run 'measured-a-4-r9'. Did you mean 'measured-a",
        ),
        (Origin(Provenance.MEASURED, "toy", (), ("figure-2",)), "it names no run"),
        (Origin(Provenance.MEASURED, "another", ("measured-a-4-r1",)), "values of another"),
        (Origin(Provenance.PUBLISHED, "toy", ()), "names no exhibit"),
        (Origin(Provenance.PUBLISHED, "toy", (), ("figure-2",)), "figure-2 has no published value"),
        (
            Origin(Provenance.RECONSTRUCTED, "toy", (), ("table-1",)),
            "table-1 has no reconstructed value",
        ),
        (
            Origin(Provenance.PUBLISHED, "toy", (), ("tabel-1",)),
            "no exhibit 'tabel-1'. Did you mean 'table-1'",
        ),
        (None, "has no origin"),
    ],
)
def test_false_origin_is_rejected(loaded: LoadedStudy, origin: Origin | None, problem: str) -> None:
    with pytest.raises(ProvenanceError) as caught:
        loaded.estimates({"ratio": estimate(origin)}, title="Ratio")
    assert problem in str(caught.value) and str(caught.value).startswith("ratio: ")


def test_table_has_a_single_provenance(loaded: LoadedStudy, runs: pd.DataFrame) -> None:
    both = {"a": estimate(origin_of(loaded.printed("figure-3"))), "b": estimate(origin_of(runs))}
    with pytest.raises(
        ProvenanceError,
        match=r"can't mix measured and published values.*a is published; b is measured",
    ):
        loaded.estimates(both, title="Both")


def test_frame_without_provenance_is_rejected(loaded: LoadedStudy) -> None:
    with pytest.raises(ProvenanceError, match="no column `provenance`"):
        loaded.computed(pd.DataFrame({"a": [1]}), title="Numbers", note="mine")


def test_user_data_need_no_run(loaded: LoadedStudy) -> None:
    frame = pd.DataFrame({"n": [1], "provenance": "own data", "file": "mine.csv"})
    assert loaded.computed(frame, title="Mine", note="own").record.provenance == (
        Provenance.OWN_DATA,
    )


def test_curve_is_fitted_to_the_runs_it_lists(loaded: LoadedStudy, runs: pd.DataFrame) -> None:
    fits = models.line("value ~ guests", runs, by="series")
    assert fits[HOSTILE].available and loaded.show("figure-2", fits).figure is not None
    false = models.line("value ~ guests", runs.assign(provenance="example"), by="series")
    with pytest.raises(
        ProvenanceError, match="its provenance is example, but run measured-a-4-r1 is measured"
    ):
        loaded.show("figure-2", false)
