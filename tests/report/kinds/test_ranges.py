"""The table of derived numbers: ranges as text, measured values, download."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from rawperf.core.errors import StudyError
from tests.report.plain import plain
from tests.report.toy import DOLLARS, HOSTILE
from virtperf.core.provenance import Provenance
from virtperf.report.html.record import record_html
from virtperf.report.kinds.ranges import record
from virtperf.report.loaded import LoadedStudy, load_study
from virtperf.report.records import Grid


def grid(loaded: LoadedStudy, *names: str, **named: str) -> dict[str, dict[str, str]]:
    """Cells by row and column."""
    table = next(b for b in loaded.ranges(names, **named).record.blocks if isinstance(b, Grid))
    return {
        str(row[0]): dict(zip(table.columns[1:], map(str, row[1:]), strict=True))
        for row in table.rows
    }


def test_derived_numbers_of_a_figure(loaded: LoadedStudy) -> None:
    cells = grid(loaded, "figure-2")
    assert list(cells)[:2] == [f"{HOSTILE}: 8 / 2 guests", f"{HOSTILE}: 8 / 4 guests"]
    first, second, third, fourth = list(cells.values())[:4]
    assert first == {
        "The text allows": "1.8 to 16.6",
        "With our assumptions": "2.77 to 3.7",
        "Printed": "",
        "Measured": "none",
        "Remarks": "",
    }
    assert (second["The text allows"], second["Printed"]) == (
        "about 1.660 (1.655 to 1.665)",
        "1.66",
    )
    assert second["With our assumptions"] == "the same" and second["Measured"].startswith("1.52")
    assert (third["The text allows"], third["With our assumptions"]) == (
        "not bounded",
        "order only: above 1",
    )
    assert fourth["With our assumptions"] == "0.4 to 0.5 or 2 to 3"
    assert (
        cells["guests at the peak"]["The text allows"] == "8 or 16"
        and cells["guests at the peak"]["Remarks"] == "remark"
    )
    most = next(row for label, row in cells.items() if "most throughput" in label)
    assert most["The text allows"] == "150 or more found"
    assert "1,200 data sets were tried" in plain(loaded.ranges("figure-2"))


def test_number_changed_by_another_reading(loaded: LoadedStudy) -> None:
    derived = loaded.data.ranges.iloc[0]
    row = {
        "reading": "strict",
        "kind": "derived",
        "name": derived["derived"],
        "label": derived["label"],
        "verdict": "",
        "verdict_read": "",
        "low": 1.8,
        "high": 16.6,
        "low_read": 1.8,
        "high_read": 2.5,
        "claims": ["flat"],
    }
    data = replace(loaded.data, readings=pd.DataFrame([row]))
    exhibit = LoadedStudy(replace(loaded.context, data=data)).ranges("figure-2")
    (folded,) = [block for block in exhibit.record.blocks if block.block == "folded"]
    assert folded.summary.startswith("With other readings of words, 1 of ")
    *cells, sentences = folded.blocks[0].rows[0][1:]
    assert cells == ["1.8 to 2.5", "1.8 to 16.6", "1.8 to 16.6"]
    assert [span.link for span in sentences] == ["claim:flat"]


def test_unit_includes_the_reference(loaded: LoadedStudy) -> None:
    assert loaded.ranges("storage").record.caption == "In % of the value at 20,480 MB storage."
    assert any(
        label.startswith("<b>A</b>: most throughput, % of ") for label in grid(loaded, "law")
    )


def test_empty_columns_are_omitted(loaded: LoadedStudy) -> None:
    assert list(grid(loaded, "storage").values()) == [{"The text allows": "1 to 3"}]
    assert list(grid(loaded, "busy").values()) == [
        {"The text allows": "30 to 50", "Measured": "45.0 (42.5 to 47.5)"}
    ]


def test_record_has_origin_and_download(loaded: LoadedStudy) -> None:
    record = loaded.ranges(("gain", "busy"), title="Some <numbers>").record
    assert record.id == "some-numbers" and record.lineage == ("exhibit:figure-2",)
    assert record.provenance == (
        Provenance.PUBLISHED,
        Provenance.RECONSTRUCTED,
        Provenance.MEASURED,
    )
    table = record.numbers[0].frame()
    assert table["number"].tolist()[:3] == [
        f"{HOSTILE}: 8 / 2 guests",
        f"{HOSTILE}: 8 / 4 guests",
        f"{DOLLARS}: 8 / 2 guests",
    ]
    assert table["high"].isna().tolist() == [False, False, True, False, False]
    assert table["pieces"].tolist()[3] == "0.4; 0.5; 2.0; 3.0" and table[
        "measured_value"
    ].notna().tolist() == [
        False,
        True,
        False,
        False,
        True,
    ]
    html = record_html(record, notebook=True)
    assert HOSTILE not in html and "Some &lt;numbers&gt;" in html


def test_without_assumptions_there_is_one_range(toy_data) -> None:
    assert "With our assumptions" not in next(
        iter(grid(load_study("toy", toy_data, assumptions=False), "figure-2").values())
    )


def test_table_before_the_stage_states_missing_results(bare: LoadedStudy) -> None:
    assert (
        "not computed yet" in plain(bare.ranges("figure-2"))
        and bare.ranges("figure-2").record.provenance == ()
    )


def test_unknown_name_suggests_close_ones(loaded: LoadedStudy) -> None:
    with pytest.raises(StudyError, match=r"no exhibit or derived number 'figure-22'.*'figure-2'"):
        loaded.ranges("figure-22")
    with pytest.raises(StudyError, match="figure-3 has no derived numbers"):
        loaded.ranges("figure-3")


def test_measured_study_has_measured_values_only(loaded: LoadedStudy) -> None:
    study = loaded.data.study.model_copy(update={"kind": "measured"})
    context = replace(loaded.context, data=replace(loaded.data, study=study))
    made = record(context, "figure-2", title="Ratios of runs")
    assert made.kind == "estimates" and "Ratios of runs" in made.title
    assert made.lineage == ("exhibit:figure-2",)
    numbers = made.numbers[0].frame()
    assert numbers["value"].notna().any() and not {"low_text", "printed"} & set(numbers)
