import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

from rawperf.core.errors import RunError, StudyError
from rawperf.core.files import replace_folder
from tests.imports import SOURCE, closure, module_path
from tests.toy_runs import console, sar, toy_study, write_run, xentop
from virtperf.core.stage_tables import SAMPLES
from virtperf.runs.ingest import cache as ingest_cache
from virtperf.runs.ingest.cache import SOURCES, Cache, content_key
from virtperf.runs.ingest.stage import ingest
from virtperf.study.definition import load_study


@pytest.fixture
def place(tmp_path, root):
    """A toy study with two roots; `place.ingest()` runs the stage."""

    class Place:
        study = toy_study(tmp_path / "studies")
        roots = {"example": tmp_path / "made", "measured": tmp_path / "measured"}
        measured, made = tmp_path / "measured", tmp_path / "made"
        metrics = tmp_path / "metrics.yaml"
        out, cache = tmp_path / "out", tmp_path / "cache"

        def ingest(self, jobs=1):
            return ingest(self.study, self.roots, self.metrics, self.out, self.cache, jobs=jobs)

        @property
        def index(self):
            return json.loads((self.out / "index.json").read_text())

        def bytes(self):
            return {p.name: p.read_bytes() for p in sorted(self.out.iterdir())}

    shutil.copy(root / "src" / "rawperf" / "metrics.yaml", Place.metrics)
    Place.measured.mkdir()
    return Place()


def warnings_of(index):
    return [
        warning
        for run in index["runs"]
        for part in (run, *run["files"])
        for warning in part["warnings"]
    ]


def test_both_roots_are_read_alike(place):
    write_run(place.measured, "m1")
    write_run(place.made, "s1", provenance="example")
    done = place.ingest()
    assert (done.n_ok, done.n_read, done.quarantined) == (2, 2, [])
    assert not warnings_of(place.index)
    assert sorted(p.name for p in place.out.iterdir()) == ["index.json", "m1.parquet", "s1.parquet"]
    frame = pd.read_parquet(place.out / "m1.parquet")
    assert list(frame.columns) == list(SAMPLES.columns)
    assert {str(frame[c].dtype) for c in ("t_s", "value")} == {"float64"}
    runs = {r["run_id"]: r for r in place.index["runs"]}
    assert (runs["m1"]["provenance"], runs["m1"]["root"], runs["s1"]["root"]) == (
        "measured",
        "measured",
        "example",
    )
    file = runs["m1"]["files"][0]
    assert file["format"] == "iwl-console" and len(file["sha256"]) == 64
    assert file["bytes"] == (place.measured / "m1" / "d1.log").stat().st_size
    assert file["records"] == 960 and file["samples"] == runs["m1"]["samples"] == len(frame)
    assert place.index["metrics"]["page_element_throughput"]["unit"] == "1/s"


def test_metric_name_of_an_earlier_version_is_refused_with_its_new_name(place, tmp_path):
    write_run(place.measured, "m1")
    file = tmp_path / "studies" / "toy" / "study.yaml"
    file.write_text(file.read_text().replace("page_element_throughput", "failed_request_rate"))
    place.study = load_study(file.parent)
    with pytest.raises(StudyError, match="there is no metric 'failed_request_rate'") as caught:
        place.ingest()
    assert caught.value.file == "study.yaml" and caught.value.line
    assert "'failures_per_second'" in str(caught.value)


def test_index_contains_no_absolute_paths(place, tmp_path):
    write_run(place.measured, "m1")
    write_run(place.measured, "m2", raw={"sar.txt": b"Linux 5 (h) \t2009-01-09\n\nnonsense\n"})
    place.ingest()
    assert str(tmp_path) not in (place.out / "index.json").read_text()


def test_cache_and_other_processes_give_equal_bytes(place):
    for i in range(6):
        write_run(place.measured, f"m{i}")
    assert place.ingest(jobs=2).n_read == 6
    first = place.bytes()
    assert place.ingest().n_read == 0
    assert place.bytes() == first
    shutil.rmtree(place.cache)
    assert place.ingest(jobs=1).n_read == 6
    assert place.bytes() == first


def test_only_changed_runs_are_read_again(place):
    for name in ("m1", "m2"):
        write_run(place.measured, name)
    place.ingest()
    (place.measured / "m1" / "d1.log").write_bytes(console(50))
    assert place.ingest().n_read == 1
    text = (place.measured / "m2" / "run.yaml").read_text()
    (place.measured / "m2" / "run.yaml").write_text(text.replace("replicate: 1", "replicate: 2"))
    assert place.ingest().n_read == 1
    assert [r["replicate"] for r in place.index["runs"]] == [1, 2]


def test_cache_key_includes_dictionary_and_study(place):
    write_run(place.measured)
    place.ingest()
    place.metrics.write_text(place.metrics.read_text() + "# a comment\n")
    assert place.ingest().n_read == 1
    study_file = place.study.folder / "study.yaml"
    study_file.write_text(study_file.read_text() + "# a comment\n")
    assert place.ingest().n_read == 1


