"""The table of an artifact's runs, `testbeds/STUDY/runs.csv`, and the run folders made from it.

Each line is a file of a run: its path in the artifact, the study's format that reads it, for a table
the cells that select its rows, and the levels of all factors. People edit it: names of factors,
levels, lines. Run folders can be made again from a copy of the artifact.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from rawperf.core.errors import RawperfError
from rawperf.core.files import hash_file, replace_folder
from virtperf.artifact.artifact_files import OpenedArtifact
from virtperf.artifact.undeclared_tables import COLUMN, split_line, table_delimiter
from virtperf.core.grouping import grouped
from virtperf.core.levels import Level, level_text, parse_level
from virtperf.runs.ingest.folder import RESERVED, RUN_FILE

FIXED_COLUMNS = ("run", "replicate", "file", "format", "rows")
"""Columns before those of the factors."""
MADE_HEADER = "# Made by `virtperf add artifact`; docs/run-folders.md explains every field.\n"
"""First line of each `run.yaml`: a folder with it may be replaced."""
MAX_RUNS = 5_000


@dataclass(frozen=True)
class RunLine:
    """A line of the table: one file of a run, or the rows of a table whose cells are `rows`."""

    run: str
    file: str
    factors: Mapping[str, Level]
    format: str = ""
    rows: Mapping[str, str] = field(default_factory=dict)
    replicate: int = 1


def table_text(lines: Sequence[RunLine], names: Sequence[str]) -> str:
    """Format the table; `names` are those of the factors, in the study's order."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*FIXED_COLUMNS, *names])
    for line in lines:
        rows = json.dumps(dict(line.rows), ensure_ascii=False) if line.rows else ""
        levels = [level_text(line.factors[n]) if n in line.factors else "" for n in names]
        writer.writerow([line.run, line.replicate, line.file, line.format, rows, *levels])
    return out.getvalue()


def read_table(path: Path) -> list[RunLine]:
    """Read the table; raises `RawperfError` with the line of a wrong cell."""
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        missing = [name for name in FIXED_COLUMNS if name not in (reader.fieldnames or ())]
        if missing:
            raise RawperfError(
                f"no column {missing[0]!r}", file=path, line=1, expected=", ".join(FIXED_COLUMNS)
            )
        return [_line(row, path, number) for number, row in enumerate(reader, start=2)]


def _line(row: Mapping[str | None, str | None], path: Path, number: int) -> RunLine:
    cells = {str(name): str(cell or "") for name, cell in row.items() if name is not None}
    try:
        rows = json.loads(cells["rows"]) if cells["rows"] else {}
        if not isinstance(rows, dict):
            raise ValueError("rows is not an object")
        replicate = int(cells["replicate"])
    except ValueError as err:
        raise RawperfError(
            "a wrong cell",
            file=path,
            line=number,
            expected='replicate: a number; rows: empty, or {"column": "cell"}',
            found=str(err),
        ) from err
    factors = {n: parse_level(c) for n, c in cells.items() if n not in FIXED_COLUMNS and c}
    texts = {str(column): str(cell) for column, cell in rows.items()}
    return RunLine(cells["run"], cells["file"], factors, cells["format"], texts, replicate)


def make_runs(artifact: OpenedArtifact, lines: Iterable[RunLine], study: str, folder: Path) -> int:
    """Make the run folders of a study from an artifact; returns their number.

    Folders that were made before are replaced, all others are kept. Raises `RawperfError`: a name
    that no run can have, a file that is not in the artifact, two files of one name, a folder that
    was not made by this function.
    """
    _rows_by_cells.cache_clear()  # a table may have changed since
    runs = grouped((line.run, line) for line in lines)
    if len(runs) > MAX_RUNS:
        raise RawperfError(
            f"{len(runs)} runs",
            expected=f"at most {MAX_RUNS}",
            remedy="give the folder of one experiment",
        )
    for name in runs:
        _require_name(name)
        _require_made(folder / name)
    for name, of_run in runs.items():
        with replace_folder(folder / name) as fresh:
            _write_run(artifact, of_run, study, fresh)
    return len(runs)


