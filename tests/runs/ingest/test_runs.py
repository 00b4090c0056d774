import hashlib
import os

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rawperf.core.errors import RunError
from tests.cases import each_case
from tests.toy_runs import toy_study, write_run
from virtperf.runs.ingest import folder as run_folder
from virtperf.runs.ingest.folder import RunFolder, owner, raw_files
from virtperf.runs.ingest.runs import load_run


@pytest.fixture
def study(tmp_path):
    return toy_study(tmp_path / "studies")


def load(folder, study, root="measured"):
    return load_run(RunFolder(folder), study, root, raw_files(folder))


def refused(folder, study, root="measured"):
    with pytest.raises(RunError) as err:
        load(folder, study, root)
    return err.value


def test_run_is_loaded_with_every_factor(tmp_path, study):
    run = load(
        write_run(tmp_path, factors={"system": "b", "guests": 2}, clients=4, think_time_s=0.5),
        study,
    )
    assert run.factors == {"test": "load", "system": "b", "guests": 2}
    assert (run.window_s, run.clients, run.think_time_s) == ((300.0, 900.0), 4, 0.5)
    assert run.start_epoch == 1231509600.0
    assert [(f.path, f.entity, f.start_s, f.listed) for f in run.files] == [
        ("d1.log", "d1", 10.0, True)
    ]


def with_hashes(folder):
    """Record the SHA-256 of each raw file of a run folder in its run.yaml."""
    hashes = {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()[:12]
        for name in raw_files(folder)
    }
    with (folder / "run.yaml").open("a") as file:
        file.write(yaml.safe_dump({"hashes": hashes}))
    return hashes


def test_run_with_unchanged_files_is_loaded(tmp_path, study):
    folder = write_run(tmp_path)
    (folder / "host").mkdir()
    (folder / "host" / "b.txt").write_bytes(b"\r\n\x00")
    hashes = with_hashes(folder)
    (folder / "README.md").write_text("prose is no raw file")
    assert load(folder, study).hashes == hashes
    assert list(hashes) == ["d1.log", "host/b.txt"]


@pytest.mark.parametrize(
    ("change", "key", "message"),
    [
        (
            lambda f: (f / "d1.log").write_text("1"),
            "d1.log",
            "the raw file d1.log was changed after the run; expected SHA-256 {old}; found SHA-256 {new}. Restore the file",
        ),
        (
            lambda f: (f / "b.txt").unlink(),
            "b.txt",
            "the raw file b.txt is missing; expected SHA-256 {old_b}; found no such file. Restore the file",
        ),
        (
            lambda f: (f / "c.txt").write_bytes(b""),
            "hashes",
            "the raw file c.txt was added after the run; expected 2 raw files, those of hashes; found also c.txt, SHA-256 e3b0c44298fc. Move the file",
        ),
    ],
    ids=["changed", "missing", "added"],
)
def test_raw_file_unlike_its_hash_is_refused(tmp_path, study, change, key, message):
    folder = write_run(tmp_path)
    (folder / "b.txt").write_text("b")
    hashes = with_hashes(folder)
    change(folder)
    new = hashlib.sha256((folder / "d1.log").read_bytes()).hexdigest()[:12]
    error = refused(folder, study)
    line = (folder / "run.yaml").read_text().split("\n")[error.line - 1]
    assert line.strip().startswith(f"{key}:")
    expected = message.format(old=hashes["d1.log"], new=new, old_b=hashes["b.txt"])
    assert str(error).startswith(f"r1/run.yaml line {error.line}: {expected}")


def test_every_changed_file_is_reported(tmp_path, study):
    folder = write_run(tmp_path)
    with_hashes(folder)
    (folder / "d1.log").write_text("other")
    (folder / "new.txt").write_text("new")
    reported = []
    with pytest.raises(RunError, match=r"new\.txt was added"):
        load_run(RunFolder(folder), study, "measured", raw_files(folder), reported.append)
    assert [error.problem for error in reported] == [
        "the raw file d1.log was changed after the run"
    ]


def test_start_may_be_quoted_or_not(tmp_path, study):
    folder = write_run(tmp_path)
    text = (folder / "run.yaml").read_text()
    (folder / "run.yaml").write_text(text.replace("'2009-01-09T14:00:00'", "2009-01-09T14:00:00"))
    assert load(folder, study).start_epoch == 1231509600.0


