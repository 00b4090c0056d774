"""Real outputs of the tools, which are not part of the repository: each is read, or refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from rawperf import Format, all_formats, get_writer, sniff
from rawperf.base import Writer
from rawperf.core.errors import FormatError
from rawperf.swingbench.console import FORMAT as CONSOLE
from tests.rawperf.trial import FILE, check_reading, check_refusal, last_line

READ = {  # file: format and number of records
    "fio/fio-2.1.4_5jobs.json": ("fio", 43),
    "fio/fio-3.19_oracle_multijob.json": ("fio", 124),
    "fio/fio-3.19_read1m.json": ("fio", 11),
    "fio/fio-3.19_seq_partial.json": ("fio", 31),
    "fio/fio-2.1.10_terse_v3.txt": ("fio-minimal", 6),
    "fio/fio-2.2_normal_read.txt": ("fio-text", 3),
    "fio/fio-2.x_run_status_groups.txt": ("fio-text", 6),
    "fio/fio-3.8_terse_v3_disk.txt": ("fio-minimal", 3),
    "misc/iostat_tdx_rhel5.5.txt": ("iostat", 1045),
    "misc/netstat_s_linux_old.txt": ("netstat", 39),
    "misc/proc_meminfo_3.x.txt": ("meminfo", 42),
    "misc/ps_eLf_threads.txt": ("ps", 10),
    "misc/vmstat_rhel4.txt": ("vmstat", 176),
    "misc/vmstat_rhel5.5.txt": ("vmstat", 748),
    "misc/vmstat_t_rhel6.0.txt": ("vmstat", 748),
    "swingbench/benchmark_results_db.json": ("swingbench-json", 173),
    "swingbench/charbench_2.7_4users_60s.xml": ("swingbench", 173),
    "swingbench/charbench_2.7_console.txt": ("swingbench-console", 896),
    "swingbench/charbench_2.7_sprint15.xml": ("swingbench", 413),
    "sysstat/sadf_j_data-11.6.5.json": ("sadf-json", 34),
    "sysstat/sadf_j_wghfreq.json": ("sadf-json", 20),
    "sysstat/sar_12.7_sar-1.txt": ("sar", 6),
    "sysstat/sar_12.7_sar-A.txt": ("sar", 938),
    "sysstat/sar_12.7_sar-ISO.txt": ("sar", 30),
    "sysstat/sar_12.7_sar-rep_hdr.txt": ("sar", 24),
    "sysstat/sar_12.7_sar-u.txt": ("sar", 216),
    "sysstat/sar_12.7_sar-x0.txt": ("sar", 126),
    "sysstat/sar_data-10.3.1.txt": ("sar", 1016),
    "sysstat/sar_ubuntu_12h_ampm.txt": ("sar", 60),
    "uperf/uperf_allargs_tail_strand_flowop.txt": ("uperf", 18),
    "uperf/uperf_manual_default_output.txt": ("uperf", 3),
    "uperf/uperf_minimal_stdout.txt": ("uperf", 10),
    "uperf/uperf_raw_R_excerpt.txt": ("uperf", 12),
    "xentop/xen3_17col_batch_8samples.txt": ("xentop", 120),
    "xentop/xen3_17col_nolimit.txt": ("xentop", 40),
    "xentop/xen4.1.2_xmtop_summary.txt": ("xentop", 30),
    "xentop/xen4.9.2_xltop_summary.txt": ("xentop", 32),
    "xentop/xen_batch_i2_first_sample_zero_8col.txt": ("xentop", 40),
}
READ_ONLY = {  # what no simulation prints, though its format is one that is written
    "misc/netstat_s_linux_old.txt": "behind their number",
    "sysstat/sar_12.7_sar-ISO.txt": "restarts",
    "sysstat/sar_12.7_sar-rep_hdr.txt": "restarts",
    "sysstat/sar_12.7_sar-u.txt": "restarts",
    "sysstat/sar_12.7_sar-x0.txt": "since boot",
    "sysstat/sar_data-10.3.1.txt": "restarts",
    "xentop/xen4.1.2_xmtop_summary.txt": "17 columns",
    "xentop/xen4.9.2_xltop_summary.txt": "17 columns",
    "xentop/xen_batch_i2_first_sample_zero_8col.txt": "17 columns",
}
REFUSED = {  # beginning of the file's path: what the error says
    "sysstat/sadf_d": "it looks like sadf -d or -p, which has no reader.*Print it by sadf -j",
}


def format_of(name: str) -> Format:
    return CONSOLE if name == CONSOLE.name else all_formats()[name]


@pytest.mark.parametrize("path", READ)
def test_a_sample_is_read(path: str, samples: Path) -> None:
    name, records = READ[path]
    data = (samples / path).read_bytes()
    if name in all_formats():
        assert sniff(data).name == name
    reading = format_of(name).read(data, file=FILE)
    check_reading(reading, last_line(data))
    assert len(reading.records) == records


@pytest.mark.parametrize(
    "path", [path for path, (name, _) in READ.items() if isinstance(format_of(name), Writer)]
)
def test_a_sample_is_the_same_after_writing(path: str, samples: Path) -> None:
    form = get_writer(READ[path][0])
    reading = form.read((samples / path).read_bytes())
    if path in READ_ONLY:
        with pytest.raises(FormatError, match=READ_ONLY[path]):
            form.write(reading)
        return
    again = form.read(form.write(reading))
    assert again.records.equals(reading.records)
    assert again.clock == reading.clock


def test_every_other_sample_is_refused_by_name(samples: Path) -> None:
    names = {
        file.relative_to(samples).as_posix() for file in samples.rglob("*") if file.is_file()
    } - {"INDEX.md"}
    assert set(READ) <= names
    for name in sorted(names - set(READ)):
        reasons = [says for beginning, says in REFUSED.items() if name.startswith(beginning)]
        assert reasons, f"{name}: neither READ nor REFUSED has it"
        with pytest.raises(FormatError, match=reasons[0]) as caught:
            sniff((samples / name).read_bytes(), file=FILE)
        check_refusal(caught.value, last_line((samples / name).read_bytes()))
