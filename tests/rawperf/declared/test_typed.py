"""Arrow and Python's csv give the same rows, and the same errors on the same lines."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from rawperf.core.errors import FormatError
from rawperf.declared.read import DeclaredFormat, load_declaration
from rawperf.declared.values import ArrowRowParser

NAMES = ("time", "host", "a", "b", "g1.x", "g2.x", "g2.y")
DECLARATIONS = (
    "time: {field: time}\nentity: {name: host}\nfields: [{field: a}, {field: b}]",
    "time: {field: time, since: start}\nmissing: [n/a]\nothers: true\nentity: {name: host}\n"
    "where: {host: 'h*'}\nfields: [{field: a, where: {host: h1}}]",
    "time: {field: time}\nmelt: '(?P<guest>g.).(?P<field>.)'\nentity: {name: [host, guest]}\n"
    "fields: [{field: x}, {field: y}]",
    "time: {field: time}\nnames: host\nvalue: a\nothers: true\nfields: [{field: h1, optional: true}]",
    "time: {numbered: true}\ndecimal: ','\nfields: [{field: a, optional: true}, {field: b, needs: a}]",
)
STRANGE = ("", " 7", "n/a", "nan", "1e999", "+5", ".5", "1,5", "x", '"', 'a"b', '"a""b"', '"a\nb"')


def _file(rng: random.Random) -> str:
    """A CSV with or without damaged, quoted or blank cells and rows of wrong length."""
    damage, quoted = rng.choice([0, 0, 0.003, 0.05]), rng.random() < 0.5
    lines = [",".join(NAMES)]
    for row in range(rng.choice([1, 50, 120])):
        cells = [str(1700000000 + row), f"h{rng.randrange(3)}"]
        cells += [f"{rng.uniform(0, 100):.{rng.randrange(4)}f}" for _ in NAMES[2:]]
        cells = [rng.choice(STRANGE) if rng.random() < damage else cell for cell in cells]
        cells = [f'"{cell}"' if quoted and '"' not in cell else cell for cell in cells]
        lines.append(",".join(cells[: rng.choice([9, 9, 9, 6]) if rng.random() < damage else 9]))
        if rng.random() < damage:
            lines.append("")
    return "\n".join(lines) + "\n"


def _read(form: DeclaredFormat, text: str) -> tuple[object, ...]:
    try:
        reading = form.read(text.encode(), file="f.csv")
    except FormatError as err:
        return (str(err),)
    assert reading.lines is not None
    return (reading.records.to_csv(), reading.lines.tolist(), reading.clock, reading.warnings)


def test_both_parsers_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, at_once, by_row = random.Random(27), {}, {}
    path = tmp_path / "mine.yaml"
    forms = []
    for text in DECLARATIONS:
        path.write_text(f"name: mine\nreads: csv\n{text}\n", encoding="utf-8")
        forms.append(load_declaration(path))
    files = [(forms[number % len(forms)], _file(rng)) for number in range(120)]
    for number, (form, text) in enumerate(files):
        at_once[number] = _read(form, text)
    monkeypatch.setattr(ArrowRowParser, "parse", lambda self, text: None)
    for number, (form, text) in enumerate(files):
        by_row[number] = _read(form, text)
    assert [n for n in at_once if at_once[n] != by_row[n]] == []
    assert 20 < sum(len(found) == 1 for found in at_once.values()) < 100  # both kinds occur


@pytest.mark.parametrize(
    ("format_", "texts"),
    [
        ("iso", ("2026-02-28T23:59:59", "2026-02-28 23:59:59.125", "2024-02-29T00:00:00")),
        (
            "%d/%m/%Y %H:%M:%S",
            ("28/02/2026 23:59:59", "29/02/2024 00:00:00", "01/12/1999 12:30:00"),
        ),
        ("%Y-%m-%d %H:%M:%S.%f", ("2026-02-28 23:59:59.125", "2024-02-29 00:00:00.999")),
        ("%H:%M:%S", ("23:59:58", "23:59:59", "00:00:01")),
    ],
)
def test_bulk_time_parsing_equals_python(
    format_: str, texts: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.yaml"
    time = f"{{field: time, format: '{format_}'}}"
    path.write_text(
        f"name: mine\nreads: csv\ntime: {time}\nfields: [{{field: v}}]\n", encoding="utf-8"
    )
    form = load_declaration(path)
    data = ("time,v\n" + "".join(f"{text},1\n" for text in texts)).encode()
    monkeypatch.setattr("rawperf.declared.values.MAX_PYTHON_TIMES", 1000)
    one_by_one = form.read(data).records["t"].to_numpy()
    monkeypatch.setattr("rawperf.declared.values.MAX_PYTHON_TIMES", 0)
    assert np.array_equal(form.read(data).records["t"].to_numpy(), one_by_one)
    for wrong in (
        "31/02/2026 00:00:00",
        "2026-02-30T00:00:00",
        "24:00:00",
        "2026-13-01 00:00:00.1",
    ):
        with pytest.raises(FormatError, match="line 2"):
            form.read(f"time,v\n{wrong},1\n".encode())
