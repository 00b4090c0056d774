"""A small calibration that detects wrong intervals without `python -m tools.validation.calibrate`.

Acceptance band of a coverage from n data sets: between the binomial quantiles 0.001 of a true coverage of 93.5 % and
0.999 of 96.5 %. The seed is fixed, so that a result changes with the code alone.
"""

from __future__ import annotations

import re
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rawperf.core.errors import StudyError
from rawperf.core.yamlio import load_yaml
from tests.cases import each_case
from tools.validation import coverage, curves, results, table, verdicts
from tools.validation.calibrate import CASES
from tools.validation.coverage import BAND, COVERAGE, Cell, Outcome, run
from tools.validation.designs import conditions, expand

DATA_SETS, SEED = 250, 7
CHOSEN = {
    ("scalability", "swapping guests", 0.005): 1,
    ("amdahl", "real processors", 0.02): 1,
    ("line", "segment sizes", 0.05): 2,
    ("breakpoint", "memory ratio", 0.05): 1,
    ("ratio", "replicated runs", 0.02): 5,
    ("steady mean", "ten minutes every 10 s", 0.0): 2,
}
"""Model, design and noise of the small calibration, and a multiplier of DATA_SETS. The first matching cell is used."""


@pytest.fixture(scope="module")
def document(root):
    return load_yaml(root / "tools" / "validation" / "calibration.yaml")


@pytest.fixture(scope="module")
def cells(document):
    return expand(document, list(CASES))


def limits(n, low=BAND[0], high=BAND[1]):
    return stats.binom.ppf(0.001, n, low) / n, stats.binom.ppf(0.999, n, high) / n


def assert_covers(found):
    judged = table.judged(found)
    assert len(judged)
    for row in judged.to_dict("records"):
        low, high = limits(row["n"])
        assert low <= row["cover95"] <= high, (
            f"{row['model']}, {row['estimate']}: {row['cover95']:.3f} of {row['n']}"
        )
    # Cells are independent, estimates within a cell are not: one of each cell together narrows the band.
    one = judged.groupby("cell").first()
    n, hits = one["n"].sum(), (one["n"] * one["cover95"]).sum()
    low, high = limits(n)
    assert low <= hits / n <= high, f"together: {hits / n:.4f} of {n}"
    low, high = limits(n, 0.885, 0.915)
    share = (one["n"] * one["cover90"]).sum() / n
    assert low <= share <= high, f"90 % intervals together: {share:.4f} of {n}"


def pick(cells):
    out = []
    for (model, design, noise), more in CHOSEN.items():
        cell = next(c for c in cells if (c.model, c.design, c.noise) == (model, design, noise))
        out.append(Cell(model, design, noise, {**cell.settings, "times": more}))
    return out


@pytest.fixture(scope="module")
def small(cells):
    return run(pick(cells), CASES, replicates=DATA_SETS, seed=SEED)


def test_default_intervals_have_nominal_coverage(small):
    assert set(small["model"]) == {model for model, _, _ in CHOSEN}
    assert_covers(small)


@pytest.mark.parametrize(
    "wrong",
    [lambda t, df, alpha: t**0.5, lambda t, df, alpha: (3 * stats.f.ppf(1 - alpha, 3, df)) ** 0.5],
    ids=["t instead of its square", "threshold of the joint region"],
)
def test_wrong_profile_threshold_is_detected(cells, monkeypatch, wrong):
    right = curves.t_quantile
    monkeypatch.setattr(
        curves, "t_quantile", lambda df, level: wrong(right(df, level), df, 1 - level)
    )
    chosen = [c for c in pick(cells) if c.model == "scalability"]
    found = run(chosen, CASES, replicates=DATA_SETS, seed=SEED)
    with pytest.raises(AssertionError, match=r"together|scalability"):
        assert_covers(found)


@each_case(("quantile", "wrong"), [(stats.t(9).ppf, False), (stats.norm.ppf, True)])
def test_normal_quantiles_for_ten_runs_are_detected(quantile, wrong):
    class Mean:
        measures, boundary, defaults = COVERAGE, "", {"mean": "t"}

        def __init__(self, cell):
            pass

        def __call__(self, rng):
            x = rng.standard_normal(10)
            t = abs(x.mean()) / (x.std(ddof=1) / np.sqrt(10))
            return [
                Outcome(
                    "mean",
                    "t",
                    tuple(bool(t <= quantile((1 + level) / 2)) for level in coverage.LEVELS),
                )
            ]

    found = run([Cell("mean", "ten", 1.0)], {"mean": Mean}, replicates=2000, seed=SEED)
    if wrong:
        with pytest.raises(AssertionError):
            assert_covers(found)
    else:
        assert_covers(found)


