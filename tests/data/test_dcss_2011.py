"""Encoding of dcss-2011: tables, page ranges and claims agree, known contradictions are found."""

from __future__ import annotations

import math
import re

import pytest

from tests.cases import each_case
from tests.conftest import ROOT
from tests.data.irreducible import assert_irreducible
from tests.data.pages import Pages, pages
from tests.data.test_published import read_table
from virtperf.reconstruct.feasible import Feasible, solve
from virtperf.reconstruct.leave_one_out import LeaveOneOut
from virtperf.reconstruct.system import LinearSystem
from virtperf.study.claims import Claims, load_claims
from virtperf.study.definition import Study, load_study

FOLDER = ROOT / "data" / "published" / "dcss-2011"
SIZES = (1, 2, 4, 8, 16)


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study(FOLDER)


@pytest.fixture(scope="module")
def claims(study: Study) -> Claims:
    return load_claims(study)


@pytest.fixture(scope="module")
def solved(study: Study, claims: Claims) -> Feasible:
    return solve(study, claims, explain=False)


def table(name: str) -> list[list[str]]:
    return read_table(FOLDER / "tables" / f"{name}.csv")[1:]


def segment(study: Study, name: str, where: str) -> Pages:
    entry = next(s for s in study.data["segments"] if s["name"] == name and s["where"] == where)
    return pages(entry["pages"])


def end_mib(found: Pages) -> float:
    """End of a range (first byte behind it) in MiB."""
    return (found.last + 1) / 256


# ---- tables and claims


def test_table_3_equals_the_segment_list(study):
    listed = [s for s in study.data["segments"] if s["where"] == "table-3"]
    printed = [
        (name, float(size.removesuffix(" GB")), addresses.replace(" ", ""))
        for name, size, addresses, _ in table("table-3")
    ]
    assert printed == [(s["name"], s["gb"], s["pages"][0]) for s in listed]
    assert all(segment(study, s["name"], "table-3").on_mib_boundaries for s in listed)


def test_page_ranges_agree_with_claims(study, claims):
    for gb in SIZES:
        name = {1: "DCSS1G", 2: "DCSS2G"}.get(gb, f"DCSS{gb}G1-{gb // 2}")
        assert segment(study, name, "table-3") == segment(study, name, "Appendix / Examples")
        assert claims[f"pages-of-{gb}-gb"].value == segment(study, name, "table-3").mib
        assert claims[f"size-{gb}-gb"].value == 1024 * gb
    assert claims["pages-of-oradb"].value == segment(study, "ORADB1-5", "table-3").mib
    assert claims["pages-of-dcssopt"].value == segment(study, "DCSSOPT1-3", "table-3").mib
    assert (
        claims["walk-through-4-gb"].value
        == segment(study, "DCSS4G1-2", "Creating a DCSS of type SN").mib
    )
    assert (
        claims["swap-dcss-defined-with-1-gb"].value
        == segment(study, "SWAPPING", "Defining a DCSS for swapping").mib * 1024
    )
    assert claims["cms-storage-start-plus-1-gb"].value == end_mib(
        segment(study, "DCSS1G", "table-3")
    )
    assert claims["vdisk-defined-with-1-gb"].value == 2097152 * 512 / 1024


def test_table_5_agrees_with_the_claims(claims):
    names = {
        "CMS save": "cms-save",
        "First Linux add": "add",
        "Linux save": "linux-save",
        "Second Linux add": "readd",
    }
    assert [row[0] for row in table("table-5")] == list(names)
    for task, *minutes in table("table-5"):
        for text in minutes:
            claim = claims[f"{names[task]}-{text}-minutes"]
            assert claim.value == 60 * float(text)
            assert "table-5" in claim.exhibits


def test_tables_6_and_7_agree_with_the_claims(study, claims):
    assert [(where, size) for where, size in table("table-6")] == [("DCSS", "768 MB")] + [
        ("Shared minidisk", f"{mb} MB")
        for mb in study.factors["guest_memory_mb"].levels
        if mb != "any"
    ]
    for where, size in table("table-6"):
        mb = size.removesuffix(" MB")
        assert claims[f"{'dcss' if where == 'DCSS' else 'disk'}-guest-{mb}-mb"].value == float(mb)
    percents = [float(text.removesuffix("%")) for _, text in table("table-7")]
    names = ("minidisk-100-percent", "cache-119-percent", "dcss-991-percent")
    assert [claims[name].value for name in names] == percents


