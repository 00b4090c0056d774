"""Times: numbers, texts, zones, midnight, numbered samples; aggregation over intervals."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rawperf.core.errors import FormatError
from rawperf.declared import delimited, intervals
from tests.cases import each_case
from tests.rawperf.declared.declaring import read, rows


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


SUMMED = """
reads: csv
time: {field: t, unit: ms, since: start, plus: d}
every_s: 0.5
entity: {kind: driver, name: who}
fields:
  - {name: n, each: count}
  - {name: per second, each: rate}
  - {name: failures, each: count, where: {ok: "false"}}
  - {field: d}
  - {field: d, name: longest, each: max}
  - {field: d, name: total, each: sum}
  - {field: d, name: total rate, each: rate}
"""
ROWS = st.lists(
    st.tuples(st.integers(0, 4000), st.integers(0, 900), st.sampled_from("ab"), st.booleans()),
    min_size=2,
    max_size=40,
)


@settings(max_examples=120, deadline=None, derandomize=True)
@given(ROWS)
def test_aggregation_equals_a_plain_loop(
    written: list[tuple[int, int, str, bool]],
) -> None:
    data = "t,d,who,ok\n" + "".join(
        f"{t},{d},{who},{str(ok).lower()}\n" for t, d, who, ok in written
    )
    ends = [t + d for t, d, _, _ in written]
    count = (max(ends) - min(ends)) // 500
    if count == 0:
        with pytest.raises(FormatError, match="cover less than one interval"):
            read(SUMMED, data)
        return
    reading = read(SUMMED, data)
    got = {
        (e, f, round(t * 1000)): v for e, f, t, v in rows(reading, "entity", "field", "t", "value")
    }
    want = {}
    for who in {who for _, _, who, _ in written}:
        for k in range(count):
            begin = min(ends) + 500 * k
            inside = [
                (d, ok) for t, d, w, ok in written if w == who and begin <= t + d < begin + 500
            ]
            at, d = begin + 500, [d for d, _ in inside]
            want |= {
                (who, "n", at): len(d),
                (who, "per second", at): len(d) / 0.5,
                (who, "total", at): sum(d),
                (who, "total rate", at): sum(d) / 0.5,
            }
            want[who, "failures", at] = sum(not ok for _, ok in inside)
            if d:
                want |= {(who, "d", at): sum(d) / len(d), (who, "longest", at): max(d)}
    assert got.keys() == want.keys()
    assert all(np.isclose(got[key], value, rtol=1e-12) for key, value in want.items())


@settings(max_examples=40, deadline=None, derandomize=True)
@given(ROWS)
def test_spilled_rows_are_aggregated_like_rows_in_memory(
    written: list[tuple[int, int, str, bool]],
) -> None:
    data = "t,d,who,ok\n-5000,0.1,a,true\n"
    data += "".join(f"{t},{d}.1,{who},{str(ok).lower()}\n" for t, d, who, ok in written)
    memory = read(SUMMED, data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intervals, "MAX_BUFFERED_BYTES", 100)
        patch.setattr(intervals, "ROWS", 3)
        patch.setattr(delimited, "ROWS", 4)
        file = read(SUMMED, data)
    assert file.records.equals(memory.records)
    assert (file.lines.tolist(), file.warnings) == (memory.lines.tolist(), memory.warnings)  # type: ignore[union-attr]


def test_rows_after_the_last_complete_interval_are_reported() -> None:
    reading = read(SUMMED, "t,d,who,ok\n0,0,a,true\n600,0,a,true\n")
    assert reading.warnings == (
        "a/b.txt: rows after the last complete interval of 0.5 s were left out",
    )


@each_case(
    ("data", "words"),
    [
        (
            "0,0,a,true\n99999999999999,0,a,true\n1,0,a,true\n",
            "line 3: the rows of the table are too far apart in time; expected 1 to 1000000 "
            "intervals of 0.5 s; found 1e+11 s from line 2 to line 3",
        ),
        (
            "5,0,a,true\n7,2,a,true\n4,0,a,true\n",
            "line 4: the rows of the table cover less than one interval; expected 1 to 1000000 "
            "intervals of 0.5 s; found 0.005 s from line 4 to line 3",
        ),
        ("0,,a,true\n600,0,a,true\n", "line 2: d, which is added to the time t, is missing"),
    ],
)
def test_rows_that_give_no_interval_are_located(data: str, words: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(SUMMED, f"t,d,who,ok\n{data}")
    assert words in str(caught.value)
