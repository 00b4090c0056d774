"""Claims, summary, assumptions and errata: verdicts, counts and sources."""

from __future__ import annotations

import math
import re
from pathlib import Path

from tests.report import toy
from tests.report.plain import links, plain
from virtperf.report.claim_words import implied
from virtperf.report.key_numbers import point_precision
from virtperf.report.loaded import LoadedStudy, load_study
from virtperf.report.records import Listing


def test_range_of_other_claims_is_given_for_relations_without_number(loaded: LoadedStudy) -> None:
    assert loaded.data.claims is not None
    claim = loaded.data.claims["best-at-8"]
    limits = {"implied_low": math.nan, "implied_high": math.nan}
    for verdict, expected in (
        ("corroborated", "this claim"),
        ("contradicted", "not this claim"),
        ("depends", "this claim or not, depending on the claims set aside"),
    ):
        assert implied(claim, {**limits, "text_verdict": verdict}) == expected


def test_claims_carry_both_verdicts_in_words(loaded: LoadedStudy) -> None:
    exhibit = loaded.claims("figure-2")
    assert re.search(
        r"more-at-8 .* 66 % \(65\.5 to 66\.5 %\) +60 to 70 % +follows from others +refuted 52 \(48 to 56\)",
        repr(exhibit),
    )
    assert re.search(
        r"best-at-8 .* the position of the maximum +not determined +stated once +undecided",
        repr(exhibit),
    )
    assert "busy" not in repr(exhibit) and exhibit.record.claims == (
        "more-at-8",
        "best-at-8",
        "flat",
    )
    assert "55 % or more" in repr(loaded.claims("figure-3"))
    counted = "By the paper's other claims: 1 in conflict, 1 stated once and 1 follows from others."
    assert counted in "".join(plain(exhibit).splitlines()[3:12])


def test_verdicts_of_a_figure_are_counted_over_plotted_points(tmp_path: Path) -> None:
    data = toy.build(tmp_path)
    path = data / "published" / "toy" / "claims.yaml"
    text = path.read_text()
    assert text.count("about: [figure-3]") == 1  # of the utilisation, which figure 2 does not plot
    path.write_text(text.replace("about: [figure-3]", "about: [figure-2, text]"))
    study = load_study("toy", data)
    figure, elsewhere = (
        " ".join(plain(study.claims(name)).split()) for name in ("figure-2", "text")
    )
    assert (
        "4 claims, 3 of them about its quantities. By the paper's other claims: 1 in conflict"
        in figure
    )
    assert "about plotted quantities" not in elsewhere
    path.write_text(text.replace("about: [figure-3]", "about: [figure-4]"))
    assert "1 claim about the set-up and other quantities that are not plotted." in plain(
        load_study("toy", data).claims("figure-4")
    )


def test_claims_about_the_text_and_all_claims_are_listed(loaded: LoadedStudy) -> None:
    assert "flat" in repr(loaded.claims("text")) and "busy" not in repr(loaded.claims("text"))
    assert all(name in repr(loaded.claims()) for name in ("more-at-8", "best-at-8", "flat", "busy"))
    assert "bends-down" not in repr(loaded.claims())
    assert "The paper makes no testable claim here." in plain(loaded.claims("figure-4"))


def test_claims_that_others_exclude_are_listed_if_there_are_any(tmp_path: Path) -> None:
    data = toy.build(tmp_path)
    path = data / "published" / "toy" / "claims.yaml"
    path.write_text(path.read_text().replace("about: [figure-2]", "about: [figure-2, text]"))
    study = load_study("toy", data)
    blocks = study.claims("text").record.blocks
    (excluded,) = (b.items for b in blocks if isinstance(b, Listing))
    assert "in conflict" in str(excluded)
    assert "claim:flat" in str(excluded) and "claim:best-at-8" not in str(excluded)


def test_verdicts_are_missing_before_the_stages_have_run(bare: LoadedStudy) -> None:
    text = repr(bare.claims("figure-2"))
    assert re.search(r"more-at-8 .* not computed +not computed$", text, flags=re.MULTILINE)
    assert "By measured runs" not in plain(bare.claims("figure-2"))


