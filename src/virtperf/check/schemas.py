"""JSON Schemas of the hand-written files, generated from the models that read them: for editors and for
tools that write run folders.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from rawperf.core.declaration import Declaration
from rawperf.core.model import Model
from virtperf.measure.definition import Definition
from virtperf.report.kinds import kinds
from virtperf.runs.ingest.runs import Run
from virtperf.study.claim_kinds import CLAIM_KINDS, ParsedClaim
from virtperf.study.claims import ClaimsFile
from virtperf.study.definition import Study


class _Hypotheses(Model):
    study: str
    hypotheses: tuple[ParsedClaim, ...]


MODELS: Mapping[str, type[BaseModel]] = {
    "study": Study,
    "claims": ClaimsFile,
    "hypotheses": _Hypotheses,
    "measure": Definition,
    "run": Run,
    "format": Declaration,
}
"""By name of the file, without its ending; a format is a file of declared formats."""


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a file in `MODELS`.

    It checks the form: keys, types, patterns and limits. Rules between keys are checked by
    `virtperf check` alone.
    """
    model = MODELS[name]
    exhibits = (
        {kind.name: kind.spec for kind in kinds().values() if kind.spec} if name == "study" else {}
    )
    places, whole = models_json_schema([(m, "validation") for m in (model, *exhibits.values())])
    parts = _without_internal(whole["$defs"])

    def place(of: type[BaseModel]) -> str:
        return str(places[of, "validation"]["$ref"]).rpartition("/")[2]

    made = parts.pop(place(model))
    if exhibits:  # an exhibit has the fields of its kind
        entries = []
        for kind, spec in exhibits.items():
            entry = parts[place(spec)]
            fields = {**entry["properties"], "kind": {"const": kind}}
            entries.append({**entry, "properties": fields})
        parts["Exhibit"] = {"oneOf": entries}
        parts = {k: v for k, v in parts.items() if k not in map(place, exhibits.values())}
    if name == "hypotheses":  # a repeated claim has the kind, and any field of it may be given anew
        together: dict[str, Any] = {}
        for kind_class in CLAIM_KINDS.values():
            together = {**parts[kind_class.__name__]["properties"], **together}
        together["kind"] = {"enum": list(CLAIM_KINDS)}
        repeated = {
            "type": "object",
            "properties": together,
            "required": ["id"],
            "additionalProperties": False,
        }
        own = made["properties"]["hypotheses"]["items"]
        made["properties"]["hypotheses"]["items"] = {
            "if": {"required": ["from"]},
            "then": repeated,
            "else": own,
        }
    dialect = {"$schema": GenerateJsonSchema.schema_dialect, "title": f"{name}.yaml"}
    return {**dialect, **made, "$defs": dict(sorted(parts.items()))}


def write_schemas(folder: Path) -> Iterator[Path]:
    """Write all schemas as ``<name>.schema.json``, and yield their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in MODELS:
        path = folder / f"{name}.schema.json"
        path.write_text(json.dumps(schema(name), indent=1, ensure_ascii=False) + "\n", "utf-8")
        yield path


def _without_internal(part: Any) -> Any:
    """Leave out the keys that no file uses (their alias begins with <), and titles and descriptions, which
    are names and docstrings of the code.
    """
    if isinstance(part, list):
        return [_without_internal(each) for each in part]
    if not isinstance(part, dict):
        return part
    made = {}
    for key, value in part.items():
        if key in ("title", "description") and isinstance(value, str):
            continue
        if key == "properties":
            value = {k: v for k, v in value.items() if not k.startswith("<")}
        if key == "required" and isinstance(value, list):
            value = [k for k in value if not k.startswith("<")]
        made[key] = _without_internal(value)
    if "patternProperties" in made:  # keys of another form are errors
        made.setdefault("additionalProperties", False)
    return made
