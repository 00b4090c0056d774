"""zvm63-overcommit-2014: hand-computed values and known contradictions."""

from __future__ import annotations

import pytest

from tests.cases import each_case
from tests.conftest import ROOT
from virtperf.reconstruct.feasible import Feasible, solve
from virtperf.reconstruct.leave_one_out import LeaveOneOut
from virtperf.study.claims import load_claims
from virtperf.study.definition import load_study


@pytest.fixture(scope="module")
def alone() -> Feasible:
    study = load_study(ROOT / "data" / "published" / "zvm63-overcommit-2014")
    return solve(study, load_claims(study), ("all",), explain=False)


BY_HAND = {
    # 8.5 % and 14.5 % of 64783 MiB, each printed to a tenth of a per cent
    "resident_memory[workload=fs-pc-m, memory=64, cpus=20]": (0.0845 * 64782.5, 0.0855 * 64783.5),
    "resident_memory[workload=fs-pc-h, memory=64, cpus=20]": (0.1445 * 64782.5, 0.1455 * 64783.5),
    # about 3.4 % of 88 MiB/s; "about" is a twentieth
    "page_read_rate[workload=fs-pc-h, memory=64, cpus=20]": (
        0.034 / 1.05 * 87.5,
        0.034 * 1.05 * 88.5,
    ),
    # 9.8 % of it are 0.14 % of the paging area
    "instantiated_memory[workload=fs-dio-h, memory=64, cpus=20]": (
        0.00135 * 64782.5 / 0.0985,
        0.00145 * 64783.5 / 0.0975,
    ),
    # about 26 % less than the reference execution
    "throughput[workload=java-h, memory=64, cpus=20]": (100 - 26 * 1.05, 100 - 26 / 1.05),
    # about a third of its memory, which is more than the heap of 2048 MiB, is resident
    "instantiated_memory[workload=was-h, part=was, memory=64, cpus=20]": (2049, 4096),
    "resident_memory[workload=was-h, part=was, memory=64, cpus=20]": (
        2049 / 3 / 1.15,
        1.15 * 4096 / 3,
    ),
    # more than 94 % of the CPUs work for users
    "system_share[memory=96, cpus=10]": (0, 5.994),
    # with less memory no more than at 512/15, where it is 60 %
    "throughput[workload=db, memory=96, cpus=15]": (29.5, 60.5),
    # no less than at 64/20
    "throughput[workload=java-h, memory=96, cpus=20]": (100 - 26 * 1.05, 115),
    "instantiated_memory[workload=net-h, part=client, memory=64, cpus=20]": (1, 1024),
    # the printed sum of Table 17
    "defined_memory": (398712, 398712),
}


@each_case("text", BY_HAND)
def test_values_computed_from_printed_numbers(alone, text):
    low, high = alone.interval(alone.study.quantity(text))
    least, most = BY_HAND[text]
    assert least * (1 - 1e-6) - 1e-9 <= low.value <= high.value <= most * (1 + 1e-6)


@each_case(
    "claim",
    [
        "fs-pc-medium-reads-0-4-percent",
        "fs-pc-high-reads-0-3-percent",  # 0.04 % and 0.03 % by all other numbers
        "fs-dio-mostly-resident",  # 3.6 % and 9.8 %
        "was-reads-of-resident-memory",  # of instantiated memory, all agree
        "java-heap-3-2-gib",  # 3200 MiB
        "java-levels-very-similar",
        "net-levels-very-similar",
    ],
)
def test_sentences_excluded_by_other_numbers_are_dropped(alone, claim):
    assert claim in alone.contradictions.dropped


def test_sums_of_table_17_support_the_text(alone):
    judged = LeaveOneOut(alone)
    claims = {claim.id: claim for claim in alone.active}
    needed = judged.judge(claims["reference-needs-21-6-cpus"])
    assert needed.verdict == "corroborated"
    assert needed.implied == pytest.approx((21.565, 21.575))
