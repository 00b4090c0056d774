"""Create the files of a new study, all or none."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from rawperf.core.errors import StudyError
from rawperf.core.files import replace_folder, write_atomically
from virtperf.core.params import load_parameters
from virtperf.core.paths import Layout
from virtperf.study.definition import load_study
from virtperf.study.new.notebook_template import notebook_text
from virtperf.study.yaml_edit import insert_study

_ID = re.compile(r"[a-z0-9][a-z0-9-]{1,60}")
_PAPER = {
    "study.yaml": "study.yaml.j2",
    "claims.yaml": "claims.yaml.j2",
    "tables/table-1.csv": "table-1.csv.j2",
}
MEASURED_FILES = ("study.yaml", "hypotheses.yaml", "measure.yaml", "work.py", "README.md")
_MEASURED = {name: f"measured/{name}.j2" for name in MEASURED_FILES}
"""File names of a study and their templates."""


@dataclass(frozen=True)
class Drafted:
    """A study with other files than the templates' placeholders.

    `study`: texts of the files in the study's folder, by name. `beside`: texts of further files, by
    path. `make_runs`: writes run folders to `data/measured/ID`.
    """

    study: Mapping[str, str]
    beside: Mapping[Path, str] = field(default_factory=dict)
    make_runs: Callable[[Path], object] | None = None


def write_study(
    layout: Layout,
    study_id: str,
    title: str = "",
    *,
    measured: bool = False,
    drafted: Drafted | None = None,
) -> list[Path]:
    """Write the files of a new study and its line in params.yaml, and return their paths; on error
    everything is rolled back.

    Parameters
    ----------
    title : str, optional
        Default is a placeholder.
    measured : bool
        Whether the study starts from measurements, not from a paper.
    drafted : Drafted, optional
        Contents in place of the templates'.

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
    beside = dict(drafted.beside) if drafted else {}
    for path in (layout.published(study_id), runs, notebook, *beside):
        if path.exists():
            raise StudyError("already exists", file=path, remedy="choose another id, or remove it")
    values = {
        "id": study_id,
        "title": title or f"EXAMPLE, replace this title: {study_id}",
    }
    templates = _MEASURED if measured else _PAPER
    texts = (
        drafted.study
        if drafted
        else {name: render(__package__, template, values) for name, template in templates.items()}
    )
    if not measured and not drafted:
        beside[runs / "README.md"] = render(__package__, "README.md.j2", values)
    written = [folder / name for name in texts]
    with ExitStack() as undo:
        undo.callback(shutil.rmtree, folder, ignore_errors=True)
        with replace_folder(folder) as fresh:
            for name, text in texts.items():
                (fresh / name).parent.mkdir(exist_ok=True)
                (fresh / name).write_text(text, encoding="utf-8")
        if not measured:
            undo.callback(shutil.rmtree, runs, ignore_errors=True)
        for path, text in beside.items():
            undo.callback(path.unlink, missing_ok=True)
            write_atomically(path, text)
            written.append(path)
        if drafted and drafted.make_runs:
            drafted.make_runs(runs)
        undo.callback(notebook.unlink, missing_ok=True)
        write_atomically(notebook, notebook_text(load_study(folder), parameters))
        insert_study(layout.parameters, "measured" if measured else "papers", study_id)
        undo.pop_all()
    return [*written, notebook, layout.parameters]


def render(
    package: str, name: str, values: Mapping[str, object], **filters: Callable[..., str]
) -> str:
    """Render a template of YAML or Markdown that stands in a package."""
    environment = Environment(undefined=StrictUndefined, autoescape=False)  # noqa: S701 - no HTML
    environment.keep_trailing_newline = environment.trim_blocks = environment.lstrip_blocks = True
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False}
    environment.filters |= filters
    text = resources.files(package).joinpath(name).read_text(encoding="utf-8")
    return environment.from_string(text).render(values)
