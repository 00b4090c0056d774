"""`virtperf figure` writes one figure as a standalone SVG file."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

from click.testing import CliRunner

from tests.cli.conftest import Run
from tests.report import toy
from virtperf.cli.figure import figure
from virtperf.core.paths import Layout

SVG = "{http://www.w3.org/2000/svg}"


def test_svg_is_standalone(run: Run, tmp_path: Path) -> None:
    toy.build(tmp_path)
    run("figure", "toy", "figure-2", "-o", "figure.svg")
    root = ET.parse(tmp_path / "figure.svg").getroot()
    paper = root.find(f"{SVG}rect")
    assert paper is not None and paper.get("fill") == "#ffffff"
    assert "Throughput over guests" in "".join(root.itertext())


def test_exhibit_without_a_drawing_is_rejected(run: Run, tmp_path: Path) -> None:
    toy.build(tmp_path)
    assert (
        "table-1 has no drawing" in run("figure", "toy", "table-1", "-o", "x.svg", status=1).output
    )
    assert (
        "Did you mean 'figure-2'" in run("figure", "toy", "figur-2", "-o", "x.svg", status=1).output
    )
    assert not (tmp_path / "x.svg").exists()


def test_figure_before_the_stages_have_run_is_an_error(run: Run, tmp_path: Path) -> None:
    toy.build(tmp_path, stages=False)
    output = run("figure", "toy", "figure-2", "-o", "x.svg", status=1).output
    assert "data/reconstructed/toy is missing. Run `virtperf pipeline toy`" in output
    assert not (tmp_path / "x.svg").exists()


def test_the_name_of_another_format_is_refused(run: Run, tmp_path: Path) -> None:
    toy.build(tmp_path)
    said = run("figure", "toy", "figure-2", "-o", "x.png", status=2).output
    assert "--output x.png: the name must end in .svg." in said
    assert not (tmp_path / "x.png").exists()


def test_picture_of_the_readme_is_the_present_figure(root: Path, tmp_path: Path) -> None:
    """`make notebooks` draws it again."""
    arguments = ["zvm-xen-2009", "figure-5", "-o", str(tmp_path / "figure.svg")]
    CliRunner().invoke(figure, arguments, obj=Layout(root), catch_exceptions=False)
    assert (root / "docs" / "figure.svg").read_text() == (tmp_path / "figure.svg").read_text()
