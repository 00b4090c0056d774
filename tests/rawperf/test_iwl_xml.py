"""XML snapshots: the assumed document, user mappings, malicious XML, round trip, robustness."""

from __future__ import annotations

from pathlib import Path

import pytest

from rawperf.base import RECORD_COLUMNS, ParsedFile
from rawperf.core.errors import FormatError, StudyError
from rawperf.zvm.iwl.mapping import MAPPING_VARIABLE, load_mapping
from rawperf.zvm.iwl.xml import FORMAT, SnapshotScanner
from tests.cases import each_case
from tests.rawperf.mutations import mutant

DOCUMENT = """\
<?xml version="1.0"?>
<iwl engine="e1" script="a&amp;b">
  <snapshot>
    <elapsed>300</elapsed>
    <pages>1200</pages>
    <page_elements>4800</page_elements>
    <response_time_avg>0.006</response_time_avg>
  </snapshot>
  <snapshot>
    <elapsed>600</elapsed>
    <pages>2500</pages>
    <errors>0</errors>
    <novelty>7</novelty>
  </snapshot>
</iwl>
"""
OWN_MAPPING = """\
snapshot: run/intervals/interval
time: {path: "@at", unit: "HH:MM:SS"}
fields:
  - {path: http/pages, field: pages, unit: count}
  - {path: http/@response, field: response_time_avg, unit: ms, to: s}
"""
OWN_DOCUMENT = """\
<ns:run xmlns:ns="urn:x"><intervals>
  <interval at="00:05:00"><http response="12.5"><pages>3</pages></http></interval>
</intervals></ns:run>
"""


def read(text: str) -> ParsedFile:
    return FORMAT.read(text.encode(), file="s.xml")


def test_assumed_document() -> None:
    reading = read(DOCUMENT)
    assert reading.clock == "elapsed"
    assert tuple(reading.records.columns) == RECORD_COLUMNS
    assert set(reading.records["report"]) == {"snapshot"}
    assert set(reading.records["entity_kind"]) == {"driver"}
    values = reading.records.set_index(["t", "field"])["value"].to_dict()
    assert values == {
        (300, "pages"): 1200,
        (300, "page_elements"): 4800,
        (300, "response_time_avg"): 0.006,
        (600, "pages"): 2500,
        (600, "errors"): 0,
    }
    assert reading.info == {"engine": "e1", "script": "a&b", "elements not mapped": "novelty"}


def test_user_defined_mapping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mapping.yaml"
    path.write_text(OWN_MAPPING)
    with pytest.raises(FormatError, match="wrong root element"):
        FORMAT.read(OWN_DOCUMENT.encode())
    monkeypatch.setenv(MAPPING_VARIABLE, str(path))
    reading = FORMAT.read(OWN_DOCUMENT.encode())
    assert reading.records.set_index("field")["value"].to_dict() == {
        "pages": 3,
        "response_time_avg": 0.0125,
    }
    assert set(reading.records["t"]) == {300.0}
    assert FORMAT.sniff(OWN_DOCUMENT.encode()) > 0.9


def test_documented_examples_are_valid(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (root / "docs/formats/iwl-xml.md").read_text(encoding="utf-8")
    assert len(read(page.split("```xml\n")[1].split("```")[0]).records) == 5
    path = tmp_path / "mapping.yaml"
    path.write_text(page.split("```yaml\n")[1].split("```")[0])
    monkeypatch.setenv(MAPPING_VARIABLE, str(path))
    assert len(FORMAT.read(OWN_DOCUMENT.encode()).records) == 2


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("unit: count", "unit: furlong", 4),
        ("run/intervals/interval", "run", 1),
        ("path: http/pages", "path: http//pages", 4),
        ('unit: "HH:MM:SS"', "unit: count", 2),
        ("fields:", "columns:", 1),
    ],
)
def test_invalid_mapping_is_reported_with_line_number(
    tmp_path: Path, old: str, new: str, line: int
) -> None:
    path = tmp_path / "mapping.yaml"
    path.write_text(OWN_MAPPING.replace(old, new))
    with pytest.raises(StudyError) as caught:
        load_mapping(path)
    assert caught.value.line == line


