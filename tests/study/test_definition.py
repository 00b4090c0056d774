"""Definition of a study: loading, mistakes with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from rawperf.core.errors import StudyError
from virtperf.core import stage_tables
from virtperf.core.schema import TableSchema
from virtperf.core.stage_tables import TABLES_WITH_FACTORS
from virtperf.study.definition import load_study

STUDY = """\
study: toy
title: A toy study
n_statements: 2
bibliography: {}
factors:
  system: {levels: [a, b], default: a, labels: {a: System A}}
  guests: {levels: [1, 2, 4], label: guests}
quantities:
  speed:
    label: Speed
    unit: "1"
    references:
      - {at: {guests: 1}, value: 100}
  load: {label: Load, unit: "%", bounds: [0, 100], resolution: 0.5}
exhibits:
  - id: figure-1
    title: Speed
    kind: line
    quantity: speed
    over: guests
    series:
      - {label: A, at: {system: a}, levels: [1, 2, 4]}
      - {label: B, at: {system: b}, levels: [1, 4]}
  - {id: table-1, title: Loads, kind: table}
segments:
  - {name: S, gb: 1, pages: [0-FF], where: Set-up}
"""


def write(folder: Path, text: str = STUDY, name: str = "toy") -> Path:
    """A study folder with that `study.yaml`."""
    study = folder / name
    study.mkdir(exist_ok=True)
    (study / "study.yaml").write_text(text, encoding="utf-8")
    return study


def line_of(text: str, part: str) -> int:
    """Number of the first line that contains `part`."""
    return next(i for i, line in enumerate(text.splitlines(), 1) if part in line)


def changed(old: str, new: str) -> str:
    assert STUDY.count(old) == 1
    return STUDY.replace(old, new)


@pytest.mark.parametrize("table", TABLES_WITH_FACTORS, ids=lambda table: table.file)
def test_factor_named_like_a_table_column_is_reported_with_line_number(tmp_path, table):
    name = next(iter(table.columns))
    text = changed("factors:\n", f"factors:\n  {name}: {{levels: [1, 2], default: 1}}\n")
    with pytest.raises(
        StudyError, match=f"factor '{name}' has the same name.*Rename the factor"
    ) as raised:
        load_study(write(tmp_path, text))
    assert raised.value.line == line_of(text, f"  {name}: ")


def test_every_table_with_factors_is_checked():
    declared = [t for t in vars(stage_tables).values() if isinstance(t, TableSchema)]
    assert {t.file for t in declared if t.factors_before} == {t.file for t in TABLES_WITH_FACTORS}


def test_explicit_levels_override_defaults(tmp_path):
    study = load_study(write(tmp_path))
    assert study.quantity("speed[guests=2]").at == (("system", "a"), ("guests", 2))
    assert study.quantity("speed[guests=2, system=b]").level("system") == "b"
    moved = study.expression("load[guests=4] - 2 load[guests=1]", {"system": "b", "guests": 2})
    assert [(c, q.at) for c, q in moved.terms] == [
        (1.0, (("system", "b"), ("guests", 4))),
        (-2.0, (("system", "b"), ("guests", 1))),
    ]


def test_points_of_a_figure_follow_its_series(tmp_path):
    study = load_study(write(tmp_path))
    points = [
        (s.label, level, q.level("system"))
        for s, level, q in study.points(study.exhibit("figure-1"))
    ]
    assert points == [("A", 1, "a"), ("A", 2, "a"), ("A", 4, "a"), ("B", 1, "b"), ("B", 4, "b")]


def test_bounds_and_resolution_default_to_not_negative_and_none(tmp_path):
    study = load_study(write(tmp_path))
    speed, load = study.quantities["speed"], study.quantities["load"]
    assert (speed.low, speed.high, speed.resolution) == (0.0, float("inf"), 0.0)
    assert (load.low, load.high, load.resolution) == (0.0, 100.0, 0.5)


def test_shown_quantity_omits_default_levels(tmp_path):
    study = load_study(write(tmp_path))
    assert study.show(study.quantity("speed[guests=2]")) == "Speed (2 guests)"


def test_singular_of_a_factor_name(tmp_path):
    labels = {
        "guests": "guest",
        "JVMs per guest": "JVM per guest",
        "GB per class": "GB per class",
        "address": "address",
        "worker processes": "worker process",
    }
    for label, one in labels.items():
        text = STUDY.replace(
            "quantities:",
            f"  extra: {{label: {label}, levels: [1, 2], default: 1}}\nquantities:",
            1,
        )
        factor = load_study(write(tmp_path, text)).factors["extra"]
        assert (factor.noun(1), factor.noun(2)) == (one, label)


def test_block_is_named_by_factors_and_replicate(tmp_path):
    plain = load_study(write(tmp_path))
    assert plain.block({"system": "a", "guests": 2}, 3) == ""
    text = changed("quantities:\n", "blocks: [guests, replicate]\nquantities:\n")
    assert load_study(write(tmp_path, text)).block({"system": "a", "guests": 2}, 3) == "2 3"


MISTAKES = {
    "unknown factor of a reference": (
        "{at: {guests: 1}, value",
        "{at: {gests: 1}, value",
        "unknown factor 'gests'",
    ),
    "unknown level of a reference": (
        "{at: {guests: 1}, value",
        "{at: {guests: 3}, value",
        "unknown level 3 of guests",
    ),
    "level missing in a reference": (
        "{at: {guests: 1}, value",
        "{at: {system: a}, value",
        "no level for guests",
    ),
    "duplicate key": ("  load: {label", "  speed: {label", "'speed' is given twice"),
    "unit missing": (
        '  load: {label: Load, unit: "%",',
        "  load: {label: Load,",
        "'unit' is missing",
    ),
    "negative resolution": ("resolution: 0.5", "resolution: -0.5", "greater than or equal to 0"),
    "segment without size": ("name: S, gb: 1,", "name: S,", "'gb' is missing"),
}


@pytest.mark.parametrize(("old", "new", "problem"), MISTAKES.values(), ids=MISTAKES)
def test_mistake_is_reported_with_file_and_line(tmp_path, old, new, problem):
    text = changed(old, new)
    with pytest.raises(StudyError) as caught:
        load_study(write(tmp_path, text))
    assert problem in str(caught.value)
    assert caught.value.file == "study.yaml"
    assert caught.value.line == line_of(text, new)
    assert f"study.yaml line {caught.value.line}" in str(caught.value)


def test_block_of_an_unknown_factor_is_reported(tmp_path):
    text = changed("quantities:\n", "blocks: [system, replicat]\nquantities:\n")
    with pytest.raises(
        StudyError, match=r"unknown factor 'replicat'.*Did you mean 'replicate'"
    ) as caught:
        load_study(write(tmp_path, text))
    assert caught.value.line == line_of(text, "blocks:")


def test_unknown_level_in_a_series_is_reported_with_its_exhibit(tmp_path):
    text = changed("levels: [1, 4]}", "levels: [1, 5]}")
    with pytest.raises(StudyError, match="figure-1: unknown level 5 of guests") as caught:
        load_study(write(tmp_path, text))
    assert caught.value.line == line_of(text, "- id: figure-1")


def test_folder_and_study_must_agree(tmp_path):
    with pytest.raises(StudyError, match=r"line 1.*the id 'toy' differs.*folder name 'other'"):
        load_study(write(tmp_path, name="other"))


def test_missing_file_and_broken_yaml(tmp_path):
    with pytest.raises(StudyError, match="the file is missing"):
        load_study(tmp_path)
    with pytest.raises(StudyError, match="not valid YAML") as caught:
        load_study(write(tmp_path, changed("bibliography: {}", "bibliography: {")))
    assert caught.value.file == "study.yaml"
    assert caught.value.line
    with pytest.raises(StudyError, match="not a mapping"):
        load_study(write(tmp_path, "- toy\n"))


def test_unknown_exhibit_lists_the_known(tmp_path):
    with pytest.raises(StudyError, match="one of figure-1, table-1"):
        load_study(write(tmp_path)).exhibit("figure-2")


def test_document_names_the_columns_that_no_factor_may_have(root: Path) -> None:
    text = " ".join((root / "docs" / "add-a-study.md").read_text("utf-8").split())
    names = text.partition("tables of runs: ")[2].partition(".")[0].split(", ")
    assert set(names) == {name for table in TABLES_WITH_FACTORS for name in table.columns}