def test_report_links_the_page_of_claims(loaded: LoadedStudy) -> None:
    exhibit = loaded.exhibit("figure-2")
    assert "claims:figure-2" in links(exhibit)
    assert "Claims of the paper (3)" in plain(exhibit)
    assert "more-at-8" not in plain(exhibit)  # the page of claims has them
    elsewhere, *_ = loaded.appendix("text")
    assert "claims:text" in links(elsewhere)


def test_assumptions_and_errata(loaded: LoadedStudy) -> None:
    assert re.search(
        r"bends-down .* on +4", repr(loaded.assumptions())
    )  # it sets the limits of four points
    assert loaded.assumptions().record.claims == ("bends-down",)
    assert "8192" in repr(loaded.errata()) and "- 18 test are 18 guests" in repr(loaded.errata())
    assert "exhibit:table-1" in links(loaded.errata()) and "Table 1, row 2, Memory [MB]" in plain(
        loaded.errata()
    )


def test_assumptions_and_errata_begin_with_what_is_in_them(tmp_path: Path) -> None:
    lines = plain(load_study("toy", toy.build(tmp_path)).assumptions()).split("\n")
    assert "1 assumption of ours sets limits of plotted points." in lines
    assert any(line.endswith(" (4 limits).") for line in lines)
    data = toy.build(tmp_path / "long")
    path = data / "published" / "toy" / "study.yaml"
    others = "".join(f"  - Remark {k}. It is long. It goes on.\n" for k in range(4))
    touching = "  - {claims: [flat], says: Flat may be fast.}\n"
    path.write_text(path.read_text().replace("errata:\n", f"errata:\n{others}{touching}"))
    text = plain(load_study("toy", data).errata())
    open_lines = text[: text.index("more in the details")]
    cell, touched, first = (
        open_lines.index(words)
        for words in (" is read as 8192.", "Flat may be fast.", "Remark 0. It is long.")
    )
    assert touched < first < cell
    assert "It goes on" not in open_lines and "Remark 2" not in open_lines
    assert "Remark 2. It is long. It goes on." in text


def test_assumption_links_the_claims_in_its_reason(tmp_path: Path) -> None:
    data = toy.build(tmp_path)
    path = data / "published" / "toy" / "claims.yaml"
    path.write_text(
        path.read_text().replace(
            "queues only grow & never shrink", "as best-at-8, and more-or-less"
        )
    )
    exhibit = load_study("toy", data, assumptions=False).assumptions()
    assert "claim:best-at-8" in links(exhibit) and "“System A peaks at 8 guests”" in plain(exhibit)
    assert "claim:more-or-less" not in links(exhibit) and "more-or-less" in plain(exhibit)
    assert re.search(r"bends-down .* off in this report +4", repr(exhibit))


def test_summary_counts(loaded: LoadedStudy) -> None:
    study = loaded.study
    points = [
        (e.id, s.label, x)
        for e in study.exhibits
        for s, x, q in study.points(e)
        if (r := study.reference_for(q)) is None or r[0] != q
    ]
    limits = {
        (row.exhibit, row.series, row.x): (row.low, row.high)
        for row in loaded.data.points.itertuples()
    }
    found = point_precision(loaded.data)
    assert found.points == len([p for p in points if p in limits]) < len(limits)
    narrow = [
        p for p in points if p in limits and (limits[p][1] - limits[p][0]) / sum(limits[p]) <= 0.05
    ]
    assert found.within[0] == len(narrow) <= found.within[1]
    assert found.open_ended == 2
    text = plain(loaded.summary())
    assert (
        f"{found.within[0]} of {found.points}" in text
        and "2 have no upper limit in the text" in text
    )
    assert re.search(r"9\nmeasured runs", text)


def test_summary_before_the_stages_reports_missing_results(bare: LoadedStudy) -> None:
    assert "reconstructed/toy/points.parquet" in plain(bare.summary())
    assert point_precision(bare.data).within == (0, 0)