def test_cache_key_includes_user_layouts(place, tmp_path, monkeypatch):
    write_run(place.measured)
    place.ingest()
    own = tmp_path / "layouts.yaml"
    own.write_text("layouts: []\n")
    monkeypatch.setenv("VIRTPERF_PERFKIT_LAYOUTS", str(own))
    assert place.ingest().n_read == 1


def test_cache_key_includes_all_reader_modules():
    listed = {p for name in SOURCES for p in _python(SOURCE / name)}
    formats = {f"rawperf.{p.stem}" for p in (SOURCE / "rawperf").glob("[a-z]*.py")}
    used = {
        module_path(name)
        for name in closure({"virtperf.runs.ingest.samples", "virtperf.runs.ingest.runs"} | formats)
    }
    # factor levels are only compared
    aside = {module_path("virtperf"), module_path("virtperf.study.quantities")}
    assert used - listed - aside == set()


def _python(path: Path):
    return set(path.rglob("*.py")) if path.is_dir() else {path}


@pytest.mark.parametrize("damage", [b"", b"{", b'{"file": null}'])
def test_damaged_cache_is_ignored(place, damage):
    write_run(place.measured)
    place.ingest()
    first = place.bytes()
    for entry in place.cache.rglob("*.json"):
        entry.write_bytes(damage)
    assert place.ingest().n_read == 1
    for entry in place.cache.rglob("*.parquet"):
        entry.write_bytes(damage)
    assert place.ingest().n_read == 1
    assert place.bytes() == first


def test_modifying_an_output_does_not_modify_the_cache(place):
    write_run(place.measured)
    place.ingest()
    first = place.bytes()
    (place.out / "r1.parquet").write_bytes(b"changed")
    place.ingest()
    assert place.bytes() == first


def test_damaged_run_is_quarantined_and_others_continue(place):
    write_run(place.measured, "good")
    rows = sar().decode().splitlines(keepends=True)
    rows[6] = rows[6].replace("40.00", "4O.00")
    write_run(place.measured, "bad", raw={"g1/sar.txt": "".join(rows).encode()})
    done = place.ingest()
    assert done.n_ok == 1
    (refused,) = place.index["quarantined"]
    assert (refused["run"], refused["file"], refused["line"]) == ("bad", "bad/g1/sar.txt", 7)
    assert refused["problem"] and refused["found"] and refused["remedy"]
    assert done.quarantined == [refused]
    assert not (place.out / "bad.parquet").exists()
    assert place.ingest().n_read == 0  # errors are cached too
    assert place.index["quarantined"] == [refused]


def test_truncated_last_sample_gives_a_warning(place):
    data = xentop({"vm": [0.0, 50, 50]}, {"vm": [100, 130, 160]})
    write_run(place.measured, raw={"xentop.txt": data[:-30]})
    done = place.ingest()
    assert done.n_ok == 1
    (warning,) = warnings_of(place.index)
    assert "is truncated" in warning


def test_example_files_do_not_pass_as_measured(place):
    write_run(place.made, "scaling", provenance="example")
    write_run(
        place.measured,
        "a-copy",
        raw={"drivers/other.log": (place.made / "scaling" / "d1.log").read_bytes()},
    )
    place.ingest()
    (refused,) = place.index["quarantined"]
    assert refused["run"] == "a-copy" and "identical to those of run scaling" in refused["problem"]
    assert [r["run_id"] for r in place.index["runs"]] == ["scaling"]


def test_duplicate_run_name(place):
    write_run(place.made, "r1", provenance="example")
    write_run(place.measured, "r1", raw={"d1.log": console(50)})
    place.ingest()
    assert [(q["run"], q["root"]) for q in place.index["quarantined"]] == [("r1", "measured")]


def test_link_out_of_the_folder_quarantines_the_run(place, tmp_path):
    (tmp_path / "secret.log").write_bytes(console())
    folder = write_run(place.measured)
    (folder / "d2.log").symlink_to(tmp_path / "secret.log")
    place.ingest()
    assert "points outside" in place.index["quarantined"][0]["problem"]


def test_folder_without_run_yaml(place):
    write_run(place.measured)
    (place.measured / "r1" / "run.yaml").unlink()
    place.ingest()
    assert place.index["quarantined"][0]["file"] == "r1/run.yaml"


def test_markup_in_texts_is_kept_as_text(place):
    write_run(place.measured, raw={"<script>/sar.txt": sar()}, notes="<b>&amp;", tools={"<i>": "&"})
    place.ingest()
    (run,) = place.index["runs"]
    assert run["files"][0]["entity"] == "<script>" and run["tools"] == {"<i>": "&"}
    assert set(pd.read_parquet(place.out / "r1.parquet")["entity"]) == {"<script>"}


def test_no_runs(place):
    assert place.ingest().n_ok == 0
    assert place.index == {"study": "toy", "metrics": {}, "runs": [], "quarantined": []}


