"""Conversion of table rows to records: conditions, entities, times, numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from rawperf.base import DictionaryEncoder
from rawperf.core.declaration import Condition, Declaration, FieldRule, TableDeclaration
from rawperf.core.errors import FileReader, suggest_similar
from rawperf.core.patterns import capture_groups, first_group, full_match_mask, matches_whole
from rawperf.declared.bucket_rows import BucketConverter
from rawperf.declared.chunks import ENTITY, TIME, Chunk
from rawperf.declared.redundancy import MissingCells, RedundancyChecker
from rawperf.declared.values import MAX_CACHED_TEXTS, NumberParser, TimeParser

MAX_LISTED_NAMES = 10
MAX_SETTING_TEXTS = 20
"""Texts of one setting that are kept; a field with more is none."""
SIMILAR = 0.75
"""Smallest similarity of a key that may replace another one."""
CODE = np.int32
"""Type of entity and field codes."""


class Collector(FileReader):
    """Collect the records of one table of a file, chunk by chunk.

    `parts` are tuples of arrays: entity codes, field codes, times, values and lines.
    """

    def __init__(
        self,
        declaration: Declaration,
        part: TableDeclaration,
        entities: DictionaryEncoder,
        fields: DictionaryEncoder,
        file: str,
    ) -> None:
        self.declaration, self.part, self.file = declaration, part, file
        self._entities, self._fields = entities, fields
        self._number_parser = NumberParser(
            declaration.missing, declaration.decimal, declaration.thousands, file
        )
        self._time = part.time
        self._time_parser = TimeParser(part.time, self._number_parser, file)
        self._long_names: dict[str, None] = {}
        self._rows_to_skip = declaration.leave_out_rows
        self._has_times: bool | None = None  # whether the file has its optional times
        self._seen_fields: set[str] = set()
        self._last_line = 0
        self._seen_keys: dict[str, None] = {}
        self._field_rules = [
            rule.model_copy(update={"printed": rule.printed or part.printed})
            for rule in part.fields
        ]
        self._rules = {rule.field: rule for rule in self._field_rules}
        self._rule_conditions = sorted(
            {name for rule in part.fields for name in (*rule.where, *rule.unless)}
        )
        printed = {**part.printed, "": 1.0} if isinstance(part.printed, dict) else part.printed
        self._default_rule = FieldRule(field="*", printed=printed if part.others else None)
        self._entity_from_file_name = part.entity.file and first_group(
            part.entity.file, file.rpartition("/")[2]
        )
        self._buckets = BucketConverter(part, self._number_parser, file) if part.histogram else None
        self._checker = RedundancyChecker(part, frozenset(declaration.missing), file)
        # lines of several forms share the columns of a table
        self._missing_cells = (
            MissingCells(part.report, file, always=declaration.reads == "pairs")
            if declaration.reads != "lines" and "" not in declaration.missing
            else None
        )
        self._snapshots: list[tuple[frozenset[str], int, int]] = []
        self.settings: dict[str, dict[str, None]] = {name: {} for name in part.settings}
        self.parts: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []

    @property
    def clock(self) -> str:
        """Clock of the records' times."""
        return "none" if self._has_times is False else self._time_parser.clock

    @property
    def has_date(self) -> bool:
        """Whether the date of the first row is known."""
        return self._time_parser.day is not None

    def read_date(self, text: str, line: int) -> None:
        """Take the date of the first row from a line; raises `FormatError` as times do."""
        self._time_parser.read_date(text, line)

    @property
    def first_field_names(self) -> list[str]:
        """First names in the file's column of field names."""
        return list(self._long_names)[:MAX_LISTED_NAMES]

    def add(self, chunk: Chunk) -> None:
        """Add the records of some rows; raises `FormatError` at a cell that is not as declared."""
        part = self.part
        if len(chunk.lines):
            self._last_line = max(self._last_line, int(chunk.lines[-1]))
        self._seen_keys |= dict.fromkeys(chunk.keys or chunk.cells)
        if self.declaration.reads == "pairs":
            keys = frozenset(chunk.cells)
            self._snapshots.append((keys, len(chunk.lines), int(chunk.lines[0])))
        new_columns = chunk.cells.keys() - self._seen_fields
        self._seen_fields |= {
            name
            for name in new_columns
            if isinstance(chunk.cells[name], pa.Array)
            or any(cell is not None for cell in chunk.cells[name])
        }
        if self._rows_to_skip:
            n_skipped, self._rows_to_skip = (
                self._rows_to_skip,
                max(self._rows_to_skip - len(chunk.lines), 0),
            )
            chunk = chunk.take(np.arange(min(n_skipped, len(chunk.lines)), len(chunk.lines)))
        for name in part.where:
            self._count_missing(name, chunk.column(name), None, chunk.column_lines(name))
        conditions = part.where.keys() | part.unless.keys()
        self._check_texts(chunk, conditions)
        is_kept = self._condition_mask(chunk, part.where, True) & ~self._condition_mask(
            chunk, part.unless, False
        )
        if not is_kept.all():
            chunk = chunk.take(np.flatnonzero(is_kept))
        if not len(chunk.lines):
            return
        self._read_settings(chunk)
        self._check_texts(chunk, part.one_of.keys() - conditions)
        for name in self._rule_conditions:
            self._count_missing(name, chunk.column(name), None, chunk.column_lines(name))
        if self._checker.is_needed:
            self._checker.check(
                lambda name: (_to_list(chunk.column(name)), chunk.column_lines(name)),
                lambda name: self._numbers(chunk, name),
            )
        entity = self._entity_codes(chunk)
        t = self._times(chunk, entity)
        if self._buckets is not None:
            entity_names = list(self._entities)
            owners = [entity_names[code] for code in entity.tolist()]
            chunk, bucket_names = self._buckets.convert(chunk, owners, t)
            entity = np.array([self._entities[name] for name in bucket_names], dtype=CODE)
        if part.names is not None and part.value is not None:
            self._add_long_rows(chunk, entity, t, part.names, part.value)
            return
        columns = [(rule.record, *self._values(chunk, rule)) for rule in self._field_rules]
        if part.others:
            used = {rule.field for rule in part.fields} | self._text_fields()
            used |= {field for fields in part.settings.values() for field in fields}
            for name in (name for name in chunk.cells if name not in used):
                lines = chunk.column_lines(name)
                values = self._number_parser.parse(
                    chunk.column(name), lines, name, self._default_rule
                )
                self._count_missing(name, chunk.column(name), None, lines)
                columns.append((name, values, lines))
        if columns and all(lines is chunk.lines for _, _, lines in columns):
            line_numbers = np.asarray(chunk.lines, dtype=np.int64)
            if len(columns) == 1 or (line_numbers[1:] > line_numbers[:-1]).all():
                self._store_rows(entity, t, columns, line_numbers)
                return
        for record, values, lines in columns:
            self._store(entity, record, t, values, lines)

    def _read_settings(self, chunk: Chunk) -> None:
        """Collect the distinct texts of each setting: in each row of its first field that has one."""
        for name, fields in self.part.settings.items():
            known = self.settings[name]
            for cells in zip(*(_to_list(chunk.column(field)) for field in fields), strict=True):
                text = next((_cell_text(cell) for cell in cells if cell not in (None, "")), "")
                if text and len(known) < MAX_SETTING_TEXTS:
                    known[text] = None

    def finish(self) -> list[str]:
        """Add the numbers of fields that the file lacks, and return messages; raises `FormatError`
        as `_check_missing` does.
        """
        self._check_missing()
        for rule in self.part.fields if self._seen_keys else ():
            if rule.absent is not None and rule.field not in self._seen_fields:
                entity = np.array([self._entities[""]], dtype=CODE)
                nowhere = np.array([np.nan]), np.array([rule.absent]), [self._last_line]
                self._store(entity, rule.record, *nowhere)
        messages = self._missing_cells.messages() if self._missing_cells is not None else []
        messages += self._renamed_messages() + self._snapshot_messages()
        return messages

    def _snapshot_messages(self) -> list[str]:
        """One message on keys that only some snapshots of key-value pairs have."""
        if len(self._snapshots) < 2 or self._missing_cells is None:
            return []
        counts = Counter[str]()
        for keys, count, _ in self._snapshots:
            counts.update(dict.fromkeys(keys, count))
        total = sum(count for _, count, _ in self._snapshots)
        partial = {key for key, count in counts.items() if count < total}
        used = {*self.declaration.input_fields} if not self.part.others else partial
        names = sorted(partial & used)
        if not names:
            return []
        line = next(line for keys, _, line in self._snapshots if set(names) - keys)
        return [
            f"{self.file} line {line}: {', '.join(names[:MAX_LISTED_NAMES])} "
            "stands only in some snapshots; this one is the first that differs"
        ]

    def _renamed_messages(self) -> list[str]:
        """Messages on optional fields that the file lacks, with the names that may replace them."""
        part = self.part
        is_lines = self.declaration.reads == "lines"  # other lines are warned of
        if part.names is not None or part.others or is_lines or not self._seen_keys:
            return []
        absent = [
            rule.field
            for rule in part.fields
            if rule.field and rule.optional and rule.field not in self._seen_fields
        ]
        is_path = self.declaration.reads in ("json", "json-lines")
        known = tuple(self.declaration.input_fields) if absent else ()
        sentences: dict[tuple[str, ...], list[str]] = {}
        for name in absent:
            is_expected, unread = _names_beside(
                name, is_path, tuple(self._seen_keys), known, self.declaration.ignore
            )
            if unread or is_expected:
                sentences.setdefault(unread, []).append(name)
        return [
            f"{self.file}: the file has no {', '.join(names[:MAX_LISTED_NAMES])}"
            + ("; not read: " if unread else "")
            + ", ".join(unread[:MAX_LISTED_NAMES])
            + (f" and {len(unread) - MAX_LISTED_NAMES} more" * (len(unread) > MAX_LISTED_NAMES))
            for unread, names in sentences.items()
        ]

    def _count_missing(
        self,
        name: str,
        cells: Any,
        is_selected: np.ndarray | None,
        lines: Sequence[int] | np.ndarray,
    ) -> None:
        """Count the cells without any text of a column that has a number in each selected row."""
        if self._missing_cells is None:
            return
        is_absent = isinstance(cells, list) and all(cell is None for cell in cells)
        if self.declaration.reads == "pairs" and is_absent:  # a key of other snapshots
            return
        is_missing = _missing_mask(cells, bool(self.declaration.missing))
        if is_selected is not None and not is_selected.all():
            is_missing, lines = is_missing[is_selected], np.asarray(lines)[is_selected]
        self._missing_cells.add(name, is_missing, lines)

    def _numbers(self, chunk: Chunk, name: str) -> tuple[np.ndarray, Sequence[int] | np.ndarray]:
        """Numbers of a field of the table, or of a column that is none."""
        rule = next((rule for rule in self._field_rules if rule.record == name), None)
        if rule is not None:
            return self._values(chunk, rule)
        lines = chunk.column_lines(name)
        return self._number_parser.parse(chunk.column(name), lines, name, self._default_rule), lines

    def _check_texts(self, chunk: Chunk, names: Set[str]) -> None:
        """Raise `FormatError` at a cell of these columns with another text than those of `one_of`."""
        for name, patterns in self.part.one_of.items():
            if name not in names:
                continue
            is_allowed = self._condition_mask(chunk, {name: patterns}, True)
            if is_allowed.all():
                continue
            cells = _to_list(chunk.column(name))
            wrong = [row for row in np.flatnonzero(~is_allowed).tolist() if cells[row] is not None]
            if wrong:
                raise self.error(
                    f"{name} has a text that is not among those declared",
                    chunk.column_lines(name)[wrong[0]],
                    expected=" or ".join(patterns),
                    found=_cell_text(cells[wrong[0]]) or "nothing",
                    remedy="the line is damaged, or its columns are not those of the heading.",
                )

    def _check_missing(self) -> None:
        """Raise `FormatError` if a declared field is missing from the whole file."""
        required = [rule.field for rule in self.part.fields if not rule.optional]
        if not self._seen_keys:
            if required:
                problem = f"no row of {self.part.report or 'the table'} is in the file"
                raise self.error(problem, expected=f"rows with {', '.join(required[:5])}")
            return  # a table that the file may lack
        present: set[str] | dict[str, None] = self._seen_fields
        candidates = list(self._seen_keys)
        if self.part.names is not None:
            present, candidates = self._long_names, list(self._long_names)
            patterns = [r.field for r in self.part.fields if any(map(r.matches, candidates))]
            required = [name for name in required if name not in patterns]
        else:
            optional = self.part.entity.name if self.part.entity.optional else ()
            required += sorted(self._text_fields() - {*optional})
        declared = {rule.field for rule in self.part.fields}
        for name in required:
            if name not in present:
                similar = suggest_similar(name, [n for n in candidates if n not in declared])
                remedy = similar or (
                    "another version or option of the tool may not print it, or the file is truncated; a "
                    "field that some files lack is declared optional"
                )
                raise self.error(
                    f"{name!r} is missing from the file",
                    found=", ".join(self.first_field_names) or None,
                    remedy=remedy,
                )

    def _text_fields(self) -> set[str]:
        """Fields that hold no number of the table: entity names, conditions, times."""
        time, part = self._time, self.part
        entity_columns = () if part.entity.file is not None else part.entity.name
        fields = {
            *entity_columns,
            *part.where,  # rows without a field of `unless` are kept
            *(name for rule in part.fields for name in (*rule.where, *rule.unless)),
        }
        if time is not None and time.field is not None and not time.optional:
            fields |= {time.field, *filter(None, (time.plus, time.then))}
        return fields | ({part.names} if part.names else set())

    def _condition_mask(self, chunk: Chunk, condition: Condition, match_all: bool) -> np.ndarray:
        """Mask of the rows that fulfil all conditions, or any of them."""
        mask = np.full(len(chunk.lines), match_all)
        for name, patterns in condition.items():
            cells, codes = _factorize(chunk.column(name))
            # texts of one chunk often repeat
            matches = lru_cache(MAX_CACHED_TEXTS)(partial(_matches_any, patterns))
            is_match = np.array(
                [cell is not None and matches(_cell_text(cell)) for cell in cells], dtype=bool
            )
            is_match = is_match if codes is None else is_match[codes]
            mask = mask & is_match if match_all else mask | is_match
        return mask

    def _entity_codes(self, chunk: Chunk) -> np.ndarray:
        """Entity code of each row."""
        entity = self.part.entity
        columns = [chunk.column(name) for name in entity.name]
        if not entity.optional and entity.file is None:
            for name, column in zip(entity.name, columns, strict=True):
                self._count_missing(name, column, None, chunk.lines)
        from_columns = bool(columns) and entity.file is None and entity.line is None
        if from_columns and all(isinstance(column, pa.Array) for column in columns):
            return self._entity_codes_vectorized(columns, chunk)
        columns = [_to_list(column) for column in columns]
        entities_above = chunk.texts_above(ENTITY)
        if entity.line is not None:
            columns = [entities_above, *columns]
        entity_names = [
            " ".join(filter(None, map(_cell_text, cells))) for cells in zip(*columns, strict=True)
        ]
        entity_names = entity_names or [""] * len(chunk.lines)
        if (
            entity.line is not None
            and entity.file is None
            and not entity.optional
            and not all(entities_above)
        ):
            raise self.error(
                f"no line above names the {entity.kind}",
                chunk.lines[entities_above.index(None)],
                expected=f"a line that fully matches {entity.line}",
                remedy="the beginning of the file may be missing.",
            )
        is_named = not self._seen_fields.isdisjoint(entity.name) and not entity.optional
        if is_named and entity.file is None and not all(entity_names):
            self._raise_unnamed(chunk, entity_names.index(""))
        if entity.file is not None and not all(entity_names):
            if self._entity_from_file_name is None:
                raise self.error(
                    "neither the file nor its name gives the entity",
                    chunk.lines[0],
                    expected=f"a file name that matches {entity.file}",
                    remedy="rename the file.",
                )
            entity_names = [name or self._entity_from_file_name for name in entity_names]
        return np.array([self._entities[name] for name in entity_names], dtype=CODE)

    def _raise_unnamed(self, chunk: Chunk, row: int) -> None:
        name = " and ".join(self.part.entity.name)
        raise self.error(
            f"{name} is empty, but names the {self.part.entity.kind}",
            chunk.lines[row],
            expected=f"the name of a {self.part.entity.kind}",
            remedy="the line is damaged; correct or remove it.",
        )

    def _entity_codes_vectorized(self, columns: list[pa.Array], chunk: Chunk) -> np.ndarray:
        """Vectorised `_entity_codes` for names from columns: one lookup per combination."""
        combination = np.zeros(len(columns[0]), dtype=np.int64)
        texts: list[list[str]] = []
        for column in columns:
            names, codes = _factorize(column)
            assert codes is not None
            combination = combination * max(len(names), 1) + codes
            texts.append(names)
        if not self.part.entity.optional and all("" in names for names in texts):
            is_empty = [pc.equal(_decode(column), "") for column in columns]
            unnamed = np.all([mask.to_numpy(zero_copy_only=False) for mask in is_empty], axis=0)
            if unnamed.any():
                self._raise_unnamed(chunk, int(np.argmax(unnamed)))
        if len(columns) == 1:
            entity_codes = np.array([self._entities[name] for name in texts[0]], dtype=CODE)
            return entity_codes[combination]
        distinct, first, inverse = np.unique(combination, return_index=True, return_inverse=True)
        entity_codes = np.zeros(len(distinct), dtype=CODE)
        for number in np.argsort(first).tolist():
            remainder, names = int(distinct[number]), []
            for column in reversed(texts):
                remainder, code = divmod(remainder, max(len(column), 1))
                names.append(column[code])
            entity_codes[number] = self._entities[" ".join(filter(None, reversed(names)))]
        return entity_codes[inverse]

    def _times(self, chunk: Chunk, entity: np.ndarray) -> np.ndarray:
        time = self._time
        if time is None:
            return np.full(len(entity), np.nan)
        if time.field is None and time.line is None:
            entities = list(self._entities)
            entity_names = [entities[code] for code in entity.tolist()]
            names: Sequence[Any] = (
                _to_list(chunk.column(self.part.names))
                if self.part.names
                else chunk.pattern_indices or [""] * len(entity_names)
            )
            return self._time_parser.number_samples(
                [
                    f"{name}\n{_cell_text(other)}"
                    for name, other in zip(entity_names, names, strict=True)
                ]
            )
        if time.field is not None and time.line is not None:
            return self._times_of_either(chunk, time.field)
        cells = chunk.texts_above(TIME) if time.field is None else chunk.column(time.field)
        has_times = isinstance(cells, np.ndarray)
        if isinstance(cells, pa.Array) and len(cells):
            has_times = cells[0].as_py() != ""
        has_times = has_times or any(cell not in (None, "") for cell in _to_list(cells))
        self._has_times = has_times if self._has_times is None else self._has_times
        if time.optional and not (has_times and self._has_times):
            if has_times != self._has_times:
                raise self.error(
                    "only part of the file has times",
                    chunk.lines[0],
                    remedy="split it there.",
                )
            return np.full(len(entity), np.nan)
        if time.then is not None:
            second_part = chunk.column(time.then)
            if isinstance(cells, pa.Array) and isinstance(second_part, pa.Array):
                joined = pc.binary_join_element_wise(_decode(cells), _decode(second_part), " ")
                cells = pc.utf8_trim_whitespace(joined)
            else:
                pairs = zip(_to_list(cells), _to_list(second_part), strict=True)
                cells = [
                    f"{_cell_text(first)} {_cell_text(second)}".strip() for first, second in pairs
                ]
        plus = chunk.column(time.plus) if time.plus else None
        return self._time_parser.parse(cells, plus, chunk.lines)

    def _times_of_either(self, chunk: Chunk, field: str) -> np.ndarray:
        """Time in each row's field, else in the line above; NaN for rows without either."""
        above = chunk.texts_above(TIME)
        pairs = zip(_to_list(chunk.column(field)), above, strict=True)
        cells = [own if own not in (None, "") else other for own, other in pairs]
        present = np.flatnonzero([cell not in (None, "") for cell in cells])
        t = np.full(len(cells), np.nan)
        if len(present):
            lines = np.asarray(chunk.lines)[present]
            t[present] = self._time_parser.parse([cells[p] for p in present.tolist()], None, lines)
        self._has_times = bool(self._has_times or len(present))
        return t

    def _values(
        self, chunk: Chunk, rule: FieldRule
    ) -> tuple[np.ndarray, Sequence[int] | np.ndarray]:
        """Numbers of a rule, NaN where missing, and their lines."""
        lines = chunk.column_lines(rule.field)
        cells = chunk.column(rule.field)
        is_selected = self._is_selected(chunk, rule)
        if rule.needs:
            has_any = np.zeros(len(chunk.lines), dtype=bool)
            for name in rule.needs:
                others = self._number_parser.parse(
                    chunk.column(name), chunk.column_lines(name), name
                )
                has_any |= ~np.isnan(others) & (others != 0)
            is_selected &= has_any
        self._count_missing(rule.record, cells, is_selected, lines)
        if not is_selected.all():
            cells = _mask_cells(cells, is_selected)
        if rule.within is not None:
            cells = self._extract_values(_to_list(cells), lines, rule)
        if rule.suffix is not None:
            cells = _append_suffixes(cells, chunk.column(rule.suffix))
        values = self._number_parser.parse(cells, lines, rule.field, rule)
        for sign, names in ((1.0, rule.plus), (-1.0, rule.minus)):
            for name in names:
                others, other_lines = chunk.column(name), chunk.column_lines(name)
                values = values + sign * self._number_parser.parse(others, other_lines, name, rule)
        if rule.complement:
            values = 1.0 - values
        return values if rule.per is None else self._rates(chunk, values, rule.per), lines

    def _is_selected(self, chunk: Chunk, rule: FieldRule) -> np.ndarray:
        """Mask of the rows that a rule's conditions select."""
        return self._condition_mask(chunk, rule.where, True) & ~self._condition_mask(
            chunk, rule.unless, False
        )

    def _extract_values(
        self, cells: list[Any], lines: Sequence[int] | np.ndarray, rule: FieldRule
    ) -> list[Any]:
        """Extract the number within each cell; raises `FormatError` at a cell without one."""
        assert rule.within is not None
        missing = {*self.declaration.missing, ""}
        texts = [_cell_text(cell).strip() for cell in cells]
        present = [position for position, text in enumerate(texts) if text not in missing]
        array = pa.array([texts[position] for position in present], pa.string())
        is_match = full_match_mask(rule.within, array).to_numpy(zero_copy_only=False)
        if not is_match.all():
            first_mismatch = present[int(np.argmin(is_match))]
            raise self.error(
                f"{rule.field} does not match within of the declaration",
                lines[first_mismatch],
                expected=f"a cell that fully matches {rule.within}",
                found=texts[first_mismatch],
                remedy="the line may be damaged, or from another version or option of the tool; a "
                "declaration may have a wrong expression in within.",
            )
        extracted: list[Any] = [None] * len(cells)
        for position, text in zip(
            present, capture_groups(rule.within, array)["value"], strict=True
        ):
            extracted[position] = text
        return extracted

    def _rates(self, chunk: Chunk, counts: np.ndarray, name: str) -> np.ndarray:
        """Divide numbers by another of their row; raises `FormatError` if that is not above 0."""
        cells, lines = chunk.column(name), chunk.column_lines(name)
        seconds = self._number_parser.parse(cells, lines, name)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            rates = counts / seconds
        invalid = np.flatnonzero(~np.isnan(counts) & ~(np.isfinite(rates) & (seconds > 0)))
        if len(invalid):
            raise self.error(
                f"{name} is 0, below it, or too small to divide by",
                lines[invalid[0]],
                expected="a number above 0",
                found=_cell_text(cells[invalid[0]]).strip() or "nothing",
                remedy="if it is the length of an interval, correct or remove the row; if it is a "
                f'count that may be 0, leave such rows out: unless: {{{name}: "0"}} in the field.',
            )
        return rates

    def _rule_of(self, name: str) -> FieldRule | None:
        """Rule for the number of a name, in a table with names."""
        exact = self._rules.get(name)
        return exact or next((rule for rule in self._field_rules if rule.matches(name)), None)

    def _add_long_rows(
        self, chunk: Chunk, entity: np.ndarray, t: np.ndarray, names: str, value: str
    ) -> None:
        """Add rows in long form: one name and one number each."""
        cells, lines = chunk.column(value), np.asarray(chunk.column_lines(value), dtype=np.int64)
        field_names, codes = _factorize(chunk.column(names))
        if codes is None:
            codes, field_names = pd.factorize(
                np.array([_cell_text(cell) for cell in field_names], dtype=object)
            )
            field_names = list(map(str, field_names))
        if self.part.unnamed is None:
            self._count_missing(names, chunk.column(names), None, chunk.column_lines(names))
        else:
            field_names = [name or self.part.unnamed for name in field_names]
        self._long_names |= dict.fromkeys(field_names)
        rules = [self._rule_of(name) for name in field_names]
        is_selected = np.array(
            [
                bool(name) and (rule is not None or self.part.others)
                for name, rule in zip(field_names, rules, strict=True)
            ],
            dtype=bool,
        )
        self._count_missing(value, cells, is_selected[codes], lines)
        if isinstance(cells, np.ndarray):  # already parsed numbers
            record_codes = np.zeros(len(field_names), dtype=CODE)
            for position in np.flatnonzero(is_selected).tolist():
                rule = rules[position]
                record_codes[position] = self._fields[_record(rule, field_names[position])]
            kept_rows = np.flatnonzero(is_selected[codes] & ~np.isnan(cells))
            if (lines[1:] <= lines[:-1]).any():  # rows of one line are ordered by name
                kept_rows = kept_rows[np.lexsort((codes[kept_rows], lines[kept_rows]))]
            if len(kept_rows):
                columns = (entity, record_codes[codes], t, cells, lines)
                entity_names, code, times, values, line_numbers = (
                    column[kept_rows] for column in columns
                )
                self.parts.append((entity_names, code, times, values, line_numbers))
            return
        cells = _to_list(cells)
        by_name = np.split(
            np.argsort(codes, kind="stable"),
            np.cumsum(np.bincount(codes, minlength=len(field_names)))[:-1],
        )
        for name, rule, rows_of_name in zip(field_names, rules, by_name, strict=True):
            if not name or (rule is None and not self.part.others) or not len(rows_of_name):
                continue
            rows = chunk.take(rows_of_name)
            is_match = (
                self._is_selected(rows, rule) if rule else np.ones(len(rows_of_name), dtype=bool)
            )
            rule_cells = [
                cells[p] if fit else None for p, fit in zip(rows_of_name, is_match, strict=True)
            ]
            if rule is not None and rule.within is not None:
                rule_cells = self._extract_values(rule_cells, lines[rows_of_name], rule)
            if rule is not None and rule.suffix is not None:
                rule_cells = _append_suffixes(rule_cells, rows.column(rule.suffix))
            values = self._number_parser.parse(
                rule_cells, lines[rows_of_name].tolist(), name, rule or self._default_rule
            )
            self._store(
                entity[rows_of_name],
                _record(rule, name),
                t[rows_of_name],
                values,
                lines[rows_of_name].tolist(),
            )

    def _store_rows(
        self,
        entity: np.ndarray,
        t: np.ndarray,
        values_by_field: list[tuple[str, np.ndarray, Sequence[int] | np.ndarray]],
        lines: np.ndarray,
    ) -> None:
        """Keep several numbers per row in row order; all cells of a row are on one line."""
        n_fields, codes = (
            len(values_by_field),
            [self._fields[record] for record, _, _ in values_by_field],
        )
        values = np.stack([values for _, values, _ in values_by_field], axis=1).ravel()
        columns = (
            np.repeat(entity, n_fields),
            np.tile(np.array(codes, dtype=CODE), len(lines)),
            np.repeat(t, n_fields),
            values,
            np.repeat(lines, n_fields),
        )
        has_value = ~np.isnan(values)
        if not has_value.all():
            columns = tuple(column[has_value] for column in columns)
        if len(columns[0]):
            self.parts.append(columns)

    def _store(
        self,
        entity: np.ndarray,
        name: str,
        t: np.ndarray,
        values: np.ndarray,
        lines: Sequence[int] | np.ndarray,
    ) -> None:
        has_value = ~np.isnan(values)
        line_numbers = np.asarray(lines, dtype=np.int64)
        if not has_value.all():
            entity, t, values, line_numbers = (
                column[has_value] for column in (entity, t, values, line_numbers)
            )
        if len(values):
            code = np.full(len(values), self._fields[name], dtype=CODE)
            self.parts.append((entity, code, t, values, line_numbers))


