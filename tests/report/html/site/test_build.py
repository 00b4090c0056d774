"""Building all pages, and their common frame."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from rawperf.core.errors import RawperfError
from tests.report.html.site.conftest import PARAMETERS, Parsed
from tests.report.toy import HOSTILE
from virtperf.core.paths import Layout
from virtperf.report.html import templating
from virtperf.report.html.site import build
from virtperf.report.html.site.build import build_site, build_study_pages
from virtperf.report.html.site.gather import StudyFacts


@pytest.fixture(scope="module")
def pages(layout: Layout, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    out = tmp_path_factory.mktemp("reports")
    written = [
        *build_site(layout, PARAMETERS, out),
        *build_study_pages(layout, StudyFacts(layout, PARAMETERS, "toy"), out),
    ]
    return {path.name: path.read_text(encoding="utf-8") for path in written}


def test_pages_of_navigation_and_study_are_written(pages: dict[str, str]) -> None:
    own = {f"{name}-toy.html" for name in ("claims", "data")}
    navigation = set(templating.PAGES) - {"synthesis.html"}  # written by another stage
    assert set(pages) == {*navigation, *own, "trace-toy.json"}
    assert json.loads(pages["trace-toy.json"])["traces"][0]["key"].startswith("toy/figure-2/")


def test_every_page_has_the_frame_and_no_injected_markup(pages: dict[str, str]) -> None:
    for name, text in pages.items():
        if not name.endswith(".html"):
            continue
        parsed = Parsed(text)
        assert HOSTILE not in text, name
        (policy,) = [
            a["content"] for _, a in parsed.tags if a.get("http-equiv") == "Content-Security-Policy"
        ]
        assert "default-src 'none'" in policy, name
        assert [file for file in templating.PAGES if file in parsed.links] == list(
            templating.PAGES
        ), name
        assert [tag for tag, _ in parsed.tags].count("h1") == 1, name
        assert len(parsed.ids) == len(set(parsed.ids)), name
        assert not re.search(r"@import|url\((?!#)", text), name


def test_links_between_pages_have_targets(pages: dict[str, str], layout: Layout) -> None:
    parsed = {name: Parsed(text) for name, text in pages.items() if name.endswith(".html")}
    for name, page in parsed.items():
        for link in page.links:
            file, _, anchor = link.partition("#")
            if file in parsed and anchor and "=" not in anchor:
                assert anchor in parsed[file].ids, (name, link)
            elif not file and anchor:
                assert anchor in page.ids, (name, link)
            elif file and not link.startswith(("data:", "../", "https:")):
                assert file in parsed or file in ("toy.html", "synthesis.html"), (name, link)


def test_pages_of_a_study_link_to_each_other(pages: dict[str, str]) -> None:
    for name in ("claims-toy.html", "data-toy.html"):
        page = Parsed(pages[name])
        assert {"toy.html", "claims-toy.html", "data-toy.html"} <= set(page.links), name
        current = {a["href"]: a["aria-current"] for tag, a in page.tags if "aria-current" in a}
        assert current == {"index.html": "true", name: "page"}


def test_equal_data_give_equal_bytes(pages: dict[str, str], layout: Layout, tmp_path: Path) -> None:
    for path in build_study_pages(layout, StudyFacts(layout, PARAMETERS, "toy"), tmp_path):
        assert path.read_text(encoding="utf-8") == pages[path.name]


def test_too_large_page_is_rejected(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(templating, "LIMIT_BYTES", 1000)
    with pytest.raises(
        RawperfError, match=r"index\.html: the page is too large; expected at most 1,000 bytes"
    ):
        build_site(layout, PARAMETERS, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_trace_data_files_may_exceed_the_page_limit(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = build.json_text
    monkeypatch.setattr(
        build, "json_text", lambda entries: real(entries) + " " * templating.LIMIT_BYTES
    )
    build_study_pages(layout, StudyFacts(layout, PARAMETERS, "toy"), tmp_path)
    assert (tmp_path / "trace-toy.json").stat().st_size > templating.LIMIT_BYTES