@each_case(("step", "fixed", "per_gb"), [("cms-save", 12, 81), ("add", 12, 63), ("fill", 12, 11)])
def test_rule_has_ten_percent_tolerance_at_every_size(claims, step, fixed, per_gb):
    rule = claims[f"{step}-rule"]
    assert rule.levels == SIZES
    for gb, (low, high) in zip(SIZES, rule.bounds, strict=True):
        value = fixed + per_gb * gb
        assert (low, high) == pytest.approx(
            (value / 1.1, value * 1.1)
        )  # wider than the rounding of 0.5 + 0.5 gb


# ---- implications of the text


def test_quantities_without_upper_limit(study, solved):
    """The disk in Figure 10."""
    open_ended = {
        (exhibit.id, level)
        for exhibit in study.exhibits
        for _, level, quantity in study.points(exhibit)
        if not all(math.isfinite(end.value) for end in solved.interval(quantity))
    }
    assert open_ended == {("figure-10", "disk")}


def test_printed_times_remain_feasible(study, solved):
    """Words remove nothing that the printed minutes allow."""
    rule = 1.1  # tolerance of a fitted line
    first = 93 / rule  # s for 1 GB in CMS, at least
    for name, gb, low, high in [
        # 22 minutes, or 23, of which the sentences that say so exclude each other
        ("cms_save", 16, 1290.1, 1409.9),
        ("add_real", 8, 516 / rule, 509.9),
        ("add_real", 16, 930.1, 989.9),
        ("fill_real", 16, 188 / rule, 188 * rule),
        ("readd_real", 16, 450.1, 509.9),
        ("linux_save_real", 8, 690.1, 749.9),
        ("linux_save_real", 16, 1650.1, 1709.9),
        # a little more than in CMS
        ("linux_save_real", 1, 1.001 * first, 1.35 * 93 * rule),
    ]:
        found = solved.interval(study.quantity_at(name, {"dcss_type": "sr", "size_gb": gb}))
        assert tuple(end.value for end in found) == pytest.approx((low, high), rel=1e-5), (name, gb)


def test_dropped_claims_list_their_conflicts(claims, solved):
    dropped = solved.contradictions.dropped
    assert all(claims[name].conflicts for name in dropped)
    assert not any(claims[name].assumed for name in dropped)


def test_no_claim_supports_itself(study, claims):
    judged = LeaveOneOut(solve(study, claims, ("all",), explain=False))
    assert judged.judge(claims["minidisk-100-percent"]).verdict == "convention"
    for name in (
        "saving-10-mb",
        "saving-1-gb",
        "size-2-gb",
        "size-8-gb",
        "size-16-gb",
        "size-oradb",
        "size-dcssopt",
    ):
        assert judged.judge(claims[name]).verdict == "independent", name
    # mem= is 1536 MB (stated elsewhere), the guest has 512 MB
    assert judged.judge(claims["size-1-gb"]).verdict == "corroborated"


# Each set is infeasible, and feasible without any one member. The arithmetic:
CONTRADICTIONS = [
    # 22 minutes are at most 1349.9 s and 23 at least 1350.1 s
    ("cms-save-22-minutes", "cms-save-23-minutes"),
    # at most 1349.9 - 930.1 s = 7 minutes, by the rules 1373.4 - 971.4 s = 6.7 minutes, not 15.3
    ("cms-save-22-minutes", "add-16-minutes", "add-almost-17-minutes-shorter"),
    ("cms-save-rule", "add-rule", "add-almost-17-minutes-shorter"),
    # 12 minutes against 11, 28 against 22: slower
    ("linux-save-faster-than-cms-save", "linux-save-little-slower"),
    ("linux-save-faster-than-cms-save", "linux-save-12-minutes", "cms-save-11-minutes"),
    ("linux-save-faster-than-cms-save", "linux-save-28-minutes", "cms-save-22-minutes"),
    # sizes
    ("walk-through-4-gb", "pages-of-4-gb"),
    ("table-1-guest-memory", "load-guest-has-512-mb"),
    # 1536 - 1024 = 512 MB
    ("table-1-guest-memory", "mem-of-1-gb-is-1536-mb", "mem-is-guest-plus-dcss", "pages-of-1-gb"),
    ("table-1-guest-memory", "swap-guest-has-1024-mb"),
    ("table-1-guest-memory", "enlarged-guest-has-2048-mb"),
    ("table-1-guest-memory", "disk-guest-773-mb"),
    ("swap-guest-has-750-mb", "swap-guest-has-1024-mb"),
    ("swap-dcss-has-183500-kb", "swap-dcss-defined-with-1-gb"),
    (
        "swap-dcss-has-183500-kb",
        "guest-grows-by-the-dcss",
        "swap-guest-has-1024-mb",
        "enlarged-guest-has-2048-mb",
    ),
    ("vdisk-has-1039860-kb", "vdisk-defined-with-1-gb"),
    ("cms-storage-start-plus-1-gb", "cms-storage-start-plus-60000"),
    ("four-disk-sizes", "five-disk-sizes"),
    ("three-attributes", "four-attributes"),
    ("two-types-of-segments", "seven-types-of-segments"),
    ("two-types-used", "ew-en-used-as-well"),
    # 119 % are 19 %
    ("cache-gains-15-percent", "cache-gains-19-percent"),
    ("cache-gains-15-percent", "cache-119-percent"),
]


