"""Typed schema of all parameters, shared by `params.yaml`, the command line and notebooks."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from rawperf.core.errors import ParameterError, Report, raise_problem
from rawperf.core.model import Flag, Integer, Model, Number, load_model, problems
from rawperf.core.yamlio import Document

WordReading = Literal["strict", "default", "lenient"]
"""Modes of reading number words (`study.readings`)."""


class ReconstructParameters(Model):
    """Options of the reconstruction from the text."""

    readings: WordReading = "default"
    assumptions_off: tuple[str, ...] = ()


class ReportParameters(Model):
    """Display options of a report."""

    assumptions: Flag = True
    show_examples: Flag = False


class Studies(Model):
    """The studies of the pipeline, by kind: `dvc.yaml` has the stages of each of them.

    `example_reports`: papers with a page that shows their example runs.
    """

    papers: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    example_reports: tuple[str, ...] = ()


class Parameters(Model):
    """The contents of `params.yaml`."""

    seed: Integer = Field(ge=0)
    level: Number = Field(default=0.95, gt=0.5, lt=1)
    reconstruct: ReconstructParameters = ReconstructParameters()
    report: ReportParameters = ReportParameters()
    studies: Studies = Studies()


class NotebookParameters(ReportParameters):
    """Parameters of a study's notebook (the cell tagged `parameters` has these names)."""

    data: str = ""
    level: Number = Field(default=0.95, gt=0.5, lt=1)
    seed: Integer = Field(default=0, ge=0)


def load_parameters(path: Path, report: Report = raise_problem) -> Parameters:
    """Read `params.yaml`; raises `StudyError` with file and line, and suggests the closest known
    name for an unknown one.
    """
    return load_model(path, Parameters, report)[0]


def notebook_parameters(values: dict[str, Any]) -> NotebookParameters:
    """Validate a notebook's parameters before a kernel starts; raises `ParameterError` for the
    first invalid one.
    """
    try:
        return NotebookParameters.model_validate(values)
    except ValidationError as err:
        first = next(iter(problems(err, NotebookParameters, Document(values, Path(), {}))))
        raise first.copy_as(
            ParameterError, problem=f"parameter {first.problem}", file=None, line=None
        ) from err
