"""Reader of SwingBench's results as JSON: the XML's document, exported from a database."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rawperf.base import ParsedFile
from rawperf.core.errors import FormatError
from rawperf.json_lines import SURROGATE, first_line, parse_document
from rawperf.recognition import Recognised
from rawperf.swingbench.results import FIELDS, NAMESPACE, READINGS, TRANSACTIONS, ResultCollector
from rawperf.swingbench.xml import ID, METRICS, RESULT, ROOT
from rawperf.text import decode


class SwingbenchJson(Recognised):
    """Reader of the JSON; see docs/formats/swingbench-json.md."""

    name = "swingbench-json"
    title = "SwingBench results (JSON)"

    def read(self, data: bytes, *, file: str = "<bytes>") -> ParsedFile:
        """Read the records, equal to those of `swingbench` for the XML of the same run.

        Raises `FormatError`: invalid JSON, a duplicate key, another structure, and the errors of
        `ResultCollector`.
        """
        text, warnings = decode(data, file)
        document, lines = parse_document(
            text,
            file,
            'the complete object {"Results": ...}',
            parse_int=str,
            parse_float=str,
            parse_constant=str,
        )
        root = _require_object(
            document.get(ROOT) if isinstance(document, dict) else None, ROOT, file
        )
        results = ResultCollector(file)
        for section, content in root.items():
            at = lines[ROOT][section]
            if section == NAMESPACE:
                results.info[NAMESPACE] = _scalar_text(content, section, file)
            elif section == TRANSACTIONS:
                _add_transactions(results, _require_object(content, section, file), at)
            elif section == METRICS:
                for name, value in _require_object(content, section, file).items():
                    if name == READINGS:
                        results.add_readings(_scalar_text(value, name, file), at[name])
                    else:
                        results.note_unread(f"{section}/{name}")
            elif section in FIELDS:
                for name, value in _require_object(content, section, file).items():
                    if isinstance(value, dict | list):
                        results.note_unread(f"{section}/{name}")
                    else:
                        results.add(section, "", name, _scalar_text(value, name, file), at[name])
            else:
                results.note_unread(section)
        parsed = results.parsed_file()
        return replace(parsed, warnings=(*warnings, *parsed.warnings))


def _add_transactions(results: ResultCollector, content: dict[str, Any], lines: Any) -> None:
    """Add the results of the transactions; `lines` has the line of each value in its place."""
    for key, member in content.items():
        if key != RESULT:
            results.note_unread(f"{TRANSACTIONS}/{key}")
            continue
        is_single = not isinstance(member, list)  # a single result may lack its list
        for result, at in zip(
            *([part] if is_single else part for part in (member, lines[key])), strict=True
        ):
            values = _require_object(result, RESULT, results.file)
            transaction = _scalar_text(values.get(ID, ""), ID, results.file).strip()
            if not transaction:
                raise FormatError(
                    "a Result without an id",
                    file=results.file,
                    line=first_line(at),
                    expected="the transaction's name",
                )
            for name, value in values.items():
                if isinstance(value, dict | list):
                    results.note_unread(f"{TRANSACTIONS}/{RESULT}/{name}")
                elif name != ID:
                    results.add(
                        TRANSACTIONS,
                        transaction,
                        name,
                        _scalar_text(value, name, results.file),
                        at[name],
                    )


def _require_object(value: Any, name: str, file: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FormatError(
            f"{name!r} is not an object",
            file=file,
            expected="an object of names and strings",
            found=repr(value)[:60],
        )
    return value


def _scalar_text(value: Any, name: str, file: str) -> str:
    """Text of a scalar: numbers and booleans as printed, null as ""."""
    text = "" if value is None else str(value).lower() if isinstance(value, bool) else value
    if not isinstance(text, str) or SURROGATE.search(text):
        raise FormatError(
            f"{name!r} is not a string", file=file, expected="a string", found=repr(value)[:60]
        )
    return text


FORMAT = SwingbenchJson()
