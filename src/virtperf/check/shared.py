"""What all studies share: the metric dictionary, the parameters, the pipeline's list of studies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from virtperf.check.problems import Problems
from virtperf.core.metrics import MetricDictionary, load_metrics
from virtperf.core.params import Parameters, load_parameters
from virtperf.core.yamlio import load_yaml
from virtperf.formats import all_formats
from virtperf.new_study.pipeline import listed_studies


def check_metrics(path: Path, problems: Problems) -> MetricDictionary | None:
    """Check `data/metrics.yaml`; None where it can't be loaded."""
    with problems.caught(path.parent):
        dictionary = load_metrics(path, problems.of(path.parent))
        formats, document = all_formats(), load_yaml(path)
        for name in dictionary.metrics:
            for position, written in enumerate(document.data["metrics"][name].get("sources", ())):
                if written["format"] not in formats:
                    line = document.line("metrics", name, "sources", position)
                    problems.say(
                        f"{name} is read from the format {written['format']!r}, which is not there", path, line,
                        expected=f"one of {', '.join(formats)}", remedy="install its package, or mend the name",
                    )  # fmt: skip
        return dictionary
    return None


def check_parameters(path: Path, problems: Problems) -> Parameters | None:
    """Check `params.yaml`; None where it is wrong."""
    with problems.caught(path.parent):
        return load_parameters(path, problems.of(path.parent))
    return None


def check_pipeline(path: Path, studies: Sequence[str], problems: Problems) -> None:
    """Check that every stage of `dvc.yaml` that runs for a list of studies runs for all of them, and for no other."""
    with problems.caught(path.parent):
        listed = listed_studies(path)
        document = load_yaml(path)
        for study in dict.fromkeys((*studies, *(study for stage in listed.values() for study in stage))):
            without = [stage for stage in listed if study not in listed[stage]]
            having = [stage for stage in listed if study in listed[stage]]
            if study in studies and without:
                line = document.line("stages", without[0], "foreach")
                problems.say(f"no {', '.join(without)} for {study}", path, line, remedy=f"add - {study} to foreach")
            if study not in studies:
                line = document.line("stages", having[0], "foreach")
                problems.say(
                    f"{', '.join(having)} for {study!r}, which has no study.yaml", path, line,
                    remedy="remove it from foreach, or add the study",
                )  # fmt: skip
