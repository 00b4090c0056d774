"""The commands in the documentation, run as they stand there, their outputs compared.

A block that begins with ```console holds commands (lines that begin with ``$ ``, continued by ``> ``) and what they
print. Blocks of a page run in order, in a copy of the parts of the repository that they need. Where no output is shown
a command has to succeed; where one is shown it has to be that one: ``...`` stands for anything within a line, alone on a
line for any lines or none, and blanks at line ends do not count. A shell runs them, but for `virtperf` alone with its
arguments, which runs in this process: starting Python for each would take most of the time.
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
    "data/measured/firecracker-nsdi-2020/m5d.metal-boot-serial-fc-api",
    "data/measured/kernels-2026/study.yaml",
    "data/measured/kernels-2026/hypotheses.yaml",
    "data/measured/linux-2026/study.yaml",
    "data/measured/linux-2026/hypotheses.yaml",
    "data/readings.yaml",
    "docs/glossary.yaml",
    "dvc.yaml",
    "pipelines",
    "params.yaml",
    ".python-version",
    "requirements.lock",
    "notebooks",
    "examples",
    "src",
)
ANYTHING = "..."


@dataclass(frozen=True)
class Step:
    """One command with the output that the page shows, None where it shows none."""

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


def agrees(shown: str, output: str) -> bool:
    """Whether an output is the one that a page shows."""
    plain = "".join(f"{line.rstrip()}\n" for line in output.strip("\n").splitlines())
    pattern = ""
    for line in shown.strip("\n").splitlines():
        parts = (re.escape(part) for part in line.rstrip().split(ANYTHING))
        pattern += r"(?:.*\n)*?" if line.strip() == ANYTHING else ".*?".join(parts) + r"\n"
    return re.fullmatch(pattern, plain) is not None


def alone(command: str) -> list[str]:
    """The arguments of `virtperf` where a command is nothing else, else none."""
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
def test_what_a_page_shows_is_what_happens(
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
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # loading all that are installed takes seconds
    }
    environment.pop(
        "PYTHONDONTWRITEBYTECODE", None
    )  # compiling all libraries for each command takes most of the time
    monkeypatch.chdir(workplace)
    for step in found:
        if words := alone(step.command):
            called = CliRunner().invoke(main, words)
            assert isinstance(called.exception, SystemExit | None), step.command
            status, said = called.exit_code, called.output
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
            status, said = done.returncode, done.stdout
        place = f"docs/{page}.md line {step.line}: {step.command}\n{said}"
        if step.shown is None:
            assert status == 0, place
        else:
            assert agrees(step.shown, said), place


# ---- the runner itself


def test_commands_and_outputs_are_told_apart():
    text = "```console\n$ a b \\\n>   c\none\n\ntwo\n$ d\n```\n$ no\n```sh\n$ no\n```\n```console\n$ e\n```\n"
    assert steps(text) == [
        Step(2, "a b \\\n  c", "one\n\ntwo"),
        Step(7, "d", None),
        Step(14, "e", None),
    ]


def test_commands_that_need_a_shell_are_told_apart():
    assert alone("virtperf add run s \\\n  --file 'a/*' at_s=3") == [
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
        assert alone(command) == []


@pytest.mark.parametrize(
    ("shown", "output", "same"),
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
def test_outputs_are_compared(shown, output, same):
    assert agrees(shown, output) == same


def test_every_page_with_commands_is_run(root):
    docs = root / "docs"
    pages = {
        p.relative_to(docs).with_suffix("").as_posix()
        for p in docs.rglob("*.md")
        if "```console" in p.read_text(encoding="utf-8")
    }
    # tests/comparison runs the page on comparisons, which needs all measured runs
    assert pages == set(PAGES) | {"compare"}


def test_every_command_that_a_text_names_is_there(root: Path) -> None:
    texts = [root / "README.md", *root.glob("docs/**/*.md"), *root.glob("data/*/*/README.md")]
    named = {
        (path.name, word)
        for path in texts
        for word in re.findall(r"(?:`|^ {4}|\$ )virtperf ([a-z][a-z-]*)", path.read_text(), re.M)
    }
    assert len({word for _, word in named}) > 15
    assert (
        sorted((page, word) for page, word in named if word not in main.list_commands(None)) == []
    )  # type: ignore[arg-type]
