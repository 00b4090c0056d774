"""What `virtperf verify`, `diff` and `crate` print and write, and how they end."""

from __future__ import annotations

import json

from tests.verify import conftest as fixtures
from tests.verify.test_verify import edit_text, move_a_point

stored, repository, replays = fixtures.stored, fixtures.repository, fixtures.replays


def test_what_agrees_is_said_in_one_line_and_status_0(run, repository, replays) -> None:
    said = run("--root", str(repository), "verify").output
    assert "Everything is identical or within tolerance." in said and "Changed beyond" not in said
    made = json.loads((repository / "reports" / "verify.json").read_text())
    assert made["schema"] == "virtperf-verify/2" and made["agrees"] and made["identical_files"] > 10
    assert made["studies"][0]["items"] == [] and made["findings"] == []


def test_what_moved_and_what_was_edited_is_named_with_status_1(run, repository, replays) -> None:
    move_a_point(repository, 0.01)
    edit_text(repository / "reports" / "toy.html", "A toy", "Another toy")
    said = run("--root", str(repository), "verify", "toy", "-o", "made.json", status=1).output
    assert (
        "Changed beyond tolerance" in said
        and "First 1 of 1" in said
        and "100" in said
        and "101" in said
    )
    assert "Files with another content" in said and "reports/toy.html" in said
    assert "Wrong in what is stored" in said and "pipelines/toy/dvc.lock" in said


def test_a_package_of_another_version_is_named(run, repository, replays) -> None:
    (repository / "requirements.lock").write_text("seaborn==0.0.1\n")
    said = run("--root", str(repository), "verify").output
    (line,) = [line.split() for line in said.splitlines() if line.startswith("seaborn")]
    assert line[2] == "0.0.1" and "Packages of another version than the pinned one" in said


def test_the_document_can_be_printed(run, repository, replays) -> None:
    assert json.loads(run("--root", str(repository), "verify", "--json").output)["agrees"]


def test_diff_ends_well_though_something_moved(run, repository, stored) -> None:
    move_a_point(repository, 0.01)
    said = run("--root", ".", "diff", str(stored), str(repository), "-o", "page/d.json").output
    assert "Changed beyond tolerance" in said and "page/d.json has all of it." in said


def test_an_unknown_study_is_one_line(run, repository) -> None:
    assert (
        "there is no study 'none'"
        in run("--root", str(repository), "verify", "none", status=1).output
    )
