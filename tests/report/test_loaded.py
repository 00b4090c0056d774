"""Loading a study: finding the data, errors for unknown names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from matplotlib import pyplot

from rawperf.core.errors import RawperfError
from tests.cases import each_case
from tests.report import toy
from virtperf.core.provenance import Provenance
from virtperf.report import frames
from virtperf.report import loaded as module
from virtperf.report.loaded import LoadedStudy, find_data, load_study


def test_repository_is_found_from_any_subfolder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = toy.build(tmp_path, stages=False)
    inner = tmp_path / "notebooks" / "drafts"
    inner.mkdir(parents=True)
    for folder in (tmp_path, inner):
        monkeypatch.chdir(folder)
        assert find_data() == data
        assert load_study("toy").study.id == load_study("toy", "").study.id == "toy"


def test_outside_a_repository_packaged_data_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    root = next(p for p in Path(module.__file__).parents if (p / "data" / "published").is_dir())
    assert find_data() == root / "data"
    monkeypatch.setattr(
        module, "__file__", str(tmp_path / "site-packages" / "virtperf" / "loaded.py")
    )
    with pytest.raises(RawperfError, match="no repository of studies found"):
        find_data()


def test_selected_exhibits_are_returned(loaded: LoadedStudy) -> None:
    every = [rendered.record.id for rendered in loaded.exhibits()]
    some = [rendered.record.id for rendered in loaded.exhibits("figure-3", "table-1")]
    assert set(every) >= {exhibit.id for exhibit in loaded.study.exhibits}
    assert some == ["figure-3", "table-1"]


@each_case(
    ("call", "near"),
    [
        (lambda s: s.runs("figure-22"), "figure-2"),
        (lambda s: s.show("tabel-1"), "table-1"),
        (lambda s: s.claims("figur-2"), "figure-2"),
        (lambda s: s.exhibits("figure-22"), "figure-2"),
        (lambda s: frames.timeline(s.data, "figure-2"), "timeseries"),
        (lambda s: s.points("table-1"), "figure-2"),
    ],
)
def test_unknown_names_suggest_close_names(
    loaded: LoadedStudy, call: Callable[[LoadedStudy], Any], near: str
) -> None:
    with pytest.raises(RawperfError) as caught:
        call(loaded)
    assert near in str(caught.value)


def test_unknown_study_lists_the_known_ones(toy_data: Path) -> None:
    with pytest.raises(RawperfError, match=r"expected one of toy\. Did you mean 'toy'"):
        load_study("toi", toy_data)


def test_examples_are_excluded_by_default(loaded: LoadedStudy, toy_data: Path) -> None:
    assert "example" in set(loaded.means("figure-2")["provenance"])
    assert set(loaded.runs("figure-2")["provenance"]) == {
        "measured"
    }  # no fit mixes both provenances
    plain = load_study("toy", toy_data)
    assert "example" not in {
        *plain.runs("figure-2")["provenance"],
        *plain.means("figure-2")["provenance"],
    }


def test_limits_without_assumptions_are_those_of_the_text(
    loaded: LoadedStudy, toy_data: Path
) -> None:
    plain = load_study("toy", toy_data, assumptions=False)
    assert (loaded.points("figure-2")["low"].iloc[0], plain.points("figure-2")["low"].iloc[0]) == (
        45,
        10,
    )


def test_user_figure_replaces_the_default(loaded: LoadedStudy) -> None:
    default = loaded.show("figure-2")
    figure, axes = pyplot.subplots()
    axes.set_title("Mine")
    for own in (figure, axes):
        exhibit = loaded.show("figure-2", own)
        assert exhibit.figure is figure and exhibit.record.drawing
        assert "Mine" in exhibit.record.drawing
        assert exhibit.record.numbers == default.record.numbers
        said = "as the text allows values"
        assert said in " ".join(repr(default).split())
        assert said not in " ".join(repr(exhibit).split())
    assert not pyplot.get_fignums()  # a shown figure is not drawn again below the cell
    with pytest.raises(RawperfError, match="a figure is shown with fits by series"):
        loaded.show("figure-2", 3.0)


def test_no_exhibit_mentions_an_example_run(measured: LoadedStudy) -> None:
    rendered = [measured.show(exhibit.id) for exhibit in measured.study.exhibits]
    rendered += [
        getattr(measured, name)()
        for name in ("claims", "summary", "contradictions", "assumptions", "quality")
    ]
    for item in rendered:
        assert item.record is not None
        assert Provenance.EXAMPLE not in item.record.provenance
        assert "example-" not in item.record.model_dump_json(), item.record.id
    for exhibit in ("figure-2", "figure-3", "figure-4"):
        for frame in (measured.runs(exhibit), measured.means(exhibit)):
            assert set(frame["provenance"]) <= {"measured"}
    assert set(frames.timeline(measured.data, "figure-5")["provenance"]) == {"measured"}


def test_study_without_measured_runs_has_no_data_quality_page(tmp_path: Path) -> None:
    data = toy.build(tmp_path)
    index = data / "samples" / "toy" / "index.json"
    found = json.loads(index.read_text())
    runs = [run for run in found["runs"] if run["provenance"] == "example"]
    index.write_text(json.dumps({"runs": runs, "quarantined": []}))
    assert repr(load_study("toy", data).quality()) == (
        "We have no run of this paper's set-up. Of 16 plotted values the text alone gives 8 to ±5 %, bounds 6 more, and leaves 2 without an upper limit. "
        "Our assumptions narrow 6 ranges, without changing these counts."
    )
