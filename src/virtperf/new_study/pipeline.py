"""The stages of a study: the same for all of them, each study in a `dvc.yaml` of its own.

The template has another name, which DVC does not read.
"""

from __future__ import annotations

from importlib import resources


def pipeline_text(study_id: str) -> str:
    """The text of `pipelines/<study>/dvc.yaml`."""
    text = resources.files("virtperf.new_study").joinpath("stages.yaml").read_text(encoding="utf-8")
    return text.replace("study: STUDY", f"study: {study_id}")
