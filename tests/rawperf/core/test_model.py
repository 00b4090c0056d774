"""Error messages for wrong values in hand-written files: location, expected value, advice."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import Field

from rawperf.core.errors import RawperfError
from rawperf.core.model import (
    Flag,
    InsertKeyAsName,
    Integer,
    Level,
    Levels,
    Model,
    Number,
    Texts,
    load_model,
)


class Part(Model):
    id: str
    size: Number = 0
    colour: Literal["green", "violet"] = "green"


class Named(Model):
    name: str = Field(alias="<name>")
    unit: str


class File(Model):
    title: str = ""
    count: Integer = 0
    fine: Flag = True
    at: dict[str, Level] = {}
    levels: Levels = (1,)
    sections: Texts = ()
    parts: tuple[Part, ...] = ()
    units: Annotated[dict[str, Named], InsertKeyAsName] = {}


def load(tmp_path, text, report=None):
    path = tmp_path / "file.yaml"
    path.write_text(text)
    return load_model(path, File, *([report] if report else []))[0]


def test_values_keep_their_yaml_type(tmp_path):
    found = load(
        tmp_path, "at: {guests: 12, system: zvm, share: 0.5}\nlevels: [1, b, 2.5]\nsections: One"
    )
    assert (
        found.at == {"guests": 12, "system": "zvm", "share": 0.5}
        and type(found.at["guests"]) is int
    )
    assert found.levels == (1, "b", 2.5)
    assert found.sections == ("One",)


def test_members_of_a_mapping_know_their_name(tmp_path):
    assert load(tmp_path, "units: {speed: {unit: m/s}}").units["speed"].name == "speed"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("titel: x", "file.yaml line 1: unknown key 'titel'. Did you mean 'title'?"),
        (
            "parts:\n  - id: a\n  - {id: b, sise: 2}",
            "line 3: parts/b: unknown key 'sise'. Did you mean 'size'?",
        ),
        ("parts:\n  - {size: 2}", "line 2: parts/0: 'id' is missing"),
        (
            "parts:\n  - {idd: a, size: 2}",
            "line 2: parts/0: 'id' is missing. 'idd' may be a misspelling of it: correct it",
        ),
        ("units:\n  speed: {}", "line 2: units/speed: 'unit' is missing"),
        (
            "units:\n  speed: {unit: m, nuit: s}",
            "units/speed: unknown key 'nuit'. Did you mean 'unit'?",
        ),
        (
            "parts: [{id: a, colour: gren}]",
            "parts/a/colour: wrong value; expected 'green' or 'violet'; found 'gren'. Did you mean 'green'?",
        ),
        (
            "parts: [{id: a, size: 1e11}]",
            "parts/a/size: wrong value; expected a number; found '1e11'. YAML reads it as text: write 1.0e+11",
        ),
        ("parts: [{id: a, size: -2.5E7}]", "YAML reads it as text: write -2.5e+7"),
        (
            "parts: [{id: a, size: .inf}]",
            "parts/a/size: wrong value; expected a finite number; found inf",
        ),
        (
            "parts: [{id: 3}]",
            "parts/0/id: wrong value; expected text; found 3. Put it in quotes",
        ),
        ("title: 2026-11-28", "title: wrong value; expected text; found 2026-11-28. Put it in"),
        ("at: {off: 1}", "wrong value; expected text; found False. Put it in quotes"),
        ("parts: [{off: 1}]", "wrong value; expected text before the colon; found False. Put it"),
        ("levels: []", "levels: wrong value; expected at least 1 item; found []"),
        ("count: 1.5", "line 1: count: wrong value; expected a whole number; found 1.5"),
        ("count: yes", "count: wrong value; expected a whole number; found True"),
        ("fine: 1", "fine: wrong value; expected true or false; found 1"),
        ("at: {guests: true}", "at/guests: wrong value; expected text or a number; found True"),
        ("at: {guests: .nan}", "at/guests: wrong value; expected text or a number; found nan"),
        ("levels: [1, 2, 1]", "line 1: levels: 1 occurs twice"),
        ("parts: 3", "parts: wrong value; expected a list; found 3"),
        ("parts: [3]", "parts/0: wrong value; expected key: value lines; found 3"),
    ],
)
def test_mistake_is_reported_with_location(tmp_path, text, said):
    with pytest.raises(RawperfError) as caught:
        load(tmp_path, text)
    assert said in str(caught.value)


def test_all_mistakes_are_reported_in_file_order(tmp_path):
    found = []
    with pytest.raises(RawperfError) as last:
        load(tmp_path, "count: many\nfine: maybe\nparts: [{}]", found.append)
    assert [p.problem for p in (*found, last.value)] == [
        "count: wrong value",
        "fine: wrong value",
        "parts/0: 'id' is missing",
    ]
