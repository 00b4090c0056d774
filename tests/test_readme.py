"""Commands, files and parameters named in README.md and the documentation index exist."""

from __future__ import annotations

import re
from pathlib import Path

import click
import yaml

from tests.cases import each_case
from tests.dvc_stages import load_stages
from virtperf.cli import main

PAGES = [
    "README.md",
    "docs/README.md",
    "docs/rerun.md",
    "docs/architecture.md",
    "docs/formats/README.md",
]


def code(text: str) -> list[str]:
    """Code spans and indented code blocks."""
    return re.findall(r"`([^`\n]+)`", text) + re.findall(r"^ {4}(\S.*)$", text, re.M)


def pipeline_outputs(root: Path) -> set[str]:
    return {out for stage in load_stages(root) for out in stage.outs}


def keys(tree: object) -> set[str]:
    """All keys of nested mappings."""
    if not isinstance(tree, dict):
        return set()
    return set(tree) | {key for value in tree.values() for key in keys(value)}


def test_make_targets_exist(root):
    targets = set(re.findall(r"^([a-z]+):", (root / "Makefile").read_text(), re.M))
    mentioned = {
        m[1]
        for line in code((root / "README.md").read_text())
        if (m := re.match(r"make ([a-z]+)", line))
    }
    assert {"repro", "test"} <= mentioned <= targets


def test_phony_targets_equal_those_of_help(root):
    text = (root / "Makefile").read_text()
    phony = set(re.search(r"^\.PHONY: (.+)$", text, re.M)[1].split())
    assert phony == set(re.findall(r"^([a-z]+):.*## \S", text, re.M))


@each_case("page", PAGES)
def test_commands_of_the_package_exist(root, page):
    mentioned = {
        m[1]
        for line in code((root / page).read_text())
        if (m := re.match(r"virtperf ([a-z-]+)", line))
    }
    assert mentioned <= set(main.list_commands(click.Context(main)))


@each_case("page", PAGES)
def test_links_have_targets(root, page):
    links = re.findall(r"\]\(([^)#:]+)\)", (root / page).read_text())
    missing = [link for link in links if not (root / page).parent.joinpath(link).exists()]
    assert not missing


@each_case("page", ["README.md", "docs/rerun.md"])
def test_mentioned_paths_exist_or_are_pipeline_outputs(root, page):
    outputs = pipeline_outputs(root)
    mentioned = {
        text
        for text in code((root / page).read_text())
        if re.fullmatch(r"[\w.-]+(/[\w.<>-]+)+/?", text)
    }
    assert mentioned
    for path in mentioned:
        if path.rstrip("/") in outputs:
            continue
        # `<id>` and `my-...` are placeholders; their folder has to exist.
        fixed = re.split(r"/(?=[^/]*<|my-)", path)[0]
        assert (root / fixed).exists(), f"{page} names {path}"


def test_mentioned_parameters_exist(root):
    text = (root / "docs" / "rerun.md").read_text()
    defined = keys(yaml.safe_load((root / "params.yaml").read_text()))
    mentioned = set(re.findall(r"`(\w+)(?:: \S+)?` in \[?`?params\.yaml", text))
    assert mentioned
    assert mentioned <= defined


def test_images_have_alt_text(root):
    pictures = re.findall(r"!\[([^]]*)\]", (root / "README.md").read_text())
    assert pictures
    assert all(len(words.split()) > 5 for words in pictures)


def test_table_rows_are_on_one_line(root):
    for page in root.glob("docs/**/*.md"):
        prose = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.S | re.M)
        rows = re.findall(r"^ {0,3}\|.*", prose, re.M)
        assert [row for row in rows if not row.rstrip().endswith("|")] == [], page.name


def test_readme_is_short(root):
    assert len((root / "README.md").read_text().splitlines()) <= 45


def test_github_actions_are_pinned_by_hash(root):
    used = re.findall(r"uses: (\S+)", (root / ".github" / "workflows" / "ci.yml").read_text())
    assert used
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action) for action in used)


def test_documentation_index_is_complete(root):
    links = set(re.findall(r"\]\(([^)#:]+)\)", (root / "docs" / "README.md").read_text()))
    pages = {
        str(page)
        for path in (root / "docs").rglob("*.md")
        if (page := path.relative_to(root / "docs")).parts[0] not in ("README.md", "examples")
    }
    assert pages <= links


def test_output_in_the_readme_is_that_of_the_tested_page(root):
    tested = (root / "docs" / "claims.md").read_text().splitlines()
    lines = re.findall(r"^ {4}(\S.*)$", (root / "README.md").read_text(), re.M)
    begin = next(n for n, line in enumerate(lines) if line.startswith("$ virtperf claim test"))
    claim = lines[begin].split()[4]
    assert any(claim in line for line in tested)
    for line in lines[begin + 1 : begin + 3]:
        assert line in tested