@pytest.mark.parametrize(
    ("fields", "line_of", "message"),
    [
        ({"study": "other"}, "study", "from the study of this folder"),
        ({"run": "r2"}, "run", "the folder name"),
        ({"provenance": "simulated"}, "provenance", "expected 'measured' or 'example'"),
        ({"provenance": "published"}, "provenance", "found 'published'"),
        ({"factors": {"system": "a", "guests": 4}}, "guests", "unknown level 4 of guests"),
        ({"factors": {"system": "a", "guests": "1"}}, "guests", "unknown level '1' of guests"),
        ({"factors": {"system": "a"}}, "factors", "no level for factor guests"),
        ({"factors": {"system": "a", "guests": 1, "moon": 1}}, "moon", "unknown factor 'moon'"),
        ({"replicate": 0}, "replicate", "greater than or equal to 1"),
        ({"start": "yesterday"}, "start", "local time"),
        ({"start": "2009-01-09T14:00:00+01:00"}, "start", "local time"),
        ({"window_s": [900, 300]}, "window_s", "ends before it begins"),
        ({"window_s": [300, 1300]}, "window_s", "after the end of the run"),
        ({"window_s": [100, 900]}, "window_s", "before the end of the warm-up"),
        ({"window_s": [0]}, "window_s", "window_s: wrong value; expected two numbers"),
        ({"window_s": [0, 1, 2]}, "window_s", "expected two numbers, the begin and the end"),
        ({"window_s": 300}, "window_s", "expected two numbers, the begin and the end"),
        ({"duration_s": float("nan")}, "duration_s", "a finite number; found nan"),
        ({"window_s": [300, float("inf")]}, "window_s", "a finite number; found inf"),
        ({"warmup_s": 10**400}, "warmup_s", "more than 18 digits"),
        ({"replicate": 10**18}, "replicate", "less than or equal to 1000000"),
        ({"clients": 10**400}, "clients", "more than 18 digits"),
        ({"duration_s": "1e11"}, "duration_s", "YAML reads it as text: write 1.0e+11"),
        ({"typo": 1}, None, "typo"),
        ({"clients": 1.5}, "clients", "expected a whole number; found 1.5"),
        ({"hashes": {"d1.log": "abc"}}, "d1.log", "hashes"),
        ({"hashes": {"d1.log": 123456789012}}, "d1.log", "hashes"),
        ({"files": [{"path": "gone.log"}]}, "path", "not in the run folder"),
        ({"files": [{"path": "../r1/d1.log"}]}, "path", "not in the run folder"),
        ({"files": [{"path": "/etc/passwd"}]}, "path", "not in the run folder"),
        ({"files": [{"path": "d1.log"}, {"path": "d1.log"}]}, "path", "listed twice"),
        ({"files": [{"path": "d1.log", "interval_s": 0}]}, "interval_s", "greater than 0; found 0"),
        ({"files": [{"path": "d1.log", "host": "g1"}]}, "host", "host 'g1' has no entry in clocks"),
        (
            {"files": [{"path": "d1.log", "format": "iwl-consol"}]},
            "format",
            "no format is named 'iwl-consol'; expected a format that is installed or declared. "
            "Did you mean 'iwl-console'",
        ),
        ({"replicate": None}, None, "'replicate' is missing"),
    ],
)
def test_invalid_field_is_rejected_with_line_number(tmp_path, study, fields, line_of, message):
    folder = write_run(tmp_path, **fields)
    err = refused(folder, study)
    assert message in str(err)
    assert err.file == "r1/run.yaml"
    if line_of:
        lines = (folder / "run.yaml").read_text().splitlines()
        places = [
            i for i, line in enumerate(lines, 1) if line.strip(" -").startswith(f"{line_of}:")
        ]
        # a file may occur twice; list values are below their key
        assert any(0 <= err.line - place <= 2 for place in places)


def test_a_date_with_a_zone_is_shown_as_it_is_written(tmp_path, study):
    folder = write_run(tmp_path)
    text = (folder / "run.yaml").read_text()
    zoned = "2009-01-09T14:00:00+02:00"
    (folder / "run.yaml").write_text(text.replace("'2009-01-09T14:00:00'", zoned))
    assert refused(folder, study).found == zoned


@pytest.mark.parametrize(
    ("root", "provenance", "fine"),
    [
        ("measured", "measured", True),
        ("measured", "example", True),
        ("example", "measured", False),
        ("example", "example", True),
    ],
)
def test_provenance_must_match_the_folder(tmp_path, study, root, provenance, fine):
    folder = write_run(tmp_path, provenance=provenance)
    if fine:
        assert load(folder, study, root).provenance == provenance
    else:
        assert "not allowed" in refused(folder, study, root).problem


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1", "not valid YAML"),
        ("- 1", "not a mapping"),
        ("a: 1\na: 2", "given twice"),
        ("a: &x 1\nb: *x", "YAML aliases"),
        ("a: 0x" + "f" * 30_000, "more than 18 digits"),
        ("a: " + "[" * 30 + "]" * 30, "nested too deeply"),
        ("a: !!python/object/apply:os.system [ls]", "not valid YAML"),
        ("start: 2009-13-45", "not valid YAML"),
        ("a: \x00", "does not allow"),
        ("", "not a mapping"),
    ],
)
def test_hostile_yaml_is_rejected(tmp_path, study, text, message):
    folder = write_run(tmp_path)
    (folder / "run.yaml").write_text(text)
    assert message in str(refused(folder, study))


