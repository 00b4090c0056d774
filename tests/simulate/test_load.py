"""What is wrong in raw.yaml is found before anything is computed, with its line."""

from __future__ import annotations

import re

import pytest
import yaml

from rawperf.core.errors import StudyError
from tests.simulate.toy_raw import RAW, toy, with_signal
from virtperf.simulate.signals import CALLABLE

WRONG = {
    "an unknown name": (
        with_signal("a: throughput * speed"),
        "nothing is called 'speed'",
        "a: throughput",
    ),
    "an unknown function": (with_signal("a: eval(1)"), "there is no function 'eval'", "a: eval"),
    "no arithmetic": (
        with_signal("a: throughput.real"),
        "more than arithmetic",
        "a: throughput.real",
    ),
    "no syntax": (with_signal("a: 1 +"), "no arithmetic expression", "a: 1 +"),
    "in a field": (
        RAW.replace("resp avg: 2 / rate", "resp avg: 2 / rat"),
        "nothing is called 'rat'",
        "pg: floor",
    ),
    "in a grid": (RAW.replace("to: duration", "to: end_s"), "nothing is called 'end_s'", "ticks:"),
    "in an entry": (
        RAW.replace("duration / 10}", "length / 10}"),
        "nothing is called 'length'",
        "entry:",
    ),
    "in run": (RAW.replace("2 * guests}", "2 * gests}"), "nothing is called 'gests'", "- run:"),
    "two meanings": (
        with_signal("throughput: 5"),
        "'throughput' is a signal here and a quantity",
        "throughput: 5",
    ),
    "an attribute too": (
        with_signal("weight: 5"),
        "'weight' is a signal here and an attribute",
        "weight: 5",
    ),
    "an unknown format": (
        RAW.replace("format: iwl-console", "format: iwl"),
        "no format is called 'iwl'",
        "format: iwl",
    ),
    "a format that is only read": (
        RAW.replace("format: iwl-console", "format: sadf-json"),
        "read only",
        "format: sadf",
    ),
    "an unknown factor": (RAW + "  - {at: {host: a}}\n", "unknown factor 'host'", "- {at"),
    "an unknown level": (
        RAW + "  - {at: {system: [a, c]}}\n",
        "unknown level 'c' of system; expected one of 'a', 'b'",
        "- {at",
    ),
    "unknown entities": (
        RAW.replace("each: drivers", "each: driver"),
        "no block declares 'driver'",
        "each: driver",
    ),
    "unknown times": (
        RAW.replace("times: ticks, of", "times: tick, of"),
        "no block declares 'tick'",
        "rate:",
    ),
    "an unknown key": (
        RAW.replace("report: status", "repot: status"),
        "there is no 'repot' here. Did you mean 'report'",
        "repot",
    ),
    "no reason": (RAW.replace(", why: not stated anywhere", ""), "'why' is missing", "unit_s"),
    "a zone": (RAW.replace("T09:00:00", "T09:00:00Z"), "no date and time without zone", "- run:"),
}


@pytest.mark.parametrize("what", WRONG)
def test_mistakes_are_named_with_their_line(tmp_path, what):
    text, problem, near = WRONG[what]
    with pytest.raises(StudyError) as err:
        toy(tmp_path, text)
    assert problem in str(err.value)
    assert err.value.file == "raw.yaml"
    assert near in text.splitlines()[err.value.line - 1]


def test_what_is_expected_is_listed(tmp_path):
    with pytest.raises(StudyError, match=r"expected one of .*cumsum.*normal"):
        toy(tmp_path, with_signal("a: sum(1)"))
    with pytest.raises(StudyError, match="Declare it as a signal"):
        toy(tmp_path, with_signal("a: speed"))


def test_later_blocks_add_and_replace(tmp_path):
    more = (
        RAW
        + "  - at: {system: b}\n    run: {duration_s: 200}\n    signals: {duration: 200, extra: 1}\n"
    )
    _, raw, plans = toy(tmp_path, more)
    a, b = (raw.declared(plans[name].condition.levels) for name in ("a-1-r1", "b-1-r1"))
    assert [x["run"]["duration_s"].body for x in (a, b)] == [100, 200]
    assert [x["signals"]["duration"].body for x in (a, b)] == [100, 200]
    assert "extra" not in a["signals"] and "extra" in b["signals"]
    assert a["signals"]["level"] == b["signals"]["level"]


def test_the_documentation_names_every_function_and_its_example_loads(root, tmp_path):
    text = (root / "docs" / "run-folders.md").read_text().partition("## Simulated runs")[2]
    table = text.partition("| | |")[2].partition("\n\n")[0]
    words = {
        word
        for cell in re.findall(r"`([^`]*)`", table)
        for word in re.findall(r"[a-z0-9_]+(?=\(| |$)", cell)
    }
    assert words >= CALLABLE, CALLABLE - words
    example = yaml.safe_load(re.search(r"```yaml\n(.*?)```", text, re.S)[1])
    example["borrow"], example["blocks"][0]["at"] = (
        {"load": {"system": "a"}},
        {"system": ["a", "b"]},
    )
    example["blocks"][0]["signals"].pop("load")
    example["blocks"][0]["signals"]["busy"] = "bounded(load / 100, 0)"
    example["blocks"][0]["files"][0]["records"][0]["fields"] = {"%user": "busy"}
    toy(tmp_path, yaml.safe_dump(example))
