"""Asking git, which need not be there: whatever it can't say is None."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path


def git_bytes(root: Path, *arguments: str) -> bytes | None:
    """What git prints in that folder; None where it fails, where there is no repository, or no git.

    Paths among the arguments are taken as they stand, without git's wildcards.
    """
    program = shutil.which("git")
    if program is None:
        return None
    command = [program, "-C", str(root), "--literal-pathspecs", *arguments]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - no shell
    return done.stdout if done.returncode == 0 else None


def git(root: Path, *arguments: str) -> str | None:
    """As `git_bytes`, but text; bytes that are not UTF-8 become replacement characters."""
    out = git_bytes(root, *arguments)
    return None if out is None else out.decode("utf-8", errors="replace")
