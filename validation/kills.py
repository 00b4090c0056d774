"""Does the pipeline recover? It is killed at random moments and started again: the same bytes, by
itself, each time.

python -m validation.kills --study public-overcommit --kills 50
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

ROOT = Path(__file__).parent.parent
MADE = (
    "build",
    "data/reconstructed",
    "data/samples",
    "data/runs",
    "data/verdicts",
    "reports",
    "metrics",
)
"""Folders with what stages write, hand-written files among them left out by git."""
FORGOTTEN = (".cache", ".dvc/cache", ".dvc/tmp")
LOCKS = ("dvc.lock", "pipelines/*/dvc.lock")


@click.command()
@click.option("--study", default="", help="Kill this study's stages only; default: everything.")
@click.option("--kills", type=click.IntRange(1), default=10, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True, help="Of the moments.")
def main(study: str, kills: int, seed: int) -> None:
    """Kill the pipeline (kill -9 of all its processes) and start it again, in a copy of the
    committed repository.
    """
    with clone(ROOT) as copy:
        wrong = disturbed(copy, study, kills, seed)
    click.echo(f"{kills} kills, {len(wrong)} without the same bytes after")
    sys.exit(bool(wrong))


def disturbed(copy: Path, study: str, kills: int, seed: int) -> list[int]:
    """The numbers of the kills after which the next start did not end well, or not in the bytes of
    the first run.

    What the stages have written in the repository `copy` is lost.
    """
    begin = time.monotonic()
    if start(copy, study).wait() != 0:
        raise click.ClickException("the pipeline does not end well undisturbed")
    length, expected = time.monotonic() - begin, fingerprint(copy)
    moments, wrong = random.Random(seed), []  # noqa: S311 - no secret
    for number in range(1, kills + 1):
        for part in (*MADE, *FORGOTTEN):
            shutil.rmtree(copy / part, ignore_errors=True)
        subprocess.run(["git", "checkout", "-q", "--", "."], cwd=copy, check=True)
        process, moment = start(copy, study), moments.uniform(0, length)
        time.sleep(moment)
        ended = process.poll() is not None
        if not ended:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        status = start(copy, study).wait()
        same = fingerprint(copy) == expected
        click.echo(
            f"{number}: {'ended' if ended else 'killed'} after {moment:.1f} s, status {status}, "
            f"{'same bytes' if same else 'OTHER BYTES'}"
        )
        if status or not same:
            wrong.append(number)
    return wrong


@contextmanager
def clone(root: Path) -> Iterator[Path]:
    """A copy of what is committed, for the length of a block."""
    with tempfile.TemporaryDirectory(prefix="virtperf-kills-") as folder:
        copy = Path(folder) / "copy"
        subprocess.run(["git", "clone", "-q", "--local", str(root), str(copy)], check=True)
        yield copy


def start(copy: Path, study: str) -> subprocess.Popen[bytes]:
    """The pipeline, in a session of its own."""
    command = [sys.executable, "-m", "virtperf.cli", "pipeline", *([study] if study else [])]
    return subprocess.Popen(command, cwd=copy, start_new_session=True, stdin=subprocess.DEVNULL)


def fingerprint(copy: Path) -> dict[str, str]:
    """A hash of everything that stages have written, and of DVC's records."""
    files = [p for part in MADE for p in (copy / part).rglob("*") if p.is_file()]
    files += [p for pattern in LOCKS for p in copy.glob(pattern)]
    return {
        str(p.relative_to(copy)): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(files)
    }


if __name__ == "__main__":
    main()
