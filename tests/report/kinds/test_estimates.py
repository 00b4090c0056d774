"""Tables of estimates and computed values: what they say of intervals, and of what is missing."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from rawperf.core.errors import RawperfError
from tests.cases import each_case
from tests.report.plain import plain
from tests.report.toy import HOSTILE
from virtperf.core.provenance import Origin, Provenance, origin_of
from virtperf.models import frames as models
from virtperf.models.result import Estimate, Missing
from virtperf.report import frames
from virtperf.report.html.record import record_html
from virtperf.report.loaded import LoadedStudy
from virtperf.report.records import NO_MEASURED_RUNS, NOTEBOOK_ONLY


@pytest.fixture
def origin(measured: LoadedStudy) -> Origin:
    """That of the toy's measured throughput."""
    found = origin_of(measured.runs("figure-2"))
    assert found is not None
    return found


def test_estimates_say_what_kind_of_interval_they_have(loaded: LoadedStudy, origin: Origin) -> None:
    peak = Estimate(
        12.34, 11, math.inf, 0.95, "profile likelihood", ("a bound holds sigma",), origin
    )
    slope = Estimate(-2, -3, -1, 0.9, "delta", (), origin)
    shown = loaded.estimates({"A": {"peak": peak}, "slope": slope}, title="Fit <1>")
    assert re.search(
        r"A: peak +12\.3 +11\.0 to no limit +95 %, profile likelihood +a bound holds sigma",
        repr(shown),
    )
    assert all(
        w in plain(shown) for w in ("11.0 to no limit", "90 %, delta", "a bound holds sigma")
    )
    assert shown.record.id == "fit-1" and shown.record.provenance == (Provenance.MEASURED,)
    assert shown.record.lineage == ("exhibit:figure-2",)
    html = record_html(shown.record, notebook=True)
    assert "Fit &lt;1&gt;" in html and ">measured</span>" in html and 'toy.html#figure-2"' in html


def test_a_kind_of_interval_that_all_have_is_said_once(loaded: LoadedStudy, origin: Origin) -> None:
    one = Estimate(1.5, 1.4, 1.6, 0.95, "log-ratio", (), origin)
    record = loaded.estimates({"a": one, "b": one}, title="Ratios").record
    assert record.caption == "Intervals: 95 %, log-ratio."
    assert "Type of interval" not in plain(record)
    other = replace(one, method="delta")
    record = loaded.estimates({"a": one, "b": other}, title="Ratios").record
    assert record.caption == "" and "Type of interval" in plain(record)


def test_what_no_figure_shows_leads_back_to_its_runs(measured: LoadedStudy) -> None:
    runs = frames.condition(measured.data, measured.study.quantity_at("throughput", {"guests": 8}))
    shown = measured.estimates(
        {"one": Estimate(1.0, 0.5, 1.5, 0.95, "t", (), origin_of(runs))}, title="A number"
    )
    assert shown.record.lineage == tuple(f"run:measured-a-8-r{k}" for k in (1, 2, 3))


def test_a_missing_estimate_shows_its_reason_beside_the_others(
    loaded: LoadedStudy, origin: Origin
) -> None:
    missing = Missing("two replicates are needed")
    good = Estimate(1.5, 1.4, 1.6, 0.95, "t", (), origin)
    shown = loaded.estimates({"good": good, "bad": missing}, title="Ratios")
    assert (
        "1.5" in plain(shown)
        and "not available" in plain(shown)
        and "two replicates are needed" in plain(shown)
    )
    assert "two replicates are needed" in repr(shown) and shown.record.provenance == (
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
def test_of_nothing_the_notebook_says_one_line_and_the_report_nothing(
    loaded: LoadedStudy, show: Any
) -> None:
    shown = show(loaded, "Peaks")
    assert shown.record is None and shown.figure is None and repr(shown) == NO_MEASURED_RUNS
    assert shown.bundles() == [({"text/plain": NO_MEASURED_RUNS}, NOTEBOOK_ONLY)]


def test_models_of_no_runs_lead_to_nothing(bare: LoadedStudy) -> None:
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


def test_what_is_no_estimate_is_refused(loaded: LoadedStudy) -> None:
    with pytest.raises(RawperfError, match="A is not an estimate"):
        loaded.estimates({"A": 3.0}, title="Numbers")


def test_computed_tables_show_words_numbers_and_their_note(loaded: LoadedStudy) -> None:
    frame = pd.DataFrame({"Name": [HOSTILE, "b"], "Pages": [262144, 12], "Whole": [True, False]})
    frame = frame.assign(provenance="published", exhibit="table-1")
    shown = loaded.computed(frame, title="Sizes", note="Pages are counted.")
    assert {"262,144", "yes", "no", "Pages are counted."} <= set(plain(shown).splitlines())
    assert shown.record.numbers[0].columns == ("Name", "Pages", "Whole") and "262,144" in repr(
        shown
    )
    assert shown.record.provenance == (Provenance.COMPUTED,) and HOSTILE not in record_html(
        shown.record
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
def test_nothing_from_a_file_becomes_markup(
    loaded: LoadedStudy, show: Callable[[LoadedStudy], Any]
) -> None:
    record = show(loaded).record
    for html in (record_html(record), record_html(record, notebook=True)):
        assert html and not re.search(r"<script|<u>1|<i>slipped", html)
