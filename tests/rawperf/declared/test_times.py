"""Times: numbers, texts, zones, midnight, numbered samples."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rawperf.core.errors import FormatError
from tests.cases import each_case
from tests.rawperf.declared.declaring import read


def times(rule: str, *stamps: str) -> tuple[str, list[float]]:
    reading = read(
        f"reads: csv\ndelimiter: '|'\ntime: {{field: t, {rule}}}\nfields: [{{field: n}}]",
        "t|n\n" + "".join(f"{s}|1\n" for s in stamps),
    )
    return reading.clock, reading.records["t"].tolist()


def epoch(*when: int) -> float:
    return datetime(*when, tzinfo=UTC).timestamp()  # type: ignore[arg-type]


@each_case(
    ("rule", "stamp", "clock", "t"),
    [
        ("unit: s", "1795341600.25", "absolute", 1795341600.25),
        ("unit: ms", "1795341600250", "absolute", 1795341600.25),
        ("unit: ns", "1795341600000000000", "absolute", 1795341600.0),
        ("unit: us, since: start", "1500000", "elapsed", 1.5),
        ("format: iso", "2026-11-22T10:00:00.5", "absolute", epoch(2026, 11, 22, 10) + 0.5),
        ("format: iso", "2026-11-22 10:00:00+02:00", "absolute", epoch(2026, 11, 22, 8)),
        (
            "format: iso, zone: Europe/Berlin",
            "2026-11-22T09:00:00Z",
            "absolute",
            epoch(2026, 11, 22, 10),
        ),
        (
            "format: '%d/%b/%Y:%H:%M:%S %z', zone: Asia/Tokyo",
            "22/Nov/2026:10:00:00 +0000",
            "absolute",
            epoch(2026, 11, 22, 19),
        ),
        (
            "format: '%Y/%m/%d %H:%M:%S.%f'",
            "2026/11/22 10:00:00.125",
            "absolute",
            epoch(2026, 11, 22, 10) + 0.125,
        ),
        (
            "unit: s, zone: Europe/Berlin",
            str(epoch(2026, 7, 1, 10)),
            "absolute",
            epoch(2026, 7, 1, 12),
        ),
        (
            "unit: s, zone: Europe/Berlin",
            str(epoch(2026, 12, 1, 10)),
            "absolute",
            epoch(2026, 12, 1, 11),
        ),
    ],
)
def test_time_notations(rule: str, stamp: str, clock: str, t: float) -> None:
    assert times(rule, stamp) == (clock, [t])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)).map(
        lambda d: d.replace(microsecond=0, tzinfo=UTC)
    ),
    st.sampled_from(["Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC"]),
)
def test_epoch_seconds_are_converted_to_the_zone(when: datetime, zone: str) -> None:
    local = when.astimezone(ZoneInfo(zone)).replace(tzinfo=UTC).timestamp()
    assert times(f"zone: {zone}", str(when.timestamp())) == ("absolute", [local])


def test_times_of_day_continue_past_midnight() -> None:
    assert times("format: '%H:%M:%S'", "23:59:50", "00:00:00", "00:00:10") == (
        "time-of-day",
        [86390, 86400, 86410],
    )
    stamps = [f"{h:02d}:00:00" for _ in range(3) for h in range(0, 24, 6)]
    assert times("format: '%H:%M:%S'", *stamps)[1] == [6 * 3600.0 * k for k in range(12)]


@each_case(
    ("rule", "stamp", "words"),
    [
        ("format: iso", "yesterday", "does not match the format iso; found yesterday"),
        ("format: '%H:%M'", "25:00", "does not match the format %H:%M"),
        ("unit: s", "1795341600000", "is out of range; found 1795341600000"),
        ("unit: s", "10:00", "the time t is not a number"),
    ],
)
def test_invalid_time_is_rejected(rule: str, stamp: str, words: str) -> None:
    with pytest.raises(FormatError) as caught:
        times(rule, stamp)
    assert words in str(caught.value)
    assert caught.value.line == 2


@each_case(
    ("rule", "clock", "t"),
    [
        ("interval_s: 10, start_s: 5", "elapsed", [5, 5, 15, 15, 25]),
        ("numbered: true", "sample", [0, 0, 1, 1, 2]),
    ],
)
def test_samples_are_numbered_per_entity(rule: str, clock: str, t: list[float]) -> None:
    text = f"reads: csv\ntime: {{{rule}}}\nentity: {{kind: e, name: who}}\nfields: [{{field: n}}]"
    reading = read(text, "who,n\na,1\nb,2\na,3\nb,4\na,5\n")
    assert (reading.clock, reading.records["t"].tolist()) == (clock, t)


@each_case(
    ("rule", "stamps"),
    [
        ("unit: auto", ("1795341600", "1795341601")),
        ("unit: auto", ("1795341600000", "1795341601000")),
        ("unit: auto", ("1795341600000000", "1795341601000000")),
        ("unit: auto", ("1795341600000000000", "1795341601000000000")),
        ("format: ['%Y/%m/%d %H:%M:%S', iso]", ("2026/11/22 10:00:00", "2026/11/22 10:00:01")),
        ("format: ['%Y/%m/%d %H:%M:%S', iso]", ("2026-11-22T10:00:00", "2026-11-22T10:00:01")),
    ],
)
def test_unit_or_format_is_that_of_the_first_time(rule: str, stamps: tuple[str, str]) -> None:
    assert times(rule, *stamps) == ("absolute", [1795341600, 1795341601])


def test_milliseconds_are_added_to_a_time_that_is_text() -> None:
    text = "reads: csv\ntime: {field: t, format: iso, unit: ms, plus: d}\nfields: [{field: n}]"
    reading = read(text, "t,d,n\n2026-11-22T10:00:00.250,500,1\n2026-11-22T10:00:01,0,2\n")
    assert reading.records["t"].tolist() == [1795341600.75, 1795341601]


def test_missing_number_that_is_added_to_the_time_is_located() -> None:
    text = "reads: csv\ntime: {field: t, unit: ms, plus: d}\nfields: [{field: n}]"
    with pytest.raises(FormatError) as caught:
        read(text, "t,d,n\n1795341600000,,1\n")
    assert "line 2: d, which is added to the time t, is missing" in str(caught.value)
