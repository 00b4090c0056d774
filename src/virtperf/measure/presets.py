"""Monitors by name: the packaged commands that `preset` in measure.yaml stands for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from rawperf.core.near import did_you_mean

PRESETS_FILE = Path(__file__).with_name("presets.yaml")
PRESET_KEYS = ("preset", "every", "of")
CONTROL_GROUP = re.compile(r"[\w$][\w$@.:/-]*")
"""A control group: no quote, blank or sign that a shell would take for more than a name."""


@cache
def presets() -> dict[str, dict[str, Any]]:
    """All presets by name: fields of a command, and `format`, the reader of what it writes."""
    found: dict[str, dict[str, Any]] = yaml.safe_load(PRESETS_FILE.read_text(encoding="utf-8"))
    return found


def expanded(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The command that an entry with `preset` stands for; what else the entry says replaces the
    preset's.

    Raises
    ------
    ValueError
        There is no such preset, or its options are no numbers and names.
    """
    name = entry["preset"]
    if name not in presets():
        raise ValueError(f"there is no preset {name!r}: {did_you_mean(str(name), presets())}")
    command = {key: value for key, value in presets()[name].items() if key != "format"}
    every, group = entry.get("every", 1), entry.get("of")
    if isinstance(every, bool) or not isinstance(every, int) or not 1 <= every <= 3600:
        raise ValueError(f"every is {every!r}, which is no whole number of seconds")
    if ("{of}" in command["run"]) != (group is not None):
        needed = "is missing: the control group" if group is None else "says nothing to this preset"
        raise ValueError(f"preset {name}: of {needed}")
    if group is not None and not (isinstance(group, str) and CONTROL_GROUP.fullmatch(group)):
        raise ValueError(f"of is {group!r}, which is no name of a control group")
    if "on" in entry and "output" in command:
        # monitors of several hosts stand in a folder each, whose name is the host's
        command["output"] = command["output"].replace("host/", "{host}/", 1)
    command["run"] = command["run"].replace("{every}", str(every)).replace("{of}", group or "")
    return {**command, **{key: value for key, value in entry.items() if key not in PRESET_KEYS}}
