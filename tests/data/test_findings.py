"""Findings of all studies: every sentence passes its checks, and its numbers are recomputed from the
tables of runs without the code that computed them.
"""

from __future__ import annotations

import math
import re
from functools import cache

import numpy as np
import pandas as pd
import yaml

from tests.cases import each_case
from tests.conftest import ROOT
from virtperf.core.params import load_parameters
from virtperf.core.paths import Layout
from virtperf.report.findings import StatedFinding, problems, state
from virtperf.report.frames import StudyData, load
from virtperf.report.html.site.front import front_page
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.synthesis.loaded import load_synthesis

LEVEL = 0.95
STUDIES = sorted(path.parent.name for path in ROOT.glob("data/*/*/study.yaml"))
_TERM = re.compile(r"([+-]?)\s*(\d+(?:\.\d+)?)?\s*\*?\s*([a-z][a-z0-9_]*)(?:\[([^\]]*)\])?")


@cache
def loaded(study: str) -> StudyData:
    data = load(study, ROOT / "data")
    assert not data.missing, f"the pipeline has not run: {data.missing}"
    return data


@cache
def stated(study: str) -> list[StatedFinding]:
    data = loaded(study)
    return [state(data, finding, LEVEL) for finding in data.study.findings]


@each_case("study", STUDIES)
def test_findings_pass_their_checks(study: str) -> None:
    data = loaded(study)
    found = [str(e) for finding in data.study.findings for e in problems(data, finding, LEVEL)]
    assert not found
    assert stated(study)


def test_sentences_of_the_synthesis_pass_their_checks() -> None:
    for study in STUDIES:
        loaded(study)
    assert not [str(problem) for problem in load_synthesis(ROOT / "data", level=LEVEL).problems()]


def same(found: object, level: object) -> bool:
    """Whether two levels are equal; a column with fractions stores whole numbers as 3.0."""
    try:
        return float(str(found)) == float(str(level))
    except ValueError:
        return str(found) == str(level)


def mean(
    study: str, definition: dict, text: str, *, logs: bool = False, **levels_of_all: object
) -> float:
    """The value of an expression from the means over single runs, or, with `logs`, their geometric
    means, with pandas alone.
    """
    runs = pd.read_parquet(ROOT / "data" / "runs" / study / "observations.parquet")
    total = 0.0
    for sign, factor, name, levels in _TERM.findall(text):
        rows = runs[(runs["quantity"] == name) & (runs["provenance"] == "measured")]
        at = {f: kind.get("default") for f, kind in definition["factors"].items()}
        at |= levels_of_all
        at |= dict(part.strip().split("=") for part in levels.split(",") if part)
        for name_of_factor, level in at.items():
            rows = rows[rows[name_of_factor].map(lambda found, level=level: same(found, level))]
        assert len(rows), text
        total += (
            (-1 if sign == "-" else 1)
            * float(factor or 1)
            * (math.exp(np.log(rows["value"]).mean()) if logs else rows["value"].mean())
        )
    return total


def geometric_mean_ratio(study: str, definition: dict, number: dict, over: str) -> float:
    factor = definition["factors"][over]
    levels = [level for level in factor["levels"] if level != factor["default"]]
    logs = [
        math.log(
            mean(study, definition, number["of"], **{over: level})
            / mean(study, definition, number["to"], **{over: level})
        )
        for level in levels
    ]
    return math.exp(sum(logs) / len(logs))


@each_case(
    "study",
    [study for study in STUDIES if (ROOT / "data/measured" / study / "study.yaml").is_file()],
)
def test_numbers_are_those_of_the_means_of_runs(study: str) -> None:
    definition = yaml.safe_load((ROOT / "data/measured" / study / "study.yaml").read_text())
    compared = 0
    for position, finding in enumerate(definition["findings"]):
        for name, number in finding.get("numbers", {}).items():
            if not number.get("mean", True):
                continue
            value = mean(study, definition, number["of"])
            values = [value]
            if "to" in number:
                values = [value / mean(study, definition, number["to"])]
                if definition.get("blocks"):  # a ratio within blocks is one of logarithms
                    values += [
                        mean(study, definition, number["of"], logs=True)
                        / mean(study, definition, number["to"], logs=True)
                    ]
                if over := definition.get("judged_over"):  # the mean of each level's log ratio
                    values += [geometric_mean_ratio(study, definition, number, over)]
            values = [
                {"percent": 100 * v, "change": abs(100 * v - 100)}.get(number.get("show"), v)
                for v in values
            ]
            text = stated(study)[position].numbers[name].text.replace(",", "").split()[0]
            digits = len(text.partition(".")[2])
            unit = 10.0**-digits if "." in text else 10.0 ** (len(text) - len(text.rstrip("0")))
            nearest = min(abs(float(text) - v) for v in values)
            assert nearest <= 0.5000001 * unit, (name, text, values)
            compared += 1
    assert compared


def test_front_page_states_the_first_findings() -> None:
    layout = Layout(ROOT)
    parameters = load_parameters(layout.parameters)
    facts = [StudyFacts(layout, parameters, study) for study in STUDIES]
    page = " ".join(re.sub(r"<[^>]+>", "", front_page(facts)).split())
    for study in STUDIES:
        first = " ".join(stated(study)[0].sentence.split())
        assert first.split(";")[0][:60] in page.replace("&#39;", "'"), study
