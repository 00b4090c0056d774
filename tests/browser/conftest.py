"""Fixtures: headless Chromium and the pages under test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.conftest import ROOT
from tests.report import toy
from tests.report.html.toy_notebook import of_study
from virtperf.report.html.report import render
from virtperf.report.loaded import load_study

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
NOTEBOOKS = {path.parent.name: path.parent.parent.name for path in ROOT.glob("data/*/*/study.yaml")}
NOTEBOOKS |= {path.stem: "example" for path in ROOT.glob("reports/example-*.html")}
NOTEBOOKS["synthesis"] = "synthesis"
PAGES = sorted(ROOT.glob("reports/*.html"), key=lambda path: path.stat().st_size)
REPORTS = [path for path in PAGES if path.stem in NOTEBOOKS]
SITE = [path for path in PAGES if path.stem not in NOTEBOOKS]
# The largest page of each kind: checks of what all pages of a kind share run once.
REPORT_OF_KIND = {NOTEBOOKS[path.stem]: path for path in REPORTS}
SITE_OF_KIND = {path.stem.split("-")[0] + "-" * ("-" in path.stem): path for path in SITE}
# Opens all folded parts, or restores the initial state.
PARTS = """all => { window.began ??= new Set(document.querySelectorAll('details[open]'));
    document.querySelectorAll('details').forEach(d => { d.open = all || window.began.has(d); }); scrollTo(0, 0); }"""

PAPER_WIDTH = 695  # an A4 page without its margins, in pixels
# Printed tables that are wider than the page, and words and numbers broken across lines.
CUT_ON_PAPER = """() => {
    const wide = [...document.querySelectorAll('table')].filter(t => t.checkVisibility()
        && t.offsetWidth > t.parentElement.clientWidth + 1).map(t => t.innerText.slice(0, 80));
    const broken = [];
    for (const cell of document.querySelectorAll('td, th')) {
        if (!cell.checkVisibility()) continue;
        const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        for (let text; text = texts.nextNode();)
            for (const word of text.data.matchAll(/[0-9][0-9.,]*[0-9]|[A-Za-z]{3,}/g)) {
                const range = document.createRange();
                range.setStart(text, word.index);
                range.setEnd(text, word.index + word[0].length);
                if (new Set([...range.getClientRects()].map(r => Math.round(r.top))).size > 1)
                    broken.push(word[0]);
            }
    }
    return {wide, broken};
}"""


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One Chromium per session."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if not CHROMIUM.is_file():
        pytest.skip(f"there is no {CHROMIUM}")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="session", params=["toy", *REPORT_OF_KIND])
def page_file(request: pytest.FixtureRequest) -> Path:
    """The toy study's page, then a report of each kind."""
    kind = request.param
    return request.getfixturevalue("toy_page") if kind == "toy" else REPORT_OF_KIND[kind]


@pytest.fixture(scope="session")
def toy_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    nbformat.write(
        of_study(load_study("toy", toy.build(folder), show_examples=True)), folder / "toy.ipynb"
    )
    return render(folder / "toy.ipynb", folder / "toy.html")


@dataclass
class OpenPage:
    """An open page and its recorded requests, console errors and dialogs."""

    page: Any
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)


class Opener:
    """Opens each page in a separate browser context."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self._contexts: list[Any] = []

    def __call__(
        self, file: Path, *, width: int = 1280, height: int = 900, **settings: Any
    ) -> OpenPage:
        context = self._browser.new_context(viewport={"width": width, "height": height}, **settings)
        self._contexts.append(context)
        page = context.new_page()
        visit = OpenPage(page)

        def route(route: Any) -> None:
            url = route.request.url
            if url.split("#")[0] == file.as_uri() or url.startswith("data:"):
                route.continue_()
            else:
                visit.requests.append(url)
                route.abort()

        page.route("**/*", route)
        page.on(
            "console",
            lambda m: visit.errors.append(m.text) if m.type in ("error", "warning") else None,
        )
        page.on("pageerror", lambda e: visit.errors.append(str(e)))
        page.on("dialog", lambda d: (visit.dialogs.append(d.message), d.dismiss()))
        page.goto(file.as_uri())
        return visit

    def close(self) -> None:
        """Close all opened pages."""
        for context in self._contexts:
            context.close()
        self._contexts.clear()


@pytest.fixture
def visit(browser: Any) -> Iterator[Opener]:
    """`visit(file, width=390)` opens a fresh page that a test may modify."""
    opener = Opener(browser)
    yield opener
    opener.close()


class SharedPage:
    """One shared page per file, with the requested width and colour scheme."""

    def __init__(self, browser: Any) -> None:
        self._opener = Opener(browser)
        self._open: tuple[Path, OpenPage] | None = None

    def __call__(
        self, file: Path, *, width: int = 1280, scheme: str = "light", parts: bool = False
    ) -> OpenPage:
        if self._open is None or self._open[0] != file:
            self.close()
            self._open = file, self._opener(file)
        seen = self._open[1]
        seen.page.set_viewport_size({"width": width, "height": 900})
        seen.page.emulate_media(media="screen", color_scheme=scheme)
        seen.page.evaluate(PARTS, parts)
        return seen

    def close(self) -> None:
        """Close the open page."""
        self._open = None
        self._opener.close()


@pytest.fixture(scope="session")
def look(browser: Any) -> Iterator[SharedPage]:
    """`look(file, width=390, parts=True)` returns a shared page with its parts opened, for read-only tests."""
    made = SharedPage(browser)
    yield made
    made.close()
