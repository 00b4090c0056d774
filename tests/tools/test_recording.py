"""The recording in README.md shows what the commands print."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from tools import recording
from tools.recording import COLUMNS, FILE, SECONDS, Shown, record, render

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def shown() -> list[Shown]:
    return record()


def rows(svg: str) -> list[str]:
    """The text of each line, empty ones too."""
    found = {int(e.get("y")): "".join(e.itertext()) for e in ET.fromstring(svg).iter(f"{SVG}text")}
    first = min(found)
    last = max(found)
    return [found.get(y, "") for y in range(first, last + 1, recording.LINE)]


def test_committed_file_is_what_the_commands_print(shown):
    stored = FILE.read_text(encoding="utf-8")
    expected = []
    for one in shown:
        first, *others = one.command.split("\n")
        expected += [f"$ {first}", *(f"> {line}" for line in others), *one.text.split("\n"), ""]
    assert rows(stored) == expected[:-1], "python tools/recording.py writes it anew"
    assert stored == render(shown)


def test_verdict_is_shown(shown):
    assert "holds here: measured" in shown[-1].text
    assert max(len(line) for one in shown for line in one.text.split("\n")) <= COLUMNS


def test_file_is_small_and_needs_nothing_else():
    stored = FILE.read_text(encoding="utf-8")
    assert len(stored.encode()) < 100_000
    assert not re.search(r"<script|href|url\(|@import|<image|foreignObject", stored)


def test_everything_is_there_within_the_time():
    delays = [float(d) for d in re.findall(r"animation-delay:([\d.]+)s", FILE.read_text("utf-8"))]
    assert delays == sorted(delays) and SECONDS / 2 < delays[-1] < SECONDS


def test_styles_and_long_lines_are_those_of_a_terminal():
    lines = list(recording._lines(f"\x1b[1mone\x1b[0m two  \n{'x' * (COLUMNS + 1)}\n\n"))
    assert lines == [(("one", True), (" two", False)), (("x" * COLUMNS, False),), (("x", False),)]
