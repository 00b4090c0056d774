"""Readers built from declarations: recognition and streaming of declared formats."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa

from rawperf.base import (
    SETTING,
    DictionaryEncoder,
    ParsedFile,
    Streaming,
    Warnings,
    build_records,
    last_sample_start,
)
from rawperf.core.declaration import Declaration, TableDeclaration
from rawperf.core.errors import FormatError, StudyError
from rawperf.core.model import load_model
from rawperf.core.patterns import (
    contains_match,
    first_group,
    full_match_mask,
    normalize_head,
)
from rawperf.core.table_columns import decode_categories, encode_categories
from rawperf.core.yamlio import Document
from rawperf.declared.chunks import Chunk, ReadContext
from rawperf.declared.collect import CODE, Collector
from rawperf.declared.delimited import read_columns
from rawperf.declared.elements import read_elements
from rawperf.declared.json_yaml import read_json, read_json_lines, read_yaml
from rawperf.declared.line_readers import read_lines, read_pairs
from rawperf.text import SUFFIXES, PieceReader, cut_after_line, decode, read_whole_file, recode
from rawperf.xml_stream import XmlPieceReader

CERTAINTY = 0.95
BLOCK_RECORDS = 250_000
"""Smallest number of records in a block of a long file, so that its fixed cost is small."""
PRESETS_FOLDER = Path(__file__).with_name("presets")
FOLDER_VARIABLE = "VIRTPERF_FORMATS"
"""Environment variable with a folder of further declarations, ``*.yaml``."""

_DOCUMENTS: dict[str, Callable[[str, ReadContext], dict[str, str]]] = {
    "json": read_json,
    "yaml": read_yaml,
}
_LINES: dict[str, Callable[[Iterable[str], ReadContext], Iterator[dict[str, str] | None]]] = {
    "csv": read_columns,
    "json-lines": read_json_lines,
    "lines": read_lines,
    "pairs": read_pairs,
}


class DeclaredFormat(Streaming):
    """Reader of the files of one declaration; `where` is its path in a hand-written file."""

    def __init__(self, declaration: Declaration, document: Document, *where: str | int) -> None:
        self.declaration = declaration
        self.name, self.title = declaration.name, declaration.title or declaration.name
        self._document, self._where = document, where

    def tables(self) -> list[tuple[tuple[str | int, ...], TableDeclaration]]:
        """Tables, each with its path in the declaration."""
        inline = not self.declaration.tables
        return [
            (() if inline else ("tables", index), part)
            for index, part in enumerate(self.declaration.parts)
        ]

    def error(self, problem: str, *where: str | int, **parts: str) -> StudyError:
        """Build the error of a place in the declaration."""
        return self._document.error(f"{self.name}: {problem}", *self._where, *where, **parts)

    def sniff(self, head: bytes) -> float:
        """0.95 if all expressions of ``match: {text: ...}`` occur; 0 for a declaration without."""
        match = self.declaration.match
        if match is None or not match.text:
            return 0.0
        text = normalize_head(head)
        return CERTAINTY if all(contains_match(pattern, text) for pattern in match.text) else 0.0

    def matches_file(self, path: str, head: bytes) -> bool:
        """Whether the declaration matches a file, by its path and its head."""
        match = self.declaration.match
        if match is None:
            return False
        uncompressed = path.removesuffix(next((end for end in SUFFIXES if path.endswith(end)), ""))
        names = (path, path.rpartition("/")[2], uncompressed, uncompressed.rpartition("/")[2])
        by_name = not match.file or any(
            fnmatchcase(name, pattern) for name in names for pattern in match.file
        )
        return by_name and (not match.text or self.sniff(head) > 0)

    def blocks(self, stream: BinaryIO, *, file: str = "<bytes>") -> Iterator[ParsedFile]:
        """Read a file block by block as `categorical_blocks` does, with plain text columns."""
        for block in self.categorical_blocks(stream, file=file):
            yield replace(block, records=decode_categories(block.records))

    def categorical_blocks(
        self, stream: BinaryIO, *, file: str = "<bytes>"
    ) -> Iterator[ParsedFile]:
        """Read a file block by block, with categorical text columns, which are faster to process.

        Files with rows without a time, and JSON and YAML documents, are read as a whole.

        Raises `FormatError`: a declared field that is not in the file, an invalid number or time,
        and the errors of the file's kind: see the modules of `rawperf.declared`. An error that the
        tool itself reports in the file comes first.
        """
        buffer = _TableBuffer(self.declaration, file)
        try:
            yield from self._blocks(stream, buffer, file)
        except FormatError as err:
            if buffer.failure is None:
                raise
            raise FormatError(
                "the tool reports an error, and its results are missing or incomplete",
                file=file,
                line=buffer.failure[0],
                found=buffer.failure[1],
                remedy="correct what the tool reports, and collect again.",
            ) from err

    def _blocks(self, stream: BinaryIO, buffer: _TableBuffer, file: str) -> Iterator[ParsedFile]:
        encoding_warnings = Warnings(file)
        if self.declaration.verified is not None and self.declaration.verified.none:
            buffer.messages.append(
                f"{file}: the format {self.name} is not verified on real output "
                f"({self.declaration.verified.none}); compare some numbers with the file"
            )
        context = ReadContext(self.declaration, buffer.add_rows, buffer.messages, file)
        reads = self.declaration.reads
        if reads in _DOCUMENTS:
            text, warnings = decode(read_whole_file(stream, self.name, file), file)
            buffer.messages += warnings
            buffer.find_failure(text)
            buffer.info = _DOCUMENTS[reads](text, context)
            yield buffer.finish()
            return
        pieces = (
            XmlPieceReader(stream, encoding_warnings, file)
            if reads == "xml"
            else PieceReader(stream, cut_after_line, file)
        )
        texts: Iterator[str] = (
            recode(piece, encoding_warnings, pieces.lines_before).decode() for piece in pieces
        )
        if self.declaration.failed:
            texts = buffer.find_failures(texts)
        if any(part.time is not None and part.time.date is not None for part in buffer.parts):
            texts = buffer.read_dates(texts)
        for info in (
            read_elements(pieces, context) if reads == "xml" else _LINES[reads](texts, context)
        ):
            buffer.info = info or {}
            buffer.messages[:0] = encoding_warnings.drain(False)
            if not pieces.is_last and buffer.is_block_ready():
                yield buffer.emit(has_more=True)
        yield buffer.finish()


def load_declaration(path: Path) -> DeclaredFormat:
    """Load a declaration; without ``match`` it recognises nothing, which is allowed.

    Raises `StudyError`, with its line, for a file that is missing, no YAML or no declaration.
    """
    declaration, document = load_model(path, Declaration, aliases=False)
    return DeclaredFormat(declaration, document)


def load_presets() -> Iterator[DeclaredFormat]:
    """Yield the packaged declarations, then those of the folder in `FOLDER_VARIABLE`.

    Raises `StudyError` for an invalid declaration, one that recognises nothing by content, and a
    missing folder.
    """
    folders = [PRESETS_FOLDER]
    if folder_name := os.environ.get(FOLDER_VARIABLE):
        folders.append(Path(folder_name))
    for folder in folders:
        if not folder.is_dir():
            raise StudyError(f"{FOLDER_VARIABLE} does not name a folder", file=folder)
        for path in sorted(folder.glob("*.yaml")):
            preset = load_declaration(path)
            if preset.declaration.match is None or not preset.declaration.match.text:
                raise StudyError(
                    "its files cannot be recognised by content",
                    file=path.name,
                    expected="match: {text: ...}, regular expressions that occur in the first 8 KiB of each file",
                )
            yield preset


class _TableBuffer:
    """Tables of a file, with the records that are not yet emitted."""

    def __init__(self, declaration: Declaration, file: str) -> None:
        self.file = file
        self.messages: list[str] = []
        self.failure: tuple[int, str] | None = None  # line and text of the tool's own error
        self._failed = declaration.failed
        self.info: dict[str, str] = {}
        self._entities, self._fields = DictionaryEncoder(), DictionaryEncoder()
        self._tables = [
            Collector(declaration, part, self._entities, self._fields, file)
            for part in declaration.parts
        ]
        self._clocks: set[str] = set()
        self._timed = all(part.time is not None for part in declaration.parts)

    def find_failure(self, text: str, lines_before: int = 0) -> None:
        """Find the first line with an error that the tool reports."""
        if self.failure is not None or not self._failed:
            return
        lines = [line.rstrip() for line in text.split("\n")]
        array = pa.array(lines, pa.string())
        for pattern in self._failed:
            found = np.flatnonzero(full_match_mask(pattern, array).to_numpy(zero_copy_only=False))
            if len(found):
                number = lines_before + int(found[0]) + 1
                error = str(first_group(pattern, lines[int(found[0])]))
                self.failure = number, error
                self.messages.append(f"{self.file} line {number}: the tool reports: {error}")
                return

    def find_failures(self, texts: Iterable[str]) -> Iterator[str]:
        """Pass on pieces of the file, and find the first error that the tool reports."""
        lines_before = 0
        for text in texts:
            self.find_failure(text, lines_before)
            lines_before += text.count("\n")
            yield text

    @property
    def parts(self) -> list[TableDeclaration]:
        """Declarations of the tables."""
        return [table.part for table in self._tables]

    def read_dates(self, texts: Iterable[str]) -> Iterator[str]:
        """Take the date of each table from the first line that gives it, and blank that line."""
        waiting, lines_before = [t for t in self._tables if t.part.time and t.part.time.date], 0
        for text in texts:
            if waiting:
                lines = text.split("\n")
                array = pa.array([line.rstrip() for line in lines], pa.string())
                for pattern in {str(t.part.time and t.part.time.date) for t in waiting}:
                    found = np.flatnonzero(
                        full_match_mask(pattern, array).to_numpy(zero_copy_only=False)
                    )
                    if len(found):
                        first = int(found[0])
                        day = first_group(pattern, lines[first].rstrip())
                        for table in waiting:
                            if table.part.time and table.part.time.date == pattern:
                                table.read_date(str(day), lines_before + first + 1)
                        lines[first] = ""
                waiting = [table for table in waiting if not table.has_date]
                text = "\n".join(lines)
            lines_before += text.count("\n")
            yield text

    def add_rows(self, table_index: int, chunk: Chunk) -> None:
        """Add rows to the table of that number."""
        self._tables[table_index].add(chunk)

    def is_block_ready(self) -> bool:
        """Whether a block is due: enough records, told apart by their times and in line order."""
        return (
            self._timed
            and sum(len(part[0]) for t in self._tables for part in t.parts) >= BLOCK_RECORDS
            and all(t.clock != "none" for t in self._tables)
        )

    def finish(self) -> ParsedFile:
        """Emit the remaining records at the end of the file."""
        for table in self._tables:
            self.messages += [
                sentence for sentence in table.finish() if sentence not in self.messages
            ]
            self.info |= {
                f"{SETTING}{name}": ", ".join(texts)
                for name, texts in table.settings.items()
                if texts
            }
        return self.emit()

    def _no_numbers_error(self) -> FormatError:
        """Error of a file without numbers; it lists the names that the file has instead."""
        field_names = list(
            dict.fromkeys(name for table in self._tables for name in table.first_field_names)
        )
        if not field_names:
            return FormatError(
                "no value in the file",
                file=self.file,
                remedy="the tool printed no result, or only rows without values, such as those of stopped "
                "containers: see what it says in the file or on standard error.",
            )
        declared = (rule.field for table in self._tables for rule in table.part.fields)
        return FormatError(
            "no declared field has a number in the file",
            file=self.file,
            expected=", ".join(dict.fromkeys(name for name in declared if name)),
            found=", ".join(field_names),
            remedy="declare its fields under fields, or exclude the file in match.",
        )

    def emit(self, has_more: bool = False) -> ParsedFile:
        """Emit the records since the last reading.

        With `has_more` to come, the last sample is held back for further records, which costs less than
        joining finished parts. Raises `FormatError` if the file has no records, or two clocks.
        """
        tables = [table for table in self._tables if table.parts]
        if not tables and not self._clocks:
            raise self._no_numbers_error()
        self._clocks |= {table.clock for table in tables}
        clocks = self._clocks - {"none"} or {"none"}
        if len(clocks) > 1:
            clock_names = " and ".join(sorted(clocks))
            raise FormatError("the tables have different clocks", file=self.file, found=clock_names)
        empty = [
            (np.zeros(0, dtype=CODE),) * 2 + (np.zeros(0),) * 2 + (np.zeros(0, dtype=np.int64),)
        ]
        parts = [part for table in tables for part in table.parts] or empty
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        sizes = [sum(len(part[0]) for part in table.parts) for table in tables]
        columns.append(np.repeat(np.arange(len(tables), dtype=np.int32), sizes))
        for table in tables:
            table.parts.clear()
        if (columns[4][1:] < columns[4][:-1]).any():
            order = np.argsort(columns[4], kind="stable")
            columns = [column[order] for column in columns]
        if has_more and (split_at := last_sample_start(columns[2])):
            held_back = [column[split_at:] for column in columns]
            columns = [column[:split_at] for column in columns]
            for table_index, table in enumerate(tables):
                if (is_own := held_back[-1] == table_index).any():
                    table.parts.append(tuple(column[is_own] for column in held_back[:-1]))
        entity, name, t, values, lines, table_numbers = columns
        table_keys = [(table.part.report, table.part.entity.kind) for table in tables]
        reports, kinds = (
            encode_categories(table_numbers, [pair[k] for pair in table_keys]) for k in (0, 1)
        )
        entities, fields = (
            encode_categories(entity, list(self._entities)),
            encode_categories(name, list(self._fields)),
        )
        records = build_records(reports, kinds, entities, fields, t, values)
        is_untimed = np.isnan(t)
        table_codes = np.array([table_keys.index(pair) for pair in table_keys], dtype=np.int64)[
            table_numbers
        ]
        if is_untimed.any() and _has_duplicates(is_untimed, table_codes, entity, name):
            records = _number_duplicates(decode_categories(records), lines, self.file)
            if any(table.part.time is not None for table in tables):
                self.messages.append(
                    f"{self.file}: an entity occurs again without a time between, and is named with #2: "
                    "for several snapshots, put a line with the time (date +%s) above each"
                )
        messages = tuple(self.messages)
        self.messages.clear()
        return ParsedFile(records, next(iter(clocks)), dict(self.info), messages, lines)


def _has_duplicates(is_untimed: np.ndarray, *codes: np.ndarray) -> bool:
    """Whether two records without a time have the same codes."""
    combined = np.zeros(int(is_untimed.sum()), dtype=np.int64)
    for column in codes:
        combined = combined * (int(column.max(initial=0)) + 1) + column[is_untimed]
    return len(np.unique(combined)) < len(combined)


def _number_duplicates(records: pd.DataFrame, lines: np.ndarray, file: str) -> pd.DataFrame:
    """Make records without a time unique: a second entity of one name is called ``name#2``.

    Raises `FormatError`: a duplicate number without an entity name.
    """
    is_untimed = records["t"].isna()
    repeat_numbers = (
        records[is_untimed]
        .groupby(["report", "entity_kind", "entity", "field"], sort=False)
        .cumcount()
    )
    repeat_numbers = repeat_numbers[repeat_numbers > 0]
    if repeat_numbers.empty:
        return records
    unnamed = repeat_numbers.index[records.loc[repeat_numbers.index, "entity"] == ""]
    if len(unnamed):
        raise FormatError(
            f"{records.loc[unnamed[0], 'field']} is given twice: the file may hold two results",
            file=file,
            line=int(lines[unnamed[0]]),
            remedy="write a file for each run; in a declaration of your own, a time or the name of an entity "
            "tells results apart.",
        )
    unique_names = (
        records.loc[repeat_numbers.index, "entity"] + "#" + (repeat_numbers + 1).astype("str")
    )
    return records.assign(
        entity=records["entity"].where(~records.index.isin(repeat_numbers.index), unique_names)
    )
