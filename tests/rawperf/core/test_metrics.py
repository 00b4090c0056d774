import numpy as np
import pandas as pd
import pytest

from rawperf import all_formats
from rawperf.core.errors import StudyError
from rawperf.core.metrics import load_metrics
from rawperf.registry import extend_with_presets
from rawperf.zvm.perfkit.layout import load_layouts
from tests.rawperf.sample_files import sample
from tests.rawperf.translated import translate

DICTIONARY = """\
metrics:
  busy:
    unit: processors
    definition: busy processors
    sources: [{format: f, report: R, field: "%CPU", entity_kind: processor, unit: "%"}]
  resident:
    unit: B
    definition: both parts of memory
    combine: sum
    sources:
      - {format: f, report: M, field: low, entity_kind: guest, unit: pages}
      - {format: f, report: M, field: high, entity_kind: guest, unit: pages}
  sent:
    unit: B/s
    definition: bytes sent per second
    kind: counter
    sources: [{format: f, field: tx, entity_kind: guest, unit: KiB}]
  user:
    unit: "1"
    definition: share of all processors
    sources: [{format: f, report: cpu, field: "%user", entity_kind: cpu, entity: all, unit: "%"}]
"""


@pytest.fixture
def dictionary(tmp_path):
    path = tmp_path / "metrics.yaml"
    path.write_text(DICTIONARY)
    return load_metrics(path)


@pytest.fixture(scope="module")
def real(root):
    return extend_with_presets(load_metrics(root / "src" / "rawperf" / "metrics.yaml"))


def records(*rows):
    frame = pd.DataFrame(rows, columns=["report", "entity_kind", "entity", "field", "t", "value"])
    return frame.astype(
        dict.fromkeys(("report", "entity_kind", "entity", "field"), "str")
        | {"t": float, "value": float}
    )


def test_field_becomes_a_metric_in_its_unit(dictionary):
    found = translate(
        dictionary,
        records(("R", "processor", "P0", "%CPU", 60, 250), ("R", "processor", "P0", "?", 60, 1)),
        "f",
    )
    assert found.to_dict("records") == [
        {
            "entity_kind": "processor",
            "entity": "P0",
            "t": 60.0,
            "value": 2.5,
            "metric": "busy",
            "kind": "gauge",
        }
    ]


def test_metric_requires_matching_format_and_entity_kind(dictionary):
    row = records(("R", "guest", "P0", "%CPU", 60, 250))
    assert translate(dictionary, row, "f").empty
    assert translate(dictionary, records(("R", "processor", "P0", "%CPU", 60, 1)), "g").empty


def test_sum_is_taken_per_entity_and_time(dictionary):
    rows = [
        ("M", "guest", g, part, t, v)
        for g, t, low, high in (("a", 1, 1, 10), ("b", 1, 2, 20), ("a", 2, 3, 30))
        for part, v in (("low", low), ("high", high))
    ]
    found = translate(dictionary, records(*rows), "f")
    assert list(zip(found["entity"], found["t"], found["value"] / 4096, strict=True)) == [
        ("a", 1, 11),
        ("b", 1, 22),
        ("a", 2, 33),
    ]


def test_sum_with_a_missing_part_is_nan(dictionary):
    found = translate(dictionary, records(("M", "guest", "a", "low", 1, 5)), "f")
    assert len(found) == 1 and np.isnan(found["value"].iloc[0])


def test_part_may_be_subtracted(real):
    """z/VM charges guests for their own code and for CP's work for them: 70 % = 60 % + 10 %."""
    log = [
        ("FCX144", "logical processor", "0", name, 60, v)
        for name, v in (("User", 70), ("Emul", 60))
    ]
    page = [
        ("FCX100", "processor", "P0", name, 60, v)
        for name, v in (("%CPU", 75), ("%EMU", 60), ("%SYS", 5))
    ]
    for rows in (log, page):
        found = translate(real, records(*rows), "perfkit").set_index("metric")["value"]
        assert found["processor_guests"] == pytest.approx(0.7)
        assert found["processor_guest_overhead"] == pytest.approx(0.1)
    alone = translate(real, records(log[0]), "perfkit").set_index("metric")["value"]
    assert np.isnan(alone["processor_guest_overhead"])


def test_sum_may_skip_missing_parts(real):
    rows = [("jobs", "job", "mixed", f"{way}/bw", np.nan, 8) for way in ("read", "write")]
    rows.append(("jobs", "job", "reads", "read/bw", np.nan, 3))
    found = translate(real, records(*rows), "fio")
    found = found[found["metric"] == "io_bandwidth"]
    assert dict(zip(found["entity"], found["value"], strict=True)) == {
        "mixed": 16 * 1024,
        "reads": 3 * 1024,
    }


def test_remainder_is_one_minus_the_parts(tmp_path):
    names = (
        "id",
        "wa",
        "st",
    )  # the first part is required, whatever order another metric has
    parts = [
        f'{{format: f, field: "{name}", entity_kind: cpu, entity: all, unit: "%"}}'
        for name in names
    ]
    path = tmp_path / "metrics.yaml"
    path.write_text(
        "metrics:\n"
        "  all: {unit: '1', definition: at work or not, combine: present, sources: ["
        + ", ".join(parts[::-1])
        + "]}\n"
        "  idle: {unit: '1', definition: nothing to do, sources: [" + parts[0] + "]}\n"
        "  busy: {unit: '1', definition: something to do, combine: rest, sources: ["
        + ", ".join(parts)
        + "]}\n"
    )
    given = {
        1: {"id": 60, "wa": 5, "st": 10},
        2: {"id": 60},
        3: {"wa": 5},
    }  # an old tool has no st, damage no id
    rows = [
        ("", "cpu", cpu, name, t, v)
        for t, of in given.items()
        for name, v in of.items()
        for cpu in ("all", "0")
    ]
    found = translate(load_metrics(path), records(*rows), "f")
    busy = found[found["metric"] == "busy"]
    assert np.allclose(busy["value"], [0.25, 0.4, np.nan], equal_nan=True)
    assert busy["t"].tolist() == [1, 2, 3]
    assert set(busy["entity_kind"]) == {"host"}
    assert found.loc[found["metric"] == "idle", "value"].tolist() == [0.6, 0.6]


