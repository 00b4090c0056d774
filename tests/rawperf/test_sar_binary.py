"""Binary sar files: read by sadf if installed, otherwise a clear error."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rawperf import ParsedFile, get_format, sniff
from rawperf.core.errors import FormatError
from rawperf.sar import binary
from rawperf.sar.binary import FORMAT
from tests.rawperf.sample_files import SAMPLES, sample

MAGIC = b"\x96\xd5\x75\x21\x0c\x06\x01\x00"
OUTPUT = """{"sysstat": {"hosts": [{"nodename": "h", "number-of-cpus": 2, "file-date": "2026-11-22", "statistics": [
{"timestamp": {"date": "2026-11-22", "time": "12:32:24", "utc": 0, "interval": 1}, "queue": {"runq-sz": 3}}]}]}}
"""


@pytest.fixture
def sadf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """A fake sadf that runs the given shell commands."""

    def made(commands: str) -> None:
        place = tmp_path / "bin" / "sadf"
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"#!/bin/sh\n{commands}\n")
        place.chmod(0o755)
        monkeypatch.setenv("PATH", f"{place.parent}:{os.environ['PATH']}")

    return made


def test_recognised_by_its_magic_number() -> None:
    assert sniff(MAGIC) is FORMAT
    assert FORMAT.sniff(b"\xd5\x96\x21\x71") == 1  # opposite byte order
    assert FORMAT.sniff(b"\x96\xd5") == FORMAT.sniff(b"Linux 6.1 (h)") == 0


def test_missing_sadf_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert FORMAT.external_version() == ""
    with pytest.raises(
        FormatError, match=r"sadf, which converts binary sar files, is not installed.*sadf -j FILE"
    ) as caught:
        FORMAT.read(MAGIC, file="sa03")
    assert caught.value.file == "sa03"


def test_output_of_sadf_is_read(sadf) -> None:  # type: ignore[no-untyped-def]
    sadf(f"test \"$1 $2 $4 $5\" = '-j -t -- -A' && test -z \"$S_COLORS\" && cat <<'E'\n{OUTPUT}E")
    reading: ParsedFile = FORMAT.read(MAGIC, file="sa03")
    assert reading.records["value"].tolist() == [3]
    assert (reading.clock, reading.info["cpus"], reading.lines) == ("absolute", "2", None)


@pytest.mark.parametrize(
    ("commands", "words"),
    [
        (
            'echo "Invalid system activity file: $3" >&2; exit 1',
            "failed to convert the file; found Invalid system activity file: sa03",
        ),
        ("exit 0", "0 bytes of output"),
        ("echo '{'", "sadf's output: invalid JSON"),
        ("sleep 9", "TimeoutExpired"),
    ],
)
def test_failure_of_sadf_is_reported(
    sadf, monkeypatch: pytest.MonkeyPatch, commands: str, words: str
) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(binary, "TIMEOUT_S", 0.5)
    sadf(commands)
    with pytest.raises(FormatError, match=words) as caught:
        FORMAT.read(MAGIC, file="sa03")
    assert (caught.value.file, caught.value.line) == ("sa03", None)


def test_damage_that_sadf_reports_is_a_warning(sadf) -> None:  # type: ignore[no-untyped-def]
    twice = "echo 'End of system activity file unexpected' >&2\n" * 2
    sadf(f"{twice}cat <<'E'\n{OUTPUT}E")
    reading = FORMAT.read(MAGIC, file="sa03")
    assert reading.records["value"].tolist() == [3]
    assert reading.warnings == (
        "sa03: sadf reports: End of system activity file unexpected; records may be missing",
    )


def test_long_output_of_sadf_is_read(sadf) -> None:  # type: ignore[no-untyped-def]
    sadf(f"cat {SAMPLES / 'sadf' / 'sadf-A.json'}")
    reading = FORMAT.read(MAGIC, file="sa03")
    assert reading.records.equals(get_format("sadf-json").read(sample("sadf/sadf-A.json")).records)
