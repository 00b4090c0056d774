"""HammerDB: log of a workload (TPROC-C: NOPM and TPM; TPROC-H: time of a query set).

Source: modules/tpcccommon-1.0.tm, src/*/*olap.tcl and src/generic/gencli.tcl of HammerDB 5.0, and
the logs printed in its manual (DocBook/docs.xml).
"""

from __future__ import annotations

import re

from rawperf.results.result_table import Quantity, ResultBuilder

_RESULT = re.compile(
    r".*TEST RESULT : System achieved (?:(?P<nopm>\d+) NOPM from (?P<tpm>\d+) (?P<db>.+?) TPM"
    r"|(?P<tpm2>\d+) (?P<db2>.+?) TPM at (?P<nopm2>\d+) NOPM)\s*"
)
_USERS = re.compile(r"(?:Vuser \d+:)?(\d+) Active Virtual Users configured\s*")
_QUERIES = re.compile(
    r"(?:Vuser (?P<user>\d+):)?Completed (?P<sets>\d+ )?query sets?(?:\(s\))? in (?P<time>[\d.]+) seconds\s*"
)
_STATUS = re.compile(r"\s*Vuser\s+(\d+):FINISHED (SUCCESS|FAILED)\s*")


def parse_hammerdb(builder: ResultBuilder, data: bytes) -> None:
    """Read each result of a log; the number of virtual users is a key."""
    users, runs, finished, failed, last = "", 0, 0, 0, 0
    for number, line in builder.lines(data):
        if match := _USERS.fullmatch(line):
            users = match[1]
        elif "TEST RESULT" in line and "System achieved" in line:
            match = _RESULT.fullmatch(line)
            if match is None:
                raise builder.error(
                    "not a result of HammerDB",
                    number,
                    "System achieved N NOPM from N DATABASE TPM",
                    line[:100],
                )
            _add_result(builder, match, users, number, runs)
            runs += 1
        elif match := _QUERIES.fullmatch(line):
            keys = {"database": "", "users": users, "user": match["user"] or ""}
            seconds = builder.number(match["time"], "the time of the queries", number)
            quantity = Quantity("query_set_time", "s", "lower")
            builder.add(keys, quantity, seconds, "Completed query set", number)
        elif match := _STATUS.fullmatch(line):
            finished, last = finished + 1, number
            failed += match[2] == "FAILED"
    if finished:
        quantity, keys = Quantity("failures", better="lower"), {"database": "", "users": ""}
        builder.add(keys, quantity, failed, "FINISHED FAILED", last)
    if failed:
        builder.warn(last, f"{failed} of {finished} virtual users failed")


def _add_result(
    builder: ResultBuilder, match: re.Match[str], users: str, line: int, run: int
) -> None:
    keys = {"database": match["db"] or match["db2"], "users": users}
    for name, cell, field in (
        ("throughput", match["nopm"] or match["nopm2"], "NOPM"),
        ("transaction_rate", match["tpm"] or match["tpm2"], "TPM"),
    ):
        builder.add_text(keys, Quantity(name, "1/min", "higher"), cell, field, line, run)
