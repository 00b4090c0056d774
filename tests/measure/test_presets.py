"""Monitor presets: each expands to a command whose output its format reads."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from rawperf import all_formats, sniff
from rawperf.core.errors import StudyError
from virtperf.measure.definition import Command, expand_preset, presets
from virtperf.runs.ingest.folder import raw_files

HERE = {
    "sadc": "sadf",
    "vmstat": "vmstat",
    "mpstat": "mpstat",
    "iostat": "iostat",
    "pidstat": "pidstat",
    "meminfo": "cat",
    "pressure": "grep",
}
"""Presets of procps and sysstat programs, which the CI image contains."""


@pytest.mark.parametrize("name", sorted(presets()))
def test_preset_has_a_command_and_a_known_format(name):
    of = {"of": "$group"} if "{of}" in presets()[name]["run"] else {}
    command = Command.model_validate({"preset": name, "every": 2, **of})
    text = " ".join(command.run)
    assert "{" not in text and text
    assert presets()[name]["format"] in all_formats()
    assert "2" in text or name == "numastat"
    if command.shell:
        subprocess.run(["sh", "-n", "-c", text], check=True)


def test_fields_of_an_entry_override_the_preset():
    command = Command.model_validate({"preset": "vmstat", "output": "v.txt"})
    assert (command.run, command.output) == (("vmstat", "-n", "-t", "1"), "v.txt")


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"preset": "vmsat"}, "unknown preset 'vmsat'.*vmstat"),
        ({"preset": "vmstat", "every": 0}, "every is 0"),
        ({"preset": "vmstat", "every": "1; x"}, "every is '1; x'"),
        ({"preset": "cgroup-cpu"}, "of is missing"),
        ({"preset": "vmstat", "of": "x"}, "of does not apply"),
        ({"preset": "cgroup-cpu", "of": 'a"; touch b'}, "not a valid name of a control group"),
    ],
)
def test_mistakes_are_reported(entry, words):
    with pytest.raises(ValueError, match=words):
        expand_preset(entry)


def test_mistake_is_reported_with_line_number(repository):
    with pytest.raises(StudyError, match=r"measure.yaml line \d+: .*unknown preset 'vmsat'"):
        repository.measure(monitors=[{"preset": "vmsat"}])


@pytest.mark.slow
def test_output_of_presets_is_read(repository):
    """A real run of three seconds with all monitors that need no hypervisor and no privileges."""
    if missing := sorted(p for p in HERE.values() if not shutil.which(p)):
        pytest.skip(f"{', '.join(missing)} missing: apt-get install sysstat procps")
    repository.measure(
        replicates=1,
        window_s=3,
        experiments=[{"name": "one", "at": {"guests": 1}}],
        monitors=[{"preset": name} for name in HERE],
    )
    run = repository.described("one-r1")
    assert [flag for flag in run["disturbed"] if flag.startswith("monitors")] == []
    folder = repository.runs / "one-r1"
    for name in HERE:
        output = presets()[name]["output"]
        assert output in raw_files(folder)
        found = sniff((folder / output).read_bytes(), file=Path(output).name)
        assert found.name == presets()[name]["format"]
        reading = found.read((folder / output).read_bytes(), file=Path(output).name)
        assert len(reading.records) > 3, name
