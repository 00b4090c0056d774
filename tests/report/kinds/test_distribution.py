"""Figures of distributions, and report texts on published data."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import virtperf as vp
from rawperf.core.errors import StudyError
from tests.toy_boots import STUDY, Boots, boots, drawn
from virtperf.core.stage_tables import POINTS
from virtperf.report import frames
from virtperf.report.kinds.distribution import check, draw, percentiles
from virtperf.study.definition import load_study

SLOW, FAST = drawn(2, centre=210.0), drawn(1)


@pytest.fixture
def study(tmp_path, root):
    made = Boots(tmp_path, root)
    made.add("a", boots(FAST))
    made.add("b", boots(SLOW), monitor="b")
    made.add("a-small", boots(FAST + 20), machine="small")
    made.add("m", "133120 rw\n", "p.map", size=128)
    made.add("empty", "", "empty.txt", monitor="b", size=128)
    made.read()
    made.store_verdicts()
    return vp.load_study("boots", made.data)


def words_of(record):
    return re.sub(r"\s+", " ", record.model_dump_json())


def test_percentiles_equal_those_of_the_samples(study):
    record = study.show("figure-1").record
    numbers = record.numbers[0].frame().set_index("series")
    for label, x in (("A", FAST), ("B", SLOW)):
        row = numbers.loc[label]
        assert row["samples"] == 1000
        assert row["median"] == pytest.approx(np.quantile(x, 0.5, method="inverted_cdf"), rel=1e-5)
        assert row["p99"] == pytest.approx(np.quantile(x, 0.99, method="inverted_cdf"), rel=1e-5)
        assert row["median_low"] == pytest.approx(np.sort(x)[468], rel=1e-5)
        assert row["median_high"] == pytest.approx(np.sort(x)[531], rel=1e-5)
    assert record.caption.startswith("A: median 110 ms, 99th percentile 1")
    assert record.provenance == ("measured",)
    assert "Measured by the authors, February 2020." in words_of(record)


def test_many_series_are_rows_of_quantiles():
    names = ["first", "second", "third", "fourth", "fifth"]
    frame = pd.concat(
        [pd.DataFrame({"series": name, "value": FAST + 10 * k}) for k, name in enumerate(names)]
    )
    figure = vp.plot.distribution(frame, log=True, xlabel="Boot time, ms")
    (panel,) = figure.axes
    medians = [line for line in panel.lines if len(line.get_xdata()) == 1]
    assert [line.get_ydata()[0] for line in medians] == [0, 1, 2, 3, 4]
    middle = np.quantile(FAST, 0.5, method="inverted_cdf")
    assert [line.get_xdata()[0] for line in medians] == [middle + 10 * k for k in range(5)]
    first, *_ = [line.get_xdata() for line in panel.lines if len(line.get_xdata()) == 2]
    ends = [np.quantile(FAST, share, method="inverted_cdf") for share in (0.01, 0.99)]
    assert list(first) == ends
    assert [text.get_text().partition(":")[0] for text in panel.texts] == names


def test_curves_pass_through_the_quantiles(study):
    figure = study.show("figure-1").figure
    panel = figure.axes[0]
    assert panel.get_xscale() == "log"
    curves = [line for line in panel.lines if len(line.get_xdata()) > 2]
    assert len(curves) == 2
    for line, x in zip(curves, (FAST, SLOW), strict=True):
        values, shares = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        assert (values[0], values[-1]) == (pytest.approx(x.min()), pytest.approx(x.max()))
        exact = [np.mean(x <= value + 1e-9) for value in values]
        assert shares == pytest.approx(exact, abs=1e-9)
    marks = [line for line in panel.lines if len(line.get_xdata()) == 2]
    assert marks[0].get_xdata() == pytest.approx(
        np.quantile(FAST, [0.5, 0.99], method="inverted_cdf")
    )


def with_stated(study, name):
    exhibit = frames.find_exhibit(study.data, "figure-1")
    changed = exhibit.model_copy()
    changed._spec = {**exhibit.spec, "stated": name}
    return draw(study.context, changed)


def test_stated_number_is_a_line_across_the_curves(study):
    panel = with_stated(study, "a-below-125").axes[0]
    lines = [line for line in panel.lines if set(line.get_ydata()) == {0, 1}]
    assert [set(line.get_xdata()) for line in lines] == [{125}]


@pytest.mark.parametrize("name", ["a-below-12", "overhead"])
def test_stated_number_of_another_unit_is_an_error(study, name):
    with pytest.raises(StudyError, match="figure-1: `stated` names no claim") as caught:
        with_stated(study, name)
    assert "prints a number in ms" in str(caught.value)


def test_too_few_samples_leave_an_interval_open(study):
    samples = study.data.distributions
    samples = samples[samples["series"] == "A"].head(50)
    assert np.isinf(percentiles(samples, 0.95)["p99_high"]).all()


def test_without_runs_there_is_no_picture(tmp_path, root):
    made = Boots(tmp_path, root)
    exhibit = vp.load_study("boots", made.data).show("figure-1")
    assert exhibit.figure is None
    assert exhibit.record.caption == "No run was measured, so there is no distribution."


@pytest.mark.parametrize(
    ("was", "becomes", "problem"),
    [
        ("levels: [b]", "levels: [a, b]", "several levels"),
        ("{label: B,", "{label: A,", "two series are named 'A'"),
        ("quantity: median, levels: [b]", "quantity: slow, levels: [b]", "different units"),
    ],
)
def test_invalid_distribution_is_rejected(tmp_path, was, becomes, problem):
    folder = tmp_path / "boots"
    folder.mkdir()
    assert was in STUDY
    (folder / "study.yaml").write_text(STUDY.replace(was, becomes))
    study = load_study(folder)
    with pytest.raises(StudyError, match=problem):
        check(study, study.exhibits[0])


def test_report_head_lists_claims_supported_by_the_published_data(study):
    text = words_of(study.summary().record)
    assert "Hold in the paper's own data (measured by the authors, February 2020): 3 of 3" in text
    assert "2 reproduced and 1 whose value agrees" in text
    assert "we measured" not in text.lower()


def test_claims_are_listed_by_machine(study):
    record = study.elsewhere().record
    table = record.numbers[0].frame()
    found = table.set_index(["claim", "machine"])["measured_verdict"].to_dict()
    assert found == {("a-below-125", "big"): "reproduced", ("a-below-125", "small"): "refuted"}
    assert "left out (2)" in words_of(record)


def test_quality_page_states_data_source_and_unread_files(study):
    text = words_of(study.quality().record)
    assert "measured by the authors, February 2020" in text
    assert "empty.txt: not read: the file is empty" in text


def test_comparison_alone_gives_no_range_with_published_data(study):
    point = {"exhibit": "figure-1", "quantity": "median", "low_by": ["a-before-b"], "high_by": []}
    limits = {"high": np.inf, "high_text": np.inf, "pieces": [], "pieces_text": []}
    no_claims = {"low_text_by": [], "high_text_by": []}
    made = [
        {**point, **limits, **no_claims, "series": label, "x": x, "low": low, "low_text": low}
        for label, x, low in (("A", "a", 0.0), ("B", "b", 5.0))
    ]
    data = replace(study.data, points=POINTS.frame(made))
    assert frames.points(data, "figure-1")["low"].isna().tolist() == [True, False]


def test_report_head_counts_encoded_claims(study):
    text = words_of(study.summary().record)
    assert "from 3 sentences of the paper" in text
    assert "plotted points known" not in text