def equal_runs(artifact: OpenedArtifact, lines: Iterable[RunLine]) -> list[tuple[str, str]]:
    """Runs whose files have the same content as those of an earlier one: the pipeline takes them for
    copies.
    """
    _rows_by_cells.cache_clear()
    contents: dict[str, set[str]] = {}
    for line in lines:
        source = artifact.root / line.file
        content = selected_rows(source, line.rows) if line.rows else None
        digest = hash_file(source)[0] if content is None else sha256(content).hexdigest()
        contents.setdefault(line.run, set()).add(digest)
    first: dict[frozenset[str], str] = {}
    found = [(run, first.setdefault(frozenset(of), run)) for run, of in contents.items()]
    return [(run, earlier) for run, earlier in found if run != earlier]


def _require_name(name: str) -> None:
    plain = name and set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-")
    if not plain or name[0] in "._-" or name in RESERVED or len(name) > 100:
        raise RawperfError(
            f"no run can be named {name!r}",
            expected="lower-case letters, digits, '.', '_' and '-', at most 100",
            remedy="correct the column run",
        )


def _require_made(folder: Path) -> None:
    if not folder.exists():
        return
    file = folder / RUN_FILE
    if not file.is_file() or not file.read_text(encoding="utf-8").startswith(MADE_HEADER):
        raise RawperfError(
            "the folder was not made from an artifact",
            file=folder,
            remedy="rename the run, or remove the folder",
        )


def _write_run(
    artifact: OpenedArtifact, lines: Sequence[RunLine], study: str, folder: Path
) -> None:
    entries = []
    for line in lines:
        if line.file not in artifact.files:
            raise RawperfError(
                "the artifact has no such file",
                file=line.file,
                remedy="give the same folder as before",
            )
        name = PurePosixPath(line.file).name
        if (folder / name).exists() or name == RUN_FILE:
            raise RawperfError(f"two files are named {name}", file=line.file)
        source = artifact.root / line.file
        if line.rows:
            (folder / name).write_bytes(selected_rows(source, line.rows))
        else:
            shutil.copyfile(source, folder / name, follow_symlinks=False)
        if line.format:
            entries.append({"path": name, "format": line.format})
    first = lines[0]
    (folder / RUN_FILE).write_text(_run_text(first, study, entries), encoding="utf-8")


def _run_text(line: RunLine, study: str, entries: Sequence[Mapping[str, str]]) -> str:
    head: dict[str, Any] = {
        "study": study,
        "run": line.run,
        "provenance": "measured",
        "factors": dict(line.factors),
        "replicate": line.replicate,
    }
    if entries:
        head["files"] = list(entries)
    return MADE_HEADER + yaml.safe_dump(
        head, sort_keys=False, width=160, default_flow_style=None, allow_unicode=True
    )


def selected_rows(path: Path, cells: Mapping[str, str]) -> bytes:
    """The header row of a table and the rows with these cells, byte for byte.

    Raises `RawperfError` if no row has them, or a column is missing.
    """
    header, rows = _rows_by_cells(path, tuple(cells))
    if found := rows.get(tuple(cells.values())):
        return b"".join([*header, *found])
    raise RawperfError(
        "no row of the table has these cells",
        file=path.name,
        expected=", ".join(f"{column}: {cell}" for column, cell in cells.items()),
    )


@lru_cache(maxsize=1)
def _rows_by_cells(
    path: Path, columns: tuple[str, ...]
) -> tuple[list[bytes], dict[tuple[str, ...], list[bytes]]]:
    """The header row, and the other rows by their cells in some columns; none if one is missing."""
    lines = [line for line in path.read_bytes().splitlines(keepends=True) if line.strip()]
    texts = [line.decode("utf-8", "replace").replace("\ufeff", "").rstrip("\r\n") for line in lines]
    delimiter = table_delimiter("\n".join(texts))
    names = split_line(texts[0], delimiter)
    is_headed = not all(column.startswith(COLUMN.format("")) for column in columns)
    if not is_headed:
        names = [COLUMN.format(n) for n in range(1, len(names) + 1)]
    rows: dict[tuple[str, ...], list[bytes]] = {}
    if not set(columns) <= set(names):
        return [], rows
    places = [names.index(column) for column in columns]
    for line, text in zip(lines[is_headed:], texts[is_headed:], strict=True):
        cells = split_line(text, delimiter)
        if len(cells) == len(names):
            rows.setdefault(tuple(cells[place] for place in places), []).append(line)
    return lines[:is_headed], rows
