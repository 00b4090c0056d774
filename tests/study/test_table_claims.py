"""Printed tables as claims, one per cell."""

import pytest

from rawperf.core.errors import StudyError
from virtperf.study.claims import load_claims
from virtperf.study.definition import load_study
from virtperf.study.quantities import Quantity

STUDY = """
study: toy
title: Toy
n_statements: 1
bibliography: {}
factors:
  jobs: {levels: [8, 12]}
  swap: {levels: [plain, compressed]}
quantities:
  runtime: {label: Run time, unit: s}
exhibits:
  - {id: table-1, kind: table, title: Run times, table: table-1}
"""
CLAIMS = """
study: toy
claims: []
not_encoded: []
tables:
  - {table: table-1, key: {jobs: N}, columns: {plain_s: "runtime[swap=plain]", zswap_s: "runtime[swap=compressed]"},
     half_width: 0.5, about: [table-1], section: Results, ledger: a}
"""
TABLE = "N,plain_s,zswap_s\n8,107,\n12,128,110\n"


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "toy"
    (folder / "tables").mkdir(parents=True)
    for name, text in (
        ("study.yaml", STUDY),
        ("claims.yaml", CLAIMS),
        ("tables/table-1.csv", TABLE),
    ):
        (folder / name).write_text(text)
    return folder


def test_every_nonempty_cell_is_a_claim(folder):
    claims = load_claims(load_study(folder))
    found = {
        c.instances[0].parts[0].terms[0][1]: (c.id, c.low, c.value, c.high, c.ledger)
        for c in claims
    }
    assert found == {
        Quantity("runtime", (("jobs", 8), ("swap", "plain"))): (
            "table-1-plain-s-8",
            106.5,
            107,
            107.5,
            ("a",),
        ),
        Quantity("runtime", (("jobs", 12), ("swap", "plain"))): (
            "table-1-plain-s-12",
            127.5,
            128,
            128.5,
            ("a",),
        ),
        Quantity("runtime", (("jobs", 12), ("swap", "compressed"))): (
            "table-1-zswap-s-12",
            109.5,
            110,
            110.5,
            ("a",),
        ),
    }


def test_cells_of_a_row_share_its_sentence(folder):
    claims = load_claims(load_study(folder))
    keys = {c.id: c.sentences for c in claims}
    assert keys["table-1-plain-s-12"] == keys["table-1-zswap-s-12"] == ("table-1 row 2",)
    assert keys["table-1-plain-s-8"] == ("table-1 row 1",)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("table: table-1, key", "table: table-9, key", "table 'table-9' not found"),
        ("jobs: N}", "jobs: jobs}", "has no column 'jobs'"),
        ("plain_s: ", "plain_h: ", "has no column 'plain_h'"),
        ("runtime[swap=plain]", "runtime[swap=none]", "unknown level 'none' of swap"),
    ],
)
def test_missing_parts_of_a_table_are_reported_with_line_number(folder, old, new, message):
    path = folder / "claims.yaml"
    path.write_text(CLAIMS.replace(old, new))
    with pytest.raises(StudyError) as caught:
        load_claims(load_study(folder))
    assert (
        message in str(caught.value)
        and "claims.yaml" in str(caught.value)
        and caught.value.line == 6
    )


@pytest.mark.parametrize("cell", ["about 2 minutes", "1_28", "nan", "inf", "１２８"])
def test_non_numeric_cell_is_reported(folder, cell):
    (folder / "tables" / "table-1.csv").write_text(TABLE.replace("128", cell))
    with pytest.raises(StudyError, match="row 2: plain_s is not a number"):
        load_claims(load_study(folder))


def test_thousands_separators_and_numbered_rows(folder):
    claims = CLAIMS.replace("key: {jobs: N}", "key: {jobs: N}, levels: {jobs: {1: 8, 'Sum:': 12}}")
    (folder / "claims.yaml").write_text(claims)
    (folder / "tables" / "table-1.csv").write_text(
        'N,plain_s,zswap_s\n1,"1,107.5",\nSum:,128,"1,10"\n'
    )
    with pytest.raises(StudyError, match="row 2: zswap_s is not a number"):
        load_claims(load_study(folder))
    (folder / "tables" / "table-1.csv").write_text('N,plain_s,zswap_s\n1,"1,107.5",\nSum:,128,\n')
    loaded = load_claims(load_study(folder))
    assert {(c.id, c.value, c.instances[0].parts[0].terms[0][1].level("jobs")) for c in loaded} == {
        ("table-1-plain-s-8", 1107.5, 8),
        ("table-1-plain-s-12", 128, 12),
    }
