"""Pages as PDF, printed by a headless Chromium."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from rawperf.core.errors import RawperfError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Candidate commands for Chromium; the first one installed is used."""
TIMEOUT_S = 300
_LAST_CHARACTERS = 200
SANDBOX_REMEDY = (
    "Chromium can't create its sandbox, as in most containers: there, add --no-sandbox to "
    "CHROMIUM_FLAGS in a file of /etc/chromium.d, as the Dockerfile of virtperf does"
)


def print_to_pdf(page: Path, out: Path) -> None:
    """Print an HTML file with its print style sheet into the PDF file `out`.

    Raises `RawperfError` if the page is missing, Chromium is not installed, or it wrote no file.
    """
    if not page.is_file():
        raise RawperfError(
            "the report is missing", file=page, remedy="`virtperf pipeline` makes it"
        )
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise RawperfError(
            "Chromium, which prints PDF files, is not installed",
            expected=f"one of the commands {', '.join(BROWSERS)}",
            remedy="install it (on Debian: apt-get install chromium), or print the page from your "
            "own browser: it has a print style sheet",
        )
    with tempfile.TemporaryDirectory(prefix="virtperf-") as folder:
        pdf = Path(folder, "page.pdf")
        command = [
            browser,
            "--headless",
            "--disable-gpu",
            "--disable-background-networking",
            "--no-pdf-header-footer",
            f"--user-data-dir={folder}/profile",
            f"--print-to-pdf={pdf}",
            page.absolute().as_uri(),
        ]
        if os.geteuid() == 0:  # Chromium has no sandbox for root, as in containers
            command.insert(1, "--no-sandbox")
        try:
            done = subprocess.run(  # noqa: S603 - a browser of this machine on a page of our own
                command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
            )
            stderr = done.stderr.strip()
        except subprocess.TimeoutExpired:
            stderr = f"timeout after {TIMEOUT_S} s"
        if not pdf.is_file():
            raise RawperfError(
                "Chromium wrote no PDF",
                file=page,
                found=stderr[-_LAST_CHARACTERS:] or None,
                remedy=SANDBOX_REMEDY if "No usable sandbox" in stderr else None,
            )
        shutil.copyfile(pdf, out)
