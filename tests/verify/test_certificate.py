"""The certificate: what it says, that it depends on nothing but the results, and that nothing in it becomes markup."""

from __future__ import annotations

import ast
import json
import re
import shutil
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tests.imports import SOURCE
from tests.verify import toy
from virtperf.cli import main
from virtperf.verify.certificate import document
from virtperf.verify.compare import compare
from virtperf.verify.drawing import change_drawing
from virtperf.verify.items import Item
from virtperf.verify.outcome import ExhibitOutcome, Outcome, Side, StudyOutcome
from virtperf.verify.page import html_page
from virtperf.verify.record import ABSENT, OTHER, PACKAGES, SAME, dvc_hash, packages, recorded
from virtperf.verify.replay import Task
from virtperf.verify.tolerances import DEFAULTS
from virtperf.verify.wording import shift_words, sides

HOSTILE = "<script>alert(1)</script>"


def tree(path: Path) -> dict[str, bytes]:
    """Every file below a path, or the one that it is."""
    files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    return {str(p.relative_to(path)): p.read_bytes() for p in files}


@pytest.fixture
def command(repository: Path, stored: Path, monkeypatch: pytest.MonkeyPatch):
    """`virtperf verify` on the toy repository; its replay gives the stored results, except where inputs changed."""

    def replayed(task: Task, progress: object) -> None:
        inputs = ("data/published", "params.yaml")
        same = all(tree(task.place.root / part) == tree(stored / part) for part in inputs)
        if same:
            shutil.copytree(stored, task.place.root, dirs_exist_ok=True)
        else:
            toy.replayed(task, progress)

    monkeypatch.setattr("virtperf.verify.replay.run_stages", replayed)

    def call(*arguments: str, status: int = 0) -> str:
        result = CliRunner().invoke(main, ["--root", str(repository), "verify", *arguments])
        assert result.exit_code == status, result.output
        return result.output

    return call


def test_the_command_says_what_agrees_and_writes_a_certificate(command, repository: Path) -> None:
    assert "Everything is identical or within tolerance." in command()
    first = [(repository / "reports" / name).read_bytes() for name in ("verify.html", "verify.json")]
    made = json.loads(first[1])
    assert made["agrees"] and made["schema"] == "virtperf-verify/1" and made["documents"] == []
    assert made["packages"]["numpy"] == {"version": np.__version__, "pinned": ""}
    assert made["stages"] == ["reconstruct", "ingest", "summarize", "judge", "notebook", "report"]
    assert set(made["counts"]) == {"identical", "within tolerance", "moved", "missing", "new"}
    assert made["tolerances"]["means"]["relative"] == 1e-9
    command()
    assert first == [(repository / "reports" / name).read_bytes() for name in ("verify.html", "verify.json")]
    assert not re.search(rb"\d\d:\d\d:\d\d", b"".join(first)) and str(repository).encode() not in b"".join(first)


def test_a_moved_number_ends_with_status_1_and_stands_in_the_files(command, repository: Path, tmp_path: Path) -> None:
    parameters = repository / "data" / "published" / "toy" / "tables" / "table-1.csv"
    parameters.write_text(parameters.read_text().replace("web,1", f'"{HOSTILE}",1'))
    said = command("toy", "-o", str(tmp_path / "out"), status=1)
    assert "table-1" in said and "figure" not in said
    page = (tmp_path / "out" / "verify.html").read_text()
    assert HOSTILE not in page and "&lt;script&gt;" in page
    assert "Content-Security-Policy" in page and 'href="index.html"' not in page  # the toy has no site
    made = json.loads((tmp_path / "out" / "verify.json").read_text())
    assert made["studies"][0]["affected"] == ["table-1"]
    statuses = {(i["label"], i["field"], i["status"]) for i in made["studies"][0]["items"]}
    assert ("web", "CPUs", "missing") in statuses and (HOSTILE, "CPUs", "new") in statuses


def test_an_exchanged_figure_in_a_report_ends_with_status_1(command, repository: Path) -> None:
    report = repository / "reports" / "toy.html"
    text = report.read_text()
    drawing = {
        name: re.search(rf'id="{name}"><svg.*?</svg>', text, re.S)[0].split(">", 1)[1]
        for name in ("figure-1", "figure-2")
    }
    report.write_text(text.replace(drawing["figure-1"], drawing["figure-2"]))
    made = json.loads(command("--json", status=1))
    assert made["studies"][0]["affected"] == [] and not made["agrees"]
    assert ("reports/toy.html", "figure-1", "its drawing is that of figure-2") in {
        (d["document"], d["exhibit"], d["problem"]) for d in made["documents"]
    }


