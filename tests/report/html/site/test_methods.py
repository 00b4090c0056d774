"""The methods page, built from the documentation."""

from __future__ import annotations

from pathlib import Path

from rawperf.core.metrics import load_metrics
from tests.report.html.site.conftest import Parsed
from virtperf.report.html.site.method import method_page


def test_each_document_has_one_heading(tmp_path: Path, root: Path) -> None:
    (tmp_path / "methods.md").write_text(
        "# Methods\n\n## Lines\n\nSee [digits](certified-digits.md).\n"
    )
    (tmp_path / "certified-digits.md").write_text(
        "# Digits\n\n## Lines\n\n| a |\n|---|\n| <b>1</b> |\n"
    )
    page = Parsed(
        method_page(tmp_path, load_metrics(root / "src" / "rawperf" / "metrics.yaml").metrics)
    )
    assert [
        i for i in page.ids if i in ("methods", "certified-digits", "calibration", "metrics")
    ] == [
        "methods",
        "certified-digits",
        "metrics",
    ]
    headings = [
        (tag, attrs["id"]) for tag, attrs in page.tags if tag in ("h2", "h3") and "id" in attrs
    ]
    assert ("h3", "lines") in headings and ("h3", "lines-2") in headings
    assert "#certified-digits" in page.links and "<b>1</b>" in page.text
    assert [link for link in page.links if link in ("#lines", "#lines-2", "#metrics")][:3] == [
        "#lines",
        "#lines-2",
        "#metrics",
    ]
    folded = [
        attrs for tag, attrs in page.tags if tag == "details" and "vp-reference" in attrs["class"]
    ]
    assert len(folded) == 2  # the second document and the metrics


def test_glossary_lists_every_metric(tmp_path: Path, root: Path) -> None:
    metrics = load_metrics(root / "src" / "rawperf" / "metrics.yaml").metrics
    page = Parsed(method_page(tmp_path, metrics))
    assert {f"metric-{name}" for name in metrics} <= set(page.ids)
