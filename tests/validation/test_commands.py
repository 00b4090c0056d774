"""The commands of `validation`: output page, no progress bar in a pipe, errors with line number."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from tools.validation.calibrate import calibrate

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
    (tmp_path / "calibration.yaml").write_text(DESIGNS)
    return tmp_path


def call(command, *arguments, status=0):
    result = CliRunner().invoke(command, [str(a) for a in arguments])
    assert result.exit_code == status, result.output
    return result


def calibrated(folder, *more, status=0):
    given = (
        "--designs",
        folder / "calibration.yaml",
        "-o",
        folder / "page.md",
        "--replicates",
        20,
        *more,
    )
    return call(calibrate, *given, status=status)


def test_page_has_a_row_per_cell_and_method(repository):
    result = calibrated(repository)
    page = (repository / "page.md").read_text(encoding="utf-8")
    assert page.startswith("# Calibration of intervals\n")
    assert "## Straight line\n\n20 data sets a cell." in page
    assert "`Welch` is" in page and "\n40 data sets a cell." in page
    assert page.count("| sizes | intercept 2, slope 10; 2 % noise, constant; 3 runs |") == 1
    assert page.count("| **constant** |") == 2
    assert "| **log-ratio** |" in page
    assert "| runs |  | made up as well |" in page
    assert result.stdout.startswith("3 cells, ")
    assert result.stdout.rstrip().endswith("page.md")
    assert result.stderr == ""  # no progress bar without a terminal


def test_cells_of_one_model_again_keep_the_results_of_the_others(repository):
    calibrated(repository)
    before = (repository / "page.md").read_text(encoding="utf-8")
    result = calibrated(repository, "--model", "ratio", "--replicates", 50)
    page = (repository / "page.md").read_text(encoding="utf-8")
    assert result.stdout.startswith("1 cells, ")
    assert (
        page.split("## Ratio")[0].split("## Straight")[1]
        == before.split("## Ratio")[0].split("## Straight")[1]
    )
    assert "\n100 data sets a cell." in page and "\n40 data sets a cell." not in page
    whole = calibrated(repository, "--model", "line", "--replicates", 20)
    assert whole.stdout.startswith("2 cells, ")
    assert (repository / "page.md").read_text(encoding="utf-8") == page


def test_page_depends_on_the_seed_alone(repository):
    pages = []
    for name, options in (("a.md", ()), ("b.md", ()), ("c.md", ("--seed", "21"))):
        calibrated(repository, *options, "-o", repository / name)
        pages.append((repository / name).read_bytes())
    assert pages[0] == pages[1] != pages[2]
    assert not (repository / "page.md").exists()


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
def test_invalid_designs_are_reported_and_write_nothing(repository, right, wrong, message):
    (repository / "calibration.yaml").write_text(DESIGNS.replace(right, wrong))
    result = calibrated(repository, status=1)
    assert message in result.output
    assert "Traceback" not in result.output
    assert not (repository / "page.md").exists()


def test_missing_designs_file_is_reported(repository):
    (repository / "calibration.yaml").unlink()
    assert "calibration.yaml" in calibrated(repository, status=1).output
