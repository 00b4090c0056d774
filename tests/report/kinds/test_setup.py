"""The set-up of a study as text."""

from __future__ import annotations

from pathlib import Path

from tests.cases import each_case
from tests.report import toy
from tests.report.plain import plain
from virtperf.report.kinds.setup import setting_label, setting_text
from virtperf.report.loaded import LoadedStudy, load_study

SETUP = """
machines:
  host: {label: Host, machine: A machine, cpus: 8, clock_ghz: 1.7, storage: [one disk, two tapes]}
  client: {label: Client, machine: Another}
procedure: {run_s: 1200, window_s: [300, 900], replicates: null, steps: [start the guests, drive the load]}
conventions: [The text does not say how many guests. We take four.]
"""


@each_case(
    ("name", "value", "words"),
    [
        ("memory_mb", 20480, "20,480 MB"),
        ("window_s", [300, 900], "300 to 900 s"),
        ("replicates", None, "not stated"),
        ("crypto", True, "yes"),
        ("storage", ["one disk", "two tapes"], "one disk; two tapes"),
        ("crypto", [], "none"),
        ("memory_mb", "between 1 and 2, by test", "between 1 and 2, by test"),
        (
            "encryption",
            {"poll_s": 0, "path": "client to server"},
            "Poll: 0 s; Path: client to server",
        ),
    ],
)
def test_unit_comes_from_the_field_name(name: str, value: object, words: str) -> None:
    assert setting_text(name, value) == words


@each_case(
    ("name", "words"),
    [
        ("memory_mb", "Memory"),
        ("vcpus", "Virtual CPUs"),
        ("xml_interval_min", "XML interval"),
        ("s", "S"),
    ],
)
def test_unit_suffix_is_removed_from_names(name: str, words: str) -> None:
    assert setting_label(name) == words


def test_every_fact_is_listed_and_assumptions_are_separate(tmp_path: Path) -> None:
    data = toy.build(tmp_path)
    path = data / "published" / "toy" / "study.yaml"
    path.write_text(path.read_text() + SETUP)
    text = plain(load_study("toy", data).setup())
    for words in (
        "A machine",
        "1.7 GHz",
        "one disk; two tapes",
        "1,200 s",
        "not stated",
        "drive the load",
        "We take four.",
    ):
        assert words in text


def test_non_word_names_are_kept_as_in_study_yaml(tmp_path: Path) -> None:
    data = toy.build(tmp_path, stages=False)
    path = data / "published" / "toy" / "study.yaml"
    more = "networks: {lan: {label: Guest LAN, zvm: VSWITCH}}\nguests: {web: {name: w, label: Web, vcpus: 1, memory_mb: 1, networks: [lan]}}\n"
    path.write_text(
        path.read_text()
        + more
        + "workload: {disk: {sr_option: LOAD}}\nnames: {zvm: z/VM, sr_option: SR option}\n"
    )
    text = plain(load_study("toy", data).setup())
    assert (
        "z/VM" in text
        and "SR option: LOAD" in text
        and "Zvm" not in text
        and "Sr option" not in text
    )
    assert text.count("Guest LAN") == 2  # in the network and in the guest's row


def test_study_without_a_description_says_so(loaded: LoadedStudy) -> None:
    assert "no description of the set-up" in plain(loaded.setup())
