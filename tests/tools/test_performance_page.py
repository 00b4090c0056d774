"""The table of readers' speed names its commit and machine, and its page says when the readers changed since."""

from __future__ import annotations

import subprocess

import pytest

from tools.benchmarks import formats


@pytest.fixture
def commit(tmp_path, monkeypatch):
    """Commits a file of the measured sources in a repository of its own."""
    monkeypatch.setattr(formats, "ROOT", tmp_path)
    person = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "init", "-q", tmp_path], check=True)

    def made(name, text):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        subprocess.run(["git", "-C", tmp_path, "add", "-A"], check=True)
        subprocess.run(["git", "-C", tmp_path, *person, "commit", "-qm", text], check=True)

    for name in formats.SOURCES[1:]:
        made(name, name)
    return made


def test_page_says_that_readers_changed_since(tmp_path, commit):
    commit("src/rawperf/sar.py", "one")
    page = tmp_path / "page.md"
    page.write_text(f"before\n{formats.BEGIN} -->\nold\n{formats.END}\nafter\n")
    assert "names no commit" in formats.changed_since(page.read_text())
    formats.write_block(page, ["| a |", "|---|"], "--page 20")
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith(f"| a |\n|---|\n\n{formats.END}\nafter\n")
    assert "`python tools/benchmarks/formats.py --page 20`" in text and "old" not in text
    commit("README.md", "other")
    assert formats.changed_since(text) == ""
    commit("src/rawperf/sar.py", "two")
    assert formats.changed_since(text).startswith("Since then, 1 commits")
    (tmp_path / ".git").rename(tmp_path / "no-git")
    assert formats.changed_since(text) == ""


def test_uncommitted_readers_are_not_written_down(tmp_path, commit):
    commit("src/rawperf/sar.py", "one")
    (tmp_path / "src" / "rawperf" / "sar.py").write_text("changed")
    with pytest.raises(ValueError, match="commit the changes"):
        formats.write_block(tmp_path / "page.md", [], "--page")


def test_the_page_has_one_block(root):
    text = (root / "docs" / "performance.md").read_text()
    assert len(formats.BLOCK.findall(text)) == 1
