"""Reader of the counters of ``netstat -s`` on Linux (net-tools).

Source: ``statistics.c`` of net-tools.
"""

from __future__ import annotations

import re
import sys

from rawperf.core.sample_rows import HOST
from rawperf.listing import TRUNCATED_LINE, LineListing, ListingFormat

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


class NetstatListing(LineListing):
    """A snapshot.

    ``report`` is the section (``Tcp``), ``field`` the line without its number, in the spelling of
    `SPELLINGS`. A number inside a line leaves ``#`` in the field; lines of the ICMP histograms carry
    the histogram's title.

    Refused are a line without exactly one number, a counter or section that occurs twice, and a
    line before the first section.
    """

    name = "netstat"
    title = "netstat -s snapshot (Linux)"
    reads_whole = True

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self._section = self._histogram = ""
        self._titles_indent = sys.maxsize
        self._seen: set[tuple[str, str]] = set()  # counters, and sections with ""

    def parse_line(self, line: str, number: int, is_truncated: bool) -> None:
        words = " ".join(line.split())
        indent = len(line) - len(line.lstrip())
        if not words or (self._section and _WORDS_ONLY.fullmatch(words)):
            return
        if is_truncated:  # words or digits may be missing
            self.warnings.add(number, TRUNCATED_LINE)
        elif (match := _SECTION.fullmatch(words)) and indent <= self._titles_indent:
            self._titles_indent = indent
            self._section, self._histogram = match[1], ""
            if (match[1], "") in self._seen:
                remedy = "keep one snapshot per file."
                raise self.error(f"section {match[1]} occurs twice", number, remedy=remedy)
            self._seen.add((match[1], ""))
        elif match := _HISTOGRAM.fullmatch(words):
            self._histogram = match[1] + ": "
        elif not self._section:
            problem, remedy = (
                "a line before the first section",
                "remove lines that netstat -s did not print.",
            )
            raise self.error(problem, number, "a title such as Tcp:", words, remedy)
        else:
            field, value = self._parse_counter(words, number)
            if self._histogram and re.match(r"\d", words):
                self._histogram = ""  # histogram lines have their number at the end
            counter = (self._section, self._histogram + field)
            if counter in self._seen:
                problem = f"{field!r} occurs twice in {self._section}"
                raise self.error(problem, number, found=words)
            self._seen.add(counter)
            self.rows.add(self._section, HOST, "", self._histogram + field, value)

    def finish(self) -> None:
        if not self._seen:
            raise self.error("no section in the file", 1, "the output of netstat -s")

    def _parse_counter(self, words: str, number: int) -> tuple[str, float]:
        """Field and value of one line; the number is first, last after a colon, or once inside."""
        matches = list(_NUMBER.finditer(words))
        expected = "a line with one number"
        if matches and (matches[0].start() == 0 or words[: matches[-1].start()].endswith(": ")):
            match = matches[0] if matches[0].start() == 0 else matches[-1]
            field = (words[: match.start()] + words[match.end() :]).strip().removesuffix(":")
        elif len(matches) == 1:
            match = matches[0]
            field = f"{words[: match.start()]}#{words[match.end() :]}"
        else:
            remedy = "it may come from another version, from a locale other than C, or be damaged."
            raise self.error("not a counter", number, expected, words, remedy)
        if match.start() == 0 and len(matches) > 1:
            raise self.error("two numbers of one name", number, expected, words)
        field = field.removesuffix(".")
        for old, new in SPELLINGS:
            field = re.sub(old, new, field)
        if not field:
            raise self.error("a number without a name", number, found=words)
        return field, float(match[0])


FORMAT = ListingFormat(NetstatListing)
