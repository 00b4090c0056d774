"""Pages as PDF: missing Chromium is reported; printing works where it is installed."""

from __future__ import annotations

import shutil

import pytest

from rawperf.core.errors import RawperfError
from virtperf.report.html.pdf import BROWSERS, print_to_pdf


def test_missing_requirements_are_reported(tmp_path, monkeypatch):
    with pytest.raises(RawperfError, match=r"the report is missing.*virtperf pipeline"):
        print_to_pdf(tmp_path / "page.html", tmp_path / "page.pdf")
    (tmp_path / "page.html").write_text("<p>words</p>")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RawperfError, match=r"Chromium, .*not installed.*apt-get install chromium"):
        print_to_pdf(tmp_path / "page.html", tmp_path / "page.pdf")
    broken = tmp_path / BROWSERS[0]
    broken.write_text("#!/bin/sh\necho no display >&2\n")
    broken.chmod(0o755)
    with pytest.raises(RawperfError, match=r"wrote no PDF.*no display"):
        print_to_pdf(tmp_path / "page.html", tmp_path / "page.pdf")
    broken.write_text("#!/bin/sh\necho '[1:1:FATAL] No usable sandbox! If you' >&2\n")
    with pytest.raises(RawperfError, match=r"wrote no PDF.*--no-sandbox.*/etc/chromium.d"):
        print_to_pdf(tmp_path / "page.html", tmp_path / "page.pdf")
    assert not (tmp_path / "page.pdf").exists()


@pytest.mark.browser
def test_page_is_printed(tmp_path):
    if not any(map(shutil.which, BROWSERS)):
        pytest.skip("there is no Chromium")
    (tmp_path / "page.html").write_text("<p>words</p>")
    print_to_pdf(tmp_path / "page.html", tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF-")