def _record(rule: FieldRule | None, name: str) -> str:
    """Field name in the records for a number of that name."""
    return name if rule is None or rule.field != name else rule.record


def _append_suffixes(cells: Any, suffixes: Any) -> list[str | None]:
    """Append the text of another column to each number."""
    pairs = zip(_to_list(cells), _to_list(suffixes), strict=True)
    return [
        None if cell in (None, "") else f"{_cell_text(cell)}{_cell_text(suffix).strip()}"
        for cell, suffix in pairs
    ]


def _missing_mask(cells: Any, has_missing_words: bool) -> np.ndarray:
    """Mask of the cells without any text, not of those that melted rows lack; none if words for a
    missing value hide them.
    """
    if isinstance(cells, np.ndarray):
        return np.zeros(len(cells), dtype=bool) if has_missing_words else np.isnan(cells)
    if isinstance(cells, pa.DictionaryArray):
        return _missing_mask(cells.dictionary, has_missing_words)[cells.indices.to_numpy()]
    if isinstance(cells, pa.Array):
        is_empty = pc.equal(pc.utf8_trim_whitespace(cells), "")
        return pc.fill_null(is_empty, True).to_numpy(zero_copy_only=False)
    return np.array(
        [cell is None or (isinstance(cell, str) and not cell.strip()) for cell in cells]
    )


