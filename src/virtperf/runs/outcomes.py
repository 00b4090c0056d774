"""Failures by their names: which quantities are shares or numbers of them, and which rows of tables
are failed requests or commands, by a column that says so.

A column is read alike in all tables of a comparison: a word that only one side has, such as the
``Unavailable`` of a server that is down, is understood by the words of the others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

_WORD_AT_END = r"(.*[_ .-])?"
SUCCESS_NAMES = re.compile(rf"(?i){_WORD_AT_END}(success|successful|ok|passed|succeeded|completed)")
FAILURE_NAMES = re.compile(
    rf"(?i){_WORD_AT_END}(failed|failure|fail|error|exception|timed[_ ]?out|crashed|aborted|"
    r"killed|cancell?ed)"
)
STATUS_NAMES = re.compile(
    rf"(?i){_WORD_AT_END}(status|code|result|outcome|state|verdict)|(http|response|status)[_ -]?code|"
    r"http[_ -]?status"
)
"""Names of columns with words for success and failure, or status codes of HTTP (0: no answer)."""
CODE_NAMES = re.compile(
    rf"(?i){_WORD_AT_END}(status|code)|(http|response|status)[_ -]?code|http[_ -]?status|rc"
)
EXIT_NAMES = re.compile(
    r"(?i)exit[_ -]?(code|status|val(ue)?)|ret(urn)?[_ -]?(code|val(ue)?)|rc|retcode"
)
MESSAGE_NAMES = re.compile(
    rf"(?i){_WORD_AT_END}(errors?|err|failure|exception)([_ -]?(message|msg|text|type|reason|cause))?"
)
SUCCESS_WORDS = re.compile(r"ok|success(ful)?|succeeded|pass(ed)?|completed?|done|finished|[23]xx")
FAILURE_WORDS = re.compile(
    r"ko|nok|fail(ed|ure)?|error(ed)?|timed?out|crash(ed)?|abort(ed)?|killed|cancell?ed|rejected|"
    r"dropped|refused|[45]xx"
)
_SHARE = r"(rate|ratio|share|count|per[_ ]second|pct|percent(age)?|%)"
FAILURE_QUANTITY = re.compile(
    r"(?i)(# ?|num(ber)?[_ ](of[_ ])?|total[_ ]|http[_ ]|socket[_ ]|connect(ion)?[_ ]|request[_ ])?"
    rf"((failures?|fail(ed|s)?|errors?|errs?)([_ ]?{_SHARE})?|(packet[_ ])?(loss|drops?)([_ ]?{_SHARE})?|"
    rf"(failed|lost|dropped|rejected|aborted)[_ ]\w+|time[_ ]?outs([_ ]?{_SHARE})?|timeout[_ ]?{_SHARE})|"
    r"(req[_ ]?)?[45]xx|non[_ -]?2xx([_ ].*)?|dropped"
)
"""Names of shares and numbers of failures."""
SUCCESS_QUANTITY = re.compile(
    rf"(?i)(request[_ ])?(success(es|ful)?|succeeded|pass(ed)?|ok)[_ ]?(?!count){_SHARE}|availability"
)
"""Names of shares of successes."""
FAILURE_COUNTS = re.compile(
    r"(?i)(.*/)?[^/]*((code|status)[^/]*/(0|[45]\d\d|[45]xx)|(errors|failures|error[_ ]?(dist|count)[^/]*)/[^/]+)"
)
"""Names of numbers of one kind of failure, which is not listed where there was none."""
UNITS_OF_FAILURES = ("", "1", "%", "count", "1/s", "requests", "requests/s", "errors/s", "packets")
YES, NO = frozenset(("true", "yes", "1", "t", "y")), frozenset(("false", "no", "0", "f", "n"))
NOTHING = frozenset(("", "-", "none", "null", "nil", "nan", "n/a", "0", "false", "no", "no error"))
"""What stands in a column of error messages where there was no error."""
_WHOLE = re.compile(r"-?\d+")
_OF_SOMETHING = re.compile(r"(?i)(?!(is|was|has|did)[_ ])\w+[_ .-](?!out)")
"""Names such as ``requests_failed``, whose 0 and 1 are counts."""


def counts_one_failure(name: str) -> bool:
    """Whether a quantity is the number of one kind of failure: ``status/503``."""
    return FAILURE_COUNTS.fullmatch(name) is not None


def is_success_share(name: str) -> bool:
    """Whether a quantity, perhaps within a group, is a share of successes."""
    return SUCCESS_QUANTITY.fullmatch(name.rpartition("/")[2]) is not None


def is_share_or_count(name: str, unit: str) -> bool:
    """Whether a quantity, perhaps within a group, is a share of successes, or a share or number of
    failures, and has the unit of one.
    """
    is_failure = FAILURE_QUANTITY.fullmatch(name.rpartition("/")[2]) is not None
    return unit in UNITS_OF_FAILURES and (is_failure or is_success_share(name))


def may_say_outcome(name: str) -> bool:
    """Whether a column's name says that it may tell which rows failed."""
    return any(
        names.fullmatch(name)
        for names in (SUCCESS_NAMES, FAILURE_NAMES, STATUS_NAMES, EXIT_NAMES, MESSAGE_NAMES)
    )


