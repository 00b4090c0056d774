"""sar: real listings, clocks and dates, restarts, round trip, damage."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from rawperf import sniff
from rawperf.base import ParsedFile
from rawperf.core.errors import FormatError
from rawperf.sar.read import FORMAT
from rawperf.sar.sysstat_table import parse_seconds
from tests.cases import each_case

LINE = "Linux 2.6.18 (guest1) \t2019-04-18 \t_s390x_\t(2 CPU)\n"
CPU = "        CPU     %user     %idle\n"


def epoch(*when: int) -> float:
    return datetime(*when, tzinfo=UTC).timestamp()


def get(
    reading: ParsedFile, report: str, entity: str, field: str, t: float | None = None
) -> list[float]:
    r = reading.records
    mask = (r["report"] == report) & (r["entity"] == entity) & (r["field"] == field)
    return r.loc[mask & (True if t is None else r["t"] == t), "value"].tolist()


def test_repeated_heading_followed_by_an_average():
    text = f"{LINE}\n10:00:00{CPU}10:00:10        all      1.00     99.00\n\n10:00:10{CPU}10:00:20        all      2.00     98.00\n\n10:00:20{CPU}Average:        all      1.50     98.50\n"
    reading = FORMAT.read(text.encode())
    assert get(reading, "cpu", "all", "%user") == [1, 2]
    assert reading.records["t"].unique().tolist() == [
        epoch(2019, 4, 18, 10, 0, 10),
        epoch(2019, 4, 18, 10, 0, 20),
    ]


def test_offline_processor_in_a_sample():
    text = f"{LINE}\n10:00:00{CPU}10:00:10        all      1.00     99.00\n10:00:10          6      1.00     99.00\n10:00:20        all      2.00     98.00\n"
    reading = FORMAT.read(text.encode())
    assert get(reading, "cpu", "6", "%idle", epoch(2019, 4, 18, 10, 0, 20)) == []
    assert get(reading, "cpu", "all", "%idle") == [99, 98]


@each_case(
    ("printed", "iso", "warned"),
    [
        ("2009-01-03", "2009-01-03", 0),
        ("12/31/09", "2009-12-31", 0),
        ("31/12/2009", "2009-12-31", 0),
        ("02/03/2009", "2009-02-03", 1),
        ("02/02/09", "2009-02-02", 0),
        ("03.02.2009", "2009-02-03", 0),
    ],
)
def test_dates(printed, iso, warned):
    reading = FORMAT.read(
        f"Linux 2.6.18 (h) {printed}\n\n10:00:00{CPU}10:00:10        all      1.00     99.00\n".encode()
    )
    assert reading.info["date"] == iso
    assert len(reading.warnings) == warned
    assert set(reading.records["t"]) == {
        datetime.fromisoformat(f"{iso}T10:00:10+00:00").timestamp()
    }


def test_unreadable_date_and_decimal_comma():
    reading = FORMAT.read(
        f"Linux 2.6.18 (h) heute\n\n23:59:50{CPU}00:00:10        all      1,25     98,75\n".encode()
    )
    assert reading.clock == "time-of-day"
    assert set(reading.records["t"]) == {10}
    assert get(reading, "cpu", "all", "%user") == [1.25]


def test_activities_cross_midnight_independently():
    block = "\n22:00:00{0}23:00:00        all      1.00     99.00\n01:00:00        all      1.00     99.00\n"
    queue = "\n22:00:00      runq-sz  plist-sz\n23:00:00            3       956\n01:00:00            4       956\nAverage: 3 956\n"
    reading = FORMAT.read((LINE + block.format(CPU) + queue).encode())
    want = [epoch(2019, 4, 18, 23), epoch(2019, 4, 19, 1)]
    assert reading.records["t"].unique().tolist() == want
    assert get(reading, "queue", "", "runq-sz", want[1]) == [4]


def test_unknown_activity_gets_a_name_from_its_fields():
    reading = FORMAT.read(
        f"{LINE}\n10:00:00        THING     foo/s       bar\n10:00:01            x      2.00      1.00\n".encode()
    )
    assert set(reading.records["report"]) == {"foo/s+bar"}
    assert get(reading, "foo/s+bar", "x", "foo/s") == [2]


def test_columns_are_found_by_name():
    reading = FORMAT.read(
        f"{LINE}\n10:00:00        CPU     %idle     %user\n10:00:01        all     90.00     10.00\n".encode()
    )
    assert get(reading, "cpu", "all", "%user") == [10]


def test_truncated_file():
    text = f"{LINE}\n10:00:00{CPU}10:00:10        all      1.00     99.00\n10:00:10          0      1.00     99.00\n"
    text += "10:00:20        all      2.00     98.00\n10:00:20          0      2.00     9"
    reading = FORMAT.read(text.encode())
    assert get(reading, "cpu", "all", "%user") == [1]  # the second sample lacks cpu 0
    assert "line 7" in reading.warnings[0]


@each_case(
    ("text", "line", "part"),
    [
        ("", 1, "system line"),
        ("10:00:00 CPU %idle\n", 1, "system line"),
        (f"{LINE}\n10:00:00{CPU}10:00:10 all 1.00\n10:00:20 all 1.00 9.00\n", 4, "does not fit"),
        (f"{LINE}\n10:00:00{CPU}10:00:10 all 1.00 x\n10:00:20 all 1.00 9.00\n", 4, "not a number"),
        (f"{LINE}\n10:00:00{CPU}10:61:10 all 1.00 3.00\n", 4, "time of day"),
        (f"{LINE}\n10:00:00{CPU}13:01:10 PM all 1.00 3.00\n", 4, "12-hour"),
        (f"{LINE}\n10:00:00{CPU}xx\n\n", 4, "not a line"),
        (f"{LINE}\n10:00:00{CPU}{LINE}", 4, "second system line"),
        (f"{LINE}10:00:00 all 1.00 3.00\n", 2, "before the first heading"),
    ],
)
def test_errors_report_the_line_number(text, line, part):
    with pytest.raises(FormatError, match=part) as caught:
        FORMAT.read(text.encode())
    assert caught.value.line == line


BASE = (
    f"{LINE}\n10:00:00{CPU}10:00:10        all      1.00     99.00\n10:00:10          0      1.00     99.00\n\n"
    "10:00:00 MBfsfree %fsused FILESYSTEM\n10:00:10 5 6.5 /dev/sda\nAverage: 5 6.5 /dev/sda\n\n10:01:00 LINUX RESTART\n"
).encode()


def test_sniff():
    assert FORMAT.sniff(BASE) > 0.9
    assert FORMAT.sniff(b"Linux 2.6.18 (h) 01/01/09\n\nTime: 10:00:00\navg-cpu: %user\n") < 0.5


def test_tables_of_one_activity_cross_midnight_independently():
    # RHEL 4 and 5 print proc/s and cswch/s in separate tables, newer versions in one
    days = ("23:00:00", "01:00:00", "23:30:00", "00:30:00")
    tables = "".join(
        f"\n22:00:00     {field}\n"
        + "".join(f"{time}  {value}.00\n" for value, time in enumerate(days))
        for field in ("proc/s", "cswch/s")
    )
    reading = FORMAT.read((LINE + tables).encode())
    want = [
        epoch(2019, 4, 18, 23),
        epoch(2019, 4, 19, 1),
        epoch(2019, 4, 19, 23, 30),
        epoch(2019, 4, 20, 0, 30),
    ]
    for field in ("proc/s", "cswch/s"):
        assert reading.records.loc[reading.records["field"] == field, "t"].tolist() == want
    assert set(reading.records["report"]) == {"tasks"}
    assert reading.warnings == ()  # no warning of a clock set back


def test_changed_heading_within_a_table_keeps_the_day():
    table = (
        "\n22:00:00        INTR      all      CPU0\n01:00:00         LOC     1.00      1.00\n\n02:00:00  LINUX RESTART\t(2 CPU)\n"
        "\n02:10:00        INTR      all      CPU0      CPU1\n03:00:00         LOC     2.00      1.00      1.00\n"
    )
    reading = FORMAT.read((LINE + table).encode())
    assert reading.records["t"].unique().tolist() == [epoch(2019, 4, 19, 1), epoch(2019, 4, 19, 3)]


def test_clock_set_back_is_reported_per_table():
    rows = "\n10:00:00{0}10:00:10        all      1.00     99.00\n09:00:20        all      1.00     99.00\n"
    reading = FORMAT.read((LINE + rows.format(CPU)).encode(), file="s")
    assert reading.warnings == ("s line 5: the clock was set back",)


SHORT = (
    "10:00:10          0      0.00\n"  # sysstat prints one value too few for an offline processor
)


def test_known_short_row_of_sysstat_is_skipped():
    text = f"{LINE}\n10:00:00{CPU}10:00:10        all      1.00     99.00\n{SHORT}{SHORT}10:00:20        all      2.00     98.00\n"
    reading = FORMAT.read(text.encode(), file="s")
    assert get(reading, "cpu", "all", "%idle") == [99, 98]
    assert set(reading.records["entity"]) == {"all"}
    assert reading.warnings == (
        "s line 5: a value is missing in the row, which was left out, and 1 more such rows",
    )
    with pytest.raises(FormatError, match="does not fit"):  # sysstat never prints text here: damage
        FORMAT.read(text.replace("0      0.00\n", "0   0.00\n", 1).encode())


def test_colours_are_ignored():
    coloured = "\n".join(
        "".join(
            f"\x1b[32;22m{cell}\x1b[0m" if cell.strip() else cell
            for cell in re.split(r"(?<=\S)(?= )", line)
        )
        if line.startswith("10")
        else line
        for line in BASE.decode().split("\n")
    )
    assert "\x1b" in coloured
    assert sniff(coloured.encode()) is FORMAT
    assert FORMAT.read(coloured.encode()).records.equals(FORMAT.read(BASE).records)


def test_byte_order_mark_is_ignored():
    assert sniff(b"\xef\xbb\xbf" + BASE) is FORMAT
    assert FORMAT.read(b"\xef\xbb\xbf" + BASE).records.equals(FORMAT.read(BASE).records)


def test_host_without_name():
    reading = FORMAT.read(BASE.replace(b"(guest1)", b"((none))"))
    assert reading.info["host"] == "(none)"
    assert reading.records.equals(FORMAT.read(BASE).records)


def test_negative_percentage_is_rejected():
    with pytest.raises(FormatError, match="a negative percentage") as caught:
        FORMAT.read(
            BASE.replace(
                b"1.00     99.00\n10:00:10          0", b"1.00    -99.00\n10:00:10          0"
            )
        )
    assert caught.value.line == 4
    bat = f"{LINE}\n10:00:00          BAT      %cap   cap/min    status\n10:00:10            1        83     -3.85         ?\n"
    assert get(FORMAT.read(bat.encode()), "battery", "1", "cap/min") == [-3.85]


@each_case("time", ["10時00分10秒", "上午 10时00分10秒"])
def test_unsupported_locale_is_reported(time):
    text = f"{LINE}\n{time}     CPU     %user     %idle\n{time}        all      1.00     99.00\n".encode()
    assert sniff(text) is FORMAT
    with pytest.raises(FormatError, match="another locale") as caught:
        FORMAT.read(text)
    assert "LC_ALL=C sar" in str(caught.value)
    assert caught.value.line == 3


def test_midnight_after_year_9999():
    text = (
        b"Linux 6.1.0 (h) 9999-12-31 _x86_64_ (1 CPU)\n\n23:59:50        CPU     %user     %idle\n"
    )
    reading = FORMAT.read(text + b"00:00:00        all      1.00      96.25\n")
    assert reading.records["t"].tolist() == [253402300800.0] * 2


def test_epoch_seconds_mixed_with_times_of_day_are_rejected():
    text = BASE.rstrip(b"\n") + b"\n\n1233446460   runq-sz\n1233446470     3\n"
    with pytest.raises(FormatError, match="seconds since 1970"):
        FORMAT.read(text)


def test_twelve_hour_clock():
    times = {("12:00:10", "AM"): 10, ("01:00:00", "AM"): 3600, ("12:00:00", "PM"): 43200}
    times |= {("11:59:59", "pm"): 86399, ("11:59:59", ""): 43199}
    assert {key: parse_seconds(*key, "f", 1) for key in times} == times
