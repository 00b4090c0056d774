"""Means over runs, as used by verdicts, figures and estimates."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.toy_runs import toy_study
from virtperf.core.estimate import mean_over_runs
from virtperf.core.stage_tables import MEANS, OBSERVATIONS
from virtperf.study.conditions import condition_means, means_by_quantity

FACTORS = ("test", "system", "guests")


def observation(run_id, value, provenance="measured", **fields):
    row = {
        "run_id": run_id,
        "provenance": provenance,
        "replicate": 1,
        "test": "load",
        "system": "a",
        "guests": 1,
        "quantity": "throughput",
        "value": value,
        "se": 0.5,
        "df": 6.0,
        "low": value - 1,
        "high": value + 2,
        "n": 60,
        "method": "cosines",
        "begin_s": 300.0,
        "relative": value / 2,
        "relative_se": 0.25,
        "relative_df": 8.0,
        "metric": "x",
        "source": "x",
        "entity_kind": "x",
        "entities": 1,
        "stationarity": "",
        "note": "",
    }
    return row | fields


@pytest.fixture
def made(tmp_path):
    study = toy_study(tmp_path)

    def make(*rows, level=0.9):
        table = condition_means(study, OBSERVATIONS.frame(rows, FACTORS), level)
        return study, table

    return make


def test_condition_has_one_mean_per_scale(made):
    _, table = made(observation("r2", 102.0), observation("r1", 98.0), observation("r3", 100.0))
    assert table["scale"].tolist() == ["own", "relative"]
    own = table.iloc[0]
    expected = mean_over_runs([102.0, 98.0, 100.0], [0.5] * 3, [6.0] * 3, level=0.9)
    assert own[["value", "df", "n", "method", "level"]].tolist() == [100.0, 2.0, 3, "runs", 0.9]
    assert own[["se", "low", "high"]].tolist() == pytest.approx(
        [expected.se, expected.low, expected.high], rel=1e-9
    )
    assert own["runs"] == ["r1", "r2", "r3"]
    assert table.iloc[1]["value"] == 50.0


def test_intervals_respect_the_bounds_of_the_quantity(made):
    values = (1.0, 2.0, 90.0)
    _, table = made(
        *(observation(f"r{k}", v, relative=v) for k, v in enumerate(values)), level=0.95
    )
    whole = mean_over_runs(list(values), [0.5] * 3, [6.0] * 3, level=0.95)
    relative = table[table["scale"] == "relative"].iloc[0]
    assert whole.low < 0 and relative["low"] == 0.0
    assert relative["high"] == pytest.approx(whole.high)


def test_block_counts_once_in_the_error_of_a_mean(made):
    values, blocks = (100.0, 104.0, 90.0, 94.0, 80.0, 84.0), "112233"
    rows = [observation(f"r{k}", v, block=blocks[k]) for k, v in enumerate(values)]
    _, table = made(*rows)
    expected = mean_over_runs([102.0, 92.0, 82.0], [0.5] * 3, [6.0] * 3, level=0.9)
    own = table.iloc[0]
    assert own[["value", "df", "n"]].tolist() == [92.0, 2.0, 6]
    assert own["low"] == pytest.approx(expected.low)


def trends_of(made, means, spread=0.01, n=6, **fields):
    noise = np.random.default_rng(5).normal(size=n)
    noise = spread * (noise - noise.mean()) / noise.std(ddof=1)
    rows = [
        observation(f"r{k}-{level}", 100.0, guests=level, trend=mean + e, **fields)
        for level, mean in means.items()
        for k, e in enumerate(noise)
    ]
    _, table = made(*rows)
    return table[table["scale"] == "own"].set_index("guests")


def test_stationarity_of_a_condition_is_judged_by_run_trends(made):
    found = trends_of(made, {1: 0.02, 2: 0.2, 3: 0.045})
    assert found["steady"].to_dict() == {1: "constant", 2: "drift", 3: "drift"}
    half = 2.015048 * 0.01 / math.sqrt(6)  # t(0.95, 5)
    assert found.loc[1, ["trend_low", "trend_high"]].tolist() == pytest.approx(
        [0.02 - half, 0.02 + half], rel=1e-6
    )


def test_trend_test_is_corrected_for_all_conditions(made):
    # p is 0.05: at a level of 90 % a drift for a single condition, not among three; two are noise
    alone = {1: 0.3 * 2.58 / math.sqrt(6)}
    assert trends_of(made, alone, spread=0.3)["steady"].to_dict() == {1: "drift"}
    among = trends_of(made, {**alone, 2: 0.0, 3: 0.01}, spread=0.3)
    assert set(among["steady"]) == {"undetermined"}


def test_few_runs_and_totals_have_no_trend(made):
    found = trends_of(made, {1: 0.2}, n=2)
    assert found.loc[1, "steady"] == "undetermined" and math.isnan(found.loc[1, "trend_low"])
    assert trends_of(made, {1: math.nan})["steady"].to_dict() == {1: "not tested"}


def test_block_counts_once_in_a_trend(made):
    rows = [
        observation(f"r{k}", 100.0, block=str(k // 3), trend=(0.1, -0.1)[k // 3] + 0.001 * (k % 3))
        for k in range(6)
    ]
    _, table = made(*rows)
    assert table.iloc[0]["steady"] == "undetermined"  # two blocks, not six runs


def test_single_run_keeps_its_degrees_of_freedom(made):
    _, table = made(observation("r1", 100.0), level=0.95)
    assert table[["se", "df", "n", "method"]].to_numpy().tolist() == [
        [0.5, 6.0, 1, "cosines of one run"],
        [0.25, 8.0, 1, "cosines of one run"],
    ]
    own, relative = (table.iloc[k] for k in range(2))
    assert (own["low"], own["high"]) == (99.0, 102.0)  # the observation's own interval
    assert relative["high"] - 50 == pytest.approx(0.25 * 2.306004135)  # t(0.975, 8)


def test_conditions_and_provenances_are_separate(made):
    rows = [
        observation("r1", 100.0),
        observation("s1", 50.0, "example"),
        observation("r2", 10.0, guests=2),
    ]
    study, table = made(*rows, observation("r3", math.nan, relative=math.nan))
    means = means_by_quantity(study, table)
    at = study.quantity("throughput[system=a, guests=1]")
    assert means[at, "measured", "own"].value == 100.0 and means[at, "example", "own"].value == 50.0
    assert means[at, "measured", "own"].origin.runs == ("r1",)  # r3 has no observation
    assert str(means[at, "example", "own"].origin.provenance) == "example"
    assert len(means) == 6


def test_relative_mean_includes_the_error_of_its_reference(made):
    """With three runs per side, 95 % intervals of 200 data sets cover the true ratio in about 95 %."""
    rng = np.random.default_rng(7)
    hits = {True: 0, False: 0}
    study, _ = made(observation("r1", 1.0))
    (_, hundred), *_ = study.quantities["throughput"].references  # at one guest
    for _ in range(200):
        runs = rng.normal([[100.0], [80.0]], [[6.0], [2.0]], (2, 3))
        base = runs[0].mean()
        rows = [
            observation(f"r{k}{j}", value, relative=hundred * value / base, guests=1 + k)
            for k, side in enumerate(runs)
            for j, value in enumerate(side)
        ]
        _, table = made(*rows, level=0.95)
        mean = table[(table["scale"] == "relative") & (table["guests"] == 2)].iloc[0]
        plain = mean_over_runs(hundred * runs[1] / base, [0.0] * 3, [1.0] * 3, level=0.95)
        truth = hundred * 0.8
        hits[True] += mean["low"] <= truth <= mean["high"]
        hits[False] += plain.low <= truth <= plain.high
        assert mean["value"] == pytest.approx(plain.value)
    assert hits[True] >= 0.92 * 200 and hits[False] < 0.85 * 200


def test_run_without_reference_has_absolute_values_only(made):
    _, table = made(observation("r1", 100.0, relative=math.nan))
    assert table["scale"].tolist() == ["own"]


def test_rows_at_removed_levels_are_omitted(made):
    study, table = made(observation("r1", 100.0), observation("r2", 100.0, guests=4))
    assert len(table) == 4 and len(means_by_quantity(study, table)) == 2


def test_file_has_the_levels_of_the_study(made, tmp_path):
    study, table = made(observation("r1", 100.0))
    MEANS.write(table, tmp_path / MEANS.file, FACTORS)
    assert means_by_quantity(
        study, MEANS.read(tmp_path / MEANS.file, FACTORS)
    ) == means_by_quantity(study, table)


RISING = (0.08, 0.02, -0.03, 0.03)


def means_of(tmp_path, response, rows):
    study = toy_study(tmp_path)
    kinds = study.quantities["throughput"].model_copy(update={"response": response})
    kinds = {**study.quantities, "throughput": kinds}
    other = next(name for name in kinds if name != "throughput")
    kinds[other] = kinds[other].model_copy(update={"response": not response})
    study = study.model_copy(update={"quantities": kinds})
    return condition_means(study, OBSERVATIONS.frame(rows, FACTORS), 0.95)


def changing(guests, changes):
    """Runs of a condition, in blocks of one run of each condition, that change by these shares."""
    return [
        observation(f"g{guests}r{n}", 100.0 + n, guests=guests, block=f"round {n}", trend=change)
        for n, change in enumerate(changes)
    ]


def test_conditions_of_an_experiment_are_pooled_for_their_trend(tmp_path):
    """One condition of four runs changes by 2.5 +- 7 %; three of them together by 0.1 +- 0.5 %."""
    alone = means_of(tmp_path / "a", True, changing(1, RISING))
    own = alone[alone["scale"] == "own"]
    assert own["steady"].tolist() == ["undetermined"] and own["trend_high"].iloc[0] > 0.05
    others = [-change for change in RISING], [0.001, 0.004, -0.002, 0.0]
    rows = [row for k, one in enumerate((RISING, *others)) for row in changing(k + 1, one)]
    pooled = means_of(tmp_path / "b", True, rows)
    assert set(pooled[pooled["scale"] == "own"]["steady"]) == {"constant"}


def test_transient_of_one_condition_is_not_pooled_away(tmp_path):
    moving, still = (0.30, 0.31, 0.29, 0.30), (0.001, 0.002, -0.001, 0.0)
    rows = [*changing(1, moving), *changing(2, still), *changing(3, still)]
    table = means_of(tmp_path, True, rows)
    own = table[table["scale"] == "own"].set_index("guests")["steady"]
    assert own.to_dict() == {1: "drift", 2: "constant", 3: "constant"}


def test_only_named_responses_are_tested(tmp_path):
    table = means_of(tmp_path, False, changing(1, (0.3, 0.31, 0.29, 0.3)))
    own = table[table["scale"] == "own"]
    assert own["steady"].tolist() == ["not tested"] and own["trend"].isna().all()
