"""What README.md and the index of the documentation tell people to run, open and set exists."""

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
    """What is set as code: between backticks, or indented by four."""
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
    named = {
        m[1]
        for line in code((root / "README.md").read_text())
        if (m := re.match(r"make ([a-z]+)", line))
    }
    assert {"repro", "test"} <= named <= targets


def test_phony_targets_are_those_that_help_lists(root):
    text = (root / "Makefile").read_text()
    phony = set(re.search(r"^\.PHONY: (.+)$", text, re.M)[1].split())
    assert phony == set(re.findall(r"^([a-z]+):.*## \S", text, re.M))


@each_case("page", PAGES)
def test_commands_of_the_package_exist(root, page):
    named = {
        m[1]
        for line in code((root / page).read_text())
        if (m := re.match(r"virtperf ([a-z-]+)", line))
    }
    assert named <= set(main.list_commands(click.Context(main)))


@each_case("page", PAGES)
def test_links_lead_somewhere(root, page):
    links = re.findall(r"\]\(([^)#:]+)\)", (root / page).read_text())
    missing = [link for link in links if not (root / page).parent.joinpath(link).exists()]
    assert not missing


@each_case("page", ["README.md", "docs/rerun.md"])
def test_named_paths_exist_or_are_made_by_the_pipeline(root, page):
    outputs = pipeline_outputs(root)
    named = {
        text
        for text in code((root / page).read_text())
        if re.fullmatch(r"[\w.-]+(/[\w.<>-]+)+/?", text)
    }
    assert named
    for path in named:
        if path.rstrip("/") in outputs:
            continue
        # `<id>` and `my-...` stand for a name that the reader chooses: their folder has to exist.
        fixed = re.split(r"/(?=[^/]*<|my-)", path)[0]
        assert (root / fixed).exists(), f"{page} names {path}"


def test_named_parameters_exist(root):
    text = (root / "docs" / "rerun.md").read_text()
    known = keys(yaml.safe_load((root / "params.yaml").read_text()))
    named = set(re.findall(r"`(\w+)(?:: \S+)?` in \[?`?params\.yaml", text))
    assert named
    assert named <= known


def test_pictures_have_words(root):
    pictures = re.findall(r"!\[([^]]*)\]", (root / "README.md").read_text())
    assert pictures
    assert all(len(words.split()) > 5 for words in pictures)


def test_the_readme_is_one_screen(root):
    assert len((root / "README.md").read_text().splitlines()) <= 45


def test_actions_are_pinned_by_hash(root):
    used = re.findall(r"uses: (\S+)", (root / ".github" / "workflows" / "ci.yml").read_text())
    assert used
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action) for action in used)


def test_the_index_of_the_documentation_is_complete(root):
    links = set(re.findall(r"\]\(([^)#:]+)\)", (root / "docs" / "README.md").read_text()))
    pages = {str(p.relative_to(root / "docs")) for p in (root / "docs").rglob("*.md")} - {
        "README.md"
    }
    assert pages <= links
