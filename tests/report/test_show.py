"""Notebook display of a record, and its stored form."""

from __future__ import annotations

import json

from tests.cases import each_case
from virtperf.report.loaded import ExhibitOutput
from virtperf.report.records import (
    MIME,
    NOTEBOOK_ONLY,
    Numbers,
    Paragraph,
    Record,
)

PLAIN = Record(
    kind="table",
    id="table-1",
    study="toy",
    name="Table 1",
    title="T",
    blocks=(Paragraph(words="words"),),
    numbers=(Numbers(name="n", columns=("a",), rows=((1,), (None,))),),
)
DRAWN = PLAIN.model_copy(update={"drawing": "<svg/>", "description": "d"})


def test_record_without_picture_is_one_output() -> None:
    ((data, metadata),) = ExhibitOutput(PLAIN).bundles()
    assert set(data) == {MIME, "text/html", "text/plain"} and metadata == {}
    assert (
        data["text/plain"] == "Table 1. T"
        and repr(ExhibitOutput(PLAIN)) == "Table 1. T\nwords"
        and "words" in data["text/html"]
    )


def test_picture_comes_first_and_text_is_notebook_only() -> None:
    (picture, metadata_of_picture), (words, only) = ExhibitOutput(DRAWN).bundles()
    assert set(picture) == {MIME, "image/svg+xml", "text/plain"} and metadata_of_picture == {
        "needs_background": "light"
    }
    assert set(words) == {"text/html", "text/plain"} and only == NOTEBOOK_ONLY
    assert "<svg" not in json.dumps(picture[MIME]) + words["text/html"]


@each_case("record", [PLAIN, DRAWN])
def test_record_round_trips_through_json(record: Record) -> None:
    data = json.loads(json.dumps(ExhibitOutput(record).bundles()[0][0]))
    assert Record.model_validate(data[MIME]).with_picture(data.get("image/svg+xml", "")) == record


def test_default_fields_are_not_stored() -> None:
    kept = ExhibitOutput(PLAIN).bundles()[0][0][MIME]
    assert set(kept) == {"kind", "id", "study", "name", "title", "numbers", "blocks"}
    assert kept["blocks"] == [{"block": "paragraph", "words": "words"}]


def test_large_record_stays_plain_json() -> None:
    large = PLAIN.model_copy(update={"caption": "word " * 2000})
    kept = json.loads(json.dumps(ExhibitOutput(large).bundles()[0][0][MIME]))
    assert kept["caption"] == large.caption and Record.model_validate(kept) == large
