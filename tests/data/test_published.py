"""Consistency of every published study: claims, tables, corrections, references, diagrams."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.conftest import ROOT
from virtperf.report.kinds import check_exhibits
from virtperf.study.claims import Claims, load_claims
from virtperf.study.definition import Study, load_study
from virtperf.study.quantities import Quantity

FOLDERS = sorted(path.parent for path in (ROOT / "data" / "published").glob("*/study.yaml"))
CORRECTED = [folder for folder in FOLDERS if (folder / "tables" / "corrections.csv").exists()]
CORRECTION_COLUMNS = ["table", "row", "column", "printed", "corrected", "reason"]


def only(folders: list[Path]) -> pytest.MarkDecorator:
    """Parametrization over a nonempty subset of the studies."""
    assert folders
    return pytest.mark.parametrize("study", folders, indirect=True, ids=lambda folder: folder.name)


@pytest.fixture(scope="module", params=FOLDERS, ids=lambda folder: folder.name)
def study(request: pytest.FixtureRequest) -> Study:
    return load_study(request.param)


@pytest.fixture(scope="module")
def claims(study: Study) -> Claims:
    return load_claims(study)


def read_table(path: Path) -> list[list[str]]:
    """Header and rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def with_series(claims: Claims) -> set[Quantity]:
    return {q for c in claims for i in c.instances for part in i.parts for _, q in part.terms}


def test_studies_exist():
    assert FOLDERS


# ---- statements


def test_every_note_is_encoded_or_omitted_with_a_reason(study, claims):
    notes = {f"c{n:03d}" for n in range(1, study.data["n_statements"] + 1)}
    encoded = {note for claim in claims for note in claim.ledger}
    given = [entry["ledger"] for entry in claims.document.data["not_encoded"]]
    left_out = [note for notes in given for note in ([notes] if isinstance(notes, str) else notes)]
    assert len(left_out) == len(set(left_out)), "left out twice"
    assert not notes - encoded - set(left_out), "neither encoded nor left out"
    assert not encoded & set(left_out), "encoded and left out"
    assert encoded | set(left_out) == notes, "unknown notes"


def test_limits_without_printed_number_state_their_reading(claims):
    for claim in claims:
        limited = claim.low > -float("inf") or claim.high < float("inf")
        if limited and claim.value is None and not claim.assumed:
            assert claim.reading, (
                f"{claim.id} (line {claim.line}) has limits, no printed value and no reading"
            )


def test_conflicts_are_mutual(claims):
    one_sided = [
        (c.id, other)
        for c in claims
        for other in c.conflicts
        if c.id not in claims[other].conflicts
    ]
    assert not one_sided


def test_every_plotted_point_has_a_claim(study, claims):
    silent = {q.key() for e in study.exhibits for _, _, q in study.points(e)} - {
        q.key() for q in with_series(claims)
    }
    # points from a paper's published files are plotted too
    assert not silent or study.artifact


# ---- tables


def test_every_table_exhibit_has_its_file(study):
    wanted = {e.spec.get("table", e.id) for e in study.exhibits if e.kind == "table"}
    present = {path.stem for path in (study.folder / "tables").glob("*.csv")} - {"corrections"}
    assert present == wanted


def test_tables_are_rectangular_with_one_header(study):
    for path in sorted((study.folder / "tables").glob("*.csv")):
        header, *rows = read_table(path)
        assert rows, path.name
        assert len(set(header)) == len(header), path.name
        assert all(header), path.name
        assert {len(row) for row in rows} == {len(header)}, path.name
        assert all(cell == cell.strip() for row in [header, *rows] for cell in row), path.name


def find_cell(table: list[list[str]], row: str, column: str) -> str:
    """The cell of the row whose first cell is `row`; ``key#2`` is the second row with that key."""
    header, *rows = table
    key, _, number = row.partition("#")
    return [r for r in rows if r[0] == key][int(number or 1) - 1][header.index(column)]


@only(CORRECTED)
def test_corrections_quote_printed_cells(study):
    path = study.folder / "tables" / "corrections.csv"
    header, *rows = read_table(path)
    assert header == CORRECTION_COLUMNS
    for row in rows:
        entry = dict(zip(header, row, strict=True))
        table = read_table(path.with_name(f"{entry['table']}.csv"))
        assert find_cell(table, entry["row"], entry["column"]) == entry["printed"], row
        assert entry["corrected"] not in ("", entry["printed"]), row
        assert entry["reason"], row
    assert len({tuple(row[:3]) for row in rows}) == len(rows)


# ---- descriptive parts


def test_exhibits_have_the_fields_of_their_kind(study):
    check_exhibits(study)


def test_guests_are_on_known_networks(study):
    for role, guest in study.data.get("guests", {}).items():
        assert set(guest.get("networks", ())) <= set(study.data.get("networks", ())), role


@only([folder for folder in FOLDERS if "window_s" in load_study(folder).data.get("procedure", {})])
def test_window_lies_between_warmup_and_end(study):
    procedure = study.data["procedure"]
    start, end = procedure["window_s"]
    assert procedure["warmup_s"] <= start < end <= procedure["run_s"]
    assert (end - start) % procedure.get("sample_interval_s", 1) == 0  # not every paper states one
