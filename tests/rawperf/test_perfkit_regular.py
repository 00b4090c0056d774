"""Regular pages of listings: their rows, found by array operations, are those that are found line by line."""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.raw_files import SEED, perfkit
from rawperf import Reading, pieces
from rawperf.core.errors import FormatError
from rawperf.perfkit import read, regular
from rawperf.perfkit.read import FORMAT
from rawperf.perfkit.values import BLANK, letters_of, number, numbers, plain_numbers
from tests.rawperf.mutations import mutant
from tests.rawperf.test_blocks import SIZES, same
from tests.rawperf.test_perfkit import (
    PAGES,
    PARTITIONS,
    PROCESSOR_LOG,
    PROCESSORS,
    SEGMENTS,
    SPACES,
    USER_HEADING,
    USER_ROWS,
    header,
    log,
)
from tests.rawperf.trial import FILE, INPUTS

USERS = USER_HEADING + "\n" + USER_ROWS
TIMES = [f"{minute // 60:02d}:{minute % 60:02d}:00" for minute in (1438, 1439, 0, 1, 2, 3)]
OTHER_COLUMNS = """\
           <-Page Rate->
 Userid      Reads  Write  WSS  Fresh  Fresh Text

 LNWEB1          5      6   70      8      9 ab
 LNWEB2         .5   ----  70K    8.1    xx9 ab
 LNWEB3         .5      6          ..  1.2.3
"""


def minutes(report: str, *bodies: str, day: str = "") -> list[str]:
    """Pages of a few minutes past midnight; of several bodies each minute has one page."""
    return [
        "".join(header(report, day + begin, day + end) + body for body in bodies)
        for begin, end in pairwise(TIMES)
    ]


def mixed(*reports: list[str]) -> str:
    return "".join(page for minute in zip(*reports, strict=True) for page in minute)


def processor_log(rows: str) -> str:
    top = header("FCX304", "23:58:00", "00:00:00").replace("    60 Secs 00:01", "   120 Secs 00:02")
    return top + rows


SCREENS = [
    f" FCX100      CPU 2094  SER 0A1B2  Interval {begin} - {end}    Remote Data\n\n{PROCESSORS}"
    for begin, end in pairwise(TIMES)
]
WHOLE_LOG = PROCESSOR_LOG.replace("            1 CP", " 00:00:00   1 CP")
LISTINGS = [
    text.encode()
    for text in (
        mixed(minutes("FCX112", USERS), minutes("FCX100", PROCESSORS)),
        mixed(minutes("FCX112", USERS, USERS.replace("LNWEB1", "LNWEB2").replace("DB", "DC"))),
        mixed(minutes("FCX133", SEGMENTS), minutes("FCX134", SPACES)),
        mixed(
            minutes("FCX126", PARTITIONS),
            *(minutes(report, body) for report, body in PAGES.items()),
        ),
        mixed(
            minutes("FCX113", OTHER_COLUMNS),
            minutes("FCX100", PROCESSORS + " Total SSCH/RSCH    57/s\n"),
        ),
        mixed(minutes("FCX112", USERS, day="2008/05/06 "))
        + mixed(minutes("FCX112", USERS, day="2008/05/08 ")),
        log(">>Mean>>", *TIMES[1:3])
        + log(">>Mean>>", TIMES[3])
        + log(TIMES[4], begin="23:58:00", end="00:02:00"),
        "".join(map(processor_log, (WHOLE_LOG, WHOLE_LOG, PROCESSOR_LOG, WHOLE_LOG))),
        "".join(SCREENS),
        "".join(islice(perfkit(np.random.default_rng(SEED), 12), 3)),
    )
]


def outcome(data: bytes) -> Reading | str:
    try:
        return FORMAT.read(data, file=FILE)
    except FormatError as err:
        return f"{err.line} {err}"


def by_line(data: bytes, patch: pytest.MonkeyPatch) -> Reading | str:
    """What a listing gives when no page is taken for a regular one."""
    with patch.context() as without:
        without.setattr(regular.Template, "rows", lambda *_: [])
        return outcome(data)


def headers(data: bytes, patch: pytest.MonkeyPatch) -> int:
    """How many pages of a listing are read line by line."""
    lines: list[int] = []
    with patch.context() as counting:
        whole = read.read_header
        counting.setattr(read, "read_header", lambda *page: lines.append(page[1]) or whole(*page))
        FORMAT.read(data)
    return len(lines)


