"""The site in headless Chromium: requests, links, filters, layout, themes, no scripts."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import nbformat
import pytest

from tests.browser.conftest import CUT_ON_PAPER, PAPER_WIDTH, SITE_OF_KIND, Opener, SharedPage
from tests.browser.conftest import PAGES as FILES
from tests.browser.test_report import CONTRAST
from tests.conftest import ROOT
from tests.report import toy
from tests.report.html.toy_notebook import of_study
from tests.report.toy import HOSTILE
from virtperf.core.params import Parameters
from virtperf.core.paths import Layout
from virtperf.report.html.site.build import build_site, build_study_pages
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.html.templating import PAGES
from virtperf.report.loaded import load_study

pytestmark = pytest.mark.browser
CLAIMS = ROOT / "reports" / "claims-dcss-2011.html"


@pytest.fixture(scope="session", params=SITE_OF_KIND)
def site_file(request: pytest.FixtureRequest) -> Path:
    """One page of each kind: index, methods, search, claims and data of a study."""
    return SITE_OF_KIND[request.param]


@pytest.fixture(scope="module")
def toy_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the toy study, which has hostile texts."""
    root = tmp_path_factory.mktemp("site")
    data = toy.build(root)
    (root / "build").mkdir()
    nbformat.write(of_study(load_study("toy", data)), root / "build" / "toy.ipynb")
    build_site(Layout(root), Parameters(seed=1), root / "reports")
    build_study_pages(
        Layout(root), StudyFacts(Layout(root), Parameters(seed=1), "toy"), root / "reports"
    )
    return root / "reports"


def test_site_exists() -> None:
    names = {p.name for p in FILES}
    assert {
        "index.html",
        "methods.html",
        "search.html",
    } <= names


def test_page_sends_no_requests_and_has_one_heading(look: SharedPage, site_file: Path) -> None:
    seen = look(site_file)
    seen.page.wait_for_timeout(100)
    assert seen.requests == [] and seen.errors == [] and seen.dialogs == []
    assert seen.page.locator("h1").count() == 1
    assert seen.page.locator("nav[aria-label=Site] a").count() == len(PAGES)


def test_page_has_no_horizontal_scrolling(look: SharedPage, site_file: Path) -> None:
    widths = (320, 641)  # the narrowest of each layout
    pages = (look(site_file, width=width, parts=True).page for width in widths)
    found = [page.evaluate("document.documentElement.scrollWidth") for page in pages]
    assert all(wide <= width for wide, width in zip(found, widths, strict=True)), found


def test_text_contrast_is_sufficient(look: SharedPage, site_file: Path) -> None:
    for scheme in ("light", "dark"):
        *worst, (count, _) = look(site_file, scheme=scheme).page.evaluate(CONTRAST)
        assert count >= 10
        assert worst[0][0] >= 4.5, (scheme, worst)


def test_page_is_readable_without_javascript(visit: Opener, site_file: Path) -> None:
    seen = visit(site_file, java_script_enabled=False)
    assert (
        seen.errors == [] and not seen.page.locator("#theme, #filters, #search").first.is_visible()
    )
    assert len(seen.page.locator("main").inner_text()) > 150


EXPECTED = {  # words, and what the first result is about
    "zram": "zram",
    "KSM": "ksm",
    "ballooning": "balloon",
    "encryption cost Xen": "xen",
    "overcommit": "overcommitment",
}


def test_search_ranks_what_is_asked_for(visit: Opener) -> None:
    seen = visit(ROOT / "reports" / "search.html")
    page, results = seen.page, seen.page.locator("#results li")
    assert page.locator("main li:visible").count() == 0
    for words, about in EXPECTED.items():
        page.fill("#search input", words)
        assert results.count() > 0, words
        first = results.first
        assert about in first.inner_text().replace("\u200b", "").lower(), words
        kind = first.get_attribute("data-kind")
        assert kind in ("answer", "finding", "term", "limit of a study"), (words, kind)
    assert re.match(r"\d+ found, the first 60 are shown", page.locator("#count").inner_text())
    page.fill(
        "#search input", "average page read rates from paging devices"
    )  # the title of a figure
    assert results.first.get_attribute("data-kind") == "exhibit"
    page.fill("#search input", "no such thing")
    assert results.count() == 0 and page.locator("#count").inner_text() == "0 found"
    assert seen.errors == []


