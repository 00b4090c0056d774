"""Create the files of a new study, all or none."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from importlib import resources
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from rawperf.core.errors import StudyError
from rawperf.core.files import replace_folder, write_atomically
from virtperf.core.params import load_parameters
from virtperf.core.paths import Layout
from virtperf.study.definition import load_study
from virtperf.study.new.notebook import notebook_text
from virtperf.study.yaml_edit import insert_study

_ID = re.compile(r"[a-z0-9][a-z0-9-]{1,60}")
_PAPER = {
    "study.yaml": "study.yaml.j2",
    "claims.yaml": "claims.yaml.j2",
    "tables/table-1.csv": "table-1.csv.j2",
}
_MEASURED, _PLANNED = (
    {
        name: f"{folder}/{name}.j2"
        for name in ("study.yaml", "hypotheses.yaml", "measure.yaml", "work.py", "README.md")
    }
    for folder in ("measured", "planned")
)
"""File names of a study and their templates."""
_ARTIFACT = "import_runs.py"


def write_study(
    layout: Layout,
    study_id: str,
    title: str = "",
    *,
    measured: bool = False,
    artifact: bool = False,
    plan: Mapping[str, object] | None = None,
) -> list[Path]:
    """Write the files of a new study and its line in params.yaml, and return their paths; on error
    everything is rolled back.

    Parameters
    ----------
    title : str, optional
        Default is a placeholder.
    measured : bool
        Whether the study starts from measurements, not from a paper.
    artifact : bool
        Whether the paper's authors published their data: adds a script that converts them to run
        folders, a notice, and a section of `study.yaml`.
    plan : mapping of str to object, optional
        Of a measured study that tests one claim: what its templates (`planned`) state.

    Raises
    ------
    RawperfError
        Invalid id, an existing study or notebook with this id, a folder that is no repository of
        studies, a list of studies in params.yaml that is not one entry per line.
    """
    if not _ID.fullmatch(study_id):
        raise StudyError(
            f"invalid study id {study_id!r}",
            expected="2 to 61 lower-case letters, digits and hyphens, optionally with the year",
        )
    if not (layout.root / "dvc.yaml").is_file():
        raise StudyError(
            "this folder is not a repository of studies",
            file=layout.root.resolve(),
            expected="dvc.yaml and params.yaml",
            remedy="run virtperf in the repository's folder, or set --root to it",
        )
    parameters = load_parameters(layout.parameters)
    runs, notebook = layout.measured(study_id), layout.notebook(study_id)
    folder = runs if measured else layout.published(study_id)
    script = layout.root / "testbeds" / study_id / _ARTIFACT
    for path in (layout.published(study_id), runs, notebook, script):
        if path.exists():
            raise StudyError("already exists", file=path, remedy="choose another id, or remove it")
    values = {
        "id": study_id,
        "title": title or f"EXAMPLE, replace this title: {study_id}",
        "artifact": artifact,
        **(plan or {}),
    }
    names = _PLANNED if plan else _MEASURED if measured else _PAPER
    written = [folder / name for name in names]
    with ExitStack() as undo:
        undo.callback(shutil.rmtree, folder, ignore_errors=True)
        with replace_folder(folder) as fresh:
            for name, template in names.items():
                (fresh / name).parent.mkdir(exist_ok=True)
                (fresh / name).write_text(_render(template, values), encoding="utf-8")
        if not measured:
            undo.callback(shutil.rmtree, runs, ignore_errors=True)
            written.append(runs / "README.md")
            write_atomically(written[-1], _render("README.md.j2", values))
        if artifact:
            written += [runs / "NOTICE.md", script]
            write_atomically(runs / "NOTICE.md", _render("NOTICE.md.j2", values))
            undo.callback(script.unlink, missing_ok=True)
            write_atomically(script, _render(f"{_ARTIFACT}.j2", values))
        undo.callback(notebook.unlink, missing_ok=True)
        write_atomically(notebook, notebook_text(load_study(folder), parameters))
        insert_study(layout.parameters, "measured" if measured else "papers", study_id)
        undo.pop_all()
    return [*written, notebook, layout.parameters]


def _render(name: str, values: Mapping[str, object]) -> str:
    environment = Environment(undefined=StrictUndefined, autoescape=False)  # noqa: S701 - YAML, no HTML
    environment.keep_trailing_newline = environment.trim_blocks = environment.lstrip_blocks = True
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False}
    text = resources.files("virtperf.study.new").joinpath(name).read_text(encoding="utf-8")
    return environment.from_string(text).render(values)
