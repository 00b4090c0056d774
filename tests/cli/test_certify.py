"""virtperf certify: the page from chosen references, and where it is written."""

from __future__ import annotations

import shutil

import pytest


@pytest.fixture
def reference(root, tmp_path):
    folder = tmp_path / "few"
    folder.mkdir()
    for name in ("nist-misra1d", "nist-lanczos1", "linear-norris", "usl-synthetic"):
        shutil.copy(root / "tests" / "reference" / f"{name}.json", folder)
    return folder


def test_the_page_goes_to_standard_output(run, reference):
    page = run("certify", "--reference", str(reference), "-o", "-").output
    assert page.startswith("# Certified digits\n")
    assert "| Misra1d | average | 14 | 2 | 11.0 |" in page
    assert "| Norris | lower | 36 | 2 | 14." in page
    assert "- Lanczos1: The residual standard deviation is 9e-14" in page
    assert "synthetic" not in page
    assert page == run("certify", "--reference", str(reference), "-o", "-").output


def test_the_page_is_written_into_the_repository(run, reference, tmp_path):
    (tmp_path / "tests").mkdir()
    reference.rename(tmp_path / "tests" / "reference")
    said = run("certify").output
    assert "certified-digits.md: 3 certified sets" in said
    page = (tmp_path / "docs" / "certified-digits.md").read_text()
    assert "2 of 2 sets have their required digits from both starts." in page


def test_another_file(run, reference, tmp_path):
    run("certify", "--reference", str(reference), "-o", "there/digits.md")
    assert (tmp_path / "there" / "digits.md").is_file()
    assert not (tmp_path / "docs").exists()


def test_a_folder_without_references(run, tmp_path):
    (tmp_path / "empty").mkdir()
    said = run("certify", "--reference", "empty", status=1).output
    assert "no certified reference is there" in said
    assert "No such file" not in run("certify", status=1).output
