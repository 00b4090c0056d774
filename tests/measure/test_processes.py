"""Processes of a run are found, counted and ended, even if they detach."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from virtperf.measure.commands import Call
from virtperf.measure.processes import Failure, Processes, end_all, members

BURN = "import time\nwhile time.process_time() < {s}: pass\n"


def call(*argv, name="setup-1", timeout_s=20.0, output=None, variables=None):
    return Call(name, argv, variables or {}, output, (), None, timeout_s)


def python(code, **fields):
    return call(sys.executable, "-c", code, **fields)


@pytest.fixture
def processes(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "logs").mkdir()
    made = Processes(tmp_path / "run", tmp_path / "logs", f"mark of {tmp_path}")
    yield made
    made.end(0)


def alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def wait_for(path: Path) -> str:
    until = time.monotonic() + 10
    while not (path.exists() and path.read_text().endswith("\n")):
        assert time.monotonic() < until, f"{path} was not written"
        time.sleep(0.01)
    return path.read_text()


def test_declared_output_goes_to_the_run_folder_and_the_rest_to_logs(processes):
    processes.finish(
        python("import sys; print('out'); print('err', file=sys.stderr)", output="a/b.txt")
    )
    processes.finish(python("print('seen')", name="setup-2"))
    assert (processes.folder / "a" / "b.txt").read_text() == "out\n"
    assert (processes.logs / "setup-1.stderr").read_text() == "err\n"
    assert (processes.logs / "setup-2.stdout").read_text() == "seen\n"


def test_programs_run_in_the_run_folder_in_utc(processes):
    code = (
        "import os, time; print(os.getcwd(), time.tzname[0], os.environ['LC_ALL'], os.environ['x'])"
    )
    processes.finish(python(code, output="o", variables={"x": "a b"}))
    assert (processes.folder / "o").read_text() == f"{processes.folder} UTC C a b\n"


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (python("raise SystemExit(3)"), r"setup-1 \(python.*\) ended with status 3"),
        (python("import os; os.kill(os.getpid(), 9)"), "ended by SIGKILL$"),
        (
            python("import sys; print('1', file=sys.stderr); sys.exit('no such counter')"),
            "ended with status 1: no such counter$",
        ),
        (python("import sys; sys.exit('x' * 999 + chr(255) + chr(10) * 2)"), r": x{200}\.\.\.$"),
        (python("import time; time.sleep(60)", timeout_s=0.1), "timed out after 0.1 s"),
        (call("no-such-program"), "can't be started: no-such-program: No such file"),
        (call("."), "can't be started: .: Permission denied"),
        (call("a\0b"), "can't be started: .*null byte"),
    ],
)
def test_failures_are_reported(processes, made, words):
    with pytest.raises(Failure, match=words):
        processes.finish(made)


def test_output_does_not_follow_links_out_of_the_run_folder(processes, tmp_path):
    (processes.folder / "out").symlink_to(tmp_path)
    with pytest.raises(Failure, match="out/x is a link out of the run folder"):
        processes.finish(python("print(1)", output="out/x"))
    assert not (tmp_path / "x").exists()


def test_program_that_ignores_its_signal_is_killed(processes):
    good = processes.start(python("import time; print(flush=True); time.sleep(60)", output="good"))
    deaf = (
        "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    )
    bad = processes.start(python(deaf, output="bad"))
    for name in ("good", "bad"):
        wait_for(processes.folder / name)
    assert processes.stop(good, "SIGTERM", 5)
    began = time.monotonic()
    assert not processes.stop(bad, "SIGTERM", 0.2)
    assert 0.2 <= time.monotonic() - began < 5
    assert not alive(bad.process.pid)


def test_signal_reaches_child_processes(processes):
    """As sar and its collector sadc need."""
    started = processes.start(call("sh", "-c", "sleep 60 & echo $!; wait", output="pid"))
    child = int(wait_for(processes.folder / "pid"))
    processes.stop(started, "SIGTERM", 5)
    processes.end(0)
    assert not alive(child)


@pytest.mark.parametrize(
    "code",
    [
        "import os, time; os.setsid() if os.fork() == 0 else os._exit(0); print(os.getpid(), flush=True); time.sleep(60)",
        "import os, time; os.execve('/bin/sh', ['sh', '-c', 'echo $$; sleep 60 & wait'], {'PATH': os.environ['PATH']})",
        "import os, signal, time; signal.signal(15, signal.SIG_IGN); print(os.getpid(), flush=True); time.sleep(60)",
    ],
    ids=["a session of its own", "no environment", "deaf to SIGTERM"],
)
def test_next_harness_finds_and_ends_leftover_processes(processes, code):
    processes.start(python(code, output="pid"))
    pid = int(wait_for(processes.folder / "pid"))
    assert pid in {p.pid for p in members(processes.mark, processes.sessions)}
    assert end_all(processes.mark, dict(processes.sessions), 0.3) >= 1
    assert not alive(pid)
    assert not list(members(processes.mark, processes.sessions))


def test_unrelated_processes_are_not_ended(processes):
    """Another process, and one with the reused number of an ended session."""
    stranger = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True
    )
    try:
        created = psutil.Process(stranger.pid).create_time()
        assert not list(members(processes.mark, {stranger.pid: created - 100}))
        assert [p.pid for p in members(processes.mark, {stranger.pid: created})] == [stranger.pid]
        assert end_all(processes.mark, {stranger.pid: created - 100}, 0) == 0
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


@pytest.mark.parametrize("ended", [True, False], ids=["ended", "alive"])
def test_cpu_time_counts_descendants_only(tmp_path, ended):
    stranger = subprocess.Popen([sys.executable, "-c", BURN.format(s=60)])
    processes = Processes(tmp_path, tmp_path, "mark")
    try:
        before = processes.cpu_s()
        wait = "" if ended else "import time; print(flush=True); time.sleep(60)"
        code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN.format(s=0.3)!r}])\n{BURN.format(s=0.4)}{wait}"
        if ended:
            processes.finish(python(code))
        else:
            processes.start(python(code, output="o"))
            wait_for(processes.folder / "o")
        used = processes.cpu_s() - before
        # both spin until their CPU clock is reached; only interpreter start-up and this test add to it
        assert 0.65 <= used <= 1.2
    finally:
        processes.end(0)
        stranger.kill()
        stranger.wait()


ESCAPE = """
import os, sys, time
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
os.execve(sys.executable, [sys.executable, "-c", sys.argv[1]], {})
"""
WRITER = "import os, time\nprint(os.getpid(), flush=True)\nwhile True: time.sleep(0.01); print('more', flush=True)"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux adopts orphans")
def test_escaped_process_is_found_and_ended(processes):
    """Two forks, a session of its own and an empty environment."""
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    processes = replace(processes, _others={*processes._others, stranger.pid})
    try:
        with processes.adopted_orphans():
            processes.finish(call(sys.executable, "-c", ESCAPE, WRITER, output="pid"))
            file = processes.folder / "pid"
            wait_for(file)
            pid = int(file.read_text().split()[0])
            assert pid not in {p.pid for p in members(processes.mark, processes.sessions)}
            processes.end(5)
            size = file.stat().st_size
            assert not psutil.pid_exists(pid)  # nor a zombie
            time.sleep(0.1)
            assert file.stat().st_size == size
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux adopts orphans")
def test_orphan_that_ends_is_reaped_at_once_and_its_cpu_time_counts(processes):
    with processes.adopted_orphans():
        before = processes.cpu_s()
        burn = BURN.format(s=0.5)
        processes.finish(
            call(
                sys.executable,
                "-c",
                ESCAPE,
                f"import os; print(os.getpid(), flush=True)\n{burn}",
                output="pid",
            )
        )
        pid = wait_for(processes.folder / "pid").strip()
        processes.finish(call("sh", "-c", f"while kill -0 {pid}; do sleep 0.02; done"))
        assert not psutil.pid_exists(int(pid))
        assert 0.5 <= processes.cpu_s() - before <= 2


def test_wait_is_interrupted_when_the_run_has_to_end(processes):
    def check():
        raise KeyboardInterrupt

    processes.check = check
    with pytest.raises(KeyboardInterrupt):
        processes.pause(60)


def test_session_is_recorded_at_program_start(tmp_path):
    seen = []
    made = Processes(tmp_path, tmp_path, "m", lambda sessions: seen.append(dict(sessions)))
    started = made.start(python("pass"))
    started.process.wait()
    assert [list(s) for s in seen] == [[started.process.pid]]
    assert abs(seen[0][started.process.pid] - time.time()) < 60
    assert os.getpid() not in {p.pid for p in members("m", made.sessions)}


LEAVING = """
import os, sys, time
while not os.path.exists(sys.argv[1]): time.sleep(0.01)
if os.fork(): os._exit(0)
print(os.getpid(), flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux adopts orphans")
def test_orphan_of_an_earlier_process_is_left_alone(tmp_path):
    """A browser of the program that measures, say: it was there before, in a session of its own."""
    printed, go = tmp_path / "printed", tmp_path / "go"
    with printed.open("w") as out:
        earlier = subprocess.Popen(
            [sys.executable, "-c", LEAVING, str(go)], stdout=out, start_new_session=True
        )
    made = Processes(tmp_path, tmp_path, f"mark of {tmp_path}")
    with made.adopted_orphans():
        go.touch()
        pid = int(wait_for(printed))
        earlier.wait()
        made.end(0)
        assert alive(pid)
    os.kill(pid, 9)
