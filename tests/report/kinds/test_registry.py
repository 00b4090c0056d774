"""Kinds of exhibits are plug-in modules; unknown kinds give an error with a suggestion."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from rawperf.core.errors import StudyError
from tests.report import toy
from virtperf.cli import main
from virtperf.report import kinds
from virtperf.report.html.record import record_html
from virtperf.report.loaded import load_study

DOT = '''
"""Dots."""

from virtperf.core.provenance import Provenance
from virtperf.report.kinds import Context, ExhibitKind, ExhibitSpec, parse_spec
from virtperf.report.records import Grid, Record


class Spec(ExhibitSpec):
    dots: tuple[str, ...]


def record(context, exhibit, figure=None, *shown):
    table = Grid(label="Dots", columns=("Dot",), rows=tuple((d,) for d in parse_spec(exhibit).dots))
    return Record(kind="dot", id=exhibit.id, study=context.study.id, title=exhibit.title, blocks=(table,),
                  provenance=(Provenance.PUBLISHED,))


KIND = ExhibitKind("dot", record, spec=Spec)
'''
ENTRY = "  - {id: figure-9, kind: dot, title: Some dots, dots: [one, <two>]}\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The toy study with an exhibit of an unknown kind."""
    data = toy.build(tmp_path / "repository", stages=False)
    path = data / "published" / "toy" / "study.yaml"
    path.write_text(path.read_text().replace("exhibits:\n", f"exhibits:\n{ENTRY}"))
    return data.parent


@pytest.fixture
def dot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A module of the kind `dot` next to those of the package."""
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "dot.py").write_text(DOT)
    monkeypatch.setattr(kinds, "__path__", [*kinds.__path__, str(tmp_path / "more")])
    importlib.invalidate_caches()
    yield
    sys.modules.pop("virtperf.report.kinds.dot", None)


@pytest.mark.usefixtures("dot")
def test_new_kind_needs_one_file(repository: Path) -> None:
    exhibit = load_study("toy", repository / "data").show("figure-9")
    assert repr(exhibit).split()[-2:] == ["one", "<two>"]
    html = record_html(exhibit.record)
    assert "&lt;two&gt;" in html and "Some dots" in html and ">published</span>" in html


def test_documented_example_is_a_kind(
    repository: Path, root: Path, tmp_path: Path, monkeypatch
) -> None:
    (example,) = re.findall(
        r"```python\n(.*?)```", (root / "docs" / "add-a-study.md").read_text(), re.DOTALL
    )[:1]
    (tmp_path / "dots.py").write_text(example)
    monkeypatch.setattr(kinds, "__path__", [*kinds.__path__, str(tmp_path)])
    path = repository / "data" / "published" / "toy" / "study.yaml"
    entry = "kind: dots, title: Runs, quantity: throughput, over: guests, series: [{label: a, levels: [4, 8], at: {system: a}}]"
    path.write_text(path.read_text().replace(ENTRY, f"  - {{id: figure-9, {entry}}}\n"))
    record = load_study("toy", repository / "data").show("figure-9").record
    assert (record.kind, record.name) == ("dots", "Figure 9")
    assert "<svg" in record.drawing
    sys.modules.pop("virtperf.report.kinds.dots")


@pytest.mark.usefixtures("dot")
def test_fields_of_a_kind_are_checked(repository: Path) -> None:
    path = repository / "data" / "published" / "toy" / "study.yaml"
    path.write_text(path.read_text().replace("dots: [", "dosts: ["))
    with pytest.raises(StudyError, match=r"figure-9"):
        load_study("toy", repository / "data")


def test_unknown_kind_suggests_a_close_name(repository: Path) -> None:
    path = repository / "data" / "published" / "toy" / "study.yaml"
    path.write_text(path.read_text().replace("kind: dot", "kind: tabel"))
    with pytest.raises(
        StudyError, match=r"there is no kind of exhibit 'tabel'.*Did you mean 'table'"
    ) as caught:
        load_study("toy", repository / "data")
    assert caught.value.line == 1 + path.read_text().splitlines().index(
        ENTRY.rstrip().replace("dot,", "tabel,")
    )


def test_check_finds_an_unknown_kind(repository: Path) -> None:
    done = CliRunner().invoke(main, ["--root", str(repository), "check"])
    assert done.exit_code != 0
    assert (
        "there is no kind of exhibit 'dot'; expected one of bar, diagram, distribution, line, table"
        in done.output
    )


def test_kind_names_equal_module_names() -> None:
    assert all(kind.name == name for name, kind in kinds.kinds().items())
    assert {"table", "diagram", "claims", "estimates", "computed"} <= set(kinds.kinds())
