"""The mapping that says where the numbers of an iwlengine XML document stand, loaded from YAML."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from rawperf.core.errors import RawperfError
from rawperf.core.units import conversion_factor
from rawperf.core.yamlio import load_yaml

SHIPPED_MAPPING = Path(__file__).with_name("xml_mapping.yaml")
HMS = "HH:MM:SS"
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class Mapping:
    """Where the numbers stand in a document."""

    snapshot: tuple[str, ...]  # element names from the root to the repeated element
    time: str  # path below it of the elapsed time
    time_unit: str  # a unit of time, or HH:MM:SS
    time_factor: float  # seconds in one printed unit of time
    report: str
    entity_kind: str
    fields: dict[
        str, tuple[str, float]
    ]  # path below the snapshot -> field name, factor of the printed number


def load_mapping(path: Path | str) -> Mapping:
    """Read a mapping file; raises `StudyError` (with its line) where it is wrong."""
    path = Path(path)
    return _load_mapping(path, path.stat().st_mtime_ns if path.is_file() else 0)


@lru_cache(maxsize=16)
def _load_mapping(path: Path, _version: int) -> Mapping:
    document = load_yaml(path)

    def text(where: tuple[str | int, ...], default: str | None = None) -> str:
        part: Any = document.data
        try:
            for key in where:
                part = part[key]
        except (KeyError, TypeError):
            part = default
        if not isinstance(part, str):
            raise document.error(f"{'/'.join(map(str, where))} is missing or no text", *where)
        return part

    def steps(where: tuple[str | int, ...], attribute: bool = True) -> str:
        path = text(where)
        *above, last = path.split("/")
        if not all(
            NAME.fullmatch(name) for name in (*above, last.removeprefix("@") if attribute else last)
        ):
            raise document.error(
                f"{path!r} is no path", *where, expected="element names joined by '/'"
            )
        return path

    def factor(where: tuple[str | int, ...], unit: str, to: str) -> float:
        try:
            return conversion_factor(unit, to)
        except RawperfError as err:
            raise document.error(str(err), *where) from err

    if "/" not in text(("snapshot",)):
        raise document.error("snapshot names the root itself", "snapshot", expected="root/element")
    listed = document.data.get("fields")
    if not isinstance(listed, list) or not listed:
        raise document.error("fields is missing or no list", "fields")
    fields: dict[str, tuple[str, float]] = {}
    for i in range(len(listed)):
        unit = text(("fields", i, "unit"))
        scale = factor(("fields", i, "unit"), unit, text(("fields", i, "to"), unit))
        fields[steps(("fields", i, "path"))] = (text(("fields", i, "field")), scale)
    time_unit = text(("time", "unit"))
    return Mapping(
        snapshot=tuple(steps(("snapshot",), attribute=False).split("/")),
        time=steps(("time", "path")),
        time_unit=time_unit,
        time_factor=1.0 if time_unit == HMS else factor(("time", "unit"), time_unit, "s"),
        report=text(("report",), "snapshot"),
        entity_kind=text(("entity_kind",), "driver"),
        fields=fields,
    )
