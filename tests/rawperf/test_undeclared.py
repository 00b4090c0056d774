"""An unknown CSV is not recognised as a tool's format, and the error suggests a declaration."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rawperf.core.errors import FormatError
from rawperf.declared.read import load_declaration
from rawperf.registry import detect_csv_columns, sniff

FILES = {
    # rows like those of perf stat -x,
    "block": "block,guests,clients,throughput,cpu,note\n1,kvm,4,1200,98.11,warm\n2,kvm,8,2210,99.02,warm\n",
    "perf": "count,unit,name,ns,percent,note\n12,msec,web,300,100.00,\n13,msec,db,301,99.50,\n",
    "numbers first": "7,5\n1,2\n",
    # one of kvm_stat's column names
    "exits": "timestamp,exits,latency\n2026-01-02T03:04:05,7,0.5\n2026-01-02T03:04:06,9,0.4\n",
    "kvm_exit": "timestamp,kvm_exit\n1700000000,12\n1700000001,14\n",
    "semicolons": "epoch;host;user;sys\n1700000000;web;12.5;3\n",
    "tabs": "NAME\tCPU(sec)\tCPU(%)\nweb\t12\t98.2\n",
    "quotes": '"time","usr","idl"\n"1700000000","1","99"\n',
    "comment": "# run 7\ntime,latency\n0.5,12\n1.0,13\n",
    "words of YAML": "ts,on,off,a: b\n1700000000000,1,2,3\n",
}


@pytest.mark.parametrize("name", [name for name in FILES if name != "numbers first"])
def test_suggested_declaration_reads_the_csv(name: str, tmp_path: Path) -> None:
    data = FILES[name].encode()
    with pytest.raises(
        FormatError, match="it looks like a CSV file without a declaration"
    ) as caught:
        sniff(data, file="mine.csv")
    found = re.search(r"[Ss]ave (\{.*\}) as mine\.yaml", str(caught.value))
    assert found is not None
    path = tmp_path / "mine.yaml"
    path.write_text(found[1], encoding="utf-8")
    reading = load_declaration(path).read(data, file="mine.csv")
    rows = [line for line in FILES[name].splitlines() if not line.startswith("#")]
    fields = len(set(reading.records["field"]))
    assert len(reading.records) == fields * (len(rows) - 1)


def test_table_without_column_names_gets_no_declaration() -> None:
    assert detect_csv_columns(FILES["numbers first"].encode()) is None
    assert detect_csv_columns(b"one line, and no row\n") is None
    assert detect_csv_columns(b"a,b\nx,y\n") is None  # no numbers
