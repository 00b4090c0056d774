"""Fits and comparisons of tidy data frames: labels, provenance, failure reasons, name suggestions."""

import math

import numpy as np
import pandas as pd
import pytest

from rawperf.core.errors import ModelError, ParameterError
from virtperf import models
from virtperf.core.estimate import Estimate, Missing
from virtperf.core.provenance import ProvenanceError
from virtperf.models import two_means


@pytest.fixture
def runs() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    rows = [
        {
            "study": "s",
            "exhibit": "figure-5",
            "series": series,
            "quantity": "throughput",
            "guests": guests,
            "run_id": f"{series}-{guests}-{k}",
            "provenance": "measured",
            "value": 10
            * guests
            / (1 + a * (guests - 1) + 0.002 * guests * (guests - 1))
            * (1 + 0.01 * rng.standard_normal()),
        }
        for series, a in (("z/VM", 0.02), ("Xen", 0.05))
        for guests in (1, 2, 4, 8, 16, 32)
        for k in (1, 2, 3)
    ]
    return pd.DataFrame(rows)


def test_fit_by_series(runs: pd.DataFrame) -> None:
    fits = models.usl("value ~ guests", runs, by="series")
    assert list(fits) == ["z/VM", "Xen"]
    peaks = fits.estimates("peak_load", alpha=0.1)
    assert peaks["Xen"].level == 0.9 and peaks["Xen"].available
    assert peaks["Xen"].origin.runs[0] == "Xen-1-1" and len(peaks["Xen"].origin.runs) == 18
    assert fits["z/VM"].peak_load(alpha=0.1) == peaks["z/VM"]
    table = fits.predict([2, 64])
    assert list(table.columns[:3]) == ["series", "guests", "value"] and len(table) == 4


def test_failed_fit_of_a_group_has_a_reason(runs: pd.DataFrame) -> None:
    few = runs[(runs["series"] == "Xen") | (runs["guests"] == 1)]
    fits = models.usl("value ~ guests", few, by="series")
    assert isinstance(fits["z/VM"], Missing) and "distinct" in fits["z/VM"].reason
    with pytest.raises(ModelError, match=r"no peak_load, because .* distinct"):
        fits["z/VM"].peak_load(alpha=0.1)
    peak = fits.estimates("peak_load", alpha=0.1)["z/VM"]
    assert not peak.available and math.isnan(peak.value) and peak.reason == fits["z/VM"].reason
    assert fits.estimates("peak_load")["Xen"].available
    assert set(fits.predict([4])["series"]) == {"Xen"}


def test_missing_interval_has_a_reason(runs: pd.DataFrame) -> None:
    fits = models.usl("value ~ guests", runs, by="series", weights="guests")
    table = fits.predict([4], interval="observation")
    assert table.empty
    first, second = table.attrs["warnings"]
    assert first.startswith("z/VM: no prediction: the variance of a new observation")
    assert second.startswith("Xen: ")
    assert fits.predict([4]).attrs["warnings"] == []


def test_ratios_have_labels_and_equal_array_results(runs: pd.DataFrame) -> None:
    found = models.ratios("value", runs, of={"series": "z/VM"}, to={"series": "Xen"}, by="guests")
    assert list(found) == [1, 2, 4, 8, 16, 32]
    at8 = runs[runs["guests"] == 8]
    own = two_means.ratio_of_means(
        at8[at8["series"] == "z/VM"]["value"], at8[at8["series"] == "Xen"]["value"]
    )
    assert (found[8].value, found[8].low, found[8].high) == (own.value, own.low, own.high)
    assert len(found[8].origin.runs) == 6
    by_name = models.ratios(
        "value",
        runs,
        of={"series": "Xen"},
        to={"series": "z/VM"},
        by="guests",
        label="{of} / {to} at {guests} guests",
    )
    assert "Xen / z/VM at 8 guests" in by_name
    assert list(models.ratios("value", runs, of={"guests": 8}, to={"guests": 1})) == ["8 / 1"]