def test_another_folders_results_are_compared_as_they_stand(command, stored: Path, tmp_path: Path) -> None:
    assert "identical" in command("--against", str(stored))
    assert "holds no results" in command("--against", str(tmp_path), status=1)
    assert "neither a revision nor a folder" in command("--against", "v9", status=1)
    assert "there is no study 'none'" in command("none", status=1)


def test_nothing_stored_is_all_new(command, repository: Path) -> None:
    for part in ("build", "reports", "data/reconstructed", "data/samples", "data/runs", "data/verdicts"):
        shutil.rmtree(repository / part)
    made = json.loads(command("--json", status=1))
    assert made["studies"][0]["only"] == "new" and made["counts"]["new"] > 50


def test_a_fresh_clone_is_compared_with_the_outputs_that_the_notebook_keeps(command, repository: Path) -> None:
    shutil.copy(repository / "build" / "toy.ipynb", repository / "notebooks" / "toy.ipynb")
    for part in ("build", "reports", "data/reconstructed", "data/samples", "data/runs", "data/verdicts"):
        shutil.rmtree(repository / part)
    made = json.loads(command("--json"))
    assert made["agrees"] and made["counts"]["identical"] > 50


def test_tolerances_of_a_file_decide(command, repository: Path, tmp_path: Path) -> None:
    points = repository / "data" / "reconstructed" / "toy" / "points.csv"
    points.write_text(points.read_text().replace("49.5,50.5,", "49.5,50.501,"))
    toy.execute(repository)
    main(["--root", str(repository), "report", "toy"], standalone_mode=False)
    assert json.loads(command("--json", status=1))["studies"][0]["affected"] == ["figure-2"]
    (tmp_path / "wide.yaml").write_text(
        "limits: {relative: 0.001, absolute: 0}\nregisters: {relative: 0.001, absolute: 0}\n"
    )
    made = json.loads(command("--json", "--tolerances", str(tmp_path / "wide.yaml")))
    assert made["agrees"] and made["counts"]["within tolerance"] >= 1


def test_another_version_of_a_package_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "requirements.lock").write_text("numpy==2.0.0 \\\n    --hash=sha256:0\nPyArrow==26.0.1\n")
    found = {p.name: p for p in packages(tmp_path, lambda name: "9.9" if name == "numpy" else metadata.version(name))}
    assert (found["numpy"].version, found["numpy"].pinned, found["numpy"].as_pinned) == ("9.9", "2.0.0", False)
    assert found["pyarrow"].pinned == "26.0.1" and found["scipy"].as_pinned
    made = document(_outcome((), packages=tuple(found.values())), "verify")
    assert made["packages"]["numpy"] == {"version": "9.9", "pinned": "2.0.0"}