@pytest.mark.parametrize("listing", range(len(LISTINGS)))
def test_a_regular_page_gives_what_its_lines_give(
    listing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = LISTINGS[listing]
    found, wanted = outcome(data), by_line(data, monkeypatch)
    assert isinstance(found, Reading) and isinstance(wanted, Reading)
    assert same(found, wanted)
    assert list(found.info.items()) == list(wanted.info.items())
    assert headers(data, monkeypatch) < data.count(b"FCX")
    for size in SIZES:
        monkeypatch.setattr(pieces, "PIECE", size)
        assert same(FORMAT.read(data, file=FILE), found)


def test_so_does_a_damaged_listing(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in range(2 * INPUTS):
        data, history = mutant(LISTINGS, place)
        found, wanted = outcome(data), by_line(data, monkeypatch)
        if isinstance(found, Reading) and isinstance(wanted, Reading):
            assert same(found, wanted), f"mutant {place} ({history})"
            assert (found.warnings, [*found.info]) == (wanted.warnings, [*wanted.info])
        else:
            assert found == wanted, f"mutant {place} ({history})"


def test_most_pages_of_a_long_listing_are_regular(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of each report is not, and of a page that is not no more than itself."""
    text = "".join(islice(perfkit(np.random.default_rng(SEED), 20), 30))
    assert headers(text.encode(), monkeypatch) == 2
    assert headers(text.replace(" LINUX007", " LINUX 07", 2).encode(), monkeypatch) == 3
    assert headers(text.replace("To   00:20:00", "To   00:20:01").encode(), monkeypatch) == 2
    message = text.replace("\n LINUX008", "\nFCXPER315A Limit exceeded\n LINUX008")
    assert headers(message.encode(), monkeypatch) == text.count("1FCX112") + 1


def test_a_changing_header_is_not_compared_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    pages = "".join(
        header("FCX112", run=f"2008/05/06 10:11:{second:02d}") + USERS for second in range(60)
    )
    whole = regular.Template.rows
    monkeypatch.setattr(
        regular.Template,
        "rows",
        lambda self, part, pages: tried.append(len(pages)) or whole(self, part, pages),
    )
    FORMAT.read(pages.encode())
    assert len(tried) == read.NEWS


CELLS = st.one_of(
    st.from_regex(r"[0-9]{0,12}\.?[0-9]{0,12}", fullmatch=True),
    st.text("0123456789.'-KMG% \t\0\xa0\u2003\xe9", max_size=9),
    st.sampled_from(
        [
            "---",
            "....",
            "8'192MB",
            "12 B",
            "1761K",
            ".",
            "..",
            "1.2.3",
            "9" * 25,
            "5.",
            ".5",
            "1e5",
            "nan",
            "+1",
        ]
    ),
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.tuples(CELLS, st.integers(0, 1)), min_size=1, max_size=6))
def test_plain_numbers_are_numbers(rows: list[tuple[str, int]]) -> None:
    """What is not left to `numbers` is what `numbers` makes of it, whatever stands in the cells beside."""
    width = 28
    texts = [(text + " " * behind).rjust(width) for text, behind in rows]
    letters = np.array([letters_of(text[:4] + text, 4 + width) for text in texts])
    values, others = plain_numbers(letters, [(0, 4), (4, 4 + width)])
    for text, value, other in zip(texts, values[:, 1], others[:, 1], strict=True):
        wanted = numbers([text.strip()], "1")[0]
        assert other or (
            wanted is not None and (value == wanted or (value != value and wanted != wanted))
        )
        plain = (
            text.strip(" ").replace(".", "", 1).isdecimal()
            and text.isascii()
            and not text.endswith(" ")
        )
        assert other != (plain and len(text.strip()) <= 24) or not text.strip(" ")
    assert values.shape == others.shape == (len(rows), 2)
    assert np.isnan(values[others]).all()


def test_letters_keep_white_space_apart_from_damage() -> None:
    assert letters_of("a\tb\u2003", 5).tolist() == [ord("a"), 0xA0, ord("b"), 0xA0, BLANK]
    assert letters_of("\0\1\x7f\u20ac", 4).tolist() == [0, ord("?"), 0x7F, ord("?")]
    assert number(letters_of("\u200312", 3).tobytes().decode("latin-1"), "1") == 12
