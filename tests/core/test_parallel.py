"""The same results in one process, in several, and on a Dask cluster of two workers, one of which is killed."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

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
    """Slow enough that a kill finds it at work; says which process did it."""
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
    """The address of a scheduler with two workers, and their processes."""
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
def test_results_come_in_the_order_of_the_tasks(jobs: int | None) -> None:
    with workers(7, jobs=jobs) as each:
        assert list(each(square, TASKS)) == [t * t + 7 for t in TASKS]
        assert list(each(square, [])) == []


@each_case("jobs", [1, 2])
def test_what_a_task_raises_comes_out_in_its_place(jobs: int) -> None:
    with workers(jobs=jobs) as each:
        results = each(failed, TASKS)
        assert [next(results) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(RawperfError, match="three is refused"):
            next(results)


def test_a_killed_process_is_named_in_one_line() -> None:
    with pytest.raises(RawperfError, match=r"killed.*--jobs 1"), workers(jobs=2) as each:
        list(each(killed, TASKS))


def test_there_are_no_more_processes_than_memory_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "PROCESS_BYTES", 10**15)
    assert max_processes() == 1
    monkeypatch.setattr(parallel, "PROCESS_BYTES", 1)
    assert max_processes() == os.cpu_count()


@pytest.mark.slow
def test_a_cluster_gives_the_same_and_outlives_a_worker(
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
    with workers(7, scheduler=address) as each:
        assert list(each(square, TASKS)) == [t * t + 7 for t in TASKS]
    with workers(tmp_path, scheduler=address) as each:
        results = each(logged, TASKS)
        assert next(results) == 0
        os.kill(pids[0], signal.SIGKILL)
        assert list(results) == [-t for t in TASKS[1:]]
    by = {int(path.name.rpartition("-")[2]) for path in tmp_path.iterdir()}
    assert pids[0] not in by or len(by) > 1


def test_a_cluster_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_stages_give_the_same_bytes_on_a_cluster(
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
    """A cluster with one worker, which has other versions or no such function."""

    def __init__(self, found: dict[str, str] | None) -> None:
        self.found = found

    def run(self, function: Callable[[], dict[str, str]]) -> dict[str, dict[str, str]]:
        if self.found is None:
            raise AttributeError("no attribute 'versions'")
        return {"tcp://a": function() | self.found}


def test_workers_of_another_version_are_refused() -> None:
    parallel._require_equal_versions(OtherWorkers({}))
    for found, words in (
        ({"numpy": "0.1"}, r"found tcp://a: numpy 0\.1"),
        ({"virtperf": "none"}, "found tcp://a: virtperf none"),
        (None, "have no virtperf, or an older version"),
    ):
        with pytest.raises(RawperfError, match=words):
            parallel._require_equal_versions(OtherWorkers(found))
