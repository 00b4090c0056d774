"""All pages of the site in one zip file that opens offline, with the files that they link to."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import unquote

from rawperf.core.errors import RawperfError
from rawperf.core.files import replace_file
from virtperf.artifact.crate import CITATION, LICENCE
from virtperf.core.archives import write_zip
from virtperf.core.paths import Layout

FRONT = "reports/index.html"
NOTICES = (LICENCE, "NOTICE.md")
"""Files beside a study's raw runs that have to go where these go."""
_LINK = re.compile(r'\shref="([^":#]+)["#]')
"""The path of a link without a scheme; links within a page have none."""


def export_pages(layout: Layout, out: Path) -> int:
    """Write every page of `reports/` and the files of the repository that the pages link to as a zip
    file; returns the number of files.

    Files keep the paths that they have in the repository, so that links between them hold. Raw runs
    that have a licence of their own take it with them.

    Raises
    ------
    RawperfError
        No front page, or a page links to a file that is not in the repository.
    """
    files = sorted(_files(layout))
    with replace_file(out) as stream:
        write_zip(stream, ((name, (layout.root / name).read_bytes()) for name in files))
    return len(files)


def _files(layout: Layout) -> set[str]:
    if not (layout.root / FRONT).is_file():
        raise RawperfError(
            "there are no pages", file=layout.root / FRONT, remedy="run `virtperf pipeline` first"
        )
    folder = layout.root / posixpath.dirname(FRONT)
    pages = [path for pattern in ("*.html", "*.json") for path in folder.glob(pattern)]
    names = {path.relative_to(layout.root).as_posix() for path in pages}
    for page in (name for name in sorted(names) if name.endswith(".html")):
        names.update(_linked(layout, page))
    names.update(name for name in (LICENCE, CITATION) if (layout.root / name).is_file())
    return names


def _linked(layout: Layout, page: str) -> Iterator[str]:
    """Files that a page links to, with the notices of the raw runs among them."""
    text = (layout.root / page).read_text(encoding="utf-8")
    for link in set(_LINK.findall(text)):
        name = posixpath.normpath(f"{posixpath.dirname(page)}/{unquote(unescape(link))}")
        if name.startswith(("../", "/")) or not (layout.root / name).is_file():
            raise RawperfError(
                "a link without a target",
                file=layout.root / page,
                expected="a file of the repository",
                found=link,
                remedy="run `virtperf pipeline`, which writes all pages",
            )
        yield name
        above = Path(name).parts[:3]
        if above[:2] == ("data", "measured"):
            notices = ("/".join((*above, notice)) for notice in NOTICES)
            yield from (notice for notice in notices if (layout.root / notice).is_file())
