"""Headless Chromium, and the pages that it looks at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.conftest import ROOT
from tests.exhibits import toy
from tests.render.toy_notebook import of_study
from virtperf.exhibits.loaded import load_study
from virtperf.render.report import render

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
NOTEBOOKS = [*sorted(path.parent.name for path in ROOT.glob("data/*/*/study.yaml")), "synthesis"]
REPORTS = [path for name in NOTEBOOKS if (path := ROOT / "reports" / f"{name}.html").is_file()]
SITE = sorted(path for path in ROOT.glob("reports/*.html") if path.stem not in NOTEBOOKS)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One Chromium for all tests."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if not CHROMIUM.is_file():
        pytest.skip(f"there is no {CHROMIUM}")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="session", params=["toy", *(str(p.relative_to(ROOT)) for p in REPORTS)])
def page_file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page: that of the toy study, and every report of the repository."""
    return ROOT / request.param if request.param != "toy" else render_toy(tmp_path_factory)


@pytest.fixture(scope="session")
def toy_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the toy study."""
    return render_toy(tmp_path_factory)


def render_toy(factory: pytest.TempPathFactory) -> Path:
    """The toy study's notebook, rendered."""
    folder = factory.mktemp("page")
    nbformat.write(of_study(load_study("toy", toy.build(folder), show_examples=True)), folder / "toy.ipynb")
    return render(folder / "toy.ipynb", folder / "toy.html")


@dataclass
class Visit:
    """An open page with what it did: requests other than for itself, console errors, dialogs."""

    page: Any
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)


class Opener:
    """Opens pages in contexts of their own and closes them."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self._contexts: list[Any] = []

    def __call__(self, file: Path, *, width: int = 1280, height: int = 900, **settings: Any) -> Visit:
        context = self._browser.new_context(viewport={"width": width, "height": height}, **settings)
        self._contexts.append(context)
        page = context.new_page()
        visit = Visit(page)

        def route(route: Any) -> None:
            url = route.request.url
            if url.split("#")[0] == file.as_uri() or url.startswith("data:"):
                route.continue_()
            else:
                visit.requests.append(url)
                route.abort()

        page.route("**/*", route)
        page.on("console", lambda m: visit.errors.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda e: visit.errors.append(str(e)))
        page.on("dialog", lambda d: (visit.dialogs.append(d.message), d.dismiss()))
        page.goto(file.as_uri())
        return visit

    def close(self) -> None:
        """Close all that were opened."""
        for context in self._contexts:
            context.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Opener]:
    """`visit(file, width=390)` opens a page."""
    opener = Opener(browser)
    yield opener
    opener.close()
