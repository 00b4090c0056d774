"""Nobody can pass values off as another provenance than they have."""

from __future__ import annotations

import pandas as pd
import pytest

from virtperf.core.provenance import Origin, Provenance, ProvenanceError, origin_of
from virtperf.exhibits.loaded import LoadedStudy
from virtperf.models.result import Estimate


def estimate(origin: Origin | None) -> Estimate:
    return Estimate(1.0, 0.5, 1.5, 0.95, "t", (), origin)


@pytest.fixture
def simulated(loaded: LoadedStudy) -> pd.DataFrame:
    frame = loaded.runs("figure-2", "simulated")
    assert len(frame)
    return frame


def test_what_a_frame_says_reaches_the_reader(loaded: LoadedStudy, simulated: pd.DataFrame) -> None:
    for provenance, frame in (("simulated", simulated), ("measured", loaded.runs("figure-2", "measured"))):
        shown = loaded.estimates({"ratio": estimate(origin_of(frame))}, title="Ratio")
        assert shown.record.provenance == (Provenance(provenance),)


def test_a_changed_provenance_column_is_found_out(loaded: LoadedStudy, simulated: pd.DataFrame) -> None:
    for word in ("measured", "example", "published", "reconstructed"):
        changed = simulated.assign(provenance=word)
        with pytest.raises(ProvenanceError, match=rf"it says {word}, but run simulated-a-2-r1 is simulated"):
            loaded.estimates({"ratio": estimate(origin_of(changed))}, title="Ratio")
        with pytest.raises(ProvenanceError, match=rf"it says {word}, but run simulated-a-2-r1 is simulated"):
            loaded.computed(changed, title="Values", note="as they are")


def test_values_of_runs_name_their_runs(loaded: LoadedStudy, simulated: pd.DataFrame) -> None:
    for word in ("measured", "simulated"):
        changed = simulated.drop(columns="run_id").assign(provenance=word)
        with pytest.raises(ProvenanceError, match=f"it says {word}, but names no run"):
            loaded.estimates({"ratio": estimate(origin_of(changed))}, title="Ratio")


@pytest.mark.parametrize(
    ("origin", "problem"),
    [
        (Origin(Provenance.MEASURED, "toy", ("simulated-a-4-r1",)), "run simulated-a-4-r1 is simulated"),
        (Origin(Provenance.MEASURED, "", ("simulated-a-4-r1",)), "run simulated-a-4-r1 is simulated"),
        (Origin(Provenance.MEASURED, "toy", ("measured-a-4-r1", "simulated-a-4-r1")), "simulated-a-4-r1 is simulated"),
        (
            Origin(Provenance.MEASURED, "toy", ("measured-a-4-r9",)),
            "no run 'measured-a-4-r9'. Did you mean 'measured-a",
        ),
        (Origin(Provenance.MEASURED, "toy", (), ("figure-2",)), "names no run"),
        (Origin(Provenance.MEASURED, "another", ("measured-a-4-r1",)), "values of another"),
        (Origin(Provenance.PUBLISHED, "toy", ()), "names no exhibit"),
        (Origin(Provenance.PUBLISHED, "toy", (), ("figure-2",)), "figure-2 has no published value"),
        (Origin(Provenance.RECONSTRUCTED, "toy", (), ("table-1",)), "table-1 has no reconstructed value"),
        (Origin(Provenance.PUBLISHED, "toy", (), ("tabel-1",)), "no exhibit 'tabel-1'. Did you mean 'table-1'"),
        (None, "does not say what it was computed from"),
    ],
)
def test_a_false_origin_is_refused(loaded: LoadedStudy, origin: Origin | None, problem: str) -> None:
    with pytest.raises(ProvenanceError) as caught:
        loaded.estimates({"ratio": estimate(origin)}, title="Ratio")
    assert problem in str(caught.value) and str(caught.value).startswith("ratio: ")


def test_one_table_has_one_provenance(loaded: LoadedStudy, simulated: pd.DataFrame) -> None:
    both = {"a": estimate(origin_of(simulated)), "b": estimate(origin_of(loaded.runs("figure-2", "measured")))}
    with pytest.raises(
        ProvenanceError, match=r"would mix measured and simulated values.*a is simulated; b is measured"
    ):
        loaded.estimates(both, title="Both")


def test_a_frame_without_provenance_is_refused(loaded: LoadedStudy) -> None:
    with pytest.raises(ProvenanceError, match="no column `provenance`"):
        loaded.computed(pd.DataFrame({"a": [1]}), title="Numbers", note="mine")


def test_a_readers_own_data_need_no_run(loaded: LoadedStudy) -> None:
    frame = pd.DataFrame({"n": [1], "provenance": "own data", "file": "mine.csv"})
    assert loaded.computed(frame, title="Mine", note="own").record.provenance == (Provenance.OWN,)