def test_results_depend_neither_on_processes_nor_on_other_cells(cells, monkeypatch):
    monkeypatch.setattr(coverage, "CHUNK", 12)
    chosen = [c for c in cells if c.model in ("line", "ratio") and c.settings["replicates"] != 5][
        :3
    ]
    chosen = [Cell(c.model, c.design, c.noise, {**c.settings, "times": 1}) for c in chosen]
    size = coverage.CHUNK + 8  # two chunks, the second not full
    one = run(chosen, CASES, replicates=size, seed=SEED)
    assert set(one["n"] + one["none"]) == {size}
    pd.testing.assert_frame_equal(run(chosen, CASES, replicates=size, seed=SEED, jobs=2), one)

    def numbers(found, place):
        return found[found["cell"] == place].drop(columns="cell").reset_index(drop=True)

    turned = run(chosen[::-1], CASES, replicates=size, seed=SEED)
    alone = run(chosen[1:2], CASES, replicates=size, seed=SEED)
    for place in range(3):
        pd.testing.assert_frame_equal(numbers(turned, 2 - place), numbers(one, place))
    pd.testing.assert_frame_equal(numbers(alone, 0), numbers(one, 1))
    other = run(chosen[1:2], CASES, replicates=size, seed=SEED + 1)
    assert not other["cover95"].equals(alone["cover95"])


def test_progress_is_reported_per_chunk_and_times_multiplies_data_sets():
    cell = Cell("ratio", "x", 0.02, {"ratio": 2.0, "replicates": 3, "times": 3})
    chunks = []
    found = run([cell], CASES, replicates=100, seed=1, step=lambda: chunks.append(1))
    assert len(chunks) == coverage.chunks(cell, 100) == 2
    assert set(found["n"]) == {300}


DESIGNS = """\
replicates: 3
designs:
  few: {x: [1, 2, 4, 8], source: made up}
  runs: {source: made up}
  series: {samples: 60, source: made up}
cells:
"""
LINE = "{model: line, design: few, truth: {intercept: 1, slope: 2}, noise: [0.1], spread: constant}"

VERDICT = "{model: verdict, design: runs, form: independent, claim: [order], noise: [0.1], spread: proportional}"
RATIO = "{model: ratio, design: runs, ratio: 1.5, noise: [0.1], spread: proportional}"


def designs(tmp_path, *entries, head=DESIGNS):
    path = tmp_path / "designs.yaml"
    path.write_text(head + "".join(f"  - {entry}\n" for entry in entries))
    return load_yaml(path)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{design: few}", "cell 2: model is not known"),
        (
            LINE.replace("line", "curve"),
            r"cell 2: model is not known; expected one of .*; found 'curve'",
        ),
        (
            LINE.replace("few", "fewer"),
            r"cell 2: design is not known; expected one of few, runs, series",
        ),
        (
            LINE.replace("spread: constant", "sprea: constant"),
            "cell 2: setting is not known.*found 'sprea'",
        ),
        (LINE.replace(", spread: constant", ""), "cell 2: line needs 'spread'"),
        (LINE.replace("few", "runs"), "cell 2: line needs 'x'"),
        (
            LINE.replace("constant", "even"),
            "spread is not known; expected one of constant, counts, proportional; found 'even'",
        ),
        (
            RATIO.replace("proportional", "constant"),
            "spread is not known; expected one of proportional",
        ),
        (
            LINE.replace("slope: 2", "slop: 2"),
            "truth has other coefficients; expected exactly intercept, slope",
        ),
        (
            LINE.replace("[0.1]", "0.1"),
            "noise is no list of levels; expected a list of positive numbers; found 0.1",
        ),
        (LINE.replace("[0.1]", "[0]"), "noise is no list of levels"),
        (LINE.replace("[0.1]", "[]"), "noise is no list of levels"),
        (LINE.replace("[0.1]", "[.nan]"), "noise is no list of levels"),
        (
            LINE.replace("{model", "{replicates: 0, model"),
            "replicates is no count; expected at least 1; found 0",
        ),
        (
            "{model: steady mean, design: series, correlation: [1]}",
            "correlation is no list of levels",
        ),
        (
            "{model: breakpoint, design: few, form: bent, truth: {}, noise: [0.1], spread: constant}",
            "form is not known",
        ),
        ("just words", "cell 2 is not a mapping"),
        (
            VERDICT.replace("[order]", "[disorder]"),
            "claim is no list of levels; expected a list of claims of tools/validation/verdict_study",
        ),
        (
            VERDICT.replace("independent", "free"),
            "form is not known; expected one of independent, blocks, separate blocks; found 'free'",
        ),
        (LINE, "cell 2 is the same as cell 1"),
    ],
)
def test_invalid_cell_is_reported_with_line_number(tmp_path, entry, message):
    document = designs(tmp_path, LINE, entry)
    with pytest.raises(StudyError, match=rf"^designs\.yaml line 8: .*{message}"):
        expand(document, list(CASES))