def test_mixed_provenances_are_rejected(runs: pd.DataFrame) -> None:
    mixed = runs.assign(provenance=["measured", "example"] * (len(runs) // 2))
    with pytest.raises(ProvenanceError, match="measured and example"):
        models.line("value ~ guests", mixed, by="series")
    half = runs.assign(provenance=np.where(runs["series"] == "Xen", "example", "measured"))
    with pytest.raises(ProvenanceError, match="measured and example"):
        models.ratios("value", half, of={"series": "z/VM"}, to={"series": "Xen"})


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda f: models.usl("value ~ guest", f, by="series"), "guests"),
        (lambda f: models.usl("value ~ guests", f, by="serie"), "series"),
        (lambda f: models.usl("value, guests", f), "lacks a left or right side"),
        (
            lambda f: models.ratios("value", f, of={"series": "zVM"}, to={"series": "Xen"}),
            "Did you mean .z/VM",
        ),
        (lambda f: models.usl("value ~ guests", f, by="series")["xen"], "Did you mean .Xen"),
        (
            lambda f: models.segmented("value ~ guests", f).only.breakpoint(method="t"),
            "profile",
        ),
        (
            lambda f: models.line("value ~ guests", f.assign(quantity=["a", "b"] * 18)),
            "quantities a and b",
        ),
    ],
)
def test_unknown_names_suggest_close_names(runs: pd.DataFrame, call: object, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        call(runs)  # type: ignore[operator]


def test_unknown_method_suggests_close_names(runs: pd.DataFrame) -> None:
    with pytest.raises(AttributeError, match="peak_load"):
        models.usl("value ~ guests", runs, by="series").estimates("peakload")


def test_empty_frame(runs: pd.DataFrame) -> None:
    none = runs.iloc[:0]
    assert len(models.usl("value ~ guests", none, by="series")) == 0
    assert (
        models.ratios("value", none, of={"series": "z/VM"}, to={"series": "Xen"}, by="guests") == {}
    )
    assert models.ratios("value", none, of={"series": "z/VM"}, to={"series": "Xen"}) == {}
    assert dict(models.line("value ~ guests", none)) == {}
    with pytest.raises(ModelError, match=r"no slope, because .* no rows"):
        models.line("value ~ guests", none).only.slope()
    with pytest.raises(ParameterError, match="no column"):
        models.ratios("value", none, of={"serie": "z/VM"}, to={"series": "Xen"})


def test_ratios_of_printed_numbers_and_pairs(runs: pd.DataFrame) -> None:
    printed = pd.DataFrame(
        {"series": "a", "vms": [1, 2], "value": [100.0, 90.0], "half_width": 0.5}
    )
    kept = models.ratio_of_printed("value", printed, of={"vms": 2}, to={"vms": 1}, by="series")["a"]
    assert (kept.low, kept.high) == (89.5 / 100.5, 90.5 / 99.5)
    table = runs.groupby(["series", "guests"], as_index=False)["value"].mean()
    (pair,) = models.pairs(
        "value", table, of={"series": "z/VM"}, to={"series": "Xen"}, on="guests"
    ).values()
    assert isinstance(pair, Estimate) and pair.value > 1


def test_robust_lines_and_the_number_of_runs(runs: pd.DataFrame) -> None:
    one = runs[runs["series"] == "Xen"]
    assert models.robust_line("value ~ guests", one).only.slope().available
    assert (
        models.runs_needed(cv=0.03, effect=0.05) == 8
        and models.power(8, cv=0.03, effect=0.05) > 0.8
    )


def test_an_argument_that_is_no_frame_is_refused():
    sides = {"of": {"series": "a"}, "to": {"series": "b"}}
    for call in (
        lambda: models.usl("value ~ guests", "load.csv"),
        lambda: models.ratios("value", [1.0, 2.0], **sides),
        lambda: models.pairs("value", None, on="guests", **sides),
        lambda: models.variance_components("value", "load.csv", levels=["guests"]),
    ):
        with pytest.raises(ParameterError, match="not a DataFrame; expected a pandas DataFrame"):
            call()
