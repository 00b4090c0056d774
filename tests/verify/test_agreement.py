"""Documents that do not agree with themselves: stale, exchanged and changed exhibits are named."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pandas as pd

from virtperf.core.paths import Layout
from virtperf.exhibits.seal import seal, sealed
from virtperf.verify.agreement import findings
from virtperf.verify.simulated import edited_runs
from virtperf.verify.stored import results

DRAWING = re.compile(r'<svg\b[^>]*class="vp-drawing.*?</svg>', re.S)


def problems(repository: Path) -> set[tuple[str, str, str]]:
    return {(f.document, f.exhibit, f.problem) for f in findings(results(Layout(repository), "toy"))}


def page(repository: Path) -> Path:
    return repository / "reports" / "toy.html"


def exhibit(text: str, name: str) -> str:
    found = re.search(rf'<figure class="[^"]*" id="{name}">.*?</figure>', text, re.S)
    assert found
    return found[0]


def test_what_the_stages_wrote_agrees(repository: Path) -> None:
    assert problems(repository) == set()


def test_two_exchanged_drawings_are_named(repository: Path) -> None:
    text = page(repository).read_text()
    first, second = exhibit(text, "figure-1"), exhibit(text, "figure-2")
    one, two = (DRAWING.findall(part) for part in (first, second))
    changed = {first: first, second: second}
    for a, b in zip(one, two, strict=True):
        changed[first] = changed[first].replace(a, b)
        changed[second] = changed[second].replace(b, a)
    for before, now in changed.items():
        text = text.replace(before, now)
    page(repository).write_text(text)
    assert problems(repository) == {
        ("reports/toy.html", "figure-1", "its drawing is that of figure-2"),
        ("reports/toy.html", "figure-2", "its drawing is that of figure-1"),
    }


def test_exhibits_exchanged_with_their_numbers_stand_in_the_wrong_place(repository: Path) -> None:
    text = page(repository).read_text()
    first, second = exhibit(text, "figure-1"), exhibit(text, "figure-2")
    text = text.replace(first, "@1@").replace(second, "@2@")
    text = text.replace("@1@", second.replace('id="figure-2"', 'id="figure-1"', 1))
    page(repository).write_text(text.replace("@2@", first.replace('id="figure-1"', 'id="figure-2"', 1)))
    assert {p for _, e, p in problems(repository) if e == "figure-2"} >= {"it stands where figure-1 belongs"}
    assert {p for _, e, p in problems(repository) if e == "figure-1"} >= {"it stands where figure-2 belongs"}


def test_a_stale_drawing_is_named(repository: Path) -> None:
    before = DRAWING.findall(exhibit(page(repository).read_text(), "figure-2"))
    text = page(repository).read_text()
    stale = [re.sub(r'data-digest="[^"]*"', 'data-digest="00000000"', svg) for svg in before]
    for svg, old in zip(before, stale, strict=True):
        text = text.replace(svg, old)
    page(repository).write_text(text)
    said = "its drawing was made from other numbers than those beside it"
    assert ("reports/toy.html", "figure-2", said) in problems(repository)
    assert {e for _, e, _ in problems(repository)} == {"figure-2"}


def test_a_drawing_changed_by_hand_breaks_its_seal(repository: Path) -> None:
    text = page(repository).read_text()
    svg = DRAWING.findall(exhibit(text, "figure-1"))[0]
    moved = re.sub(r' d="M\s*(\d+)', lambda m: f' d="M{int(m[1]) + 3}', svg, count=1)
    assert moved != svg
    page(repository).write_text(text.replace(svg, moved))
    said = "its drawing was changed after it had been made"
    assert ("reports/toy.html", "figure-1", said) in problems(repository)
    assert {e for _, e, _ in problems(repository)} == {"figure-1"}


def test_a_report_of_an_older_notebook_is_stale_where_numbers_differ(repository: Path) -> None:
    notebook = repository / "build" / "toy.ipynb"
    executed = nbformat.read(notebook, as_version=4)
    for cell in executed.cells:
        for output in cell.get("outputs", ()):
            body = output["data"]["text/html"]
            output["data"]["text/html"] = body.replace("web,1", "web,4")  # a cell of table-1, in its download
    nbformat.write(executed, notebook)
    assert problems(repository) == {
        ("reports/toy.html", "table-1", "it shows other numbers than build/toy.ipynb")
    }  # fmt: skip


def test_a_notebook_older_than_the_stages_files_is_stale(repository: Path) -> None:
    points = repository / "data" / "reconstructed" / "toy" / "points.csv"
    points.write_text(points.read_text().replace("49.5,50.5,", "49.5,50.25,"))
    assert problems(repository) == {
        ("build/toy.ipynb", "figure-2", "it shows other numbers than the stages' files hold")
    }  # fmt: skip


def test_statements_in_other_words_are_named(repository: Path) -> None:
    claims = repository / "data" / "published" / "toy" / "claims.yaml"
    claims.write_text(claims.read_text().replace("Two guests give twice as much", "Two give twice as much"))
    said = "it shows other words or verdicts than claims.yaml and the stages' files hold: doubles"
    assert problems(repository) == {("build/toy.ipynb", "figure-1-claims", said)}


def test_a_missing_exhibit_is_named(repository: Path) -> None:
    text = page(repository).read_text()
    page(repository).write_text(text.replace(exhibit(text, "figure-2"), ""))
    assert problems(repository) == {
        ("reports/toy.html", "figure-2", "it is missing here, and stands in build/toy.ipynb")
    }  # fmt: skip


def test_a_kept_notebook_of_other_numbers_is_stale(repository: Path) -> None:
    kept = repository / "notebooks" / "toy.ipynb"
    text = (repository / "build" / "toy.ipynb").read_text()
    kept.write_text(text)
    assert problems(repository) == set()
    kept.write_text(text.replace("web,1", "web,7"))
    assert problems(repository) == {("notebooks/toy.ipynb", "table-1", "it shows other numbers than build/toy.ipynb")}


def test_the_seal_holds_against_ids_and_colours_only() -> None:
    drawn = '<svg class="vp-drawing" viewBox="0 0 9 9"><path d="M1 2" style="stroke:red"/><text>4</text></svg>'
    svg = sealed(drawn, pd.DataFrame({"a": [1]}))
    digest = re.search(r'data-digest="([^"]*)"', svg)[1]
    stated = re.search(r'data-seal="([^"]*)"', svg)[1]
    assert seal(svg, digest) == stated == seal(svg.replace("red", "blue").replace("<path", '<path id="p"'), digest)
    for other in (svg.replace("M1 2", "M1 3"), svg.replace(">4<", ">5<"), svg.replace("0 0 9 9", "0 0 9 8")):
        assert seal(other, digest) != stated
    assert seal(svg, "another") != stated


def test_an_edited_simulated_file_is_named_with_the_figures_that_show_its_run(repository: Path, tmp_path: Path) -> None:
    replayed = Layout(tmp_path / "replayed")
    for root in (repository, replayed.root):
        for run in ("load-2", "memory-1", "other"):  # stand for runs that the stages have simulated
            folder = root / "data" / "reconstructed" / "toy" / "runs" / run
            folder.mkdir(parents=True)
            (folder / "d1.log").write_text(f"{run}\n")
    layout = Layout(repository)
    assert edited_runs(layout, replayed, results(layout, "toy")) == []
    (repository / "data" / "reconstructed" / "toy" / "runs" / "memory-1" / "d1.log").write_text("51\n")
    (found,) = edited_runs(layout, replayed, results(layout, "toy"))
    assert (found.exhibit, found.problem) == ("figure-2", "not what the replay simulates: d1.log")
    assert found.document == "data/reconstructed/toy/runs/memory-1"

    # A file that no figure's numbers are read from concerns none; what describes the run concerns all of it.
    for root in (repository, replayed.root):
        (root / "data" / "reconstructed" / "toy" / "runs" / "load-2" / "top.txt").write_text("1\n")
        (root / "data" / "reconstructed" / "toy" / "runs" / "load-2" / "run.yaml").write_text("run: load-2\n")
    samples = repository / "data" / "samples" / "toy" / "load-2.parquet"
    table = pd.read_parquet(samples)
    table = pd.concat([table, table.head(1).assign(metric="guest_cpu", file="top.txt")])
    table.to_parquet(samples)
    for name, shown in (("top.txt", ""), ("d1.log", "figure-1"), ("run.yaml", "figure-1")):
        path = repository / "data" / "reconstructed" / "toy" / "runs" / "load-2" / name
        before = path.read_text()
        path.write_text("2\n")
        assert [f.exhibit for f in edited_runs(layout, replayed, results(layout, "toy"))] == [shown, "figure-2"]
        path.write_text(before)
