"""Progress of the pipeline: a live table on a terminal, lines otherwise."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from virtperf.cli._shared import clean, console, print_line

if TYPE_CHECKING:
    from rich.table import Table

    from virtperf.pipeline.runner import PipelineEvent

SILENCE_S = 9.0
"""Seconds without output after which a status line is printed."""


class Progress:
    """State of the running stages; thread-safe."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self.begun = time.monotonic()
        self.stages = 0
        self.running: dict[tuple[str, str], tuple[float, float]] = {}  # by study and stage
        self._lock = threading.Lock()
        self._last_line = self.begun

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self.begun

    def tell(self, event: PipelineEvent) -> None:
        """Process an event, and print a line for it."""
        with self._lock:
            if event.kind == "begin":
                self.running[event.study, event.stage] = time.monotonic(), event.seconds
                last = f", last run took {event.seconds:.0f} s" if event.seconds else ""
                self._line(f"{event.study} {event.stage} started{last}", timed=True)
            elif event.kind == "plan":
                self._line(event.text, timed=True)
            elif event.kind == "message":
                self._line(f"{event.study}: {event.text}" if event.study else event.text)
            else:
                self.running.pop((event.study, event.stage), None)
                self.stages += event.kind == "end"
                result = "finished in" if event.kind == "end" else "FAILED after"
                self._line(
                    f"{event.study} {event.stage} {result} {event.seconds:.1f} s", timed=True
                )

    def report_if_silent(self) -> None:
        """Print the running stages if there was no output for `SILENCE_S`."""
        with self._lock:
            if time.monotonic() - self._last_line >= SILENCE_S:
                now = time.monotonic()
                running = ", ".join(
                    f"{study} {stage} ({now - since:.0f} s{_count_text(expected)})"
                    for (study, stage), (since, expected) in sorted(self.running.items())
                )
                self._line(f"running: {running or 'DVC is comparing files'}", timed=True)

    def table(self) -> Table:
        """Table of the running stages."""
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        with self._lock:
            rows = sorted(self.running.items())
        for (study, stage), (since, expected) in rows:
            table.add_row(study, stage, f"{time.monotonic() - since:.0f} s{_count_text(expected)}")
        idle = "" if rows else "DVC is comparing files"
        table.add_row(Text(f"[{self.elapsed_s:4.0f} s]", style="dim"), idle)
        return table

    def _line(self, text: str, *, timed: bool = False) -> None:
        self._last_line = time.monotonic()
        self._write(f"[{self.elapsed_s:4.0f} s] {text}" if timed else text)


def _count_text(expected_s: float) -> str:
    return f" of about {expected_s:.0f}" if expected_s else ""


@contextmanager
def progress() -> Iterator[Progress]:
    """Context manager that shows progress on standard error, with regular output."""
    if sys.stderr.isatty():
        from rich.live import Live
        from rich.text import Text

        terminal = console(err=True)
        shown = Progress(lambda text: terminal.print(Text(clean(text)), soft_wrap=True))
        with Live(get_renderable=shown.table, console=terminal, transient=True):
            yield shown
        return
    shown = Progress(lambda text: print_line(text, err=True))
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(1):
            shown.report_if_silent()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield shown
    finally:
        ended.set()
        watcher.join()