@each_case("names", CONTRADICTIONS)
def test_known_contradiction_is_minimal(study, claims, names):
    assert_irreducible(study, claims, names)


AGREEING = [
    # 660 s and 1308 s are 11 and 21.8 minutes
    ("cms-save-rule", "cms-save-11-minutes", "cms-save-22-minutes", "cms-save-linear"),
    # 516 and 1020 s, 10 % less 469 and 927 s, are within 8 and 16 minutes, 450.1 to 509.9 and 930.1 to 989.9 s
    ("add-rule", "add-8-minutes", "add-16-minutes", "add-linear"),
    # 8 / 4 and 16 / 8
    (
        "add-8-minutes",
        "add-16-minutes",
        "readd-4-minutes",
        "readd-8-minutes",
        "readd-twice-as-fast",
    ),
    # 991 / 100 is almost 10, 891 % to tens 890 %
    ("minidisk-100-percent", "dcss-991-percent", "almost-factor-10", "dcss-gains-890-percent"),
    # 1/9.91 and 1/8.33 are both about 1/10
    (
        "minidisk-100-percent",
        "cache-119-percent",
        "dcss-991-percent",
        "minidisks-tenth-of-throughput",
    ),
    # 28 minutes are a little more than 22, and almost on a line with 12
    (
        "cms-save-rule",
        "cms-save-22-minutes",
        "linux-save-12-minutes",
        "linux-save-28-minutes",
        "linux-save-little-slower",
        "linux-save-almost-linear",
    ),
    ("swap-disk-has-1130392-kb", "swapon-disk"),
    ("saving-10-mb", "saving-1-gb", "saving-of-100-guests"),
]


@each_case("names", AGREEING)
def test_compatible_statements_are_feasible(study, claims, names):
    assert LinearSystem([row for name in names for row in claims[name].rows(study)]).feasible()


# ---- errata


def test_numbers_in_errata_can_be_recomputed(study):
    text = re.sub(r"\s+", " ", " ".join(remark.says for remark in study.errata))
    overlap = Pages(
        segment(study, "ORADB1-5", "table-3").first, segment(study, "DCSS16G1-8", "table-3").last
    )
    load, swap = segment(study, "DCSS1G", "table-3"), segment(study, "SWAPPING", "table-3")
    for phrase in (
        f"by the rules it is {(81 - 63) * 16 / 60:.1f}",
        f"deviates by {100 * (12 + 63 * 16) / 990 - 100:.0f} % or more",
        f"gives {(12 + 63 * 8) / 60:.1f} and {(12 + 63 * 16) / 60:.1f} minutes",
        f"({12 + 63 * 8} s against {12 + 11 * 8} s at 8 GB)",
        f"by {100 * (12 / 11 - 1):.0f} % at 8 GB and {100 * (28 / 22 - 1):.0f} %",
        f"a ratio of {28 / 12:.2f}",
        f"{100 * 12 / 35:.0f} % and {100 * 28 / 74:.0f} % of the sum of all four rows",
        f"({100 * 23 / 35:.0f} % and {100 * 50 / 74:.0f} %)",
        f"would take {(12 + 63 * 6) / 60:.1f} minutes",
        f"183500 KB ({183500 / 1024:.0f} MB)",
        f"factor is 991/119 = {991 / 119:.2f}",
        f"it is {8 / 9.91:.2f} of the value on the minidisk without cache, and {8 / (991 / 119):.2f} of the value with cache",
        f"overlap by {overlap.mib:.0f} MB",
        f"{end_mib(load):.0f} MB for 1 GB; the next step says up to the end of the DCSS plus its size, {end_mib(load) + load.mib:.0f} MB",
        f"SWAPPING, from {segment(study, 'ORADB1-5', 'table-3').first / 256:.0f} to {end_mib(swap):.0f} MB",
    ):
        assert phrase in text, phrase
