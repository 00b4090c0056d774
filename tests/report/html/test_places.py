"""Link targets from pages and notebooks."""

from __future__ import annotations

import pytest

from rawperf.core.errors import RawperfError
from tests.cases import each_case
from virtperf.report.html.record import NOTEBOOK, LinkResolver, trace_anchor
from virtperf.report.wording import trace_key

PAGE = LinkResolver(page_ids=frozenset({"claim-busy", "figure-2", "here"}))


@pytest.mark.parametrize(
    ("link", "page", "notebook"),
    [
        ("claim:busy", "#claim-busy", "../reports/claims-toy.html#claim-busy"),
        ("claim:gone", "claims-toy.html#claim-gone", "../reports/claims-toy.html#claim-gone"),
        ("exhibit:figure-2", "#figure-2", "../reports/toy.html#figure-2"),
        ("exhibit:figure-9", "", "../reports/toy.html#figure-9"),
        ("#here", "#here", "../reports/toy.html#here"),
        ("#there", "", "../reports/toy.html#there"),
        ("trace:toy/figure-2", "data-toy.html#figure-2", "../reports/data-toy.html#figure-2"),
        (
            "trace:other/figure-2/a b/4",
            "data-other.html#figure-2-a-b-4",
            "../reports/data-other.html#figure-2-a-b-4",
        ),
        ("run:r 1", "data-toy.html#run-r%201", "../reports/data-toy.html#run-r%201"),
        ("https://example.org/a:b", "https://example.org/a:b", "https://example.org/a:b"),
        ("", "", ""),
    ],
)
def test_links(link: str, page: str, notebook: str) -> None:
    assert PAGE.address(link, "toy") == page
    assert NOTEBOOK.address(link, "toy") == notebook


def test_user_defined_exhibit_has_no_page_of_runs_or_claims() -> None:
    assert NOTEBOOK.address("run:r1", "") == NOTEBOOK.address("exhibit:figure-2", "") == ""


@each_case("link", ["javascript:alert(1)", "figure-2", "data:text/html,x"])
def test_other_links_are_rejected(link: str) -> None:
    with pytest.raises(RawperfError, match="unknown kind of link"):
        PAGE.address(link, "toy")


def test_key_anchor_equals_that_of_its_page() -> None:
    assert trace_anchor(trace_key("toy", "figure-2", "z/VM 5.3", 12)) == "figure-2-z-vm-5-3-12"


def test_links_to_another_study_point_to_its_page() -> None:
    here = LinkResolver(page_ids=frozenset({"figure-5"}))
    assert here.address("exhibit:other-2011/figure-5", "") == "other-2011.html#figure-5"
    assert (
        NOTEBOOK.address("claim:other-2011/less", "toy")
        == "../reports/claims-other-2011.html#claim-less"
    )


def test_claims_of_an_exhibit_are_a_filter_of_the_claims_page() -> None:
    assert PAGE.address("claims:figure-2", "toy") == "claims-toy.html#exhibit=figure-2"
    assert PAGE.address("claims:all", "toy") == "claims-toy.html#all"