def test_interrupted_ingest_keeps_the_previous_result(place, monkeypatch):
    write_run(place.measured)
    place.ingest()
    first = place.bytes()
    write_run(place.measured, "r2")
    monkeypatch.setattr("shutil.copyfile", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        place.ingest()
    assert place.bytes() == first
    assert [p.name for p in place.out.parent.iterdir() if p.name.startswith(".out")] == []


@pytest.mark.parametrize("change", ["a run is added", "a file grows", "a run is removed"])
def test_runs_modified_while_being_read_stop_the_stage(place, change):
    write_run(place.measured, "r1")
    write_run(place.measured, "r2")
    place.ingest()
    first = place.bytes()

    def meanwhile(step):
        if step == "comparing files" and change == "a run is added":
            write_run(place.measured, "r3")
        elif step == "comparing files" and change == "a file grows":
            with (place.measured / "r2" / "run.yaml").open("a") as file:
                file.write("# more")
        elif step == "comparing files":
            shutil.rmtree(place.measured / "r2")

    found = {"a run is added": "r3/", "a file grows": "r2/run.yaml", "a run is removed": "r2/"}[
        change
    ]
    with pytest.raises(RunError, match="the measured runs changed while they were read") as err:
        ingest(
            place.study,
            place.roots,
            place.metrics,
            place.out,
            place.cache,
            jobs=1,
            progress=meanwhile,
        )
    assert err.value.file.startswith(found) and err.value.remedy == "run the command again."
    assert place.bytes() == first
    place.ingest()


def test_reader_crash_does_not_stop_other_runs(place, monkeypatch):
    write_run(place.measured, "r1")
    write_run(place.measured, "r2", raw={"sar.txt": sar()})
    real = ingest.__globals__["read_run"]

    def read(folder, run, *others, **named):
        if run.run_id == "r2":
            raise ZeroDivisionError("surprise")
        return real(folder, run, *others, **named)

    monkeypatch.setitem(ingest.__globals__, "read_run", read)
    place.ingest()
    assert "ZeroDivisionError" in place.index["quarantined"][0]["problem"]
    assert len(place.index["runs"]) == 1


def test_cache_keys_distinguish_lists():
    assert (
        len(
            {
                content_key("ab", "c"),
                content_key("a", "bc"),
                content_key("abc"),
                content_key("abc", ""),
            }
        )
        == 4
    )


def test_cache_has_no_partially_written_files(tmp_path, monkeypatch):
    cache = Cache(tmp_path)

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        cache.put("ab" * 32, {})
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []
    assert cache.get("ab" * 32) is None


def test_cache_key_includes_user_declarations_and_programs(place, monkeypatch, tmp_path):
    def mark():
        return ingest_cache.fingerprint(place.study, place.metrics)

    before = mark()
    own = tmp_path / "formats"
    own.mkdir()
    monkeypatch.setenv("VIRTPERF_FORMATS", str(own))
    assert mark() == before  # an empty folder changes nothing
    (own / "mine.yaml").write_text("name: mine\n")
    with_one = mark()
    (own / "mine.yaml").write_text("name: other\n")
    assert len({before, with_one, mark()}) == 3
    monkeypatch.setattr("rawperf.sar.binary.FORMAT.external_version", lambda: "another version")
    assert mark() not in {before, with_one}


def test_fingerprint_lists_existing_sources_only(place):
    # the fingerprint reads every listed source; a listed file that is gone would raise
    assert ingest_cache.fingerprint(place.study, place.metrics) == ingest_cache.fingerprint(
        place.study, place.metrics
    )


def test_outputs_are_readable_by_other_users(place):
    write_run(place.measured)
    place.ingest()
    assert (place.out / "r1.parquet").stat().st_mode & 0o444 == 0o444


# ---- the example run


@pytest.fixture(scope="module")
def example(root):
    return root / "data/measured/zvm-xen-2009/examples/example-scaling-xen-9-r1"


def test_example_is_marked_as_made_up(example):
    assert yaml.safe_load((example / "run.yaml").read_text())["provenance"] == "example"
    assert "Nothing in this folder was measured" in (example / "README.md").read_text()


def test_example_is_read_without_a_warning(root, example, tmp_path):
    from virtperf.study.definition import load_study

    study = load_study(root / "data" / "published" / "zvm-xen-2009")
    with replace_folder(
        tmp_path / "copy"
    ) as copy:  # even among measured runs it remains an example
        shutil.copytree(example, copy / example.name)
    done = ingest(
        study,
        {"measured": tmp_path / "copy"},
        root / "src" / "rawperf" / "metrics.yaml",
        tmp_path / "out",
        tmp_path / "cache",
        jobs=1,
    )
    index = json.loads((tmp_path / "out" / "index.json").read_text())
    assert done.n_ok == 1 and index["runs"][0]["provenance"] == "example"
    assert not warnings_of(index)
