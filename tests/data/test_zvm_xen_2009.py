"""The encoding of zvm-xen-2009: its tables and claims state the same numbers, and its known contradictions show."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT
from tests.data.irreducible import assert_irreducible
from tests.data.test_published import read_table
from virtperf.reconstruct.constraints import claim_rows
from virtperf.reconstruct.feasible import solve
from virtperf.reconstruct.leave_one_out import judge
from virtperf.reconstruct.system import LinearSystem
from virtperf.study.claims import Claims, load_claims
from virtperf.study.definition import Study, load_study

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


def test_table_9_agrees_with_the_claims_but_for_the_corrected_cell(claims):
    rows = read_table(FOLDER / "tables" / "table-9.csv")[1:]
    assert len(rows) == 7
    for central, resident, xstore, dasd, ratio in rows:
        n = "8192" if central == "81921" else central
        printed = [number(cell) for cell in (n, resident, xstore, dasd, ratio)]
        names = ("central", "resident-at", "xstore-at", "dasd-at", "memory-ratio-at")
        assert [stated(claims, f"{name}-{n}") for name in names] == printed


def test_guest_sizes_add_up_to_a_triplet(study, claims):
    guests = study.data["guests"].values()
    assert sum(g["vcpus"] for g in guests) == stated(claims, "triplet-has-4-virtual-cpus")
    assert sum(g["memory_mb"] for g in guests) == stated(claims, "triplet-has-4598-mb")
    for table in ("table-5", "table-7"):
        rows = read_table(FOLDER / "tables" / f"{table}.csv")[1:]
        assert [(int(r[1]), int(r[2])) for r in rows] == [(g["vcpus"], g["memory_mb"]) for g in guests]


# Each set is impossible, and becomes possible when any one of its members is left out. The arithmetic:
CONTRADICTIONS = [
    # both are strict
    ("xen-peak-at-9", "xen-peak-at-12"),
    ("xen-degrades-after-9", "xen-peak-at-12"),
    ("xen-does-not-gain-after-9", "xen-peak-at-12"),
    ("zvm-keeps-rising", "zvm-peak-at-12"),
    ("xen-response-more-than-double-encrypted", "zvm-response-more-than-half-encrypted"),
    # 1 / 1.66 = 0.602, not 0.50 to 0.55
    ("xen-almost-50-percent-lower-unencrypted", "zvm-66-percent-higher-at-12", "encryption-at-12-guests"),
    # 0.82 / 0.73 / 1.80 = 0.624 (0.614 to 0.634), neither 0.50 to 0.55 nor 0.602
    ("xen-almost-50-percent-lower-unencrypted", "zvm-80-percent-higher-encrypted", "zvm-hardware-costs-18-percent",
     "xen-software-costs-27-percent"),
    ("zvm-66-percent-higher-at-12", "encryption-at-12-guests", "zvm-80-percent-higher-encrypted",
     "zvm-hardware-costs-18-percent", "xen-software-costs-27-percent"),
    # half is 0.45 to 0.55, 1 / 1.80 = 0.556 (0.554 to 0.557)
    ("xen-half-encrypted", "zvm-80-percent-higher-encrypted", "zvm-hardware-costs-18-percent"),
    # 0.985 x 0.958 = 0.9436 (0.9427 to 0.9446), not 0.942 (0.9415 to 0.9425)
    ("loss-from-11-to-7-gb", "loss-from-7-to-6-gb", "loss-from-11-to-6-gb", "same-at-7-gb-and-20-gb"),
    ("loss-begins-at-6-gb", "no-loss-when-overcommitted"),
    # 22990 / 11264 = 2.041, / 10240 = 2.245, / 6144 = 3.742
    ("memory-test-defines-22990-mb", "central-11264", "memory-ratio-at-11264"),
    ("memory-test-defines-22990-mb", "central-10240", "memory-ratio-at-10240"),
    ("memory-test-defines-22990-mb", "central-6144", "memory-ratio-at-6144"),
    # 22990 / 22528 = 1.021, 27588 / 20480 = 1.347
    ("table-6-base-is-22-gb", "table-6-memory-ratio-at-15", "defined-memory-at-15"),
    ("central-storage-is-20-gb", "expanded-storage-is-2-gb", "table-6-memory-ratio-at-15", "defined-memory-at-15"),
    ("central-storage-is-20-gb", "largest-memory-ratio-while-scaling", "defined-memory-at-18"),
    # 2 GB are 2048 MB
    ("memory-test-has-2-gb-xstore", "xstore-at-7168", "xstore-fits"),
    ("memory-test-has-2-gb-xstore", "xstore-at-6144", "xstore-fits"),
    ("central-20480", "memory-ratio-at-20480", "not-overcommitted-at-20480"),
]  # fmt: skip


@pytest.mark.parametrize("names", CONTRADICTIONS, ids="+".join)
def test_known_contradiction_is_irreducible(study, claims, names):
    assert_irreducible(study, claims, names)


def test_table_9_ratios_that_do_follow(study, claims):
    names = ["memory-test-defines-22990-mb"]
    names += [f"{part}-{n}" for n in (20480, 9216, 8192, 7168) for part in ("central", "memory-ratio-at")]
    rows = [row for name in names for row in claim_rows(study, claims[name])]
    assert LinearSystem(rows).feasible()


# Verdicts that an independent program found by leaving each claim out, with our assumptions: the claim's number, and
# what the others allow for it.
LEFT_OUT = {
    "zvm-10-percent-loss-at-18": ("independent", -10.0, -0.2),
    "zvm-66-percent-higher-at-12": ("independent", 65.77, 68.18),
    "peaks-66-percent-apart": ("independent", 63.84, 66.22),
    "zvm-small-loss-at-18": ("independent", -10.5, -9.5),
    "zvm-response-below-xen": ("corroborated", None, None),
}
SHARP = {
    "throughput[system=zvm, guests=6]": (59.96, 61.837),
    "throughput[system=xen, guests=6]": (40.14, 60.32),
}


def test_no_claim_comes_back_through_the_response_time_law(study, claims):
    feasible = solve(study, claims, explain=False)
    for name, (verdict, low, high) in LEFT_OUT.items():
        found = judge(feasible, claims[name])
        assert found.verdict == verdict, name
        if low is not None:
            assert found.implied == pytest.approx((low, high), abs=0.006), name
    for text, limits in SHARP.items():
        ends = feasible.interval(study.quantity(text))
        assert [end.value for end in ends] == pytest.approx(limits, abs=0.006), text
