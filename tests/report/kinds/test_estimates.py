"""Tables of estimates and computed values: intervals, missing values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from rawperf.core.errors import RawperfError, StudyError
from tests.cases import each_case
from tests.report.plain import plain
from tests.report.toy import HOSTILE
from virtperf import models
from virtperf.core.estimate import Estimate, Missing
from virtperf.core.provenance import Origin, Provenance, origin_of
from virtperf.report import frames
from virtperf.report.html.record import record_html
from virtperf.report.loaded import NO_MEASURED_RUNS, LoadedStudy
from virtperf.report.records import NOTEBOOK_ONLY


@pytest.fixture
def origin(measured: LoadedStudy) -> Origin:
    """Origin of the toy study's measured throughput."""
    found = origin_of(measured.runs("figure-2"))
    assert found is not None
    return found


def test_estimates_state_their_kind_of_interval(loaded: LoadedStudy, origin: Origin) -> None:
    peak = Estimate(
        12.34, 11, math.inf, 0.95, "profile likelihood", ("a bound holds sigma",), origin
    )
    slope = Estimate(-2, -3, -1, 0.9, "delta", (), origin)
    exhibit = loaded.estimates({"A": {"peak": peak}, "slope": slope}, title="Fit <1>")
    assert re.search(
        r"A: peak +12\.3 +11\.0 to no limit +95 %, profile likelihood +a bound holds sigma",
        repr(exhibit),
    )
    assert all(
        w in plain(exhibit) for w in ("11.0 to no limit", "90 %, delta", "a bound holds sigma")
    )
    assert exhibit.record.id == "fit-1" and exhibit.record.provenance == (Provenance.MEASURED,)
    assert exhibit.record.lineage == ("exhibit:figure-2",)
    html = record_html(exhibit.record, notebook=True)
    assert "Fit &lt;1&gt;" in html and ">measured</span>" in html and 'toy.html#figure-2"' in html


def test_common_kind_of_interval_is_stated_once(loaded: LoadedStudy, origin: Origin) -> None:
    one = Estimate(1.5, 1.4, 1.6, 0.95, "log-ratio", (), origin)
    record = loaded.estimates({"a": one, "b": one}, title="Ratios").record
    assert record.caption == "Intervals: 95 %, log-ratio."
    assert "Type of interval" not in plain(record)
    other = replace(one, method="delta")
    record = loaded.estimates({"a": one, "b": other}, title="Ratios").record
    assert record.caption == "" and "Type of interval" in plain(record)


def test_several_mappings_are_one_table(loaded: LoadedStudy, origin: Origin) -> None:
    one = Estimate(1.5, 1.4, 1.6, 0.95, "log-ratio", (), origin)
    text = plain(loaded.estimates({"first": one}, {"second": one}, title="Ratios"))
    assert "first" in text and "second" in text
    with pytest.raises(StudyError, match="two estimates of one table are named 'first'"):
        loaded.estimates({"first": one}, {"first": one}, title="Ratios")


def test_estimate_without_figure_links_to_its_runs(measured: LoadedStudy) -> None:
    runs = frames.condition(measured.data, measured.study.quantity_at("throughput", {"guests": 8}))
    exhibit = measured.estimates(
        {"one": Estimate(1.0, 0.5, 1.5, 0.95, "t", (), origin_of(runs))}, title="A number"
    )
    assert exhibit.record.lineage == tuple(f"run:measured-a-8-r{k}" for k in (1, 2, 3))


def test_missing_estimate_shows_its_reason(loaded: LoadedStudy, origin: Origin) -> None:
    missing = Missing("two replicates are needed")
    good = Estimate(1.5, 1.4, 1.6, 0.95, "t", (), origin)
    exhibit = loaded.estimates({"good": good, "bad": missing}, title="Ratios")
    assert (
        "1.5" in plain(exhibit)
        and "not available" in plain(exhibit)
        and "two replicates are needed" in plain(exhibit)
    )
    assert "two replicates are needed" in repr(exhibit) and exhibit.record.provenance == (
        Provenance.MEASURED,
    )
    alone = loaded.estimates({"verdict": replace(missing, origin=origin)}, title="No degradation")
    assert "two replicates are needed" in repr(alone) and alone.record.provenance == (
        Provenance.MEASURED,
    )


@each_case(
    "show",
    [
        lambda s, title: s.estimates({}, title=title),
        lambda s, title: s.estimates(
            {"A": {}, "B": {"peak": Missing("there are no rows")}}, title=title
        ),
        lambda s, title: s.estimates(None, title=title),
        lambda s, title: s.computed(pd.DataFrame({"Name": []}), title=title, note=""),
    ],
)
def test_empty_table_is_one_line_in_notebooks_and_omitted_in_reports(
    loaded: LoadedStudy, show: Any
) -> None:
    exhibit = show(loaded, "Peaks")
    assert exhibit.record is None and exhibit.figure is None and repr(exhibit) == NO_MEASURED_RUNS
    assert exhibit.bundles() == [({"text/plain": NO_MEASURED_RUNS}, NOTEBOOK_ONLY)]


def test_models_without_runs_give_no_table(bare: LoadedStudy) -> None:
    runs = bare.runs("figure-2")
    fits = models.usl("value ~ guests", runs, by="series")
    ratios = models.ratios("value", runs, of={"guests": 8}, to={"guests": 4}, by="series")
    for found in (
        fits,
        ratios,
        {label: fit.peak_load(0.05) for label, fit in fits.items()},
        {"line": models.line("value ~ guests", runs).only},
    ):
        assert bare.estimates(found, title="Nothing").record is None
    assert bare.show("figure-2", fits).record is not None


def test_invalid_estimate_is_rejected(loaded: LoadedStudy) -> None:
    with pytest.raises(RawperfError, match="A is not an estimate"):
        loaded.estimates({"A": 3.0}, title="Numbers")


def test_computed_tables_show_words_numbers_and_their_note(loaded: LoadedStudy) -> None:
    frame = pd.DataFrame({"Name": [HOSTILE, "b"], "Pages": [262144, 12], "Whole": [True, False]})
    frame = frame.assign(provenance="published", exhibit="table-1")
    exhibit = loaded.computed(frame, title="Sizes", note="Pages are counted.")
    assert {"262,144", "yes", "no", "Pages are counted."} <= set(plain(exhibit).splitlines())
    assert exhibit.record.numbers[0].columns == ("Name", "Pages", "Whole") and "262,144" in repr(
        exhibit
    )
    assert exhibit.record.provenance == (Provenance.COMPUTED,) and HOSTILE not in record_html(
        exhibit.record
    )


@each_case(
    "show",
    [
        lambda s: s.show("table-1"),
        lambda s: s.show("figure-1"),
        lambda s: s.claims(),
        lambda s: s.contradictions(),
        lambda s: s.assumptions(),
        lambda s: s.errata(),
        lambda s: s.quality(),
        lambda s: s.summary(),
    ],
)
def test_text_from_files_is_escaped(
    loaded: LoadedStudy, show: Callable[[LoadedStudy], Any]
) -> None:
    record = show(loaded).record
    for html in (record_html(record), record_html(record, notebook=True)):
        assert html and not re.search(r"<script|<u>1|<i>slipped", html)