def test_recursive_aliases_are_rejected_early(tmp_path, study):
    folder = write_run(tmp_path)
    lines = ["a0: &a0 [1,2]"] + [
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30)
    ]
    (folder / "run.yaml").write_text("\n".join(lines))
    assert refused(folder, study).line == 2


def test_binary_missing_or_linked_run_yaml_is_rejected(tmp_path, study):
    folder = write_run(tmp_path)
    (folder / "run.yaml").write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in str(refused(folder, study))
    (folder / "run.yaml").unlink()
    assert "missing" in str(refused(folder, study))
    (tmp_path / "elsewhere.yaml").write_text("study: toy")
    (folder / "run.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    assert "link" in str(refused(folder, study))


def test_raw_files_are_found_in_subfolders_without_documents(tmp_path):
    files = dict.fromkeys(
        ["b.txt", "a/x.log", "README.md", ".hidden", "a/.git/x", "big.log.dvc"], b"1"
    )
    assert raw_files(write_run(tmp_path, raw=files)) == ["a/x.log", "b.txt"]


def test_run_without_raw_file_is_rejected(tmp_path):
    with pytest.raises(RunError, match="no raw file"):
        raw_files(write_run(tmp_path, raw={"README.md": b"nothing yet"}))


@pytest.mark.parametrize("target", ["../secret", "/etc/hostname", "../other"])
def test_link_out_of_the_folder_is_rejected(tmp_path, target):
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "other").mkdir()
    folder = write_run(tmp_path)
    (folder / "link.txt").symlink_to(target)
    with pytest.raises(RunError, match="points outside the run folder"):
        raw_files(folder)


def test_link_inside_the_folder_is_accepted_but_not_a_cycle(tmp_path):
    folder = write_run(tmp_path)
    (folder / "again.log").symlink_to("d1.log")
    assert raw_files(folder) == ["again.log", "d1.log"]
    (folder / "circle").symlink_to(".")
    with pytest.raises(RunError, match="points to a parent folder"):
        raw_files(folder)


def test_named_pipe_is_rejected_without_opening(tmp_path):
    folder = write_run(tmp_path)
    os.mkfifo(folder / "pipe")
    with pytest.raises(RunError, match="not a regular file or folder"):
        raw_files(folder)


def test_too_large_file_is_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr(run_folder, "MAX_FILE_BYTES", 1000)
    with pytest.raises(RunError, match="too large") as err:
        raw_files(write_run(tmp_path))
    assert err.value.file == "r1/d1.log"


def test_undecodable_file_name_is_rejected(tmp_path):
    folder = write_run(tmp_path)
    try:
        (folder / os.fsdecode(b"\xff.log")).write_bytes(b"1")
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    with pytest.raises(RunError, match="not valid UTF-8"):
        raw_files(folder)


@each_case(
    ("path", "entity"),
    [
        ("xentop.txt", ("", "host")),
        ("guests/lnweb1/sar.txt", ("lnweb1", "guest")),
        ("lnweb1/sar.txt", ("lnweb1", "guest")),
        ("lnweb1/day1/sar.txt", ("lnweb1", "guest")),
        ("drivers/triplet1.log", ("triplet1", "guest")),
        ("host/perfkit.txt", ("perfkit", "host")),
        ("hosts/kvm1/sar.txt", ("kvm1", "host")),
        ("<script>/sar.txt", ("<script>", "guest")),
    ],
)
def test_entity_of_a_file(path, entity):
    assert owner(path) == entity


_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.dates()
    | st.datetimes()
)
_KEYS = st.sampled_from(
    ["study", "run", "provenance", "factors", "start", "duration_s", "window_s", "files", "tools"]
)
_TREES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(_KEYS | _SCALARS, inner, max_size=3)
    ),
)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.binary(max_size=60) | st.dictionaries(_KEYS | _SCALARS, _TREES, max_size=5))
def test_any_run_yaml_gives_a_run_or_an_error(study, tmp_path_factory, content):
    folder = write_run(tmp_path_factory.mktemp("fuzz"))
    if isinstance(content, dict):
        # merged into a valid document, so that checks behind the schema are reached
        good = yaml.safe_load((folder / "run.yaml").read_text())
        content = yaml.safe_dump(good | content, allow_unicode=True).encode("utf-8", "replace")
    (folder / "run.yaml").write_bytes(content)
    try:
        load(folder, study)
    except RunError as err:
        assert err.file == "r1/run.yaml"