def failed_rows(
    name: str, tables: Sequence[Sequence[str]], *, are_texts: bool
) -> tuple[int, list[np.ndarray]] | None:
    """Find the failed rows of all tables that have a column.

    Parameters
    ----------
    name : str
        The column.
    tables : sequence of sequence of str
        Its cells in each table; whole numbers without a decimal point.
    are_texts : bool
        Whether it is a column of texts in some table; other numbers than codes are counts.

    Returns
    -------
    tuple of int and list of ndarray of bool, or None
        How well the column says it (truth values before words, codes and messages), and the rows. Of
        rows with an empty cell it is not known.
    """
    columns = [[cell.strip().lower() for cell in cells] for cells in tables]
    found = {cell for cells in columns for cell in cells}
    success = _successes(name, found, are_texts=are_texts)
    if success is None:
        return None
    rank, good = success
    return rank, [
        np.array([cell != "" and cell not in good for cell in cells], dtype=bool)
        for cells in columns
    ]


def _successes(name: str, found: set[str], *, are_texts: bool) -> tuple[int, set[str]] | None:
    """The cells of rows that succeeded, with the rank of the rule; None if the column does not say."""
    cells = found - {""}
    is_truth = cells and cells <= YES | NO
    if is_truth and (are_texts or not _OF_SOMETHING.match(name)):
        if SUCCESS_NAMES.fullmatch(name):
            return 0, cells & YES
        if FAILURE_NAMES.fullmatch(name):
            return 0, cells & NO
    named = STATUS_NAMES.fullmatch(name) or SUCCESS_NAMES.fullmatch(name)
    codes = {cell for cell in cells if _WHOLE.fullmatch(cell)}
    answers = {code for code in codes if code == "0" or 100 <= int(code) < 600}
    answered = {code for code in answers if 100 <= int(code) < 400}
    if named and are_texts and codes == answers:
        words = {cell: re.sub(r"[_ -]", "", cell) for cell in cells}
        good = {cell for cell, word in words.items() if SUCCESS_WORDS.fullmatch(word)} | answered
        if good or (words and all(map(FAILURE_WORDS.fullmatch, words.values()))):
            return 1, good
    if cells and cells == codes:
        largest = max(abs(int(code)) for code in codes)
        if EXIT_NAMES.fullmatch(name) and largest < 256 and "200" not in codes:
            return 2, {"0"}
        if CODE_NAMES.fullmatch(name) and cells == answers and cells != {"0"}:
            return 2, answered
    is_message = are_texts and found & NOTHING and not cells <= codes | YES | NO | NOTHING
    if is_message and MESSAGE_NAMES.fullmatch(name):
        return 3, {*NOTHING}
    return None
