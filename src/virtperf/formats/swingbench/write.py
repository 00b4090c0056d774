"""What the writers of SwingBench's results share: from records back to sections, and how the tool prints numbers."""

from __future__ import annotations

import numpy as np

from virtperf.core.errors import FormatError
from virtperf.formats.base import RECORD_COLUMNS, Reading
from virtperf.formats.swingbench.results import (
    DRIVER,
    DURATIONS,
    FIELDS,
    READINGS,
    SECTIONS,
    STRANGERS,
    TRANSACTION,
    TRANSACTIONS,
    Results,
)
from virtperf.formats.text import exact_text


def content_of(reading: Reading) -> tuple[Results, Reading]:
    """The results that a reading holds, and the reading that a file with them gives.

    A mean response of all transactions is computed, not taken; what was not read is not written.

    Raises
    ------
    FormatError
        A report that results have no section for, a number that is none, a time where results have none.
    """
    results = Results("<reading>")
    info = {key: text for key, text in reading.info.items() if key != STRANGERS}
    records = reading.records
    report, kind, entity, field = (records[name].to_numpy(dtype=object) for name in RECORD_COLUMNS[:4])
    series, of_one = report == READINGS, entity != ""
    wrong = ~np.isfinite(records["value"].to_numpy(dtype=float)) | ~records["report"].isin(SECTIONS).to_numpy()
    wrong |= np.isfinite(records["t"].to_numpy(dtype=float)) != series
    wrong |= (kind != np.where(of_one, TRANSACTION, DRIVER)) | (of_one & (report != TRANSACTIONS))
    wrong |= series & (field != READINGS)
    if reading.clock != "absolute":
        raise FormatError("results of SwingBench have another clock", expected="absolute", found=reading.clock)
    if wrong.any():
        raise FormatError(
            "results of SwingBench have no place for it",
            expected=f"reports {', '.join(SECTIONS)}; a time in the last one only, entities of transactions only",
            found=str(records.iloc[int(wrong.argmax())].to_dict()),
        )
    results.times, results.tps = (records.loc[series, name].to_numpy(dtype=float) for name in ("t", "value"))
    columns = (records.loc[~series, name].tolist() for name in ("report", "entity", "field", "value"))
    for section, transaction, name, value in zip(*columns, strict=True):
        if section != TRANSACTIONS or transaction:
            if section not in FIELDS or (section, transaction, name) in results.values:
                raise FormatError("a number is given twice", found=f"{name} of {transaction or section}")
            results.values[section, transaction, name] = value, 0
    again = results.reading()
    results.info = info
    return results, Reading(again.records, again.clock, info)


def number_text(name: str, value: float) -> str:
    """A number as the tool prints it."""
    if name in DURATIONS:
        thousandths = round(value * 1000)
        rest = f".{thousandths % 1000:03d}" if thousandths % 1000 else ""
        seconds = thousandths // 1000
        return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{rest}"
    return exact_text(value)


def readings_text(results: Results) -> str:
    """The series as the tool prints it, with a comma behind each number."""
    pairs = zip((results.times * 1000).round().tolist(), results.tps.tolist(), strict=True)
    return "".join(f"{time:.0f}, {number_text(READINGS, rate)}," for time, rate in pairs)