def test_source_may_name_several_formats(tmp_path):
    path = tmp_path / "metrics.yaml"
    path.write_text(DICTIONARY.replace("format: f, report: R", "format: [f, g], report: R"))
    both = load_metrics(path)
    assert both["busy"].formats == ("f", "g")
    row = records(("R", "processor", "P0", "%CPU", 60, 250))
    assert translate(both, row, "f").equals(translate(both, row, "g"))
    assert len(translate(both, row, "g")) == 1


def test_counter_stays_cumulative_and_its_factor_converts_the_rate(dictionary):
    found = translate(dictionary, records(("", "guest", "a", "tx", 1, 3)), "f")
    assert found[["value", "kind"]].iloc[0].tolist() == [3 * 1024, "counter"]


def test_all_processors_row_becomes_the_host(dictionary):
    found = translate(
        dictionary,
        records(("cpu", "cpu", "all", "%user", 1, 40), ("cpu", "cpu", "0", "%user", 1, 99)),
        "f",
    )
    assert found[["entity_kind", "entity", "value"]].to_numpy().tolist() == [["host", "", 0.4]]


def test_extra_columns_and_order_are_kept(dictionary):
    rows = records(*(("R", "processor", f"P{i}", "%CPU", i, i) for i in range(5)))
    found = translate(dictionary, rows.assign(file=[3, 1, 4, 1, 5]), "f")
    assert found["file"].tolist() == [3, 1, 4, 1, 5]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("unit: processors", "unit: furlong"), "unknown unit 'furlong'"),
        (('unit: "%"}]\n  resident', "unit: KiB}]\n  resident"), "no conversion"),
        (("field: high", "field: low"), "has the same source field twice"),
        (
            ("entity_kind: guest, unit: KiB", "entity_kind: guest, unit: KiB, minus: true"),
            "minus is only valid for parts",
        ),
        (
            ("kind: counter", "kind: clock"),
            "expected 'gauge', 'counter', 'total' or 'event'; found 'clock'",
        ),
        (("entity_kind: guest, unit: KiB", "entity_kind: guest, unit: '%'"), "has no rate"),
    ],
)
def test_invalid_dictionary_is_rejected_with_line_number(tmp_path, change, message):
    path = tmp_path / "metrics.yaml"
    assert change[0] in DICTIONARY
    path.write_text(DICTIONARY.replace(*change))
    with pytest.raises(StudyError, match=message) as err:
        load_metrics(path)
    assert err.value.line is not None and err.value.line > 1


def test_renamed_metric_must_exist(tmp_path):
    path = tmp_path / "metrics.yaml"
    path.write_text(DICTIONARY + "renamed: {old: neither}\n")
    with pytest.raises(StudyError, match="'neither' is not a metric") as err:
        load_metrics(path)
    assert err.value.line == DICTIONARY.count("\n") + 1


def test_dictionary_refers_to_existing_formats_and_fields(real):
    formats = all_formats()
    columns = {
        (layout.report, name)
        for layouts in load_layouts().values()
        for layout in layouts
        for name in [c.field for c in layout.columns]
        + [i.field for s in layout.sections for i in s.items]
    }
    for metric in real.metrics.values():
        assert metric.sources or metric.counts, metric.name
        for source in metric.sources:
            assert source.format in formats, metric.name
            if source.format == "perfkit":
                assert (source.report, source.field) in columns, (metric.name, source.field)


def test_renamed_metrics_have_new_names(real):
    assert "single_response_time" not in real
    assert "'response_time'" in real.suggest("single_response_time")
    assert "'guest_cpu'" in real.suggest("guest_cpus")
    assert all(new in real and new not in real.renamed for new in real.renamed.values())


def test_field_belongs_to_one_metric(real):
    seen = {}
    made = ("rest", "present")
    rests = {
        m.name
        for m in real.metrics.values()
        if m.combine in made or any(s.minus for s in m.sources)
    }
    for metric in (
        m for m in real.metrics.values() if m.name not in rests
    ):  # derived from fields that have a metric
        for s in metric.sources:
            place = (s.format, s.report, s.field, s.entity_kind, s.entity)
            assert seen.setdefault(place, metric.name) == metric.name


def test_dictionary_fields_occur_in_real_files(real):
    def found_in(name, file):
        return translate(real, all_formats()[name].read(sample(file)).records, name)

    def wanted(name):
        return {m.name for m in real.metrics.values() for s in m.sources if s.format == name}

    found = found_in("sar", "sar/sar-A.txt")
    # sadc collects TCP errors only with -S SNMP, which the recording lacks
    assert wanted("sar") - set(found["metric"]) == {"tcp_segments_retransmitted"}
    assert found.loc[found["metric"].str.startswith("cpu_"), "value"].between(0, 1).all()
    listing = set(found_in("xentop", "xentop/xentop-4.17.txt")["metric"])
    assert listing >= {
        "guest_memory",
        "disk_read_rate",
        "network_transmit_rate",
        "guest_cpu_seconds",
    }
    assert wanted("netstat") - set(found_in("netstat", "netstat/netstat-s.txt")["metric"]) == set()