HOSTILE = [
    '<!DOCTYPE iwl [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]><iwl>&c;</iwl>',
    '<!DOCTYPE iwl [<!ENTITY x SYSTEM "file:///etc/hostname">]><iwl><snapshot>&x;</snapshot></iwl>',
    '<!DOCTYPE iwl SYSTEM "http://localhost/x.dtd"><iwl/>',
]


@each_case("document", HOSTILE)
def test_entities_and_document_types_are_rejected(document: str) -> None:
    with pytest.raises(FormatError, match="document types and entity declarations") as caught:
        read(document)
    assert caught.value.line == 1


@each_case(
    ("document", "problem", "line"),
    [
        ("<iwl>" * 40, "nested too deeply", 1),
        ("<other/>", "wrong root element", 1),
        ("", "not well-formed", 1),
        ("<iwl/>", "no snapshot", None),
        (DOCUMENT.replace("<elapsed>600</elapsed>", ""), "without a time", 9),
        (DOCUMENT.replace("600", "300"), "does not increase", 10),
        (DOCUMENT.replace("2500", "25 00"), "not a number", 11),
        (DOCUMENT.replace("2500", "1e999"), "not a number", 11),
        (
            DOCUMENT.replace("<pages>2500", "<elapsed>2500").replace(
                "2500</pages", "2500</elapsed"
            ),
            "given twice",
            11,
        ),
        (DOCUMENT.replace("</snapshot>", "</snap>", 1), "not well-formed", 8),
        (DOCUMENT.replace('"1.0"', '"1.0" encoding="nonsense"'), "encoding", 1),
    ],
)
def test_damaged_document_is_rejected_with_line_number(
    document: str, problem: str, line: int | None
) -> None:
    with pytest.raises(FormatError, match=problem) as caught:
        read(document)
    assert caught.value.line == line


def test_truncated_document_keeps_complete_snapshots() -> None:
    reading = read(DOCUMENT[: DOCUMENT.index("<errors>")])
    assert set(reading.records["t"]) == {300.0}
    assert "line 12" in reading.warnings[0]


def test_sniff() -> None:
    assert FORMAT.sniff(DOCUMENT.encode()) > 0.9
    assert FORMAT.sniff(b"<Results><x/></Results>") == 0
    assert FORMAT.sniff(b"iwl snapshot") == 0


FIELDS = ("pages", "page_elements", "transactions", "response_time_avg", "errors")


def snapshots(numbers: list[str], blanks: str = "\n  ") -> str:
    rows = "".join(
        f"<snapshot>{blanks}<elapsed>{n}</elapsed>{blanks}<pages>{text}</pages>{blanks}</snapshot>\n"
        for n, text in enumerate(numbers, start=1)
    )
    return f'<iwl engine="e1">\n{rows}</iwl>\n'


SCANNED = snapshots(["7", "8.5", "90", "1e2", ".5", "-4"])
LISTS = [
    SCANNED,
    SCANNED.replace("\n", "\r\n"),
    snapshots(["7", "80", "9"], ""),
    *(
        snapshots(["1", "2", odd, "4", "5"])
        for odd in (" 7", "7\n", "<!-- 1 -->7", "&#55;", "", "x", "7</pages><pages>8", "1e999")
    ),
    DOCUMENT,
]


def outcome(data: bytes) -> tuple[object, ...]:
    try:
        reading = FORMAT.read(data, file="s.xml")
    except FormatError as err:
        return (str(err), err.line)
    assert reading.lines is not None
    rows = reading.records.itertuples(index=False, name=None)
    return (list(rows), reading.lines.tolist(), reading.info, reading.warnings)


def test_scanned_snapshots_equal_parsed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = [text.encode() for text in LISTS]
    damaged = [mutant(seeds, number)[0] for number in range(300)]
    n_scanned = 0
    whole = SnapshotScanner.scan

    def scan(*arguments: object) -> object:
        nonlocal n_scanned
        found = whole(*arguments)  # type: ignore[arg-type]
        n_scanned += found is not None
        return found

    for data in (*seeds, *damaged):
        with monkeypatch.context() as patch:
            patch.setattr(SnapshotScanner, "scan", scan)
            scanned = outcome(data)
            patch.setattr(SnapshotScanner, "scan", lambda *_: None)
            assert scanned == outcome(data)
    assert n_scanned > 20
