"""Loading a study: where its data are, and what wrong names are answered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.exhibits import toy
from virtperf.core.errors import VirtperfError
from virtperf.exhibits import loaded as module
from virtperf.exhibits.loaded import LoadedStudy, find_data, load_study


def test_the_repository_is_found_from_any_folder_within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = toy.build(tmp_path, stages=False)
    inner = tmp_path / "notebooks" / "drafts"
    inner.mkdir(parents=True)
    for folder in (tmp_path, inner):
        monkeypatch.chdir(folder)
        assert find_data() == data
        assert load_study("toy").study.id == load_study("toy", "").study.id == "toy"


def test_outside_a_repository_it_is_the_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    root = next(p for p in Path(module.__file__).parents if (p / "data" / "published").is_dir())
    assert find_data() == root / "data"
    monkeypatch.setattr(module, "__file__", str(tmp_path / "site-packages" / "virtperf" / "loaded.py"))
    with pytest.raises(VirtperfError, match="no repository of studies is near"):
        find_data()


@pytest.mark.parametrize(
    ("call", "near"),
    [
        (lambda s: s.runs("figure-22"), "figure-2"),
        (lambda s: s.show("tabel-1"), "table-1"),
        (lambda s: s.claims("figur-2"), "figure-2"),
        (lambda s: s.runs("figure-2", "mesured"), "measured"),
        (lambda s: s.condition("througput", guests=8), "throughput"),
        (lambda s: s.condition("throughput", guest=8), "guests"),
        (lambda s: s.condition("throughput", guests=9), "8"),
        (lambda s: s.condition("throughput", provenance="simulate", guests=8), "simulated"),
        (lambda s: s.timeline("figure-2"), "timeseries"),
        (lambda s: s.points("table-1"), "figure-2"),
    ],
)
def test_wrong_names_are_errors_with_near_names(
    loaded: LoadedStudy, call: Callable[[LoadedStudy], Any], near: str
) -> None:
    with pytest.raises(VirtperfError) as caught:
        call(loaded)
    assert near in str(caught.value)


def test_an_unknown_study_is_answered_by_the_known(toy_data: Path) -> None:
    with pytest.raises(VirtperfError, match="expected one of toy"):
        load_study("toi", toy_data)


def test_examples_are_left_out_unless_asked_for(loaded: LoadedStudy, toy_data: Path) -> None:
    assert "example" in set(loaded.runs("figure-2")["provenance"])
    plain = load_study("toy", toy_data)
    assert "example" not in {*plain.runs("figure-2")["provenance"], *plain.means("figure-2")["provenance"]}
    assert len(plain.runs("figure-2", "example"))


def test_without_assumptions_limits_are_those_of_the_text(loaded: LoadedStudy, toy_data: Path) -> None:
    plain = load_study("toy", toy_data, assumptions=False)
    assert (loaded.points("figure-2")["low"].iloc[0], plain.points("figure-2")["low"].iloc[0]) == (45, 10)