def test_page_prints_to_pdf(look: SharedPage, site_file: Path) -> None:
    page = look(site_file, scheme="dark").page
    page.emulate_media(media="print")
    assert page.locator("nav:visible, #filters:visible, .vp-skip:visible").count() == 0
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    page.set_viewport_size({"width": PAPER_WIDTH, "height": 900})
    assert page.evaluate(CUT_ON_PAPER) == {"wide": [], "broken": []}


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.anchors |= {values["id"] or ""} if "id" in values else set()
        if tag == "a" and values.get("href"):
            self.links.add(values["href"] or "")


def test_every_internal_link_has_a_target() -> None:
    parsed = {}
    for path in ROOT.glob("reports/*.html"):
        parsed[path.name] = _Links()
        parsed[path.name].feed(path.read_text(encoding="utf-8"))
    broken = []
    for name, page in parsed.items():
        for link in page.links:
            if link.startswith(("data:", "http:", "https:")):
                continue
            file, _, anchor = link.partition("#")
            target = (
                (ROOT / "reports" / unquote(file)).resolve() if file else ROOT / "reports" / name
            )
            found = parsed.get(target.name) if target.parent == ROOT / "reports" else None
            if not target.exists() or (
                anchor and "=" not in anchor and found and unquote(anchor) not in found.anchors
            ):
                broken.append((name, link))
    assert broken == []


def test_ids_are_unique() -> None:
    for path in FILES:
        ids = re.findall(r'(?<=[\s<])id="([^"]+)"', path.read_text(encoding="utf-8"))
        assert len(ids) == len(set(ids)), path.name


# ---- the claims page


def data(rows: Any, name: str) -> list[str]:
    """Values of a data attribute over all rows."""
    return rows.evaluate_all("(rows, name) => rows.map(r => r.dataset[name])", name)


def test_claims_are_filtered_searched_and_reset(visit: Opener) -> None:
    page = visit(CLAIMS).page
    rows = page.locator("#all tr[id]")
    total = rows.count()
    assert page.locator("#count").inner_text() == f"{total} claims"
    page.select_option("select[name=verdict]", "in conflict")
    visible = page.locator("#all tr[id]:visible")
    assert 0 < visible.count() < total
    assert all("in conflict" in verdict for verdict in data(visible, "verdict"))
    assert page.evaluate("location.hash") == "#verdict=in%20conflict"
    page.fill("input[name=q]", "no such words anywhere")
    assert visible.count() == 0 and page.locator("#count").inner_text() == f"0 of {total} claims"
    page.click("button[type=reset]")
    page.locator(
        "#count", has_text=re.compile(rf"^{total} claims$")
    ).wait_for()  # a function would need eval
    assert page.locator("#all tr[id]:not([hidden])").count() == total


def test_filters_and_claims_have_permalinks(visit: Opener) -> None:
    page = visit(CLAIMS).page
    kind = page.locator("select[name=kind] option").nth(1).get_attribute("value")
    page.goto("about:blank")
    page.goto(f"{CLAIMS.as_uri()}#kind={kind}&verdict=stated%20once")
    assert page.input_value("select[name=kind]") == kind
    assert set(data(page.locator("#all tr[id]:visible"), "kind")) == {kind}
    row = page.locator("#all tr[id]").last.get_attribute("id")
    page.goto("about:blank")
    page.goto(f"{CLAIMS.as_uri()}#{row}")
    assert page.evaluate(
        "id => { const r = document.getElementById(id).getBoundingClientRect(); return r.bottom > 0 && r.top < innerHeight; }",
        row,
    )


# ---- hostile text


def test_hostile_text_is_not_interpreted(visit: Opener, toy_site: Path) -> None:
    for file in sorted(toy_site.glob("*.html")):
        seen = visit(file, width=390)
        seen.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        assert seen.dialogs == [] and seen.errors == [] and seen.requests == [], file.name
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390, file.name
    words = (
        visit(toy_site / "claims-toy.html")
        .page.locator("#all")
        .text_content()
        .replace("\u200b", "")
        .replace("\u00a0", " ")
    )
    assert "<script>alert(1)</script> gains 66 %" in words
    trace = (
        visit(toy_site / "data-toy.html").page.locator("main").text_content().replace("\u200b", "")
    )
    assert HOSTILE in trace
