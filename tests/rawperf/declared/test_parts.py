"""Declared files read in parts of any size give the reading of the whole, damaged or not."""

from __future__ import annotations

import pytest

from rawperf import ParsedFile
from rawperf.declared import delimited, elements, json_yaml
from rawperf.declared import read as declared_read
from tests.rawperf.declared.declaring import declared
from tests.rawperf.declared.test_damage import CASES
from tests.rawperf.mutations import mutant
from tests.rawperf.test_blocks import outcome, same
from tests.rawperf.trial import INPUTS

STREAMED = ("csv", "requests", "rates", "times of day", "json lines", "xml", "pairs", "lines")
MORE = CASES | {
    "xml of two tables": (
        "reads: xml\ntime: {field: t, since: start}\ntables:\n- {report: inner, rows: r/p/s, fields: [{field: n}, {field: m, optional: true}]}\n"
        "- {report: outer, rows: [r/p, r/q], fields: [{field: n}]}",
        "<r>\n"
        + "".join(
            f'<p t="{k}" n="1">\n<s t="{k}" n="{k}" m="2"/><s t="{k}" n="3"/></p>\n<q t="{k}" n="7"/>\n'
            for k in range(9)
        )
        + "</r>\n",
    ),
    "json lines of two tables": (
        "reads: json-lines\ntime: {field: t}\ntables:\n- {report: a, rows: a/*, fields: [{field: n}, {field: m, optional: true}]}\n"
        "- {report: b, rows: b, entity: {kind: e, name: who}, fields: [{field: n}]}",
        "".join(
            f'{{"a": [{{"t": {k}, "n": 1, "m": 2}}, {{"t": {k}, "n": 3}}], "b": {{"t": {k}, "n": 7, "who": "x"}}}}\n'
            for k in range(9)
        ),
    ),
}


TRIED = (*STREAMED, "xml of two tables", "json lines of two tables")


@pytest.mark.parametrize("case", TRIED)
def test_parts_give_the_reading_of_the_whole(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, data = MORE[case]
    form = declared(text)
    for module in (delimited, elements, json_yaml):
        monkeypatch.setattr(module, "ROWS", 2)
    most = 0
    # every other mutant: the same number damages all cases alike, and the next case takes the others
    for number in (-1, *range(TRIED.index(case) % 2, INPUTS, 2)):
        damaged, history = (
            mutant((data.encode(),), number) if number >= 0 else (data.encode(), "whole")
        )
        whole, _ = outcome(form, damaged)
        with monkeypatch.context() as patch:
            patch.setattr("rawperf.text.PIECE_BYTES", (45, 20)[number // 2 % 2])
            patch.setattr(declared_read, "BLOCK_RECORDS", 1)
            found, blocks = outcome(form, damaged)
        most = max(most, blocks)
        assert isinstance(found, ParsedFile) == isinstance(whole, ParsedFile), (
            f"mutant {number} ({history}): {found}, {whole}"
        )
        if isinstance(found, ParsedFile) and isinstance(whole, ParsedFile):
            assert same(found, whole), f"mutant {number} ({history})"
    assert most > 1
