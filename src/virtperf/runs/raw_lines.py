"""The raw lines behind observed values, for the trace: read once by the stage, so that reports need
no raw files.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from rawperf.text import CHUNK_BYTES, decompress_stream
from virtperf.core.stage_tables import LINEAGE, RAW_LINES
from virtperf.runs.ingest.folder import RunFolder, reported_elsewhere, run_folders
from virtperf.runs.summarize.stage import read_index

MAX_LINE_BYTES = 300
"""Bytes of a raw line that are stored; the rest is cut off."""
_LETTER = re.compile(rb"[A-Za-z]")
_NUMBER = re.compile(rb"(?<![\w:./-])[-+]?\d+(?:[.,]\d+)?(?![\w:/-])")


def store_raw_lines(roots: Mapping[str, Path], samples: Path, out: Path) -> None:
    """Write the table `RAW_LINES` into the folder `out`, which has the lineage already.

    `roots` are the folders of runs by the root's name, as for ingest, and `samples` is its output.
    Raises `RawperfError` if a file can't be read again.
    """
    read_from = {(run["root"], run["run_id"]) for run in read_index(samples)["runs"]}
    folders = {
        folder.name: folder
        for root, place in roots.items()
        for folder in run_folders(place, reported_elsewhere)
        if (root, folder.name) in read_from
    }
    wanted: dict[str, dict[str, tuple[set[int], set[int]]]] = {}
    lineage = LINEAGE.read(out / LINEAGE.file)
    columns = (lineage[name] for name in ("run_id", "file", "first_line", "last_line"))
    for run, file, first, last in zip(*columns, strict=True):
        firsts, lasts = wanted.setdefault(run, {}).setdefault(file, (set(), set()))
        firsts.add(first)
        lasts.add(last)
    rows = []
    for run, files in sorted(wanted.items()):
        for file, (firsts, lasts) in sorted(files.items()):
            found = raw_lines(folders[run], file, firsts, lasts)
            rows += [{"run_id": run, "file": file, **row} for row in found]
    RAW_LINES.write(RAW_LINES.frame(rows), out / RAW_LINES.file)


def raw_lines(
    folder: RunFolder, file: str, firsts: Collection[int], lasts: Collection[int] = ()
) -> list[dict[str, Any]]:
    """Read lines of a raw file: rows of `RAW_LINES` without run and file, by ascending line.

    `firsts` and `lasts` are line numbers from 1; 0, and numbers after the end, give no row. The
    heading of each of `firsts` is a row too. Raises `RawperfError` if the file can't be read.
    """
    wanted = {*firsts, *lasts} - {0}
    found: dict[int, dict[str, Any]] = {}
    if not wanted:
        return []
    final, last_first, heading = max(wanted), max(firsts, default=0), (0, b"", 0)
    with folder.open_file(file) as raw:
        stream = decompress_stream(raw, file=f"{folder.name}/{file}")
        for line, (begin, size) in enumerate(_lines(stream), 1):
            if line in wanted:
                found[line] = _row(line, begin, size)
                if line in firsts and heading[0]:
                    found[line]["heading"] = heading[0]
                    found.setdefault(heading[0], _row(*heading))
            if line >= final:
                break
            if line < last_first and _LETTER.search(begin) and not _NUMBER.search(begin):
                heading = line, begin, size
    return [found[line] for line in sorted(found)]


def _lines(stream: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Yield the begin of each line, and the number of its bytes, both without the line's end; long
    lines are never held as a whole.
    """
    while part := stream.readline(CHUNK_BYTES):
        begin, size, end = part[:MAX_LINE_BYTES], len(part), part[-2:]
        while not end.endswith(b"\n") and (part := stream.readline(CHUNK_BYTES)):
            size, end = size + len(part), (end + part)[-2:]
        size -= 2 if end == b"\r\n" else end.endswith(b"\n")
        yield begin[:size], size


def _row(line: int, begin: bytes, size: int) -> dict[str, Any]:
    decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
    text = decoder.decode(begin, final=size == len(begin))  # a character that is cut is left out
    shown = "".join(
        c if c == "\t" or c.isprintable() else c.encode("unicode_escape").decode() for c in text
    )
    if size > len(begin):
        shown += f" … (cut: the line has {size:,} bytes)"
    return {"line": line, "heading": 0, "text": shown}
