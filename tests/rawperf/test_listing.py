"""What all listings share: parts, encoding, warnings, a truncated end, the result."""

from __future__ import annotations

import io

import pytest

from rawperf.base import Streaming, concat_parts
from rawperf.core.errors import FormatError
from rawperf.listing import TRUNCATED_LINE, LineListing, Listing, ListingFormat, ListingPart


class Numbers(LineListing):
    """A number a line; the host's name on lines that begin with #."""

    name = "numbers"
    title = "numbers"
    clock = "sample"

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.count = 0

    def parse_line(self, line: str, number: int, is_truncated: bool) -> None:
        if line.startswith("#"):
            self.info["host"] = line[1:]
        elif is_truncated:
            self.warnings.add(number, TRUNCATED_LINE)
        else:
            self.rows.add("", "host", "", "n", float(line), self.count)
            self.count += 1

    def finish(self) -> None:
        if not self.count:
            raise self.error("no number", expected="a number a line")


class WholeNumbers(Numbers):
    """The same, whose number of lines is needed before the first one."""

    reads_whole = True

    def parse(self, part: ListingPart) -> tuple:
        self.info["lines"] = str(part.text.count("\n"))
        return super().parse(part)


class Pairs(Numbers):
    """The same, in parts of two lines each; a part of notes gives no records."""

    def cut(self, lines: bytes, lines_before: int) -> int:
        assert lines_before % 2 == 0
        return len(b"".join(lines.splitlines(keepends=True)[:2])) if lines.count(b"\n") > 1 else 0


LINES = b"#h\xe9\r\n1\n2\n3\n#other\n4\n5\n"


@pytest.mark.parametrize("listing", [Numbers, WholeNumbers, Pairs])
@pytest.mark.parametrize("size", [1, 5, 1000])
def test_parts_of_any_size_are_one_listing(
    listing: type[Listing], size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = ListingFormat(listing)
    assert isinstance(form, Streaming) and (form.name, form.title) == ("numbers", "numbers")
    monkeypatch.setattr("rawperf.text.PIECE_BYTES", size)
    parts = list(form.blocks(io.BytesIO(LINES + b"6"), file="f"))
    found = concat_parts(parts)
    assert found.records["value"].tolist() == [1, 2, 3, 4, 5]
    assert found.records["t"].tolist() == [0, 1, 2, 3, 4]
    assert found.lines is not None and found.lines.tolist() == [2, 3, 4, 6, 7]
    assert found.warnings == (
        "f line 1: not UTF-8; such lines were read as Latin-1",
        f"f line 8: {TRUNCATED_LINE}",
    )
    assert (found.clock, found.info["host"]) == ("sample", "other")
    assert (len(parts) > 1) == (size < len(LINES) and not listing.reads_whole)


@pytest.mark.parametrize("listing", [Numbers, WholeNumbers])
@pytest.mark.parametrize(
    ("data", "problem"),
    [(b"#only\n", "f: no number; expected a number a line"), (b"1\n\0\n", "f line 2: a NUL")],
)
def test_errors_name_file_and_line(listing: type[Listing], data: bytes, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        ListingFormat(listing).read(data, file="f")
