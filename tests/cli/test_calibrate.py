"""virtperf calibrate: a page from a small file of designs, quiet in a pipe, errors that name the line."""

from __future__ import annotations

import pytest

DESIGNS = """\
replicates: 3
designs:
  sizes: {x: [1, 2, 4, 8, 16], source: made up}
  runs: {source: made up as well}
cells:
  - {model: line, design: sizes, truth: {intercept: 2, slope: 10}, noise: [0.02, 0.05], spread: constant}
  - {model: ratio, design: runs, ratio: 1.5, noise: [0.02], spread: proportional, times: 2}
"""


@pytest.fixture
def repository(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "data" / "calibration.yaml").write_text(DESIGNS)
    return tmp_path


def call(run, repository, *more, status=0):
    return run("--root", str(repository), "calibrate", "--replicates", "20", *more, status=status)


def test_the_page_has_a_row_for_each_cell_and_method(run, repository):
    result = call(run, repository)
    page = (repository / "docs" / "calibration.md").read_text(encoding="utf-8")
    assert page.startswith("# Calibration of intervals\n")
    assert "20 simulated data sets a cell" in page
    assert page.count("| sizes | intercept 2, slope 10; 2 % noise, constant; 3 runs |") == 2  # t and F
    assert page.count("| **t** |") == 2
    assert "| **Fieller** |" in page
    assert "| runs |  | made up as well |" in page
    assert result.stdout.startswith("3 cells, ")
    assert result.stdout.rstrip().endswith("calibration.md")
    assert result.stderr == ""  # no progress bar: it is no terminal


def test_the_page_depends_on_the_seed_alone(run, repository):
    pages = []
    for name, options in (("a.md", ()), ("b.md", ()), ("c.md", ("--seed", "21"))):
        call(run, repository, *options, "-o", str(repository / name))
        pages.append((repository / name).read_bytes())
    assert pages[0] == pages[1] != pages[2]
    assert not (repository / "docs" / "calibration.md").exists()


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("model: ratio", "model: ration", "cell 2: model is not known"),
        ("spread: constant", "spread: even", "cell 1: spread is not known"),
        ("slope: 10", "slop: 10", "cell 1: truth has other coefficients"),
        ("replicates: 3\n", "", "the designs have no 'replicates'"),
        ("cells:", "cells: [", "not valid YAML"),
    ],
)
def test_bad_designs_are_errors_that_name_the_cell_and_write_nothing(run, repository, right, wrong, message):
    (repository / "data" / "calibration.yaml").write_text(DESIGNS.replace(right, wrong))
    result = call(run, repository, status=1)
    assert message in result.output
    assert "Traceback" not in result.output
    assert not (repository / "docs" / "calibration.md").exists()


def test_without_designs_the_missing_file_is_named(run, repository):
    (repository / "data" / "calibration.yaml").unlink()
    assert "calibration.yaml" in call(run, repository, status=1).output
