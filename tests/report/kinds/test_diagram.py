"""Diagrams: boxes in rows, connections as text, invalid diagrams rejected with line number."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib import pyplot as plt

from rawperf.core.errors import StudyError
from tests.report import toy
from tests.report.plain import plain
from virtperf.report.loaded import LoadedStudy, load_study
from virtperf.report.records import Diagram, Folded


def test_boxes_nest_and_connections_are_text(loaded: LoadedStudy) -> None:
    exhibit = loaded.show("figure-1")
    (diagram,) = [b for b in exhibit.record.blocks if isinstance(b, Diagram)]
    assert [[box.id for box in row] for row in diagram.rows] == [["client"], ["lpar"], ["disk"]]
    assert [[box.id for box in row] for row in diagram.rows[1][0].rows] == [["web", "app"], ["lan"]]
    assert ("Guest LAN", "lnweb[n], 1 CPU", "") in diagram.edges and len(diagram.edges) == 5
    assert "Host <u>1</u> holds lnweb[n], 1 CPU, Application server and Guest LAN." in diagram.label
    assert exhibit.record.numbers[0].rows[4] == (
        "Host <u>1</u>",
        "Storage server",
        "FCP, passed through",
    )
    assert "section “Setup”" in plain(exhibit) and "layout is ours" in plain(exhibit)


def test_a_picture_folds_the_boxes(loaded: LoadedStudy) -> None:
    figure = plt.figure()
    record = loaded.show("figure-1", figure).record
    folded = next(b for b in record.blocks if isinstance(b, Folded))
    assert isinstance(folded.blocks[0], Diagram) and record.drawing
    assert record.description == folded.blocks[0].label
    plt.close(figure)


def test_equal_labels_are_distinguished_by_their_container(tmp_path: Path) -> None:
    exhibit = load_study(
        "toy", _changed(tmp_path, "label: Guest LAN", "label: Application server")
    ).show("figure-1")
    assert "Application server (Host <u>1</u>)" in repr(exhibit)


@pytest.mark.parametrize(
    ("old", "new", "problem", "line"),
    [
        (
            "from: client",
            "from: cleint",
            "a connection names 'cleint', which is not a box; did you mean 'client'",
            25,
        ),
        ("id: disk", "id: lan", "duplicate box 'lan'", 25),
        ("label: Storage server", "name: Storage server", "'label' is missing", 34),
        ("to: web, label: HTTP", "to: web, width: 3", "unknown key 'width'", 36),
    ],
)
def test_invalid_diagram_is_rejected_with_line_number(
    tmp_path: Path, old: str, new: str, problem: str, line: int
) -> None:
    with pytest.raises(StudyError) as caught:
        load_study("toy", _changed(tmp_path, old, new))
    assert problem in str(caught.value) and caught.value.line == line
    assert "figure-1" in str(caught.value)


def _changed(tmp_path: Path, old: str, new: str) -> Path:
    data = toy.build(tmp_path, stages=False)
    path = data / "published" / "toy" / "study.yaml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    return data
