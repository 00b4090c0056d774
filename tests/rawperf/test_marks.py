"""Byte order marks and terminal colours do not change readings."""

from __future__ import annotations

from rawperf import all_formats
from rawperf.registry import choose_format
from tests.cases import each_case
from tests.rawperf.seeds import FORMATS, SEEDS
from tests.rawperf.trial import read_whole

NAMES = {
    "fio-log-bw": "a_bw.1.log",
    "fio-log-iops": "a_iops.1.log",
    "fio-log-latency": "a_clat.1.log",
}
"""Formats recognised by file name only."""

BOM = b"\xef\xbb\xbf"


def coloured(data: bytes) -> bytes:
    """Every complete line between escape sequences; documents are not coloured."""
    *lines, last = data.split(b"\n")
    return (
        data
        if data.startswith((b"<", b"{"))
        else b"".join(b"\x1b[1;32m%b\x1b[0m\n" % line for line in lines) + last
    )


@each_case("name", FORMATS)
def test_byte_order_marks_and_colours_are_dropped(name: str) -> None:
    form, data = all_formats()[name], SEEDS[name][0]
    plain = read_whole(form, data)
    for changed in (BOM + data, coloured(data)):
        file = NAMES.get(name, "<bytes>")
        assert choose_format(changed, file, None, file=file) == choose_format(
            data, file, None, file=file
        )
        found = read_whole(form, changed)
        assert found.records.equals(plain.records)
        assert (found.clock, found.info) == (plain.clock, plain.info)