@lru_cache(maxsize=512)  # files of one tool lack the same fields beside the same names
def _names_beside(
    name: str,
    is_path: bool,
    seen_keys: tuple[str, ...],
    known_fields: tuple[str, ...],
    ignored: tuple[str, ...],
) -> tuple[bool, tuple[str, ...]]:
    """Whether other keys of an absent field's object are read, and names that no table reads.

    Beside a path are the other keys of the deepest object on it that the file has. The most similar
    names are first.
    """
    known, is_expected, missing = set(known_fields), False, name
    seen = list(seen_keys)
    if is_path:
        steps = name.split("/")
        depth = next(
            (
                depth
                for depth in range(len(steps) - 1, 0, -1)
                if any(key.startswith("/".join(steps[:depth]) + "/") for key in seen)
            ),
            0,
        )
        parent = "".join(f"{step}/" for step in steps[:depth])
        beside = [key.removeprefix(parent) for key in seen if key.startswith(parent)]
        seen = [parent + key.partition("/")[0] for key in beside]
        known = {"/".join(path.split("/")[: depth + 1]) for path in known}
        is_expected = 0 < depth == len(steps) - 1 and not known.isdisjoint(seen)
        missing = "/".join(steps[: depth + 1])
    unread = [key for key in dict.fromkeys(seen) if key and key not in known]
    unread = [key for key in unread if not any(matches_whole(text, key) for text in ignored)]
    last = missing.rpartition("/")[2] if is_path else missing
    similarity = {
        key: _similarity(key.rpartition("/")[2] if is_path else key, last) for key in unread
    }
    if missing != name:  # versions differ in whole objects, so only a similar one tells
        unread = [key for key in unread if similarity[key] >= SIMILAR]
    is_expected = is_expected and not any(matches_whole(text, name) for text in ignored)
    return is_expected, tuple(sorted(unread, key=lambda key: -similarity[key]))


