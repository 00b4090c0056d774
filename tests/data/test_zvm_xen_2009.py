"""Encoding of zvm-xen-2009: tables and claims agree, known contradictions are found."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from scipy.optimize import linprog

from tests.cases import each_case
from tests.conftest import ROOT
from tests.data.irreducible import assert_irreducible
from tests.data.test_published import read_table
from virtperf.reconstruct.feasible import solve
from virtperf.reconstruct.leave_one_out import LeaveOneOut
from virtperf.reconstruct.system import LinearSystem
from virtperf.study.claims import Claims, load_claims
from virtperf.study.constraints import Inequality, natural_rows
from virtperf.study.definition import Study, load_study
from virtperf.study.quantities import Quantity

FOLDER = ROOT / "data" / "published" / "zvm-xen-2009"


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study(FOLDER)


@pytest.fixture(scope="module")
def claims(study: Study) -> Claims:
    return load_claims(study)


def number(cell: str) -> float:
    return float(cell.removesuffix(":1").replace(",", ""))


def stated(claims: Claims, claim_id: str) -> float | None:
    return claims[claim_id].value


def test_table_6_and_8_agree_with_the_claims(claims):
    for table in ("table-6", "table-8"):
        for guests, virtual, ratio, *_ in read_table(FOLDER / "tables" / f"{table}.csv")[1:]:
            n = guests.split()[0]
            assert stated(claims, f"virtual-cpus-at-{n}") == number(virtual)
            assert stated(claims, f"cpu-ratio-at-{n}") == number(ratio)
    for guests, *_, memory, ratio in read_table(FOLDER / "tables" / "table-6.csv")[1:]:
        n = guests.split()[0]
        assert stated(claims, f"defined-memory-at-{n}") == number(memory)
        if ratio != "N/A":
            assert stated(claims, f"table-6-memory-ratio-at-{n}") == number(ratio)


def test_table_9_agrees_with_claims_except_the_corrected_cell(claims):
    rows = read_table(FOLDER / "tables" / "table-9.csv")[1:]
    assert len(rows) == 7
    levels = []
    for central, resident, xstore, dasd, ratio in rows:
        n = "8192" if central == "81921" else central
        levels.append(int(n))
        printed = [number(cell) for cell in (resident, xstore, dasd, ratio)]
        names = ("resident-at", "xstore-at", "dasd-at", "memory-ratio-at")
        assert [stated(claims, f"{name}-{n}") for name in names] == printed
    storage = claims["central-storage-of-table-9"]
    assert sorted(levels) == sorted(storage.levels)
    assert (storage.intercept, storage.slope) == (0, 1)


def test_guest_sizes_add_up_to_a_triplet(study, claims):
    guests = study.data["guests"].values()
    assert sum(g["vcpus"] for g in guests) == pytest.approx(
        3 * claims["triplet-has-4-virtual-cpus"].slope
    )
    assert sum(g["memory_mb"] for g in guests) == pytest.approx(
        3 * claims["triplet-has-4598-mb"].slope
    )
    for table in ("table-5", "table-7"):
        rows = read_table(FOLDER / "tables" / f"{table}.csv")[1:]
        assert [(int(r[1]), int(r[2])) for r in rows] == [
            (g["vcpus"], g["memory_mb"]) for g in guests
        ]


# Each set is infeasible, and feasible without any one member. The arithmetic:
CONTRADICTIONS = [
    # both are strict
    ("xen-peak-at-9", "xen-peak-at-12"),
    ("xen-degrades-after-9", "xen-peak-at-12"),
    # 1 / 1.66 = 0.602, not 0.50 to 0.55
    (
        "xen-almost-50-percent-lower-unencrypted",
        "zvm-66-percent-higher-at-12",
        "encryption-at-12-guests",
    ),
    # 0.82 / 0.73 / 1.80 = 0.624 (0.614 to 0.634), neither 0.50 to 0.55 nor 0.602
    (
        "xen-almost-50-percent-lower-unencrypted",
        "zvm-80-percent-higher-encrypted",
        "zvm-hardware-costs-18-percent",
        "xen-software-costs-27-percent",
    ),
    (
        "zvm-66-percent-higher-at-12",
        "encryption-at-12-guests",
        "zvm-80-percent-higher-encrypted",
        "zvm-hardware-costs-18-percent",
        "xen-software-costs-27-percent",
    ),
    # 22990 / 11264 = 2.041, / 10240 = 2.245, / 6144 = 3.742
    ("memory-test-defines-22990-mb", "central-storage-of-table-9", "memory-ratio-at-11264"),
    ("memory-test-defines-22990-mb", "central-storage-of-table-9", "memory-ratio-at-10240"),
    ("memory-test-defines-22990-mb", "central-storage-of-table-9", "memory-ratio-at-6144"),
    # 22990 / 22528 = 1.021, 27588 / 22528 = 1.225
    ("table-6-base-is-22-gb", "table-6-memory-ratio-at-15", "defined-memory-at-15"),
    ("table-6-base-is-22-gb", "table-6-memory-ratio-at-18", "defined-memory-at-18"),
    # 2 GB are 2048 MB
    ("memory-test-has-2-gb-xstore", "xstore-at-7168", "xstore-fits"),
    ("memory-test-has-2-gb-xstore", "xstore-at-6144", "xstore-fits"),
    # a ratio of 1.05 or more is above 1
    ("memory-ratio-at-20480", "not-overcommitted-at-20480"),
    # the set-up states two numbers for one quantity
    ("five-fcp-channels", "six-fcp-channels"),
    ("five-fcp-channels", "fcp-channel-per-database", "zvm-runs-six-triplets"),
    ("eckd-disks-are-36", "eckd-disks-by-directory"),
    ("xen-has-10-fcp-disks", "xen-fcp-disk-per-database", "xen-runs-five-triplets"),
    ("triplets-1-2-4-6-fewest", "tables-begin-with-2-triplets"),
    ("triplets-1-2-4-6-steps", "table-6-has-five-steps"),
    ("one-to-five-servers-most", "zvm-runs-six-triplets"),
    ("prior-websphere-is-601", "prior-websphere-is-602"),
    ("table-5-external-interfaces", "directory-external-interfaces"),
]


@each_case("names", CONTRADICTIONS)
def test_known_contradiction_is_minimal(study, claims, names):
    assert_irreducible(study, claims, names)


# No longer contradictory, since a word and its inverse are read alike, as is a repeated word.
AGREEING = [
    # RAID5 arrays may use segments of the same disks
    ("xen-has-six-local-disks", "xen-has-four-raid5-arrays"),
    # 22990 / 22528 = 1.02 is slight
    ("memory-overcommitment-only-slight", "memory-overcommitted-from-15", "defined-memory-at-15"),
    # 1.1 and 1.4 have one base, of 19,991 to 20,436 MB
    (
        "table-6-memory-ratio-at-15",
        "table-6-memory-ratio-at-18",
        "defined-memory-at-15",
        "defined-memory-at-18",
    ),
    # a peak at 12 guests by no more than counts as flat
    ("xen-peak-at-12", "xen-does-not-gain-after-9", "xen-flat-after-9", "both-degrade-at-15"),
    # 10 % is a small loss, with the whole room of its rounding: 10.5 % too
    (
        "zvm-small-loss-at-18",
        "zvm-10-percent-loss-at-18",
        "zvm-keeps-rising",
        "zvm-peak-at-12",
        "zvm-degrades-at-15",
    ),
    # 0.985 x (1 - 0.042 / 0.985) = 0.943
    (
        "loss-from-11-to-7-gb",
        "loss-from-7-to-6-gb",
        "loss-from-11-to-6-gb",
        "no-loss-down-to-7-gb",
        "same-at-7-gb-and-20-gb",
        "slightly-better-at-11-gb",
    ),
    # 3.5 / 1.7 = 2.06
    ("clock-of-z9", "clock-of-xeon", "xeon-twice-as-fast", "xeon-more-than-twice-as-fast"),
]


def rows_of(study: Study, claims: Claims, names: Iterable[str]) -> list[Inequality]:
    rows = [row for name in names for row in claims[name].rows(study)]
    return rows + natural_rows(study, dict.fromkeys(q for row in rows for q, _ in row.terms))


@each_case("names", AGREEING)
def test_consistent_claims_under_one_reading(study, claims, names):
    assert LinearSystem(rows_of(study, claims, names)).feasible()


def test_small_loss_keeps_the_rounding_of_the_printed_ten_percent(claims):
    small, printed = claims["zvm-small-loss-at-18"], claims["zvm-10-percent-loss-at-18"]
    assert small.low < printed.low and small.high > printed.high


def test_consistent_ratios_of_table_9(study, claims):
    names = ["memory-test-defines-22990-mb", "central-storage-of-table-9"]
    names += [f"memory-ratio-at-{n}" for n in (20480, 9216, 8192, 7168)]
    assert LinearSystem(rows_of(study, claims, names)).feasible()


PEAK_AT_12, PEAK_AT_9 = {"xen-peak-at-12"}, {"xen-peak-at-9", "xen-degrades-after-9"}
LEFT_OUT = {
    # claim: verdict; sets of other claims one of which must be dropped; the unknown end of its range
    "zvm-10-percent-loss-at-18": ("independent", [PEAK_AT_12, PEAK_AT_9], "throughput[guests=18]"),
    "zvm-small-loss-at-18": ("corroborated", [PEAK_AT_12, PEAK_AT_9], "throughput[guests=18]"),
}


def ends(
    study: Study, claims: Claims, names: Iterable[str], quantity: Quantity
) -> tuple[float, float]:
    """Range of a quantity by an independent linear program."""
    rows = rows_of(study, claims, names)
    order = list(dict.fromkeys(q for row in rows for q, _ in row.terms))
    A = np.zeros((len(rows), len(order)))
    for i, row in enumerate(rows):
        for q, c in row.terms:
            A[i, order.index(q)] += c
    b = [row.bound for row in rows]
    found = []
    for sign in (1, -1):
        goal = np.zeros(len(order))
        goal[order.index(quantity)] = sign
        result = linprog(goal, A_ub=A, b_ub=b, bounds=(None, None), method="highs-ipm")
        assert result.status == 0
        found.append(sign * result.fun)
    return found[0], found[1]


@each_case("name", LEFT_OUT)
def test_claim_is_judged_by_the_range_of_the_other_claims(study, claims, name):
    verdict, aside, unknown = LEFT_OUT[name]
    quantity, claim = study.quantity(unknown), claims[name]
    group = solve(study, claims, explain=False).system_of(quantity)
    others = [c.id for c in claims.active() if c.id in set(group.owner) and c.id != name]
    allowed = [ends(study, claims, (c for c in others if c not in one), quantity) for one in aside]
    low, high = min(a for a, _ in allowed), max(b for _, b in allowed)
    # the other end is z/VM at 12 guests, the reference
    change = (
        (low - 100, high - 100)
        if claim.instances[0].parts[0].terms[0][1] == quantity
        else (1e4 / high - 100, 1e4 / low - 100)
    )
    found = LeaveOneOut(solve(study, claims, explain=False)).judge(claim)
    assert found.implied == pytest.approx(change, abs=1e-3)
    assert found.verdict == verdict
    inside = claim.low <= change[0] and change[1] <= claim.high
    apart = change[1] < claim.low or claim.high < change[0]
    assert verdict == ("corroborated" if inside else "contradicted" if apart else "independent")
