"""JSON Schemas of hand-written files: they accept what the models accept, and refuse what these refuse for
its form.
"""

from __future__ import annotations

import copy
import json
import random
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from rawperf.core.yamlio import load_yaml
from virtperf.check.schemas import MODELS, schema, write_schemas
from virtperf.report.kinds import kinds

FORM = {"extra_forbidden", "missing", "literal_error"} | {
    f"{name}_type" for name in ("model", "tuple", "dict", "string", "float", "int", "bool")
}
"""Errors of form: unknown and missing keys, wrong types."""
MUTANTS = 40


def documents(root: Path, name: str) -> Iterator[tuple[str, Any]]:
    """Every committed file of a kind, with its place."""
    if name == "format":
        for path in sorted((root / "src" / "rawperf").glob("**/presets/**/*.yaml")):
            yield path.name, load_yaml(path).data
        return
    for path in sorted((root / "data").glob(f"*/*/{name}.yaml")):
        yield str(path.relative_to(root)), load_yaml(path).data
    if name != "run":
        return
    for path in sorted((root / "data").glob("**/run.yaml")):
        yield str(path.relative_to(root)), load_yaml(path).data
    for archive in sorted((root / "data").glob("**/runs/*.zip")):
        with zipfile.ZipFile(archive) as packed:
            first = next(m for m in packed.namelist() if m.endswith("run.yaml"))
            yield f"{archive.name}:{first}", load_yaml(Path(first), content=packed.read(first)).data


def plain(data: Any) -> Any:
    """A YAML document as JSON has it: dates as text, and the key `on` as YAML 1.2 reads it."""
    if isinstance(data, dict):
        return {"on" if key is True else str(key): plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [plain(value) for value in data]
    return data if isinstance(data, str | int | float | bool | None) else str(data)


@pytest.mark.parametrize("name", MODELS)
def test_committed_schema_is_the_models(name: str, root: Path, tmp_path: Path) -> None:
    list(write_schemas(tmp_path))
    file = f"{name}.schema.json"
    assert (tmp_path / file).read_bytes() == (root / "docs" / "schemas" / file).read_bytes()


@pytest.mark.parametrize("name", MODELS)
def test_every_file_fits_its_schema(name: str, root: Path) -> None:
    validator = Draft202012Validator(schema(name))
    found = list(documents(root, name))
    assert found
    for place, data in found:
        problems = [
            f"{error.json_path}: {error.message}" for error in validator.iter_errors(plain(data))
        ]
        assert not problems, (place, problems[:3])


def places(data: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    )
    for key, value in items:
        yield (*at, key)
        yield from places(value, (*at, key))


def mutant(data: Any, draw: random.Random) -> Any:
    """A copy with one key more or less, or one value of another type."""
    changed = copy.deepcopy(data)
    *way, last = draw.choice(list(places(data)))
    parent = changed
    for key in way:
        parent = parent[key]
    match draw.choice(("add", "drop", "type")):
        case "add" if isinstance(parent, dict):
            parent["unknown_key"] = 1
        case "drop" if isinstance(parent, dict):
            del parent[last]
        case _:
            parent[last] = {"a": 1} if not isinstance(parent[last], dict) else 3
    return changed


@pytest.mark.parametrize("name", MODELS)
def test_errors_of_form_are_refused_by_the_schema_too(name: str, root: Path) -> None:
    draw, validator = random.Random(7), Draft202012Validator(schema(name))
    found = [data for _, data in documents(root, name)]
    if name == "hypotheses":  # the kind and fields of a repeated claim are those of the paper's
        found = [
            {**data, "hypotheses": [h for h in data["hypotheses"] if "from" not in h]}
            for data in found
        ]
    refused = 0
    for _ in range(MUTANTS):
        changed = mutant(draw.choice(found), draw)
        try:
            study = MODELS[name].model_validate(changed)
            for exhibit in getattr(study, "exhibits", ()):
                if (kind := kinds().get(exhibit.kind)) and kind.spec:
                    kind.spec.model_validate(exhibit.spec)
        except ValidationError as err:
            if any(error["type"] in FORM for error in err.errors()):
                refused += 1
                assert not validator.is_valid(plain(changed)), err
    assert refused >= MUTANTS // 4


def test_schemas_are_json(tmp_path: Path) -> None:
    for path in write_schemas(tmp_path):
        Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))
