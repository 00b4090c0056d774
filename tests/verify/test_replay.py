"""Replays: only what people wrote is copied, revisions run by their own package, failures name the stage."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.verify import toy
from virtperf.cli import main
from virtperf.core.errors import VirtperfError
from virtperf.core.paths import Layout
from virtperf.verify.replay import STAGES, Task, copy_inputs, own_source, replay, stage_commands
from virtperf.verify.revisions import commit_id, export, head

# Stands for another version of the package: other stages, another result.
OTHER = """
from importlib.metadata import entry_points
from pathlib import Path
import click

@click.group()
@click.option("--root", type=Path)
@click.pass_context
def main(ctx, root):
    ctx.obj = root

@main.command()
@click.argument("study")
@click.pass_obj
def check(root, study):
    if (root / "notebooks" / "fails").exists():
        raise click.ClickException("cell 3 fails")
    names = sorted(e.name for e in entry_points(group="virtperf.formats"))
    (root / "build").mkdir()
    (root / "build" / f"{study}.txt").write_text(" ".join(names))
"""
PROJECT = '[project]\nname = "virtperf"\n[project.entry-points."virtperf.formats"]\nold = "virtperf.old:FORMAT"\n'
PIPELINE = (
    'stages:\n  check:\n    foreach: [toy]\n    do: {cmd: "virtperf check ${item}"}\n  site: {cmd: virtperf site}\n'
)


def git(root: Path, *arguments: str) -> None:
    name = ("-c", "user.name=toy", "-c", "user.email=toy@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(root), *name, *arguments], check=True, capture_output=True)


@pytest.fixture
def versions(tmp_path: Path, root: Path) -> Path:
    """A git repository in a folder of which the toy stands: tag v1 has a package of its own."""
    top = tmp_path / "clone"
    place = toy.build(top / "studies", root)
    for name, text in {"src/virtperf/__init__.py": "", "src/virtperf/cli.py": OTHER, "pyproject.toml": PROJECT,
                       "dvc.yaml": PIPELINE, "data/reconstructed/toy/points.csv": "never\n"}.items():  # fmt: skip
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    git(top, "init", "-q")
    git(top, "add", ".")
    git(top, "commit", "-q", "-m", "one")
    git(top, "tag", "v1")
    return place


def test_no_stored_result_and_no_cache_is_copied(stored: Path, tmp_path: Path) -> None:
    place = Layout(tmp_path / "clean")
    place.root.mkdir()
    copy_inputs(Layout(stored), place, ["toy"])
    parts = {p.relative_to(place.root).parts[:2] for p in place.root.rglob("*") if p.is_file()}
    assert parts == {
        ("data", "published"), ("data", "measured"), ("data", "metrics.yaml"), ("notebooks", "toy.ipynb"),
        ("params.yaml",),
    }  # fmt: skip
    with pytest.raises(VirtperfError, match="there is no study 'other'"):
        copy_inputs(Layout(stored), Layout(tmp_path / "else"), ["other"])


def test_a_revision_runs_by_its_own_package_and_its_own_stages(versions: Path, tmp_path: Path) -> None:
    place = tmp_path / "old"
    place.mkdir()
    commit, source = export(versions, "v1", place)
    assert commit == commit_id(versions, "HEAD") and source == place / "src"
    assert not (place / "data" / "reconstructed").exists()
    assert stage_commands(place) == [("check",)]
    said: list[str] = []
    replay([Task(Layout(place), "toy", source, "revision v1, ")], said.append)
    assert (place / "build" / "toy.txt").read_text() == "old"  # the formats of that package, not of the installed one
    assert said == ["revision v1, toy: check"]


def test_a_failing_stage_is_named_with_its_reason(versions: Path, tmp_path: Path) -> None:
    place = tmp_path / "old"
    place.mkdir()
    _, source = export(versions, "v1", place)
    (place / "notebooks" / "fails").touch()
    with pytest.raises(VirtperfError, match="the stage check ended with: cell 3 fails"):
        replay([Task(Layout(place), "toy", source)])


def test_an_unknown_revision_is_refused(versions: Path, tmp_path: Path) -> None:
    for name in ("v2", "--output=x", "HEAD:data"):
        with pytest.raises(VirtperfError, match="neither a revision nor a folder"):
            export(versions, name, tmp_path / "none")


@pytest.mark.parametrize(
    ("leads_to", "fine"), [("load-1/d1.log", True), ("../../../../../outside", False), ("/etc/hostname", False)]
)
def test_links_of_a_revision_lead_nowhere_else(versions: Path, tmp_path: Path, leads_to: str, fine: bool) -> None:
    (versions / "data" / "measured" / "toy" / "link").symlink_to(leads_to)
    git(versions, "add", "data")
    git(versions, "commit", "-q", "-m", "link")
    (tmp_path / "a").mkdir()
    if fine:
        export(versions, "HEAD", tmp_path / "a")
        assert (tmp_path / "a" / "data" / "measured" / "toy" / "link").read_text()
        return
    with pytest.raises(VirtperfError, match="a link that leads out of the repository") as err:
        export(versions, "HEAD", tmp_path / "a")
    assert err.value.file == "data/measured/toy/link" and list((tmp_path / "a").iterdir()) == []


def test_runs_that_dvc_keeps_come_from_the_working_tree_or_not_at_all(versions: Path, tmp_path: Path) -> None:
    measured = versions / "data" / "measured" / "toy"
    (measured / "load-1.dvc").write_text("outs:\n- md5: 0.dir\n  path: load-1\n")
    (measured / ".gitignore").write_text("/load-1\n")
    git(versions, "rm", "-rq", "--cached", "data/measured/toy/load-1")
    git(versions, "add", "data")
    git(versions, "commit", "-q", "-m", "two")
    (tmp_path / "a").mkdir()
    export(versions, "HEAD", tmp_path / "a")
    assert (tmp_path / "a" / "data" / "measured" / "toy" / "load-1" / "d1.log").is_file()
    (measured / "load-1.dvc").write_text("outs:\n- md5: 1.dir\n  path: load-1\n")
    (tmp_path / "b").mkdir()
    with pytest.raises(VirtperfError, match="kept by DVC and are not at hand"):
        export(versions, "HEAD", tmp_path / "b")


def test_the_commit_and_whether_inputs_differ_from_it_are_known(versions: Path, tmp_path: Path) -> None:
    where = head(versions)
    assert where is not None and where.id == commit_id(versions, "v1") and not where.changed
    (versions / "params.yaml").write_text("seed: 2\nlevel: 0.95\n")
    (versions / "README.md").touch()
    assert head(versions).changed
    assert head(tmp_path) is None


def test_a_repository_without_pipeline_runs_every_stage(tmp_path: Path) -> None:
    assert stage_commands(tmp_path) == list(STAGES)
    assert (own_source() / "virtperf" / "cli.py").is_file()


@pytest.mark.slow
def test_two_revisions_differ_in_what_one_claim_moves(tmp_path: Path, root: Path) -> None:
    """From commits to the page, with kernels and processes as a user has them."""
    place = toy.build(tmp_path / "toy", root)
    git(place, "init", "-q")
    git(place, "add", ".")
    git(place, "commit", "-q", "-m", "one")
    claims = place / "data" / "published" / "toy" / "claims.yaml"
    claims.write_text(claims.read_text().replace("value: 50, half_width: 0.5", "value: 52, half_width: 0.5"))
    git(place, "commit", "-qam", "two")
    result = CliRunner().invoke(main, ["--root", str(place), "diff", "HEAD~1", "HEAD", "-o", str(tmp_path / "d.html")])
    assert result.exit_code == 0, result.output
    assert "figure-2" in result.output and "memory-at-1" in result.output and "figure-1" not in result.output
    found = json.loads((tmp_path / "d.json").read_text())
    (study,) = found["studies"]
    assert study["claims"] == [{"claim": "memory-at-1", "exhibits": ["figure-2"]}]
    assert {e["name"] for e in study["exhibits"] if e["kind"] == "figure" and not e["agrees"]} == {"figure-2"}
    page = (tmp_path / "d.html").read_text()
    assert page.count('<img src="data:image/svg+xml;base64,') == 2  # figure 2 before and now
    assert str(tmp_path) not in page
