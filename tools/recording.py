"""The recording in README.md: commands and their output in a terminal, as an animated SVG file.

`python tools/recording.py` runs the commands in a terminal of its own and writes docs/claim.svg. The
file has the text as text, no script, and makes no request. Lines appear one after another within
`SECONDS`, once; where animations are off, all of them are there at once. The same output gives the
same bytes.
"""

from __future__ import annotations

import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "docs" / "claim.svg"
COMMANDS = (
    "virtperf claim list 125 ms",
    "virtperf claim show firecracker-nsdi-2020/less-than-125-ms",
    "virtperf claim test firecracker-nsdi-2020/less-than-125-ms \\\n"
    "  data/measured/firecracker-nsdi-2020/rn.haswell-boot-serial-fc-api/boot-serial-fc-api.dat",
)
COLUMNS = 110
SECONDS = 30.0
HOLD = 4.0
"""Seconds at the end in which everything is there."""
PER_CHARACTER, PER_LINE, RUNNING = 0.035, 0.06, 0.7
"""Seconds to type a character, between two lines of output, and for a command to run."""
SIZE, ADVANCE, LINE, MARGIN = 13, 7.8, 18, 16
"""Font size, widths of a character and of the margin, height of a line, in pixels."""
_STYLE = re.compile(r"\x1b\[([0-9;]*)m")
_WORDS = re.compile(r"\s*\S+\s*$|\s*\S+")
STYLE = (
    """
svg { --page: #fbfbfa; --text: #1f2328; --prompt: #5d6570; --edge: #d0d7de; }
@media (prefers-color-scheme: dark) {
  svg { --page: #161b22; --text: #e6edf3; --prompt: #9aa4af; --edge: #3d444d; }
}
rect { fill: var(--page); stroke: var(--edge); }
text { fill: var(--text); white-space: pre; font: %dpx ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.p { fill: var(--prompt); }
.b { font-weight: bold; }
@media (prefers-reduced-motion: no-preference) { .t { animation: t 1ms both; } }
@keyframes t { from { fill-opacity: 0; } to { fill-opacity: 1; } }
""".strip()
    % SIZE
)


@dataclass(frozen=True)
class Shown:
    """A command, and the lines of its output: runs of text, each with whether it is bold."""

    command: str
    lines: tuple[tuple[tuple[str, bool], ...], ...]

    @property
    def text(self) -> str:
        """The output without styles."""
        return "\n".join("".join(text for text, _ in line) for line in self.lines)


def record() -> list[Shown]:
    """Run the commands in the repository's folder; raises `RuntimeError` if one fails."""
    return [Shown(command, tuple(_lines(_output(command)))) for command in COMMANDS]


def _output(command: str) -> str:
    """The output of a command of this package in a terminal of `COLUMNS` columns."""
    words = shlex.split(command.replace("\\\n", " "))
    surroundings = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    own, its = pty.openpty()
    done = subprocess.Popen(  # noqa: S603 - this package
        [sys.executable, "-m", *words],
        cwd=ROOT,
        env={**surroundings, "TERM": "xterm", "COLUMNS": str(COLUMNS), "LINES": "50"},
        stdin=subprocess.DEVNULL,
        stdout=its,
        stderr=its,
    )
    os.close(its)
    parts = []
    try:
        while part := os.read(own, 65536):
            parts.append(part)
    except OSError:  # Linux says so that the other end is closed
        pass
    finally:
        os.close(own)
    text = b"".join(parts).decode().replace("\r\n", "\n")
    if done.wait():
        raise RuntimeError(f"{command}\n{text}")
    return text


def _lines(text: str) -> Iterator[tuple[tuple[str, bool], ...]]:
    """Lines as the terminal breaks them, without blanks at their ends."""
    bold = False
    for line in text.rstrip("\n").split("\n"):
        cells: list[tuple[str, bool]] = []
        for number, part in enumerate(_STYLE.split(line)):
            if number % 2:
                bold = "1" in part.split(";")
            else:
                cells += [(character, bold) for character in part]
        while cells and cells[-1][0] == " ":
            cells.pop()
        for begin in range(0, max(len(cells), 1), COLUMNS):
            yield tuple(_runs(cells[begin : begin + COLUMNS]))


def _runs(cells: list[tuple[str, bool]]) -> Iterator[tuple[str, bool]]:
    """Join neighbours of one style."""
    begin = 0
    for end in range(1, len(cells) + 1):
        if end == len(cells) or cells[end][1] != cells[begin][1]:
            yield "".join(character for character, _ in cells[begin:end]), cells[begin][1]
            begin = end


def render(shown: list[Shown]) -> str:
    """The SVG file of a recording."""
    count = sum(len(one.lines) for one in shown)
    busy = sum(
        PER_CHARACTER * len(one.command) + RUNNING + PER_LINE * len(one.lines) for one in shown
    )
    to_read = (SECONDS - HOLD - busy) / count  # seconds for each line of output
    at, row, body = 0.5, 0, []
    for one in shown:
        for number, typed in enumerate(one.command.split("\n")):
            spans = [f'<tspan class="t p"{_delay(at)}>{"&gt;" if number else "$"} </tspan>']
            for word in _WORDS.findall(typed):
                at += PER_CHARACTER * len(word)
                spans.append(f'<tspan class="t"{_delay(at)}>{escape(word)}</tspan>')
            body.append(_line(row, "".join(spans)))
            row += 1
        at += RUNNING
        for line in one.lines:
            at += PER_LINE
            spans = [
                f'<tspan class="t{" b" if bold else ""}"{_delay(at)}>{escape(text)}</tspan>'
                for text, bold in line
            ]
            if spans:
                body.append(_line(row, "".join(spans)))
            row += 1
        at += to_read * len(one.lines)
        row += 1
    width, height = round(COLUMNS * ADVANCE) + 2 * MARGIN, (row - 1) * LINE + 2 * MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
            f' width="{width}" height="{height}">',
            f"<title>{escape(' · '.join(one.command.split(' firecracker')[0] for one in shown))}</title>",
            f"<style>\n{STYLE}\n</style>",
            f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="6"/>',
            *body,
            "</svg>\n",
        ]
    )


def _delay(at: float) -> str:
    return f' style="animation-delay:{at:.2f}s"'


def _line(row: int, spans: str) -> str:
    return (
        f'<text x="{MARGIN}" y="{MARGIN + row * LINE + SIZE}" xml:space="preserve">{spans}</text>'
    )


if __name__ == "__main__":
    FILE.write_text(render(record()), encoding="utf-8")
    print(f"{FILE.relative_to(ROOT)}: {FILE.stat().st_size:,} bytes")