def test_every_package_that_decides_a_result_is_recorded() -> None:
    used = set()
    for path in (SOURCE / "virtperf").rglob("*.py"):
        if path.relative_to(SOURCE / "virtperf").parts[0] not in ("commands", "crate", "cli.py", "changes.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Import):
                    used |= {alias.name.split(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module:
                    used.add(node.module.split(".")[0])
    known = {name.replace("-", "_") for name in PACKAGES} | {"yaml", "click"} | set(sys.stdlib_module_names)
    # what only starts kernels and marks text as HTML
    assert used - known <= {"jupyter_client", "markupsafe", "traitlets", "rich"}


def test_recorded_bytes_are_those_of_dvc(tmp_path: Path) -> None:
    (tmp_path / "out" / "sub").mkdir(parents=True)
    (tmp_path / "out" / "sub" / "b.csv").write_text("2\n")
    (tmp_path / "out" / "a.csv").write_text("1\n")
    (tmp_path / "one.txt").write_text("1\n")
    # what `md5sum` prints for that file, and what DVC itself computes for the folder
    assert dvc_hash(tmp_path / "one.txt") == "b026324c6904b2a9cb4b88d6d61c81d1"
    from dvc_data.hashfile.hash_info import HashInfo
    from dvc_data.hashfile.meta import Meta
    from dvc_data.hashfile.tree import Tree

    tree = Tree()
    for name in ("a.csv", "sub/b.csv"):
        tree.add(tuple(name.split("/")), Meta(), HashInfo("md5", dvc_hash(tmp_path / "out" / name)))
    tree.digest()
    assert dvc_hash(tmp_path / "out") == tree.hash_info.value
    lock = "stages:\n  a@toy:\n    cmd: virtperf a toy\n    outs:\n    - {path: one.txt, md5: b026324c6904b2a9cb4b88d6d61c81d1}\n    - {path: out, md5: 0.dir}\n    - {path: gone, md5: 0}\n  a@other:\n    cmd: virtperf a other\n    outs:\n    - {path: one.txt, md5: 0}\n  gone@toy:\n    cmd: virtperf gone toy\n    outs:\n    - {path: one.txt, md5: 0}\n"
    (tmp_path / "dvc.lock").write_text(lock)
    assert [(r.path, r.state) for r in recorded(tmp_path, tmp_path, ["toy"], ["a"])] == [
        ("one.txt", SAME), ("out", OTHER), ("gone", ABSENT),
    ]  # fmt: skip


def _outcome(changes, **parts) -> Outcome:
    exhibit = ExhibitOutcome("figure-1", f"Figure 1. {HOSTILE}", "figure", "", tuple(changes), "", False, None, None)
    study = StudyOutcome("toy", f"A toy {HOSTILE}", (exhibit,), {})
    given = {"findings": (), "recorded": (), "packages": (), "stages": ("judge",), "tolerances": DEFAULTS} | parts
    return Outcome(Side("revision a"), Side("working tree"), (study,), **given)


def test_the_page_shows_old_beside_new_and_escapes(tmp_path: Path) -> None:
    inf = float("inf")
    changes = [
        compare(Item("figure-1", HOSTILE, "measured", "means", 5, 4, 6), Item("figure-1", HOSTILE, "measured", "means", 6, 5, 7), DEFAULTS["means"]),
        compare(Item("figure-1", "b", "allowed", "limits", 5, 4, 6), Item("figure-1", "b", "allowed", "limits", 5, 4, inf), DEFAULTS["limits"]),
        compare(Item("figure-1", "c", "value", "means", curve=(1.0, 2.0)), Item("figure-1", "c", "value", "means", curve=(1.0, 3.0)), DEFAULTS["means"]),
        compare(Item("figure-1", "d", "text_verdict", "verdicts", words="independent"), Item("figure-1", "d", "text_verdict", "verdicts", words=HOSTILE), DEFAULTS["verdicts"]),
        compare(Item("figure-1", "e", "", "means", 1.0), None, DEFAULTS["means"]),
    ]  # fmt: skip
    assert [shift_words(c) for c in changes] == [
        "0.5 interval widths", "a number or a limit came or went", "0.5 interval widths", "other words", "missing",
    ]  # fmt: skip
    assert sides(changes[0]) == ("5 (4 to 6)", "6 (5 to 7)") and sides(changes[1])[1] == "5 (4 to no limit)"
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").touch()
    page = html_page(_outcome(changes), title=HOSTILE, lead="<p>x</p>", out=tmp_path / "v.html", site=tmp_path / "site")
    assert HOSTILE not in page and page.count('class="vp-range"') == 4
    assert 'href="site/index.html"' in page and 'href="#toy-changes"' in page
    json.dumps(document(_outcome(changes), "diff"), allow_nan=False)


def test_a_change_too_small_for_four_digits_is_shown_with_more() -> None:
    a, b = (Item("e", "l", "measured", "means", v) for v in (61.841079, 61.841081))
    old, new = sides(compare(a, b, DEFAULTS["means"]))
    assert old != new and old.startswith("61.841")


def test_drawings_of_anything_are_drawings_or_nothing() -> None:
    nan, inf = float("nan"), float("inf")
    for numbers in ((nan, nan, nan), (1, 1, 1), (0, -inf, inf), (nan, 2, inf), (5, nan, nan)):
        for other in (None, Item("e", "l", "f", "means", *numbers)):
            svg = change_drawing(Item("e", "l", "f", "means", *numbers), other)
            assert svg == "" or (svg.startswith("<svg") and "nan" not in svg and "inf" not in svg)
