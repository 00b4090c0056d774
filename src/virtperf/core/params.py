"""The typed schema of every parameter: `params.yaml`, the command line and notebooks share it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from virtperf.core.errors import ParameterError, Report, stop
from virtperf.core.yamlio import load_yaml


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ReconstructParameters(_Strict):
    """How raw run folders are simulated around the centre of what the text allows."""

    assumptions_off: tuple[str, ...] = ()
    replicates: int = Field(default=3, ge=1, le=100)
    run_cv: float = Field(default=0.005, ge=0, le=0.5)
    sample_cv: float = Field(default=0.02, ge=0, le=0.5)
    autocorrelation: float = Field(default=0.4, ge=0, lt=1)
    ramp_s: float = Field(default=45.0, gt=0, le=600)


class ReportParameters(_Strict):
    """What a report shows."""

    assumptions: bool = True
    show_examples: bool = False
    provenance: Literal["reconstructed", "measured"] = "reconstructed"


class Parameters(_Strict):
    """All of `params.yaml`."""

    seed: int = Field(ge=0)
    level: float = Field(default=0.95, gt=0.5, lt=1)
    reconstruct: ReconstructParameters = ReconstructParameters()
    report: ReportParameters = ReportParameters()


class NotebookParameters(_Strict):
    """What a study's notebook takes (its cell tagged `parameters` has these names)."""

    data: str = "../data"
    level: float = Field(default=0.95, gt=0.5, lt=1)
    seed: int = Field(default=0, ge=0)
    assumptions: bool = True
    show_examples: bool = False
    provenance: Literal["published", "reconstructed", "measured"] = "reconstructed"


def load_parameters(path: Path, report: Report = stop) -> Parameters:
    """Read `params.yaml`.

    Parameters
    ----------
    path : Path
    report : callable, optional
        Told of every problem, the last one excepted, which is raised.

    Raises
    ------
    ParameterError
        An unknown name (with the closest known one), a wrong type or a value out of range, with file and line.
    """
    document = load_yaml(path)
    try:
        return Parameters.model_validate(document.data)
    except ValidationError as err:
        *others, last = (
            _explain(error, Parameters, file=path.name, line=document.line(*error["loc"])) for error in err.errors()
        )
        for problem in others:
            report(problem)
        raise last from err


def notebook_parameters(values: dict[str, Any]) -> NotebookParameters:
    """Check a notebook's parameters before a kernel starts; raises `ParameterError` as `load_parameters` does."""
    try:
        return NotebookParameters.model_validate(values)
    except ValidationError as err:
        raise _explain(err.errors()[0], NotebookParameters) from err


def _explain(first: Mapping[str, Any], model: type[BaseModel], **place: Any) -> ParameterError:
    name = ".".join(map(str, first["loc"]))
    if first["type"] != "extra_forbidden":
        return ParameterError(f"parameter {name}: {first['msg']}", found=repr(first["input"]), **place)
    for part in first["loc"][:-1]:
        inner = model.model_fields[str(part)].annotation
        assert isinstance(inner, type) and issubclass(inner, BaseModel)
        model = inner
    known = list(model.model_fields)
    close = difflib.get_close_matches(str(first["loc"][-1]), known, n=1)
    remedy = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}."
    return ParameterError(f"there is no parameter {name}", remedy=remedy, **place)
