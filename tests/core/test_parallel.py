"""Equal results in one process, in several, and on a Dask cluster that loses a worker."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from rawperf.core.errors import RawperfError
from tests.cases import each_case
from tests.toy_runs import toy_study, write_run
from virtperf.core import parallel
from virtperf.core.parallel import max_processes, workers
from virtperf.runs.ingest.stage import ingest
from virtperf.runs.summarize.stage import summarize

TASKS = list(range(20))


def square(task: int, offset: int) -> int:
    return task * task + offset


def logged(task: int, folder: Path) -> int:
    """Slow enough to be killed while running; records its process id."""
    (folder / f"{task}-{os.getpid()}").write_text("")
    time.sleep(0.15)
    return -task


def killed(task: int) -> int:
    if task == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def failed(task: int) -> int:
    if task == 3:
        raise RawperfError("three is refused")
    return task


@pytest.fixture(scope="module")
def cluster() -> Iterator[tuple[str, list[int]]]:
    """Address of a scheduler, and the processes of its two workers."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=50,
        ) as made,
        Client(made, set_as_default=False) as client,
    ):
        yield made.scheduler_address, list(client.run(os.getpid).values())


@each_case("jobs", [None, 1, 2])
def test_results_keep_task_order(jobs: int | None) -> None:
    with workers(7, jobs=jobs) as run:
        assert list(run(square, TASKS)) == [t * t + 7 for t in TASKS]
        assert list(run(square, [])) == []


@each_case("jobs", [1, 2])
def test_task_exception_is_raised_in_task_order(jobs: int) -> None:
    with workers(jobs=jobs) as run:
        results = run(failed, TASKS)
        assert [next(results) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(RawperfError, match="three is refused"):
            next(results)


def test_killed_process_is_a_one_line_error() -> None:
    with pytest.raises(RawperfError, match=r"killed.*--jobs 1"), workers(jobs=2) as run:
        list(run(killed, TASKS))


def test_number_of_processes_is_limited_by_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "PROCESS_BYTES", 10**15)
    assert max_processes() == 1
    monkeypatch.setattr(parallel, "PROCESS_BYTES", 1)
    assert max_processes() == os.cpu_count()


@pytest.mark.slow
def test_cluster_gives_equal_results_and_survives_a_lost_worker(
    cluster: tuple[str, list[int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, pids = cluster
    with monkeypatch.context() as other:
        other.setattr(parallel, "version", lambda name: f"0 of {name}")
        with (
            pytest.raises(
                RawperfError,
                match=r"versions of cluster workers differ.*expected.*numpy 0 of numpy",
            ),
            workers(7, scheduler=address),
        ):
            pass
    with workers(7, scheduler=address) as run:
        assert list(run(square, TASKS)) == [t * t + 7 for t in TASKS]
    with workers(tmp_path, scheduler=address) as run:
        results = run(logged, TASKS)
        assert next(results) == 0
        os.kill(pids[0], signal.SIGKILL)
        assert list(results) == [-t for t in TASKS[1:]]
    by = {int(path.name.rpartition("-")[2]) for path in tmp_path.iterdir()}
    assert pids[0] not in by or len(by) > 1


def test_unreachable_cluster_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "CONNECT_S", 0.5)
    with (
        pytest.raises(RawperfError, match=r"can't be reached.*tcp://host:8786"),
        workers(scheduler="tcp://127.0.0.1:9"),
    ):
        pass
    client = "distributed.Client"
    monkeypatch.setattr(client, lambda *_, **__: pytest.fail("it would go on trying"))
    for wrong in ("foo", "host:8786", "tcp://host", "http://host:8786", "tcp://:8786"):
        with (
            pytest.raises(
                RawperfError, match=r"invalid address of a Dask scheduler.*tls://host:8786"
            ),
            workers(scheduler=wrong),
        ):
            pass
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(RawperfError, match=r"virtperf\[dask\]"),
        workers(scheduler="tcp://127.0.0.1:9"),
    ):
        pass


@pytest.mark.slow
def test_stages_write_equal_bytes_on_a_cluster(
    cluster: tuple[str, list[int]], tmp_path: Path, root: Path
) -> None:
    study = toy_study(tmp_path / "studies")
    for k in range(6):
        write_run(tmp_path / "measured", f"m{k}", replicate=k + 1)
    written = {}
    for where, given in {"here": {"jobs": 1}, "there": {"scheduler": cluster[0]}}.items():
        place = tmp_path / where
        roots = {"measured": tmp_path / "measured"}
        done = ingest(
            study,
            roots,
            root / "src" / "rawperf" / "metrics.yaml",
            place / "samples",
            place / "cache",
            **given,
        )
        assert (done.n_ok, done.n_read) == (6, 6)
        summarize(study, place / "samples", place / "runs", level=0.95, **given)
        files = sorted(p for part in ("samples", "runs") for p in (place / part).iterdir())
        written[where] = {p.relative_to(place): p.read_bytes() for p in files}
    assert written["here"] == written["there"] and len(written["here"]) == 7 + 8


class OtherWorkers:
    """A cluster whose worker has other versions or lacks the function."""

    def __init__(self, found: dict[str, str] | None) -> None:
        self.found = found

    def run(self, function: Callable[[], dict[str, str]]) -> dict[str, dict[str, str]]:
        if self.found is None:
            raise AttributeError("no attribute 'versions'")
        return {"tcp://a": function() | self.found}


def test_workers_with_other_versions_are_rejected() -> None:
    parallel._require_equal_versions(OtherWorkers({}))
    for found, words in (
        ({"numpy": "0.1"}, r"found tcp://a: numpy 0\.1"),
        ({"virtperf": "none"}, "found tcp://a: virtperf none"),
        (None, "have no virtperf, or an older version"),
    ):
        with pytest.raises(RawperfError, match=words):
            parallel._require_equal_versions(OtherWorkers(found))


@pytest.mark.slow
def test_dead_scheduler_is_a_one_line_error(tmp_path: Path) -> None:
    from distributed.config import config

    file = tmp_path / "scheduler.json"
    options = ["--no-dashboard", "--scheduler-file", str(file)]
    command = [sys.executable, "-m", "dask"]
    scheduler = subprocess.Popen([*command, "scheduler", "--port", "0", *options])
    worker = subprocess.Popen([*command, "worker", "--no-nanny", *options])
    try:
        with pytest.raises(RawperfError, match=r"did not finish the work: connection lost"):
            while not file.exists() or not file.read_bytes():
                assert scheduler.poll() is None
                time.sleep(0.1)
            address = json.loads(file.read_bytes())["address"]
            with (
                patch.dict(config["distributed"]["comm"]["timeouts"], connect="3s"),
                workers(tmp_path, scheduler=address) as run,
            ):
                results = run(logged, TASKS)
                assert next(results) == 0
                scheduler.kill()
                list(results)
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()
