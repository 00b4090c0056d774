"""Rules that hold for the repository as a whole."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

from tests.imports import SOURCE, cycles, imported, module_path

# Layers of virtperf; each package imports only from earlier rows or itself.
LAYERS = [
    {"core"},
    {"models", "study"},
    {"reconstruct"},
    {"verdicts"},
    {"runs"},
    {"artifact", "comparison", "measure"},
    {"report"},
    {"pipeline"},
    {"check"},
    {"cli"},
    {"__main__"},
]
ROW = {name: row for row, names in enumerate(LAYERS) for name in names}
# Allowed imports of a package from this package and rawperf.
ONLY = {
    "core": {"core", "rawperf.core"},
    "models": {"core", "models", "rawperf.core"},
    "study": {"core", "study", "rawperf.core"},
    "reconstruct": {"core", "study", "models", "reconstruct", "rawperf.core"},
    "verdicts": {"core", "study", "verdicts", "rawperf.core"},
}
MODULES = sorted(
    p for name in ("rawperf", "virtperf") for p in (SOURCE / name).rglob("*.py") if p.stat().st_size
)


def tracked(root: Path) -> list[Path]:
    if not (root / ".git").exists():
        pytest.skip("there is no Git repository, which knows the files that belong to it")
    out = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True
    ).stdout
    return [root / name for name in out.split("\0") if name and (root / name).is_file()]


def package(path: Path) -> str:
    """The package of virtperf that a module belongs to, or `rawperf.core` or `rawperf`."""
    house, first, *_ = path.relative_to(SOURCE).parts
    if house == "rawperf":
        return "rawperf.core" if first == "core" else "rawperf"
    return first.removesuffix(".py")


def used(path: Path) -> set[str]:
    names = imported(ast.parse(path.read_text(encoding="utf-8")))
    return {package(found) for name in names if (found := module_path(name))} - {"__init__"}


def without_docstrings(path: Path) -> str:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and ast.get_docstring(node) is not None
        ):
            node.body[0] = ast.Pass()
    return ast.unparse(tree)


def test_packages_import_only_from_lower_layers():
    wrong = []
    for path in MODULES:
        own = package(path)
        if own in ("__init__", "rawperf", "rawperf.core"):
            continue
        assert own in ROW, f"give {own} a row in LAYERS"
        others = used(path) - {own}
        below = {n for n in others if not n.startswith("rawperf") and ROW[n] >= ROW[own]}
        if below or not others <= ONLY.get(own, others):
            wrong.append(f"{path.relative_to(SOURCE)} imports {sorted(others)}")
    assert not wrong


def test_readers_do_not_import_study_code():
    readers = [path for path in MODULES if path.is_relative_to(SOURCE / "rawperf")]
    assert len(readers) > 20
    assert not [p for p in readers if used(p) - {"rawperf", "rawperf.core"}]
    shared = [path for path in readers if package(path) == "rawperf.core"]
    assert not [p for p in shared if used(p) - {"rawperf.core"}]


def test_no_circular_imports():
    assert cycles() == []


def test_library_code_mentions_no_study(root):
    studies = [p.parent.name for p in (root / "data").glob("*/*/study.yaml")]
    assert studies
    kinds = {".py", ".j2", ".css", ".js", ".json", ".yaml"}
    files = [p for p in SOURCE.rglob("*") if p.suffix in kinds]
    assert not [(p, s) for p in files for s in studies if s in p.read_text(encoding="utf-8")]


def test_code_is_formatted(root):
    marks = re.compile(r"#\s*fmt:\s*(skip|off)")
    assert not [p for p in MODULES if marks.search(p.read_text(encoding="utf-8"))]


def test_tracked_files_are_small(root):
    large = {
        str(p.relative_to(root)): p.stat().st_size
        for p in tracked(root)
        if p.stat().st_size > 1_000_000
    }
    assert not large, "keep large runs with `dvc add`, not in git"


def test_no_registry_hosts_or_local_paths(root):
    hosts = re.compile(
        r"py" + r"pi\.org|python" + r"hosted\.org|registry\.npm" + r"js|deb\.deb" + r"ian\.org"
    )
    printed = r"(?!opt/(IBM|\.ibm|wasprofiles)\b)"  # mount points in a paper's tables
    machine = re.compile(
        rf"(^|[^A-Za-z0-9_.-])/{printed}(work|root|home|tmp|opt|Users)/[A-Za-z0-9.]", re.M
    )
    raw = [root / "data" / "measured", root / "tests" / "rawperf" / "samples"]
    for path in tracked(root):
        if any(path.is_relative_to(place) for place in raw):  # raw files are quoted verbatim
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        assert not hosts.search(text), f"{path} names a package registry"
        assert not machine.search(text), f"{path} names a path of one machine"


TAGS = (
    "a abbr article b blockquote body br button caption code dd del details div dl dt em "
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html i img input ins label li "
    "link main meta nav ol option p path pre rect script section select small span strong style "
    "sub summary sup svg table tbody td text th thead title tr ul wbr"
).replace(" ", "|")
# A complete tag, or its beginning with an attribute; not a named group of a regular expression.
MARKUP = re.compile(rf"(?<!\?P)<(/?({TAGS})(\s[^<>]*|/)?>|({TAGS})\s+[a-z-]+=)")


def test_markup_occurs_only_in_templates():
    found = []
    for path in MODULES:
        report = SOURCE / "virtperf" / "report"
        if path.is_relative_to(report / "html") or path == report / "plot" / "svg.py":
            continue  # svg.py writes the root element of an SVG
        tree = ast.parse(without_docstrings(path))
        texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
        found += [(path, text) for text in texts if isinstance(text, str) and MARKUP.search(text)]
    assert not found