@pytest.mark.parametrize("part", ["replicates", "designs", "cells"])
def test_missing_section_is_reported(tmp_path, part):
    document = designs(tmp_path, LINE)
    del document.data[part]
    with pytest.raises(StudyError, match=f"the designs have no '{part}'"):
        expand(document, list(CASES))


def test_each_varied_setting_gives_a_cell(tmp_path):
    cells = expand(designs(tmp_path, LINE.replace("[0.1]", "[0.1, 0.2]")), list(CASES))
    assert [c.noise for c in cells] == [0.1, 0.2]
    assert cells[0].settings["replicates"] == 3
    assert len({c.id for c in cells}) == 2


# ---- the page ----------------------------------------------------------------------------------------------------------


def row(cell, estimate, method, cover, *, default=False, boundary="", n=1000, none=0, model="line"):
    return {
        "cell": cell,
        "model": model,
        "design": "few",
        "noise": 0.1,
        "estimate": estimate,
        "method": method,
        "default": default,
        "boundary": boundary,
        "n": n,
        "none": none,
        "cover90": cover - 0.05,
        "cover95": cover,
    }


@pytest.fixture
def page(tmp_path):
    why = LINE.replace("[0.1]", "[0.3]")
    document = designs(
        tmp_path, LINE.replace("[0.1]", "[0.1, 0.2]"), why, LINE.replace("[0.1]", "[0.4]")
    )
    cells = expand(document, list(CASES))
    found = pd.DataFrame(
        [
            row(0, "slope", "t", 0.95, default=True),
            row(0, "slope", "HC3", 0.80),
            row(0, "joint", "HC3", float("nan"), n=0, none=1000),
            row(1, "slope", "t", 0.91, default=True),
            row(1, "slope", "HC3", 0.94),
            row(2, "slope", "t", 0.99, default=True, n=600, none=400),
            row(2, "intercept", "t", 0.97, default=True, n=600, none=400),
            row(3, "slope", "t", 0.99, default=True, boundary="alpha within reach of zero"),
        ]
    )
    return table.page(found, cells, document.data, 5).replace("\N{NO-BREAK SPACE}", " ")


def line_of(page, *parts):
    return next(line for line in page.splitlines() if all(p in line for p in parts))


def test_defaults_are_bold_and_marked_outside_the_band(page):
    assert line_of(page, "10 % noise", "**t**").endswith("| 95.0 ±0.7 / 90.0 ±0.9 |  |  |")
    assert "!" not in line_of(page, "10 % noise", "HC3")
    assert "**" not in line_of(page, "10 % noise", "HC3")
    assert line_of(page, "10 % noise", "HC3").endswith("| no interval |  |")
    assert "| 91.0 ±0.9 / 86.0 ±1.1 ! |" in line_of(page, "20 % noise", "**t**")
    assert "| 99.0 ±0.4 / 94.0 ±1.0 (600) ! |" in line_of(page, "30 % noise", "**t**")


def test_boundary_cases_are_separate_and_not_counted(page):
    before, after = page.split("### Boundary cases")
    assert "40 % noise" not in before
    assert "40 % noise, constant; 3 runs; alpha within reach of zero | **t** | 99.0" in after
    assert "!" not in after
    sentence = "Of 4 coverages of default methods away from boundaries, 1 lie in that band and 1 within two standard errors"
    assert sentence in page


def test_what_is_outside_the_band_stands_beside_other_methods_on_its_data(page):
    assert re.search(
        r"- Straight line, few \(.*20 % noise.*\), slope: 91\.0 % \(±0\.9\); "
        r"on the same data sets HC3 94\.0 % \(±0\.8\)\.",
        page,
    )
    assert re.search(r"- Straight line, few \(.*30 % noise.*\), slope: 99\.0 % \(±0\.4\)\.", page)
    assert "| few | 1; 2; 4; 8 | made up |" in page
    assert "intercept: 97" not in page
    assert "## Straight line\n\n1,000 data sets a cell.\n" in page
    assert "seed 5" in page


