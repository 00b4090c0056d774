"""All pages in one zip file: every link in them has a target in it."""

from __future__ import annotations

import posixpath
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from click.testing import CliRunner

from rawperf.core.errors import RawperfError
from virtperf.artifact.pages import FRONT, export_pages
from virtperf.cli import main
from virtperf.core.paths import Layout

RAW = "data/measured/one/a run/sar é.txt"
FILES = {
    FRONT: '<a href="one.html">One</a> <a href="https://example.org/">out</a>',
    "reports/one.html": '<a href="#top">here</a> <a href="index.html#list">all</a> <a download="a.csv"'
    ' href="data:text/csv,a">csv</a> <a href="../data/measured/one/a%20run/sar%20%C3%A9.txt">raw</a>',
    "reports/trace-one.json": "{}",
    RAW: "1\n",
    "data/measured/one/LICENSE": "of the data\n",
    "data/measured/one/a run/other.txt": "2\n",
    "LICENSE": "of the pages\n",
}


class Links(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {value for name, value in attrs if name in ("href", "src") and value}


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture
def small(tmp_path: Path) -> Layout:
    for name, text in FILES.items():
        path = tmp_path / "here" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Layout(tmp_path / "here")


def test_pages_come_with_what_they_link_to(small: Layout, tmp_path: Path) -> None:
    count = export_pages(small, tmp_path / "a.zip")
    found = contents(tmp_path / "a.zip")
    assert set(found) == set(FILES) - {"data/measured/one/a run/other.txt"}
    assert count == len(found) and found[RAW] == b"1\n"


def test_same_pages_give_the_same_bytes(small: Layout, tmp_path: Path) -> None:
    export_pages(small, tmp_path / "a.zip")
    (small.root / FRONT).touch()
    export_pages(small, tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


@pytest.mark.parametrize("link", ["gone.html", "../gone.txt", "../../etc/passwd"])
def test_a_link_without_a_target_is_refused(small: Layout, tmp_path: Path, link: str) -> None:
    (small.root / "reports" / "one.html").write_text(f'<a href="{link}">x</a>')
    with pytest.raises(RawperfError, match=rf"one.html: a link without a target.*{link}"):
        export_pages(small, tmp_path / "a.zip")
    assert not (tmp_path / "a.zip").exists()


def test_without_pages_it_says_what_to_run(small: Layout) -> None:
    (small.root / FRONT).unlink()
    result = CliRunner().invoke(main, ["--root", str(small.root), "export"])
    assert result.exit_code == 1 and "virtperf pipeline" in result.output


def test_every_link_of_the_site_resolves_in_the_zip(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "pages.zip"
    result = CliRunner().invoke(main, ["--root", str(root), "export", "-o", str(out)])
    assert result.exit_code == 0, result.output
    found = contents(out)
    pages = {name: Links(text.decode()).found for name, text in found.items() if ".html" in name}
    assert len(pages[FRONT]) > 5
    assert len({link for links in pages.values() for link in links if "data/measured" in link}) > 5
    missing = {
        (page, link)
        for page, links in pages.items()
        for link in links
        if not link.startswith(("#", "data:", "https:", "http:"))
        and posixpath.normpath(f"reports/{unquote(link.partition('#')[0])}") not in found
    }
    assert missing == set()
