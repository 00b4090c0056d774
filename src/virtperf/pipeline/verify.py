"""Reproduce a revision's results in a temporary worktree, and compare them with those here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from rawperf.core.errors import RawperfError
from virtperf.core.git import run_git
from virtperf.core.paths import Layout
from virtperf.pipeline.runner import Tell, run_pipeline

RESULTS = (
    "data/hypotheses",
    "data/reconstructed",
    "data/samples",
    "data/runs",
    "data/verdicts",
    "metrics",
    "build",
    "reports",
)
"""Output folders of the stages."""
RECORD_FILES = ("dvc.lock", "metrics")
"""Committed files with the hash of every result, and the key numbers."""
MAX_CELLS = 5
"""Maximum number of changed cells listed per table."""
_RECORD = "application/vnd.virtperf+json"


@dataclass(frozen=True)
class ChangedResult:
    """A result that differs: its path, and a description of the differences."""

    path: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class VerifyResult:
    """Result of a verification.

    `recorded`: committed files changed by running the revision, which is therefore not
        reproducible. `equal`: number of results with the same bytes here and in the revision.
    """

    commit: str
    recorded: tuple[str, ...]
    equal: int
    differences: tuple[ChangedResult, ...]


def verify(layout: Layout, revision: str, tell: Tell, *, jobs: int) -> VerifyResult:
    """Run a revision's whole pipeline in a git worktree, and compare its results with those here.

    Stages run with this environment's packages and the revision's own `src`.

    Raises
    ------
    RawperfError
        The revision is unknown, or a stage of it failed.
    """
    commit = _git(layout.root, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}").strip()
    with TemporaryDirectory(prefix="virtperf-verify-") as folder:
        there = Path(folder) / commit[:12]
        _git(layout.root, "worktree", "add", "--detach", "--quiet", str(there), commit)
        try:
            run_pipeline(Layout(there), (), tell, jobs=jobs)
            changed = _git(there, "diff", "--name-only", "--", *RECORD_FILES).split()
            equal, differences = _compare_trees(there, layout.root)
        finally:
            _git(layout.root, "worktree", "remove", "--force", str(there))
    return VerifyResult(commit, tuple(changed), equal, tuple(differences))


def _git(folder: Path, *arguments: str) -> str:
    done = run_git(folder, *arguments)
    if done.returncode:
        raise RawperfError(
            f"git {arguments[0]} failed",
            found=done.stderr.decode(errors="replace").strip() or None,
            remedy="`git log` lists revisions; `git worktree prune` removes stale worktrees.",
        )
    return done.stdout.decode(errors="replace")


def _compare_trees(before: Path, after: Path) -> tuple[int, list[ChangedResult]]:
    """Compare the results of two trees by hash; returns the number of equal ones, and the rest."""
    ours, theirs = _hashes(after), _hashes(before)
    equal, differences = 0, []
    for path in sorted(ours.keys() | theirs.keys()):
        if ours.get(path) == theirs.get(path):
            equal += 1
        elif path not in theirs:
            differences.append(ChangedResult(path, ("only here",)))
        elif path not in ours:
            differences.append(ChangedResult(path, ("only in the revision",)))
        else:
            differences.append(ChangedResult(path, tuple(_lines(before / path, after / path))))
    return equal, differences


def _hashes(root: Path) -> dict[str, str]:
    files = (p for name in RESULTS for p in (root / name).rglob("*") if p.is_file())
    return {
        p.relative_to(root).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in files
        if p.name != ".gitignore"
    }


def _lines(before: Path, after: Path) -> Iterator[str]:
    """Describe the differences between two versions of a file."""
    if before.suffix == ".parquet":
        yield from changed_cells(pd.read_parquet(before), pd.read_parquet(after))
    elif before.suffix == ".ipynb":
        old, new = (_records(path) for path in (before, after))
        names = [name for name in dict.fromkeys((*old, *new)) if old.get(name) != new.get(name)]
        yield f"exhibits: {', '.join(names) or 'none; other cells differ'}"


def _records(notebook: Path) -> dict[str, Any]:
    """The exhibit records of an executed notebook, by id."""
    cells = json.loads(notebook.read_text())["cells"]
    outputs = (output for cell in cells for output in cell.get("outputs", ()))
    records = (output.get("data", {}).get(_RECORD) for output in outputs)
    return {record["id"]: record for record in records if record}


def changed_cells(before: pd.DataFrame, after: pd.DataFrame) -> Iterator[str]:
    """Describe the differences between two versions of a table: row counts, and the first cells.

    Rows are matched by the shortest prefix of columns that is a unique key in both.
    """
    if list(before.columns) != list(after.columns):
        yield f"columns: {', '.join(sorted(set(before.columns) ^ set(after.columns)))}"
        return
    old, new = (frame.map(_plain) for frame in (before, after))
    key = _key((old, new))
    if not key:
        yield f"{len(before)} rows before, {len(after)} now"
        return
    old, new = old.set_index(key), new.set_index(key)
    for words, rows in (
        ("removed", old.index.difference(new.index)),
        ("added", new.index.difference(old.index)),
    ):
        if len(rows):
            yield f"{len(rows)} row(s) {words}, such as {_row_label(key, rows[0])}"
    both = old.index.intersection(new.index, sort=False)
    changed = old.loc[both].compare(new.loc[both], result_names=("before", "now"))
    if changed.empty:
        return
    yield f"{len(changed)} row(s) differ"
    cells = (
        (row, column)
        for row in changed.index
        for column in changed.columns.get_level_values(0).unique()
        if changed.loc[row, (column, "before")] == changed.loc[row, (column, "before")]
        or changed.loc[row, (column, "now")] == changed.loc[row, (column, "now")]
    )
    for (row, column), _ in zip(cells, range(MAX_CELLS), strict=False):
        pair = changed.loc[row, (column, "before")], changed.loc[row, (column, "now")]
        yield f"{_row_label(key, row)}: {column} {pair[0]} before, {pair[1]} now"


def _plain(value: Any) -> Any:
    """Convert a cell to a comparable and hashable value."""
    return value if isinstance(value, str | int | float | bool) else str(value)


def _key(frames: Sequence[pd.DataFrame]) -> list[str]:
    columns = list(frames[0].columns)
    for n in range(1, len(columns)):
        if not any(frame.duplicated(columns[:n]).any() for frame in frames):
            return columns[:n]
    return []


def _row_label(key: Sequence[str], row: Any) -> str:
    values = row if isinstance(row, tuple) else (row,)
    return ", ".join(f"{name} {value}" for name, value in zip(key, values, strict=True))