def _similarity(name: str, other: str) -> float:
    """Similarity of two names, from 0 to 1; names of which one begins with the other are similar."""
    if name.startswith(other) or other.startswith(name):
        return 1.0
    return SequenceMatcher(None, name, other).ratio()


def _matches_any(patterns: tuple[str, ...], text: str) -> bool:
    return any(fnmatchcase(text, pattern) for pattern in patterns)


def _to_list(cells: Any) -> Any:
    return cells.to_pylist() if isinstance(cells, pa.Array) else cells


def _decode(cells: pa.Array) -> pa.Array:
    """Decode a dictionary-encoded array."""
    return cells.dictionary_decode() if isinstance(cells, pa.DictionaryArray) else cells


def _factorize(cells: Any) -> tuple[Any, np.ndarray | None]:
    """Factorize an array: distinct texts in order of first occurrence, and codes; keep a list."""
    if not isinstance(cells, pa.Array):
        return cells, None
    if not isinstance(cells, pa.DictionaryArray):
        cells = cells.dictionary_encode()
    return cells.dictionary.to_pylist(), cells.indices.to_numpy()


def _mask_cells(cells: Any, mask: np.ndarray) -> Any:
    """Mask cells: None, or NaN, in rows that do not count."""
    if isinstance(cells, np.ndarray):
        return np.where(mask, cells, np.nan)
    if isinstance(cells, pa.Array):
        return pc.if_else(pa.array(mask), _decode(cells), pa.scalar(None, pa.string()))
    return [cell if is_kept else None for cell, is_kept in zip(cells, mask, strict=True)]


def _cell_text(cell: Any) -> str:
    """Cell as text; booleans as in JSON."""
    if cell is None:
        return ""
    return str(cell).lower() if isinstance(cell, bool) else str(cell)
