"""Rules that hold for the repository as a whole."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

from tests.imports import SOURCE, imported, module_path

# Each module imports only what stands in an earlier row (or its own package); `models` know neither studies nor formats.
LAYERS = [
    {"core"},
    {"formats", "models"},
    {"study"},
    {"simulate", "ingest"},
    {"reconstruct", "summarize"},
    {"verdicts"},
    {"exhibits"},
    {"synthesis"},
    {"render"},
    {"new_study", "intake", "pipeline", "measure"},
    {"verify"},
    {"crate"},
    {"check"},
    {"cli"},
]
ROW = {name: row for row, names in enumerate(LAYERS) for name in names}
MODULES = sorted(p for p in (SOURCE / "virtperf").rglob("*.py") if p.stat().st_size)
ONLY = {"models": {"core", "models"}, "formats": {"core", "formats"}}
# A notebook's display of an exhibit needs the template that pages use; it imports it within the method that displays.
UPWARDS = {"virtperf/report/show.py": {"render"}}


def tracked(root: Path) -> list[Path]:
    out = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True
    ).stdout
    return [root / name for name in out.split("\0") if name and (root / name).is_file()]


def part(path: Path) -> str:
    """The layer's name: the first part below the package."""
    return path.relative_to(SOURCE / "virtperf").parts[0].removesuffix(".py")


def code_alone(path: Path) -> str:
    """A module without docstrings and comments."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and ast.get_docstring(node) is not None
        ):
            node.body[0] = ast.Pass()
    return ast.unparse(tree)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_layers_only_look_up(path):
    if part(path) == "__init__":
        return
    assert part(path) in ROW, f"give {part(path)} a row in LAYERS"
    used = {
        part(found)
        for name in imported(ast.parse(path.read_text()))
        if (found := module_path(name))
    } - {"__init__"}
    allowed = UPWARDS.get(path.relative_to(SOURCE).as_posix(), set())
    if allowed:
        at_once = [
            node
            for node in ast.parse(path.read_text()).body
            if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        first = {
            part(found)
            for node in at_once
            for name in imported(node)
            if (found := module_path(name))
        }
        assert not allowed & first, f"{path.name} may import {sorted(allowed)} in a function only"
    below = {name for name in used if name != part(path) and ROW[name] >= ROW[part(path)]} - allowed
    assert not below, f"{path.name} imports {sorted(below)}, which stand below it"
    if part(path) in ONLY:
        assert used <= ONLY[part(path)]


def test_modules_fit_in_the_head():
    long = {
        str(p.relative_to(SOURCE)): n
        for p in MODULES
        if (n := len(p.read_text().splitlines())) > 300
    }
    assert not long


def test_library_code_names_no_study(root):
    studies = [p.parent.name for p in (root / "data" / "published").glob("*/study.yaml")]
    assert studies
    for path in (
        p
        for p in (SOURCE / "virtperf").rglob("*")
        if p.suffix in {".py", ".j2", ".css", ".js", ".json", ".yaml"}
    ):
        text = (
            code_alone(path) if path.name == "cli.py" else path.read_text()
        )  # its help shows an example
        for study in studies:
            assert study not in text, f"{path} names {study}"


def test_tracked_files_are_small(root):
    large = {
        str(p.relative_to(root)): p.stat().st_size
        for p in tracked(root)
        if p.stat().st_size > 1_000_000
    }
    assert not large, "keep large runs with `dvc add`, not in git"


def test_no_registry_host_and_no_path_of_one_machine(root):
    hosts = re.compile(
        r"py" + r"pi\.org|python" + r"hosted\.org|registry\.npm" + r"js|deb\.deb" + r"ian\.org"
    )
    printed = r"(?!opt/(IBM|\.ibm|wasprofiles)\b)"  # mount points in a paper's tables
    machine = re.compile(
        rf"(^|[^A-Za-z0-9_.-])/{printed}(work|root|home|tmp|opt|Users)/[A-Za-z0-9.]", re.M
    )
    for path in tracked(root):
        if path.is_relative_to(root / "data" / "measured"):  # raw files say what their tools say
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        assert not hosts.search(text), f"{path} names a package registry"
        assert not machine.search(text), f"{path} names a path of one machine"


TAGS = (
    "a abbr article b blockquote body br button caption code dd del details div dl dt em figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 head header hr html i img input ins label li link main meta nav ol option p path pre rect "
    "script section select small span strong style sub summary sup svg table tbody td text th thead title tr ul wbr"
).replace(" ", "|")
# A tag as it stands, or its beginning with an attribute; not a named group of a regular expression.
MARKUP = re.compile(rf"(?<!\?P)<(/?({TAGS})(\s[^<>]*|/)?>|({TAGS})\s+[a-z-]+=)")


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_markup_is_written_in_render_only(path):
    if part(path) == "render":
        return
    tree = ast.parse(code_alone(path))
    texts = [
        n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)
    ]
    found = [text for text in texts if MARKUP.search(text)]
    assert not found, "templates in render make HTML of records"


@pytest.mark.parametrize(
    "path", sorted((SOURCE / "virtperf" / "render").rglob("*.py")), ids=lambda p: p.name
)
def test_what_makes_pages_has_tests_of_its_own(path, root):
    if path.name == "__init__.py":
        return
    folder = root / "tests" / path.relative_to(SOURCE / "virtperf").parent
    name = path.relative_to(SOURCE).with_suffix("").as_posix().replace("/", ".")
    assert any(name in imported(ast.parse(test.read_text())) for test in folder.glob("*.py")), (
        f"{folder}: test {name}"
    )
