"""Reader of the counters of ``netstat -s`` on Linux (net-tools).

Source: ``statistics.c`` of net-tools.
"""

from __future__ import annotations

import re
import sys
from functools import partial

from rawperf.base import Reading
from rawperf.core.errors import FormatError
from rawperf.core.sample_rows import HOST
from rawperf.recognition import Recognised
from rawperf.rows import RecordBuilder, Warnings, split_lines
from rawperf.text import decode

SPELLINGS = (
    (r"\bsend out\b", "sent out"),
    (r"\bretransmited\b", "retransmitted"),
    (r"\bpacketes\b", "packets"),
    (r"\bconnections openings\b", "connection openings"),
    (r"\bpackets header predicted\b", "packet headers predicted"),
    (r"\bpackets rejects in\b", "packets rejected in"),
    (r"\bnot containing data received\b", "not containing data payload received"),
    (
        r"\brecovered from packet loss due to SACK data\b",
        "recovered from packet loss by selective acknowledgements",
    ),
)
"""Older wordings of net-tools and their replacements in field names.

A final full stop is dropped too.
"""

_WORDS_ONLY = re.compile(r"(Forwarding is|RTO algorithm is) \S+")  # settings without a number
_SECTION = re.compile(r"([A-Za-z][A-Za-z0-9]*):")
_HISTOGRAM = re.compile(r"(ICMP (?:input|output) histogram):")
_NUMBER = re.compile(r"(?<![^\s])\d{1,20}(?![^\s])", re.ASCII)


class NetstatFormat(Recognised):
    """Reader of a ``netstat -s`` snapshot."""

    name = "netstat"
    title = "netstat -s snapshot (Linux)"

    def read(self, data: bytes, *, file: str = "<bytes>") -> Reading:
        """Read a snapshot.

        ``report`` is the section (``Tcp``), ``field`` the line without its number, in the spelling
        of `SPELLINGS`. A number inside a line leaves ``#`` in the field; lines of the ICMP
        histograms carry the histogram's title.

        Raises `FormatError` at a line without exactly one number, a counter or section that occurs
        twice, and a line before the first section.
        """
        text, decode_warnings = decode(data, file)
        lines, is_complete = split_lines(text)
        warnings, rows = Warnings(file, decode_warnings), RecordBuilder()
        section = histogram = ""
        titles_indent = sys.maxsize
        seen: set[tuple[str, str]] = set()  # counters, and sections with ""
        for number, line in enumerate(lines, start=1):
            error = partial(FormatError, file=file, line=number)
            words = " ".join(line.split())
            if not words or (section and _WORDS_ONLY.fullmatch(words)):
                continue
            if number == len(lines) and not is_complete:  # words or digits may be missing
                warnings.add(number, "the file is truncated; this line was left out")
            elif (match := _SECTION.fullmatch(words)) and _indent(line) <= titles_indent:
                titles_indent = _indent(line)
                section, histogram = match[1], ""
                if (section, "") in seen:
                    raise error(
                        f"section {section} occurs twice", remedy="keep one snapshot per file."
                    )
                seen.add((section, ""))
            elif match := _HISTOGRAM.fullmatch(words):
                histogram = match[1] + ": "
            elif not section:
                remedy = "remove lines that netstat -s did not print."
                raise error(
                    "a line before the first section",
                    expected="a title such as Tcp:",
                    found=words,
                    remedy=remedy,
                )
            else:
                field, value = _parse_counter(words, error)
                if histogram and re.match(r"\d", words):
                    histogram = ""  # histogram lines have their number at the end
                if (section, histogram + field) in seen:
                    raise error(f"{field!r} occurs twice in {section}", found=words)
                seen.add((section, histogram + field))
                rows.line = number
                rows.add(section, HOST, "", histogram + field, value)
        if not seen:
            raise FormatError(
                "no section in the file", file=file, line=1, expected="the output of netstat -s"
            )
        return Reading(rows.to_frame(), "none", {}, warnings.messages(), rows.lines())


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _parse_counter(words: str, error: partial[FormatError]) -> tuple[str, float]:
    """Field and value of one line; the number is first, last after a colon, or once inside."""
    matches = list(_NUMBER.finditer(words))
    if matches and (matches[0].start() == 0 or words[: matches[-1].start()].endswith(": ")):
        match = matches[0] if matches[0].start() == 0 else matches[-1]
        field = (words[: match.start()] + words[match.end() :]).strip().removesuffix(":")
    elif len(matches) == 1:
        match = matches[0]
        field = f"{words[: match.start()]}#{words[match.end() :]}"
    else:
        remedy = "it may come from another version, from a locale other than C, or be damaged."
        raise error("not a counter", expected="a line with one number", found=words, remedy=remedy)
    if match.start() == 0 and len(matches) > 1:
        raise error("two numbers of one name", expected="a line with one number", found=words)
    field = field.removesuffix(".")
    for old, new in SPELLINGS:
        field = re.sub(old, new, field)
    if not field:
        raise error("a number without a name", found=words)
    return field, float(match[0])


FORMAT = NetstatFormat()
