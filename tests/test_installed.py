"""The package installed from its wheel, used outside a repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DECLARED_ONLY = """
import sys
from importlib.metadata import distribution, packages_distributions
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

declared, todo = set(), [(NAME, "")]
while todo:
    name, extra = todo.pop()
    if (name, extra) not in declared:
        declared.add((name, extra))
        for needed in map(Requirement, distribution(name).requires or ()):
            if not needed.marker or needed.marker.evaluate({"extra": extra}):
                todo += [(canonicalize_name(needed.name), each) for each in ("", *needed.extras)]
names = {name for name, _ in declared}
absent = {
    module
    for module, of in packages_distributions().items()
    if names.isdisjoint(map(canonicalize_name, of))
} | ({"virtperf"} if NAME == "rawperf" else set())

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"{name} is of no declared dependency of {NAME}", name=name)

for name in [name for name in sys.modules if name.partition(".")[0] in absent]:
    del sys.modules[name]
sys.meta_path.insert(0, Absent())
for name in ("pytest", "mypy", *absent & {"virtperf"}):
    try:
        __import__(name)
    except ModuleNotFoundError:
        continue
    raise AssertionError(f"{name} is here")
"""
"""Leaves of the environment what the wheel of NAME declares, with what this needs in turn."""
USED = """
import sys
from click.testing import CliRunner
import rawperf.cli, virtperf.cli

def say(command, *arguments):
    result = CliRunner().invoke(command, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    print(result.output)

print(virtperf.__file__)
say(virtperf.cli.main, "check")
say(rawperf.cli.main, "read", "xentop-4.17.txt", "-o", "-")
say(virtperf.cli.main, "read", "xentop-4.17.txt")
say(virtperf.cli.main, "fit", "usl", "load.csv", "--x", "n", "--y", "x")
say(virtperf.cli.main, "compare", "a.txt", "b.txt", "-o", "page.html")
say(virtperf.cli.main, "claim", "list", "software", "encryption")
say(virtperf.cli.main, "claim", "test", "zvm-xen-2009/xen-software-costs-27-percent", "with-tls", "plain")
say(virtperf.cli.main, "claim", "test", "zvm-xen-2009/xen-software-costs-27-percent", "both.csv",
    "--where", "tls=on", "--where", "tls=off", "--rows", "runs")
"""
ALONE = """
import rawperf.cli
rawperf.cli.main(["read", SAMPLE])
"""


def run_declared_only(
    name: str, script: str, installed: Path, cwd: Path, **names: str
) -> subprocess.CompletedProcess[str]:
    """Run a script with an unpacked wheel and its declared dependencies."""
    given = "".join(f"{key} = {value!r}\n" for key, value in {"NAME": name, **names}.items())
    return subprocess.run(
        [sys.executable, "-c", given + DECLARED_ONLY + script],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
    )


def install(source: Path, out: Path) -> Path:
    """Unpack the wheel of a project."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--no-compile", "--target", out, source], check=True)
    return out


@pytest.fixture(scope="module")
def installed(root, tmp_path_factory) -> Path:
    """The unpacked wheel."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    shutil.copytree(
        root / "src", source / "src", ignore=shutil.ignore_patterns("*.egg-info", "__pycache__")
    )
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "data/readings.yaml"):
        (source / name).parent.mkdir(exist_ok=True)
        shutil.copy(root / name, source / name)
    shutil.copytree(root / "data" / "published", source / "data" / "published")
    return install(source, out)


def test_rawperf_alone_is_complete(root, tmp_path):
    source = tmp_path / "source"
    ignored = shutil.ignore_patterns("*.egg-info", "__pycache__", "build")
    shutil.copytree(root / "src" / "rawperf", source, ignore=ignored)
    files = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()}
    out = install(source, tmp_path / "out")
    found = {path.relative_to(out / "rawperf").as_posix() for path in out.glob("rawperf/**/*.*")}
    assert files - found == {"pyproject.toml"}
    sample = root / "tests/rawperf/samples/xentop/xentop-4.17.txt"
    done = run_declared_only("rawperf", ALONE, out, tmp_path, SAMPLE=str(sample))
    assert "756 records of 9 entities" in done.stdout, done.stderr


def test_commands_work_without_a_repository(installed, root, tmp_path):
    shutil.copy(root / "tests/rawperf/samples/xentop/xentop-4.17.txt", tmp_path)
    (tmp_path / "load.csv").write_text("n,x\n1,100\n2,190\n4,330\n8,500\n16,600\n")
    for name, seconds in (("a", "1.0"), ("b", "2.0")):
        (tmp_path / f"{name}.txt").write_text(
            f"\nreal\t0m{seconds}00s\nuser\t0m0.900s\nsys\t0m0.010s\n"
        )
    for name, rates in (("with-tls", (73, 73.4, 72.9)), ("plain", (100, 100.2, 99.7))):
        (tmp_path / name).mkdir()
        for n, rate in enumerate(rates):
            (tmp_path / name / f"{n}.csv").write_text(f"throughput\n{rate}\n")
    rates = (("on", 73), ("off", 100), ("on", 73.4), ("off", 100.2), ("on", 72.9), ("off", 99.7))
    both = [f"{tls},{rate}" for tls, rate in rates]
    (tmp_path / "both.csv").write_text("\n".join(["tls,throughput", *both]))
    done = run_declared_only("virtperf", USED, installed, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(installed))
    for expected in (
        "not a repository of studies",
        "guest_memory,536870912.0,B",
        "756 records of 9 entities",
        "peak_load",
        "A and B have one run",
        "zvm-xen-2009/xen-software-costs-27-percent",
    ):
        assert expected in done.stdout
    assert done.stdout.count("holds here: measured") == 2
    assert (tmp_path / "page.html").is_file()
    assert {path.name for path in (installed / "bin").iterdir()} >= {"rawperf", "virtperf"}
