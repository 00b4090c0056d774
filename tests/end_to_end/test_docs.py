"""Runs the commands in the documentation and compares their output.

A block that begins with ```console holds commands (lines that begin with ``$ ``, continued by ``> ``) and their
output. The blocks of a page run in order, in a copy of the parts of the repository they need. A command without shown
output has to succeed; otherwise the output has to match: ``...`` stands for anything within a line, alone on a line
for any number of lines, and trailing blanks are ignored. A shell runs the commands, except plain `virtperf` calls,
which run in this process because starting Python dominates the run time.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from virtperf.cli import main

PAGES = (
    "command-line",
    "add-a-run",
    "add-a-format",
    "add-a-study",
    "measure",
    "formats/declared",
    "add-public-data",
    "which-question",
)
PARTS = (
    "data/published",
    "data/measured/xen-2026",
    "data/measured/firecracker-nsdi-2020/runs",
    "data/measured/kernels-2026/study.yaml",
    "data/measured/kernels-2026/hypotheses.yaml",
    "data/measured/linux-2026/study.yaml",
    "data/measured/linux-2026/hypotheses.yaml",
    "data/readings.yaml",
    "docs/glossary.yaml",
    "dvc.yaml",
    "data/measured/zvm-xen-2009/examples",
    "params.yaml",
    ".python-version",
    "requirements/main.lock",
    "notebooks",
    "docs/examples",
    "src",
    "tests/rawperf/samples/wrk",
)
ANYTHING = "..."


@dataclass(frozen=True)
class Step:
    """One command and its shown output, None if the page shows none."""

    line: int
    command: str
    shown: str | None


def steps(text: str) -> list[Step]:
    """All commands of a page, in order."""
    found: list[Step] = []
    inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("```"):
            inside = line == "```console"
        elif inside and line.startswith("$ "):
            found.append(Step(number, line[2:], None))
        elif inside and line.startswith("> ") and found[-1].command.endswith("\\"):
            last = found.pop()
            found.append(Step(last.line, f"{last.command}\n{line[2:]}", None))
        elif inside:
            last = found.pop()
            found.append(
                Step(
                    last.line, last.command, line if last.shown is None else f"{last.shown}\n{line}"
                )
            )
    return found


def agrees(expected: str, output: str) -> bool:
    """Whether an output matches the shown one."""
    plain = "".join(f"{line.rstrip()}\n" for line in output.strip("\n").splitlines())
    pattern = ""
    for line in expected.strip("\n").splitlines():
        parts = (re.escape(part) for part in line.rstrip().split(ANYTHING))
        pattern += r"(?:.*\n)*?" if line.strip() == ANYTHING else ".*?".join(parts) + r"\n"
    return re.fullmatch(pattern, plain) is not None


def plain_call(command: str) -> list[str]:
    """Arguments of a plain `virtperf` call, else None."""
    lexer = shlex.shlex(command.replace("\\\n", " "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    name, *words = lexer
    shell = name != "virtperf" or any(set(word) <= set("();<>|&") for word in words)
    return [] if shell else words


@pytest.fixture
def workplace(root: Path, tmp_path: Path) -> Path:
    """The parts of the repository that the pages use."""
    for part in PARTS:
        source, target = root / part, tmp_path / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(
                source,
                target,
                ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "kernel-*"),
            )
        else:
            shutil.copy(source, target)
    for study in (root / "data" / "published").iterdir():
        (tmp_path / "data" / "measured" / study.name).mkdir(parents=True, exist_ok=True)
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc" / "config").write_text(
        "[core]\n    no_scm = true\n    analytics = false\n    check_update = false\n"
    )
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_commands_print_the_shown_output(
    page: str, root: Path, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = steps((root / "docs" / f"{page}.md").read_text(encoding="utf-8"))
    assert found
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {
        **os.environ,
        "PATH": path,
        "DVC_NO_ANALYTICS": "1",
        "PYTHONHASHSEED": "0",
        "MPLBACKEND": "Agg",
        "OMP_NUM_THREADS": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # loading all installed plugins takes seconds
    }
    environment.pop(
        "PYTHONDONTWRITEBYTECODE", None
    )  # compiling all libraries per command dominates the run time
    monkeypatch.chdir(workplace)
    for step in found:
        if words := plain_call(step.command):
            called = CliRunner().invoke(main, words)
            assert isinstance(called.exception, SystemExit | None), step.command
            status, output = called.exit_code, called.output
        else:
            done = subprocess.run(
                ["bash", "-c", step.command],
                cwd=workplace,
                env=environment,
                text=True,
                timeout=300,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
            status, output = done.returncode, done.stdout
        place = f"docs/{page}.md line {step.line}: {step.command}\n{output}"
        if step.shown is None:
            assert status == 0, place
        else:
            assert agrees(step.shown, output), place


# ---- the runner itself


def test_commands_and_outputs_are_separated():
    text = "```console\n$ a b \\\n>   c\none\n\ntwo\n$ d\n```\n$ no\n```sh\n$ no\n```\n```console\n$ e\n```\n"
    assert steps(text) == [
        Step(2, "a b \\\n  c", "one\n\ntwo"),
        Step(7, "d", None),
        Step(14, "e", None),
    ]


def test_commands_that_need_a_shell_are_recognised():
    assert plain_call("virtperf add run s \\\n  --file 'a/*' at_s=3") == [
        "add",
        "run",
        "s",
        "--file",
        "a/*",
        "at_s=3",
    ]
    for command in (
        "sed s/a/b/ x | virtperf read -",
        "virtperf read x > y",
        "A=b virtperf read x",
        "cd x && virtperf check",
    ):
        assert plain_call(command) == []


@pytest.mark.parametrize(
    ("expected", "output", "same"),
    [
        ("one\ntwo", "one  \ntwo\n", True),
        ("one\ntwo", "one\n2\n", False),
        ("one\n...\nthree", "one\n2\n2\nthree\n", True),
        ("n = ...", "n = 5.25\n", True),
        ("one", "one\ntwo\n", False),
        ("a...z", "abc\nxyz", False),
        ("a\n...\nb", "a\nb", True),
        ("a.c", "abc", False),
    ],
)
def test_outputs_are_compared(expected, output, same):
    assert agrees(expected, output) == same


def test_every_page_with_commands_is_tested(root):
    docs = root / "docs"
    pages = {
        p.relative_to(docs).with_suffix("").as_posix()
        for p in docs.rglob("*.md")
        if "```console" in p.read_text(encoding="utf-8")
    }
    # tests/comparison covers the pages on comparisons and claims, which need all measured runs
    assert pages == set(PAGES) | {"claims", "compare"}


def test_every_mentioned_command_exists(root: Path) -> None:
    texts = [root / "README.md", *root.glob("docs/**/*.md"), *root.glob("data/*/*/README.md")]
    mentioned = {
        (path.name, word)
        for path in texts
        for word in re.findall(r"(?:`|^ {4}|\$ )virtperf ([a-z][a-z-]*)", path.read_text(), re.M)
    }
    assert len({word for _, word in mentioned}) > 15
    assert (
        sorted((page, word) for page, word in mentioned if word not in main.list_commands(None))
        == []
    )  # type: ignore[arg-type]
