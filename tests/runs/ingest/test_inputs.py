"""Inputs declared by a study: matching by name and content, precedence, samples, rejected files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import virtperf as vp
from rawperf.core.errors import FormatError, RawperfError, StudyError
from rawperf.registry import build_dictionary, choose_format
from tests.toy_runs import STUDY, console, write_run
from virtperf.runs.ingest.inputs import study_inputs
from virtperf.runs.ingest.stage import ingest
from virtperf.study.definition import Study, load_study

INPUTS = """\
inputs:
  - name: my-driver
    match: {file: "driver*.csv"}
    reads: csv
    time: {field: time, format: iso}
    entity: {kind: driver}
    fields:
      - {field: tps, metric: throughput, unit: 1/s}
      - {field: millis, metric: response_time, unit: ms}
  - name: my-summary
    match: {text: '^my tool'}
    reads: pairs
    comment: my
    entity: {kind: driver}
    fields: [{field: total, metric: my_total, unit: count, factor: 10}]
    metrics: {my_total: {unit: count, kind: total, definition: what my tool counts, in tens}}
"""
CSV = "time,tps,millis\n" + "".join(
    f"2009-01-09T14:{m:02d}:00,{50 + m},{10 + m}\n" for m in range(1, 20)
)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "study.yaml").write_text(
        STUDY + INPUTS.replace("counts, in tens", "counts in tens")
    )
    return load_study(tmp_path / "toy")


@pytest.fixture
def samples(tmp_path: Path, study: Study, root: Path):  # type: ignore[no-untyped-def]
    def of(raw: dict[str, bytes], **fields: object) -> pd.DataFrame:
        write_run(tmp_path / "runs", raw=raw, **fields)
        done = ingest(
            study,
            {"measured": tmp_path / "runs"},
            root / "src" / "rawperf" / "metrics.yaml",
            tmp_path / "out",
            tmp_path / "cache",
            jobs=1,
        )
        assert done.quarantined == []
        return pd.read_parquet(tmp_path / "out" / "r1.parquet")

    return of


def test_declared_file_becomes_samples(samples) -> None:  # type: ignore[no-untyped-def]
    found = samples({"drivers/driver1.csv": CSV.encode(), "drivers/d.txt": b"my tool\ntotal: 7\n"})
    rate = found[found["metric"] == "throughput"]
    assert rate["t_s"].tolist() == [60.0 * m for m in range(1, 20)]
    assert rate["value"].tolist() == [50.0 + m for m in range(1, 20)]
    assert set(rate["entity"]) == {"driver1"}
    assert rate["line"].tolist() == list(range(2, 21))
    assert found.loc[found["metric"] == "response_time", "value"].iloc[0] == pytest.approx(0.011)
    assert found.loc[found["metric"] == "my_total", "value"].tolist() == [70.0]
    assert set(found["source"]) == {"my-driver", "my-summary"}


def test_run_yaml_may_select_the_declaration(samples) -> None:  # type: ignore[no-untyped-def]
    found = samples(
        {"d1.txt": CSV.encode()}, files=[{"path": "d1.txt", "format": "my-driver", "entity": "d1"}]
    )
    assert set(found["source"]) == {"my-driver"}


def only_quarantined(study: Study, tmp_path: Path, root: Path) -> dict[str, Any]:
    """Ingest two runs, and return the quarantined one."""
    metrics = root / "src" / "rawperf" / "metrics.yaml"
    roots = {"measured": tmp_path / "runs"}
    done = ingest(study, roots, metrics, tmp_path / "out", tmp_path / "cache", jobs=1)
    (refused,) = done.quarantined
    assert done.n_ok == 1
    return refused


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("number", ["1e308", "-1e200", "2e150"])
def test_number_with_an_overflowing_square_quarantines_its_run(
    tmp_path: Path, study: Study, root: Path, number: str
) -> None:
    for name, value in (("fine", "1e150"), ("large", number)):
        text = CSV.replace(",55,", f",{value},").replace(",58,", f",{value},")
        write_run(tmp_path / "runs", name, raw={"driver1.csv": text.encode()})
    refused = only_quarantined(study, tmp_path, root)
    assert (refused["file"], refused["line"]) == ("large/driver1.csv", 6)
    assert refused["problem"] == "the value of throughput is too large"
    assert "at most 1e+150" in refused["expected"]
    assert refused["found"] == f"{float(number):g}"


@pytest.mark.filterwarnings("error")
def test_rate_of_a_counter_with_an_overflowing_square_quarantines_its_run(
    tmp_path: Path, study: Study, root: Path
) -> None:
    place = tmp_path / "toy" / "study.yaml"
    text = place.read_text().replace(
        "metric: throughput, unit: 1/s", "metric: my_total, unit: count"
    )
    place.write_text(text.replace("unit: count, kind: total", "unit: 1/s, kind: counter"))
    study = load_study(tmp_path / "toy")
    for name, seconds in (("fine", "01"), ("large", "00.000001")):
        text = "time,tps,millis\n2009-01-09T14:05:00,0,1\n"
        text += f"2009-01-09T14:05:{seconds},1e149,1\n2009-01-09T14:06:00,2e149,1\n"
        write_run(tmp_path / "runs", name, raw={"driver1.csv": text.encode()})
    refused = only_quarantined(study, tmp_path, root)
    assert (refused["file"], refused["line"]) == ("large/driver1.csv", 3)
    assert refused["problem"] == "the rate of my_total is too large"


def test_declarations_of_the_study_take_precedence(study: Study) -> None:
    inputs = study_inputs(study)
    assert choose_format(b"x", "drivers/driver9.csv", None, inputs, file="f").name == "my-driver"
    assert choose_format(b"my tool\n", "any", None, inputs, file="f").name == "my-summary"
    assert choose_format(console(n=3), "driver1.csv", None, inputs, file="f").name == "my-driver"
    assert choose_format(console(n=3), "driver1.log", None, inputs, file="f").name == "iwl-console"
    assert choose_format(b"x", "any", "my-summary", inputs, file="f").name == "my-summary"
    with pytest.raises(
        FormatError, match=r"no format is named 'my-drivr'.*Did you mean 'my-driver'"
    ):
        choose_format(b"x", "any", "my-drivr", inputs, file="f")
    with pytest.raises(FormatError, match="no known format recognises"):
        choose_format(b"x", "any", None, inputs, file="f")


def test_declared_field_is_preferred(study: Study, root: Path) -> None:
    dictionary = build_dictionary(root / "src" / "rawperf" / "metrics.yaml", study_inputs(study))
    assert dictionary["throughput"].formats[:2] == ("my-driver", "ab")


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("name: my-driver", "name: sar", 2, "sar: a format with this name already exists"),
        (
            "name: my-summary",
            "name: my-driver",
            10,
            "my-driver: a format with this name already exists",
        ),
        ("metric: throughput", "metric: thruput", 8, "Did you mean 'throughput'"),
        ("metric: throughput", "metric: failed_request_rate", 8, "Write 'failures_per_second'"),
        ("unit: ms}", "unit: KiB}", 9, "no conversion exists"),
        ("reads: pairs", "reads: pair", 12, "Did you mean 'pairs'"),
        ("field: tps", "feld: tps", 8, "'field' is missing. 'feld' may be"),
    ],
)
def test_mistake_is_reported_with_line_of_study_yaml(
    tmp_path: Path, root: Path, old: str, new: str, line: int, words: str
) -> None:
    text = INPUTS.replace("counts, in tens", "counts in tens").replace(old, new, 1)
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "study.yaml").write_text(STUDY + text)
    with pytest.raises(StudyError, match=words) as caught:
        build_dictionary(
            root / "src" / "rawperf" / "metrics.yaml", study_inputs(load_study(tmp_path / "toy"))
        )
    assert (caught.value.file, caught.value.line) == ("study.yaml", line + STUDY.count("\n"))


def test_single_file_is_read_by_a_declaration_or_the_study_inputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: Path
) -> None:
    published = tmp_path / "data" / "published" / "toy"
    published.mkdir(parents=True)
    (published / "study.yaml").write_text(
        STUDY + INPUTS.replace("counts, in tens", "counts in tens")
    )
    (tmp_path / "src" / "rawperf").mkdir(parents=True)
    (tmp_path / "src" / "rawperf" / "metrics.yaml").write_text(
        (root / "src" / "rawperf" / "metrics.yaml").read_text()
    )
    (tmp_path / "driver1.csv").write_text(CSV)
    (tmp_path / "own.yaml").write_text(
        "name: own\nreads: csv\ntime: {numbered: true}\nfields: [{field: tps, metric: throughput, unit: 1/s}]\n"
    )
    monkeypatch.chdir(tmp_path)
    plain = vp.read("driver1.csv")
    assert list(plain.columns[:3]) == [
        "time",
        "tps",
        "millis",
    ]  # without a declaration it is a table
    by_study = vp.read("driver1.csv", study="toy")
    assert set(by_study["metric"]) == {"throughput", "response_time"}
    by_file = vp.read("driver1.csv", format="own.yaml", interval_s=60)
    assert by_file["t"].tolist() == [60.0 * k for k in range(19)]
    assert set(by_file["metric"]) == {"throughput"}
    with pytest.raises(RawperfError, match="no study 'ty'"):
        vp.read("driver1.csv", study="ty")
    monkeypatch.chdir("/")
    with pytest.raises(RawperfError, match="study 'toy' not found"):
        vp.read(tmp_path / "driver1.csv", study="toy")


def test_damaged_file_of_a_known_tool_is_not_read_as_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.csv").write_text("timeStamp,elapsed,label,success\n1,x,a,true\n2,3,b,true\n")
    with pytest.raises(FormatError, match="elapsed"):
        vp.read("r.csv")
