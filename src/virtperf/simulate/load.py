"""`raw.yaml` loaded and checked, before anything is computed from it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from rawperf import get_format, get_writer
from rawperf.core.errors import FormatError, Report, stop
from rawperf.core.model import load_model
from rawperf.core.yamlio import Document, walk
from virtperf.core.params import ReconstructParameters
from virtperf.simulate.expressions import ExpressionError, used
from virtperf.simulate.file import NUMBERS, Place, Raw, RawFile
from virtperf.simulate.signals import CALLABLE, OWN_NAMES
from virtperf.study.definition import Study
from virtperf.study.parts import listed


def load_raw(study: Study, parameters: ReconstructParameters, report: Report = stop) -> Raw:
    """Load and check `raw.yaml` of a study; raises `StudyError` with file and line for whatever is
    wrong in it.
    """
    _, document = load_model(study.folder / "raw.yaml", RawFile, report)
    conventions = {
        name: entry["value"] for name, entry in document.data.get("conventions", {}).items()
    }
    settings = {name: v for name, v in parameters.model_dump().items() if isinstance(v, float)}
    meanings = dict.fromkeys((*OWN_NAMES, *settings), "known") | dict.fromkeys(
        study.factors, "a factor"
    )
    meanings |= dict.fromkeys(study.quantities, "a quantity") | dict.fromkeys(
        conventions, "a convention"
    )
    places = list(walk(document.data))
    for place, node in places:
        defined = _definition(place, node)
        if defined and meanings.setdefault(str(place[-1]), defined) != defined:
            problem = f"{place[-1]!r} is {defined} here and {meanings[str(place[-1])]} elsewhere"
            raise document.error(problem, *place, remedy="rename it.")
    declared = {
        part: dict.fromkeys(p[3] for p, _ in places if len(p) == 4 and p[2] == part)
        for part in ("times", "entities")
    }
    for place, node in places:
        key = str(place[-1]) if place else ""
        part = "entities" if key in ("of", "each") else key
        if _is_expression(place):
            if isinstance(node, str):
                _check_expression(document, node, place, meanings)
        elif place[2:3] == ("entities",) or place[-2:-1] == ("info",):
            continue
        elif isinstance(node, str) and part in declared and node not in declared[part]:
            expected = f"one of {', '.join(map(str, declared[part]))}"
            raise document.error(
                f"no block declares {node!r} among its {part}", *place, expected=expected
            )
        elif key == "at" or (len(place) == 2 and place[0] == "borrow"):
            for factor, level in (
                (factor, level) for factor, wanted in node.items() for level in listed(wanted)
            ):
                if wrong := study.level_problem(factor, level):
                    raise document.error(wrong.pop("problem"), *place, factor, **wrong)
        elif key == "format":
            printed = "text" in document.data["blocks"][place[1]]["files"][place[3]]["records"][0]
            if printed and node in {declared.name for declared in study.inputs}:
                continue
            try:
                (get_format if printed else get_writer)(node)
            except FormatError as err:
                raise document.error(err.problem, *place, expected=err.expected or "") from err
        elif key == "start" and not (isinstance(node, datetime) and node.tzinfo is None):
            raise document.error(
                "start is no date and time without zone", *place, expected="2009-01-01T10:00:00"
            )
    return Raw(document, {**settings, **conventions}, frozenset(study.quantities))


def _definition(place: Place, node: Any) -> str:
    """What a place of `raw.yaml` gives a name to, beside the conventions."""
    part = place[2:]
    if len(part) == 2 and part[0] == "signals":
        return "a signal"
    attribute = len(part) == 4 and part[0] == "entities" and part[3] not in ("count", "from")
    return "an attribute" if attribute and not isinstance(node, str) else ""


def _is_expression(place: Place) -> bool:
    part = place[2:]
    if len(part) < 2 or place[0] != "blocks" or "at" in (part[0], part[-2]):
        return False
    if part[0] == "run":
        return part[1] != "start"
    return part[-2] in ("signals", "fields") or part[-1] in (
        "is",
        "count",
        "from",
        "to",
        "step",
        "when",
        *NUMBERS,
    )


def _check_expression(
    document: Document, text: str, place: Place, meanings: Mapping[str, str]
) -> None:
    try:
        names, functions = used(text)
    except ExpressionError as err:
        raise document.error(f"{text!r}: {err}", *place) from err
    for unknown in sorted(names - meanings.keys()):
        raise document.error(
            f"{text!r}: nothing is called {unknown!r}", *place, remedy="declare it as a signal."
        )
    for unknown in sorted(functions - CALLABLE):
        expected = f"one of {', '.join(sorted(CALLABLE))}"
        raise document.error(
            f"{text!r}: there is no function {unknown!r}", *place, expected=expected
        )
