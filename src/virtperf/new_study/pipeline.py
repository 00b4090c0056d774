"""The stages of a study: the same for all of a kind, each study in a `dvc.yaml` of its own."""

from __future__ import annotations

from virtperf.new_study.template import rendered


def pipeline_text(study_id: str, *, measured: bool = False) -> str:
    """The text of `pipelines/<study>/dvc.yaml`; `measured`: of a study that begins with measurements."""
    home = "measured" if measured else "published"
    return rendered("stages.yaml.j2", {"id": study_id, "measured": measured, "home": home})
