"""All hand-written files of a repository, or those of some of its studies."""

from __future__ import annotations

from collections.abc import Sequence

from virtperf.check.notebook import check_notebook
from virtperf.check.problems import Problems
from virtperf.check.runs import check_runs
from virtperf.check.shared import (
    check_metrics,
    check_parameters,
    check_pipelines,
    check_readings,
    check_synthesis_file,
)
from virtperf.check.study import check_study
from virtperf.core.paths import Layout
from virtperf.exhibits.wording import plural
from virtperf.study.definition import Study


def check_everything(layout: Layout, studies: Sequence[str] = ()) -> tuple[Problems, str]:
    """Check the shared files and the given studies, all of them by default.

    `studies`: ids of existing studies.

    Returns the problems, and in words what was checked.

    Raises `VirtperfError`: a study that is not there.
    """
    for name in studies:
        layout.known(name)
    layout = Layout(layout.root.absolute())
    problems = Problems(layout.root)
    dictionary = check_metrics(layout.metrics, problems)
    check_readings(layout.readings, problems)
    parameters = check_parameters(layout.parameters, problems)
    check_pipelines(layout, problems)
    for folder in sorted((layout.root / "data" / "published").glob("*/")):
        if not (folder / "study.yaml").is_file():
            problems.say("a folder without study.yaml", folder, remedy="add one, or remove the folder")
    runs = 0
    defined: dict[str, Study] = {}
    chosen = list(studies) or layout.studies()
    for name in chosen:
        study = check_study(layout.definition(name), dictionary, problems)
        if study is not None:
            defined[name] = study
            check_notebook(layout.notebook(name), study, parameters, problems)
            runs += check_runs(layout.measured(name), study, problems)
    if not studies:
        check_synthesis_file(layout, defined, problems)
    counts = f"{plural(len(chosen), 'study', 'studies')}, {plural(runs, 'measured run')}"
    return problems, f"{counts}, data/metrics.yaml, data/readings.yaml, params.yaml, pipelines"
