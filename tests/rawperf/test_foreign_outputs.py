"""Outputs of other versions, options and failed runs: read, or named with what to do."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from rawperf.core.errors import FormatError
from rawperf.declared.read import load_presets
from rawperf.registry import sniff
from rawperf.tidy import open_raw, read
from rawperf.unsupported import identify_unsupported
from tests.cases import each_case
from tests.rawperf.sample_files import SAMPLES

CASES = Path(__file__).parent / "cases"


class Raw:
    """Table and warnings of a file."""

    def __init__(self, path: Path) -> None:
        with open_raw(str(path)) as raw:
            self.table = pd.concat(list(raw.tables()))
            self.warnings = list(raw.warnings)


REFUSED = {
    "dstat-without-t.csv": ("dstat's CSV without times", "dstat -t --output FILE"),
    "pcp-dstat-epoch.csv": ("times as seconds (-T, --epoch)", "dstat -t --output FILE"),
    "iperf3-failed.json": ("unable to connect to server: Connection refused", "collect again"),
}
READ = {
    "pidstat-h-one-hash-many-blanks.txt": {("qemu-kvm 812", "%CPU"): [4, 6]},
    "docker-stopped.txt": {("web", "pids"): [5], ("web", "limit"): [2 * 1024**3]},
    "fio-client-server.json": {("All clients", "read/iops"): [256]},
    "jmeter-date-text.csv": {("", "elapsed"): [170, 44]},
    "sar-only-restart.txt": {},
    "sysbench-0.5.txt": {("", "rate"): [100.5, 110.5], ("", "events"): [422]},
}


def test_every_case_is_expected_to_be_read_or_refused() -> None:
    assert {path.name for path in CASES.iterdir()} == REFUSED.keys() | READ.keys()


@each_case("name", sorted(REFUSED))
def test_case_is_refused_with_its_cause(name: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(CASES / name)
    for words in REFUSED[name]:
        assert words.lower() in str(caught.value).lower()
    assert "damaged" not in str(caught.value)
    assert "truncated" not in str(caught.value)


@each_case("name", sorted(READ))
def test_case_is_read(name: str) -> None:
    raw = Raw(CASES / name)
    for (entity, field), values in READ[name].items():
        rows = raw.table[(raw.table["entity"] == entity) & (raw.table["field"] == field)]
        assert rows["value"].tolist() == values
    assert len(raw.table) or any("no sample" in warning for warning in raw.warnings)


def test_stopped_container_has_no_values() -> None:
    assert set(read(CASES / "docker-stopped.txt")["entity"]) == {"web"}


def test_times_of_jmeter_in_text_are_those_of_its_milliseconds(tmp_path: Path) -> None:
    text = (CASES / "jmeter-date-text.csv").read_text()
    path = tmp_path / "results.csv"
    path.write_text(
        text.replace("2026/03/01 10:00:00.019", "1772359200019").replace(
            "2026/03/01 10:00:02.192", "1772359202192"
        )
    )
    from_text = read(CASES / "jmeter-date-text.csv")
    assert read(path)["t"].tolist() == pytest.approx(from_text["t"].tolist(), abs=1e-6)
    assert from_text["t"].min() == pytest.approx(1772359200.189)


NAMED = {
    "numastat -m, -p or -c": "\nPer-node system memory usage (in MBs):\n",
    "GNU time with a decimal comma": "0,10user 0,02system 0:01,00elapsed 12%CPU\n",
    "STREAM": "Function    Best Rate MB/s  Avg time     Min time     Max time\n",
    "UnixBench": "   BYTE UNIX Benchmarks (Version 5.1.3)\n",
    "HPL": "T/V                N    NB     P     Q               Time                 Gflops\n",
    "CoreMark": "2K performance run parameters for coremark.\nCoreMark Size    : 666\n",
    "IOzone": "\tIozone: Performance Test of File I/O\n",
    "schbench": "Latency percentiles (usec)\n",
    "IOR": "IOR-3.3.0: MPI Coordinated Test of Parallel I/O\n",
    "DiskSpd": "Results for timespan #1:\n",
    "Gatling": "---- Global Information --------\n",
    "Artillery": '{\n "aggregate": {\n  "counters": {}\n }}\n',
    "nicstat": "    Time      Int   rKB/s   wKB/s\n",
    "iotop": "Total DISK READ :       0.00 B/s\n",
    "systemd-cgtop": "Control Group      Tasks   %CPU   Memory  Input/s\n",
    "pmval": "metric:    kernel.all.load\nhost:      vm\n",
    "perf report": "# Samples: 12K of event 'cycles'\n",
    "strace -c": "% time     seconds  usecs/call     calls    errors syscall\n",
    "iperf": "20261129140343,127.0.0.1,57948,127.0.0.1,19020,1,0.0-1.0,29884476,239075808\n",
    "cyclictest": '{\n  "file_version": 1,\n  "rt_test_version:": "2.40",\n',
    "fs_mark": "\n#  fs_mark  -d  data  -n  200  -s  4096  -L  3 \n",
    "PostMark": "PostMark v1.51 : 8/14/01\npm>Creating files...Done\n",
    "mbw": "0\tMethod: MEMCPY\tElapsed: 0.00187\tMiB: 32.00000\tCopy: 17121.455 MiB/s\n",
    "vmstat in another locale": "procs -----------memory---------- ---swap-- -----io----\n r  b   swpd   frei   buff  Cache   si   so    bi    bo\n",
    "InfluxDB": "cpu,host=a usage=1.5,idle=2 1772359200000000000\n",
    "docker ps": "CONTAINER ID   IMAGE     COMMAND\n",
    "kubectl get": "NAME    READY   STATUS    RESTARTS   AGE\n",
    "virsh list": " Id   Name     State\n------\n",
    "xl list": "Name                          ID   Mem VCPUs\tState\tTime(s)\n",
    "lscpu": "Architecture:  x86_64\nCPU op-mode(s): 64-bit\nCPU(s):  2\n",
    "HP-UX' or AIX' sar": "\nHP-UX vm9 B.11.31 U ia64    03/01/26\n",
    "the log of kvm_stat without -c": "kvm_apic kvm_cpuid kvm_entry kvm_exit \n2026-11-29 09:16:03  3  2  1  0\n",
    "virt-top's screen": "virt-top time  09:12:23 Host vm x86_64 2/2CPU 2596MHz 14298MB\n",
}


@each_case("name", sorted(NAMED))
def test_tool_is_named_with_what_to_do(name: str) -> None:
    with pytest.raises(FormatError) as caught:
        sniff(NAMED[name].encode(), file="f")
    assert name in caught.value.problem
    assert caught.value.remedy
    assert caught.value.remedy.split()[0].lower() in (
        "collect",
        "declare",
        "it",
    )


@each_case(
    "text",
    [
        "bash: perf: command not found\n",
        "Error from server (NotFound): pods not found\n",
        "error: failed to connect to the hypervisor\n",
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock.\n",
        "cat: /proc/pressure/cpu: No such file or directory\n",
        "establish control: are you sure there is a netserver listening on host at port 12865?\n",
    ],
)
def test_error_message_of_a_tool_is_shown(text: str) -> None:
    problem, remedy = identify_unsupported(text.encode())
    assert problem == f"it looks like an error message instead of results: {text.strip()}"
    assert remedy


@each_case(
    "text, said",
    [
        (
            "This is ApacheBench, Version 2.3\nBenchmarking x\napr_socket_recv: refused (111)\n",
            "apr_socket_recv: refused (111)",
        ),
        ("sysbench 1.0.20 (LuaJIT)\n\nFATAL: unable to connect\n", "FATAL: unable to connect"),
    ],
)
def test_what_a_tool_says_below_its_name_is_shown(text: str, said: str) -> None:
    assert said in identify_unsupported(text.encode())[0]


@each_case(
    "text",
    [
        "name      time_ms   rss_kb\nboot         10.1     1000\n",
        "failed,rps\n0,100\n",
        "name,a,b\n,x,,\n",
        "SEPARATION 1\n",
    ],
)
def test_tables_of_users_are_not_taken_for_tools(text: str) -> None:
    assert identify_unsupported(text.encode()) == ("", "")


def test_containers_that_are_all_stopped_have_no_values(tmp_path: Path) -> None:
    path = tmp_path / "stats.txt"
    lines = (CASES / "docker-stopped.txt").read_text().splitlines()
    path.write_text("\n".join([lines[0], *(line for line in lines if " -- " in line)]) + "\n")
    with pytest.raises(FormatError, match=r"no value in the file.*stopped containers"):
        read(path)


def test_error_within_results_is_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "iperf3.json"
    text = (SAMPLES / "iperf3" / "iperf3.json").read_text().rstrip()
    path.write_text(f'{text[:-1]},\n\t"error":\t"interrupt - the client has terminated"\n}}\n')
    raw = Raw(path)
    assert len(raw.table)
    assert any("interrupt - the client has terminated" in warning for warning in raw.warnings)


@each_case(
    "old, new, said",
    [
        ('"type":"Point"', '"kind":"Point"', "type of requests has no value"),
        ('"value":', '"number":', "data/value has no value"),
        ('"metric":', '"name":', "metric of requests has no value"),
    ],
)
def test_rows_that_lack_a_name_a_value_or_a_condition_are_warned_of(
    old: str, new: str, said: str
) -> None:
    lines = (SAMPLES / "k6" / "k6.jsonl").read_text().splitlines(keepends=True)
    point = max(
        n
        for n, line in enumerate(lines)
        if line.startswith('{"metric":"http_req_blocked","type":"Point"')
    )
    assert old in lines[point]
    lines[point] = lines[point].replace(old, new, 1)
    form = next(preset for preset in load_presets() if preset.name == "k6-json")
    messages = form.read("".join(lines).encode(), file="k6.jsonl").warnings
    assert any(
        f"line {point + 1}: {said}" in message.replace(" of metrics", "") for message in messages
    ), messages


def test_every_preset_states_its_evidence() -> None:
    recorded = {path.relative_to(SAMPLES).as_posix() for path in SAMPLES.rglob("*")}
    for preset in load_presets():
        verified = preset.declaration.verified
        assert verified is not None, f"{preset.name} states nothing: verified is missing"
        assert {*verified.output} <= recorded, preset.name
        for name in verified.output:
            data = (SAMPLES / name).read_bytes()
            assert preset.matches_file(name, data[:8192]), (preset.name, name)
            reading = preset.read(data, file=name)
            assert len(reading.records), (preset.name, name)


def test_each_file_of_a_format_that_is_not_verified_gets_a_warning() -> None:
    unverified = [
        preset.name
        for preset in load_presets()
        if preset.declaration.verified and preset.declaration.verified.none
    ]
    assert unverified == ["esxtop", "perfmon", "verbosegc-java5"]
    raw = Raw(SAMPLES / "esxtop" / "esxtop.csv")
    assert any("not verified on real output" in warning for warning in raw.warnings)
    assert not Raw(SAMPLES / "wrk" / "wrk.txt").warnings


def test_evidence_of_every_preset_stands_in_the_documentation(root: Path) -> None:
    page = (root / "docs" / "formats" / "declared.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| `")]
    stated = {
        name: cells[-1].removesuffix(" |")
        for cells in rows
        if len(cells) == 4
        for name in cells[0].removeprefix("| ").replace("`", "").split(", ")
    }
    for preset in load_presets():
        verified = preset.declaration.verified
        assert verified is not None
        assert verified.describe() in stated.get(preset.name, ""), preset.name
