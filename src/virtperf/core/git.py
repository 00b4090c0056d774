"""git of this machine, run in a folder."""

from __future__ import annotations

import subprocess
from pathlib import Path

from rawperf.core.errors import RawperfError

TIMEOUT_S = 600.0


def run_git(folder: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[bytes]:
    """Run a git command; its exit status is not checked. Raises `RawperfError` without git."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(  # noqa: S603 - git
            command, input=stdin.encode(), capture_output=True, timeout=TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as err:
        remedy = "give folders in place of revisions"
        raise RawperfError("git can't be run", found=str(err), remedy=remedy) from err


def git_text(folder: Path, *arguments: str, stdin: str = "") -> str | None:
    """Output of a git command; None without git or a repository, or if it fails."""
    try:
        done = run_git(folder, *arguments, stdin=stdin)
    except RawperfError:
        return None
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None
