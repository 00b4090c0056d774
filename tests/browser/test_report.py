"""Reports in headless Chromium: no requests, responsive layout, themes, printing, no scripts."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import nbformat
import pytest
from matplotlib.colors import to_rgb

from tests.browser.conftest import CUT_ON_PAPER, PAPER_WIDTH, REPORTS, Opener, SharedPage
from tests.conftest import ROOT
from tests.report.html.toy_notebook import cell, notebook_of
from tests.report.toy import HOSTILE
from virtperf.report.html.report import render
from virtperf.report.plot.theme import SERIES_COLOURS
from virtperf.report.records import Record

pytestmark = pytest.mark.browser

CONTRAST = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8").split("\n", 1)[1]


@pytest.fixture
def largest() -> Path:
    """The report that stands for all pages where they share one script or template."""
    assert REPORTS, "there are no reports: `virtperf pipeline` first"
    return REPORTS[-1]


def test_page_sends_no_requests_and_logs_no_errors(look: SharedPage, page_file: Path) -> None:
    seen = look(page_file)
    seen.page.wait_for_timeout(200)
    assert seen.requests == [] and seen.errors == [] and seen.dialogs == []


def test_page_has_no_horizontal_scrolling(look: SharedPage, page_file: Path) -> None:
    widths = (320, 641, 1121)  # the narrowest of each layout
    pages = (look(page_file, width=width, parts=True).page for width in widths)
    found = [page.evaluate("document.documentElement.scrollWidth") for page in pages]
    assert all(wide <= width for wide, width in zip(found, widths, strict=True)), found


DRAWINGS = "[...document.querySelectorAll('.vp-picture > svg')].filter(s => s.checkVisibility())"
BOXES = f"""() => {DRAWINGS}.map(s => {{ const box = s.parentElement;
    return [box.getBoundingClientRect().right, s.getBoundingClientRect().width, box.clientWidth, box.tabIndex]; }})"""
TEXTS = f"""() => {DRAWINGS}.flatMap(s => {{
    const frame = s.getBoundingClientRect(), scale = frame.width / s.viewBox.baseVal.width;
    return [...s.querySelectorAll('text')].map(t => {{ const r = t.getBoundingClientRect();
        return [Math.max(frame.left - r.left, r.right - frame.right, frame.top - r.top - 4,
                         r.bottom - frame.bottom - 4),
                scale * parseFloat(getComputedStyle(t).fontSize), t.textContent]; }}); }})"""
OVERLAPS = f"""() => {DRAWINGS}.flatMap(s => {{
    const boxes = [...s.querySelectorAll('text')].map(t => [t.getBoundingClientRect(), t.textContent]);
    const hits = [];
    boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {{
        const x = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const y = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (x > 2 && y > 4) {{ hits.push([p, q]); }} }}));
    return hits; }})"""


def test_svg_is_scaled_to_its_container_or_scrolls_in_it(look: SharedPage, page_file: Path) -> None:
    for width in (390, 1280):
        found = look(page_file, width=width).page.evaluate(BOXES)
        assert found and all(right <= width and tab == 0 for right, _, _, tab in found)
        assert width < 600 or all(drawn <= box for _, drawn, box, _ in found)


def test_no_picture_is_cut_in_a_wide_window(look: SharedPage) -> None:
    """All reports are checked, since what stands beside a picture depends on its layouts."""
    for file in REPORTS:
        for width in (1024, 1280):
            boxes = look(file, width=width).page.evaluate(BOXES)
            assert all(drawn <= box for _, drawn, box, _ in boxes), (file.name, width)


def test_picture_at_the_head_is_whole_on_a_phone(look: SharedPage) -> None:
    heads = "[...document.querySelectorAll('#summary .vp-picture')].map(p => p.scrollWidth - p.clientWidth)"
    found = {file.stem: look(file, width=390).page.evaluate(heads) for file in REPORTS}
    assert sum(map(len, found.values())) >= len(REPORTS) - 1
    assert not any(hidden > 0 for beyond in found.values() for hidden in beyond), found


def test_svg_text_is_not_clipped_tiny_or_overlapping(look: SharedPage, toy_page: Path) -> None:
    """All reports are checked, since label positions depend on the numbers."""
    for file in (toy_page, *REPORTS):
        for width in (390, 1280):
            found = look(file, width=width).page.evaluate(TEXTS)
            assert found, file.name
            cut = [text for out, _, text in found if out > 1]
            assert cut == [], (file.name, width)
            assert min(size for _, size, _ in found) >= 10, (file.name, width)
        assert look(file).page.evaluate(OVERLAPS) == [], file.name


def test_svg_colours_follow_the_theme(look: SharedPage, page_file: Path) -> None:
    strokes = {}
    for scheme in ("light", "dark"):
        strokes[scheme] = look(page_file, scheme=scheme).page.evaluate(
            f"""colours => colours.map(colour => {DRAWINGS}
                .flatMap(s => [...s.querySelectorAll(`[style*="stroke:${{colour}}"]`)])
                .map(e => getComputedStyle(e).stroke))""",
            [colour.light for colour in SERIES_COLOURS],
        )
    drawn = 0
    for colour, light, dark in zip(SERIES_COLOURS, strokes["light"], strokes["dark"], strict=True):
        drawn += len(light)
        assert len(light) == len(dark)
        assert set(light) <= {_rgb(colour.light)} and set(dark) <= {_rgb(colour.dark)}
    assert drawn


def _rgb(colour: str) -> str:
    return f"rgb({', '.join(str(round(255 * part)) for part in to_rgb(colour))})"


def test_markers_follow_the_theme(visit: Opener, tmp_path: Path) -> None:
    # A marker is a `use` element, which CSS selectors from outside the SVG do not match.
    marker = '<path id="m" d="M0 0H40V40H0Z" style="fill:#0072b2; stroke:#0072b2"/>'
    svg = (
        f'<svg viewBox="0 0 40 40"><defs>{marker}</defs><use href="#m" style="fill:#0072b2"/></svg>'
    )
    record = Record(
        kind="line",
        id="f",
        study="",
        title="T",
        drawing=svg,
        description="d",
    )
    nbformat.write(notebook_of([cell("x", record)]), tmp_path / "in.ipynb")
    page = visit(render(tmp_path / "in.ipynb", tmp_path / "out.html"), color_scheme="dark").page
    picture = page.locator(".vp-picture").screenshot(path=tmp_path / "picture.png")
    data = base64.b64encode(picture).decode()
    pixel = page.evaluate(
        """async data => { const image = new Image(); image.src = 'data:image/png;base64,' + data; await image.decode();
            const canvas = document.createElement('canvas'); canvas.width = image.width; canvas.height = image.height;
            const context = canvas.getContext('2d'); context.drawImage(image, 0, 0);
            return [...context.getImageData(100, 100, 1, 1).data].slice(0, 3); }""",
        data,
    )
    assert pixel == [86, 180, 233]


def test_text_contrast_is_sufficient(look: SharedPage, page_file: Path) -> None:
    for scheme in ("light", "dark"):
        *worst, (count, _) = look(page_file, scheme=scheme, parts=True).page.evaluate(CONTRAST)
        assert count > 50
        assert worst[0][0] >= 4.5, (scheme, worst)


def test_theme_button_cycles_through_themes(visit: Opener, largest: Path) -> None:
    page = visit(largest, color_scheme="light").page
    button = page.locator("#theme")
    grounds = []
    for name in ("automatic", "light", "dark"):
        assert button.inner_text() == f"Theme: {name}"
        grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        button.click()
    assert button.inner_text() == "Theme: automatic"
    assert grounds[0] == grounds[1] != grounds[2]


def test_contents_links_scroll_to_headings(look: SharedPage, page_file: Path) -> None:
    page = look(page_file).page
    links = page.locator(".vp-contents-wide a")
    assert links.count() > 2
    for position in (0, links.count() // 2, links.count() - 1):
        link = links.nth(position)
        link.click()
        heading = page.locator(f"[id='{link.get_attribute('href')[1:]}']")
        assert link.inner_text() in heading.inner_text()
        assert heading.evaluate(
            "e => { const r = e.getBoundingClientRect(); return r.bottom > 0 && r.top < innerHeight; }"
        )


def test_contents_menu_opens_and_closes_on_a_phone(visit: Opener, largest: Path) -> None:
    page = visit(largest, width=390).page
    contents = page.locator(".vp-contents-narrow")
    assert not contents.locator("a").first.is_visible()
    contents.locator("summary").click()
    contents.locator("a").last.click()
    assert contents.get_attribute("open") is None
    assert page.evaluate("scrollY") > 0


def test_tab_key_moves_through_the_page(visit: Opener, largest: Path) -> None:
    page = visit(largest).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "vp-skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    names = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        names.add(page.evaluate("document.activeElement.tagName"))
    assert {"A", "SUMMARY"} <= names


def test_every_control_is_reachable_by_keyboard(look: SharedPage, page_file: Path) -> None:
    unreachable = look(page_file).page.evaluate(
        "[...document.querySelectorAll('.vp-scroll, pre')].filter(e => e.scrollWidth > e.clientWidth && e.tabIndex < 0 && !e.closest('.vp-source')).length"
    )
    assert unreachable == 0


def test_page_is_readable_without_javascript(visit: Opener, page_file: Path) -> None:
    seen = visit(page_file, java_script_enabled=False)
    page = seen.page
    assert seen.errors == [] and seen.requests == []
    assert page.locator("main h1").count() == 1
    assert page.locator(".vp-picture > svg").first.is_visible()
    assert not page.locator("#theme").is_visible()
    details = page.locator(".vp-exhibit details").first
    details.locator("summary").click()
    assert details.locator(".vp-code").is_visible()


def test_page_prints_to_pdf(visit: Opener, largest: Path) -> None:
    pdf = visit(largest).page.pdf(format="A4")
    assert pdf.startswith(b"%PDF") and len(pdf) > 10_000


def test_printed_page_is_black_on_white_with_all_parts_open(
    look: SharedPage, page_file: Path
) -> None:
    page = look(page_file, scheme="dark").page
    page.emulate_media(media="print")
    assert page.locator(".vp-source:visible, #theme:visible, .vp-skip:visible").count() == 0
    # click-to-open figures are not printed
    open_ones = "all => all.filter(e => !e.closest('details')).length"
    # of two layouts of a picture the first one is printed
    assert page.locator(".vp-picture > svg:visible").count() == page.locator(
        ".vp-picture > svg:first-child"
    ).evaluate_all(open_ones)
    # folded parts are listed, and the page header names the file
    folded = page.locator("details.vp-details:not([open])")
    visible = folded.evaluate_all(
        "all => all.filter(e => !e.parentElement.closest('details')).map(e => e.checkVisibility()"
        " && e.querySelector('summary').checkVisibility())"
    )
    assert all(visible)
    assert page_file.name in page.locator(".vp-printed:visible").inner_text()
    ink, ground = page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    assert ink == "rgb(0, 0, 0)" and ground in ("rgba(0, 0, 0, 0)", "rgb(255, 255, 255)")
    assert (
        page.evaluate("getComputedStyle(document.querySelector('.vp-picture')).breakInside")
        == "avoid"
    )


def test_printed_tables_fit_without_broken_words_or_numbers(
    look: SharedPage, page_file: Path
) -> None:
    page = look(page_file, width=PAPER_WIDTH).page
    page.emulate_media(media="print")
    assert page.evaluate(CUT_ON_PAPER) == {"wide": [], "broken": []}


def test_every_svg_has_a_text_alternative(look: SharedPage, page_file: Path) -> None:
    pictures = look(page_file).page.locator(".vp-picture")
    descriptions = pictures.evaluate_all(
        "all => all.map(e => [e.getAttribute('role'), e.getAttribute('aria-label')])"
    )
    assert descriptions and all(role == "img" and len(words) > 20 for role, words in descriptions)


def test_csv_download_works(visit: Opener, toy_page: Path) -> None:
    page = visit(toy_page, accept_downloads=True).page
    page.locator("#figure-2 details > summary").click()
    with page.expect_download() as started:
        page.locator("#figure-2 a.vp-download").click()
    assert started.value.suggested_filename == "toy-figure-2.csv"
    assert (
        Path(started.value.path())
        .read_text(encoding="utf-8")
        .startswith("exhibit,series,guests,quantity")
    )


def test_hostile_text_is_not_interpreted(visit: Opener, toy_page: Path) -> None:
    seen = visit(toy_page)
    page = seen.page
    assert seen.dialogs == [] and page.evaluate("document.scripts.length") == 1
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    for place in (
        "#figure-2",
        "#table-1",
        "#quality",
        "main > div",
    ):
        assert HOSTILE in page.locator(place).first.inner_text().replace("\u200b", ""), place
    drawn = page.locator("#figure-2 svg text").all_text_contents()
    assert any(HOSTILE in t for t in drawn)


def test_injected_script_is_blocked_by_the_policy(
    visit: Opener, toy_page: Path, tmp_path: Path
) -> None:
    # Second line of defence: the content security policy. The test disables the escaping itself.
    broken = tmp_path / "broken.html"
    html = toy_page.read_text(encoding="utf-8")
    broken.write_text(
        re.sub(r"</main>", f"{HOSTILE}<img src=x onerror=alert(2)></main>", html, count=1),
        encoding="utf-8",
    )
    seen = visit(broken)
    seen.page.wait_for_timeout(200)
    assert seen.dialogs == [] and len(seen.errors) >= 2


def test_link_into_a_folded_part_opens_it(visit: Opener, toy_page: Path, tmp_path: Path) -> None:
    page = visit(toy_page).page
    page.evaluate(
        "document.querySelector('#figure-2 details td').id = 'inside'; location.hash = '#inside'"
    )
    page.wait_for_timeout(200)
    assert page.locator("#inside").is_visible()


def test_click_on_a_point_opens_its_trace(visit: Opener) -> None:
    seen = visit(ROOT / "reports" / "zvm-xen-2009.html")
    point = seen.page.locator(".vp-tips rect").nth(1)
    series, level = str(point.locator("title").text_content()).split(": ")[0].rsplit(", ", 1)
    seen.page.evaluate(
        "document.addEventListener('click', e => {"
        " if (e.target.href) { window.went = e.target.href; e.preventDefault(); } })"
    )
    point.dispatch_event("click")
    went = str(seen.page.evaluate("window.went"))
    assert "/data-zvm-xen-2009.html#figure-" in went and seen.errors == []
    trace = visit(ROOT / "reports" / "data-zvm-xen-2009.html").page
    entry = trace.locator(f"[id='{went.partition('#')[2]}'] > summary")
    assert str(entry.text_content()).startswith(f"{series}, {level}: ")


def test_tap_on_a_point_shows_its_tooltip(visit: Opener) -> None:
    seen = visit(ROOT / "reports" / "zvm-xen-2009.html")
    seen.page.evaluate("window.matchMedia = () => ({matches: false})")  # touch screen: no hover
    point = seen.page.locator(".vp-tips rect").nth(1)
    tooltip = point.locator("title").text_content()
    point.dispatch_event("click")
    assert tooltip and ": " in tooltip
    line = seen.page.locator(".vp-tip")
    assert line.inner_text() == f"{tooltip}. Trace of this value" and seen.errors == []
    assert "data-zvm-xen-2009.html#" in str(line.locator("a").get_attribute("href"))