def test_warm_up_tables_have_their_own_columns(tmp_path):
    document = designs(
        tmp_path,
        "{model: warm-up, design: series, shape: step, depth: 5, length: 10, correlation: [0]}",
    )
    cells = expand(document, list(CASES))
    text = table.page(run(cells, CASES, replicates=20, seed=3), cells, document.data, 3)
    text = text.replace("\N{NO-BREAK SPACE}", " ")
    assert "| samples late | bias of the mean | RMS error of the mean | called not steady |" in text
    assert "end at 10 | **MSER-5, confirmed** | " in text
    assert "Of 0 coverages" in text


def test_verdicts_have_rates_and_their_errors_are_marked(tmp_path):
    document = designs(tmp_path, VERDICT)
    cells = expand(document, list(CASES))
    wrong = [
        ("true, at the limit", 0.06, 0.2),
        ("false, just outside", 0.9, 0.04),
        ("false, far outside", 0.9, 0.01),
    ]
    found = run(cells, CASES, replicates=10, seed=1)
    found[list(verdicts.RATES)] = [rates[1:] for rates in wrong]
    text = table.page(found.assign(n=1000), cells, document.data, 5).replace(
        "\N{NO-BREAK SPACE}", " "
    )
    assert "| 6.0 ±0.8 / 20.0 ±1.3 ! | 90.0 ±0.9 / 4.0 ±0.6 | 90.0 ±0.9 / 1.0 ±0.3 |" in text
    assert "order; independent; 10 % noise, proportional; 3 runs" in text
    assert "With normal noise at most 6.0 % of the verdicts of a cell are wrong." in text


# ---- the page in docs --------------------------------------------------------------------------------------------------


def parsed(text):
    """The table rows of a page by title: columns, and whether the row stands among boundary cases."""
    rows, title, apart = [], "", False
    for line in text.splitlines():
        if line.startswith("## "):
            title, apart = line[3:], False
        elif line.startswith("### "):
            apart = True
        elif line.startswith("| ") and not line.startswith("| design |"):
            rows.append(SimpleNamespace(title=title, apart=apart, columns=line[2:-2].split(" | ")))
    return rows


@pytest.mark.parametrize("name", ["calibration", "calibration-further"])
def test_committed_page_matches_the_committed_designs(root, name):
    text = (root / "docs" / f"{name}.md").read_text()
    cells = expand(load_yaml(root / "tools" / "validation" / f"{name}.yaml"), list(CASES))
    sizes = re.findall(r"^([\d,]+)(?: to [\d,]+)? data sets a cell", text, re.M)
    assert len(sizes) == len({cell.model for cell in cells})
    assert min(int(size.replace(",", "")) for size in sizes) >= 500
    stored = results.load(root / "docs" / f"{name}.csv", cells, CASES, 20)
    document = load_yaml(root / "tools" / "validation" / f"{name}.yaml").data
    assert table.page(stored, cells, document, 20, f"{name}.yaml") == text
    rows = [r for r in parsed(text) if r.title != "Designs"]
    titles = {(r.title, r.columns[0], r.columns[1]) for r in rows}
    missing = []
    for cell in cells:
        at = table.TITLES[cell.model], cell.design
        fits = [
            w
            for *place, w in titles
            if tuple(place) == at and (w + ";").startswith(conditions(cell) + ";")
        ]
        if len(fits) != 1:
            missing.append(cell.id)
    assert not missing
    assert len(titles) == len(cells)

    values = [
        value
        for r in rows
        if not r.apart
        and r.columns[2].startswith("**")
        and r.title not in (table.TITLES["warm-up"], table.TITLES["verdict"])
        # coverages given a flag are not those of a default
        for value in r.columns[3 : 5 if r.title == "Mean of a run with a warm-up" else None]
        if value.strip()
    ]
    match = re.search(
        r"Of (\d+) coverages of default methods away from boundaries, (\d+) lie in that band and (\d+)",
        text,
    )
    total, inside, near = (int(match[k]) for k in (1, 2, 3))
    assert Counter(value.endswith("!") for value in values) == Counter(
        {False: inside, True: total - inside}
    )
    assert len(re.findall(r"^- .*: [\d.]+ % \(±", text, re.M)) == total - inside - near
    assert total - inside - near <= 8, "intervals that do not cover are not to be defaults"
    for value in values:
        share = float(value.split()[0]) / 100
        in_band = BAND[0] - 5e-4 <= share <= BAND[1] + 5e-4
        strictly = BAND[0] + 5e-4 < share < BAND[1] - 5e-4
        assert not value.endswith("!") if strictly else (value.endswith("!") or in_band), value
