"""What all studies share: the metric dictionary, the readings of words, the parameters, the stages of each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from virtperf.check.problems import Problems
from virtperf.core.metrics import MetricDictionary, load_metrics
from virtperf.core.params import Parameters, load_parameters
from virtperf.core.paths import Layout
from virtperf.core.yamlio import load_yaml
from virtperf.formats import all_formats
from virtperf.formats.declared.metrics import with_presets
from virtperf.study.definition import Study
from virtperf.study.hypotheses import claims_of
from virtperf.study.readings import load_readings
from virtperf.synthesis.checks import check_synthesis
from virtperf.synthesis.definition import FILE, load_file


def check_metrics(path: Path, problems: Problems) -> MetricDictionary | None:
    """Check `data/metrics.yaml` and what declared formats say of it; None where it can't be loaded."""
    with problems.caught(path.parent):
        dictionary = load_metrics(path, problems.of(path.parent))
        formats, document = all_formats(), load_yaml(path)
        for name in dictionary.metrics:
            for position, written in enumerate(document.data["metrics"][name].get("sources", ())):
                named = [written["format"]] if isinstance(written["format"], str) else written["format"]
                for other in (one for one in named if one not in formats):
                    line = document.line("metrics", name, "sources", position)
                    problems.say(
                        f"{name} is read from the format {other!r}, which is not there", path, line,
                        expected=f"one of {', '.join(formats)}", remedy="install its package, or mend the name",
                    )  # fmt: skip
        return with_presets(dictionary, problems.of(path.parent))
    return None


def check_readings(path: Path, problems: Problems) -> None:
    """Check `data/readings.yaml`, which a repository need not have while no claim names a word."""
    if path.is_file():
        with problems.caught(path.parent):
            load_readings(path, report=problems.of(path.parent))


def check_synthesis_file(layout: Layout, studies: Mapping[str, Study], problems: Problems) -> None:
    """Check `data/synthesis.yaml`, which a repository need not have, against the studies that could be loaded."""
    path = layout.root / "data" / FILE
    if path.is_file():
        with problems.caught(path.parent):
            file = load_file(path, problems.of(path.parent))
            known = {name: (study, claims_of(study)) for name, study in studies.items()}
            check_synthesis(file, known, problems.of(path.parent))


def check_parameters(path: Path, problems: Problems) -> Parameters | None:
    """Check `params.yaml`; None where it is wrong."""
    with problems.caught(path.parent):
        return load_parameters(path, problems.of(path.parent))
    return None


def check_pipelines(layout: Layout, problems: Problems) -> None:
    """Check that every study has its stages, and that no stages stand there without a study."""
    studies = layout.studies()
    for study in studies:
        path = layout.pipeline(study)
        if not path.is_file():
            problems.say(
                "the study's stages are missing", path, remedy="copy another study's, and put its id into vars"
            )
            continue
        with problems.caught(layout.root):
            document = load_yaml(path)
            named = [entry.get("study") for entry in document.data.get("vars", ()) if isinstance(entry, dict)]
            if study not in named:
                problems.say(
                    "these stages are not this study's", path, document.line("vars"), expected=f"study: {study}"
                )
    for folder in sorted((layout.root / "pipelines").glob("*/")):
        if folder.name not in studies:
            problems.say(
                "stages of a study that has no study.yaml", folder, remedy="remove the folder, or add the study"
            )
