"""Damaged files of declared formats give a reading or a clear error."""

from __future__ import annotations

import pytest

from tests.cases import each_case
from tests.rawperf.declared.declaring import declared
from tests.rawperf.mutations import mutant
from tests.rawperf.trial import INPUTS, TooSlow, trial

CASES = {
    "csv": (
        "reads: csv\ncomment: '#'\nmissing: [NA]\ntime: {field: when, format: iso, zone: Europe/Berlin}\n"
        "entity: {kind: driver, name: [host, port]}\nfields: [{field: tps}, {field: lat, printed: {ms: ms, s: s}, unit: s, optional: true}]",
        '# mine\nwhen,host,port,tps,lat\n2026-11-22T10:00:00Z,"a, b",1,5.5,3ms\n2026-11-22T10:00:10Z,c,2,NA,4s\n2026-11-22 10:00:20+02:00,d,3,7,5ms\n',
    ),
    "requests": (
        "reads: csv\ndelimiter: ' '\ntime: {field: t, unit: ms, plus: d}\nentity: {kind: driver, name: who}\n"
        "fields: [{field: d, unless: {ok: 'no'}}, {field: d, name: failed, where: {ok: 'no'}}, {field: d, name: sum, plus: [d, t], minus: t}]",
        "t d who ok\n"
        + "".join(
            f"{1000 * k + 7} {50 + k} {'ab'[k % 2]} {('no', 'yes')[k % 3 > 0]}\n" for k in range(20)
        ),
    ),
    "rates": (
        "reads: csv\ntime: {field: t, since: start}\nfields: [{field: n, per: s}, {field: m, per: s, optional: true}]",
        "t,s,n,m\n1.004,1.004,14,2\n1.998,0.994,,\n3.1,1e-300,0,1\n",
    ),
    "times of day": (
        "reads: csv\ndelimiter: ';'\ndecimal: ','\nthousands: '.'\ntime: {field: t, format: '%H:%M:%S'}\nfields: [{field: n}]\nothers: true",
        "t;n;m\n23:59:50;1.234,5;7\n00:00:00;2;8\n00:00:10;3,5;9\n",
    ),
    "json": (
        "reads: json\nrows: [results/*, more/*/list/*]\ntime: {field: at, optional: true}\nentity: {kind: job, name: name}\n"
        "fields: [{field: io/rate}, {field: io/time, needs: io/rate, optional: true}]\ndocuments: last",
        'note\n{"results": [{"name": "a", "at": 5, "io": {"rate": 1.5, "time": 2}}],\n "more": {"k": {"list": [{"name": "b", "at": 6, "io": {"rate": 0}}]}}}\n',
    ),
    "json lines": (
        "reads: json-lines\ntime: {field: t, unit: ms}\nentity: {kind: e, name: who}\nnames: what\nvalue: v\nothers: true\nfields: []",
        "".join(
            f'{{"t": {1000 * k}, "who": "x{k % 2}", "what": "n{k % 3}", "v": {k}.5}}\n'
            for k in range(9)
        ),
    ),
    "xml": (
        "reads: xml\nrows: r/s\ntime: {field: t, since: start}\nentity: {kind: e, name: who}\nfields: [{field: n}, {field: size, optional: true}]",
        '<?xml version="1.0"?>\n<r>\n<s t="1" who="a" n="5"><size>7</size></s>\n<s t="2" who="b&amp;c" n="6"/>\n</r>\n',
    ),
    "pairs": (
        "reads: pairs\ncomment: '#'\ntime: {line: 'at (?P<time>.*)', format: '%d.%m.%Y %H:%M'}\nprinted: {kB: KiB, '': 1}\nfields: [{field: Free}]\nothers: true",
        "at 22.11.2026 10:00\nFree: 5 kB\nHuge: 7\nat 22.11.2026 10:01\nFree: 6 kB\n# x\nHuge: 8\n",
    ),
    "lines": (
        "reads: lines\nstrict: true\nignore: ['=+']\ntime: {field: s, since: start}\nlines: ['(?P<s>\\d+) (?P<who>\\w+) (?P<ops>[\\d.]+)(?: in (?P<d>[\\d:.]+))?']\n"
        "entity: {kind: e, name: who}\nfields: [{field: ops}, {field: d, printed: duration, optional: true}]",
        "=====\n1 a 5.5 in 1:02\n2 a 6.5\n3 b 7 in 1:00:00.5\n",
    ),
    "yaml": (
        "reads: yaml\nrows: '*/runs/*'\ntime: {numbered: true}\nentity: {kind: e, name: who}\nfields: [{field: n}]",
        "---\nx:\n  runs:\n    - {who: a, n: 5}\n    - who: b\n      n: 6.5\ny:\n  runs: []\n",
    ),
}


@each_case("case", CASES)
def test_damaged_file_gives_reading_or_error(case: str) -> None:
    text, data = CASES[case]
    form, read = declared(text), 0
    assert trial(form, data.encode())[0]
    for number in range(INPUTS):
        damaged, history = mutant((data.encode(),), number)
        try:
            read += trial(form, damaged)[0] is not None
        except (Exception, TooSlow) as error:
            pytest.fail(
                f"{case}, mutant {number} ({history}): {type(error).__name__}: {error}\n{damaged[:2000]!r}"
            )
    assert 0.03 * INPUTS < read < 0.97 * INPUTS
