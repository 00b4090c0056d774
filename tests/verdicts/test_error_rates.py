"""Error rates of verdicts on simulated runs with known truth.

A rate with an upper limit is compared with the share that the limit itself exceeds once in ten thousand times;
docs/calibration.md has the rates of more data sets.
"""

from __future__ import annotations

from scipy import stats

from tests.cases import each_case
from tools.validation.verdicts import TRUTHS, rates

ONCE_IN = 1e-4


def at_most(rate, data_sets):
    return stats.binom.ppf(1 - ONCE_IN, data_sets, rate) / data_sets


def at_least(rate, data_sets):
    return stats.binom.ppf(ONCE_IN, data_sets, rate) / data_sets


def test_blocks_reveal_effects_hidden_by_drift():
    design = {"form": "blocks", "blocks": 10, "block_noise": 0.1, "noise": 0.03}
    refuted, _ = rates("ratio", [100, 130], 400, **design)
    assert refuted >= at_least(0.95, 400)
    refuted, _ = rates("ratio", TRUTHS["ratio"][0], 400, **design)
    assert refuted <= at_most(0.05, 400)


@each_case(("blocks", "replicates"), [(1, 5), (2, 3), (3, 3), (4, 5)])
def test_error_rate_of_conditions_in_different_blocks(blocks, replicates):
    design = {"form": "separate blocks", "blocks": blocks, "replicates": replicates}
    wrong = rates("order", [100, 100], 400, block_noise=0.1, noise=0.03, **design)
    assert max(wrong) <= at_most(0.05, 400)


@each_case(
    ("claim", "means"),
    [
        ("significantly", [100, 99]),
        ("slightly", [100, 99]),
        ("slightly", [100, 100]),
        ("less", [100, 101]),
        ("most", [49.5]),
        ("order", [100, 99]),
    ],
)
def test_false_direction_is_rarely_reproduced(claim, means):
    _, reproduced = rates(claim, means, 300, form="independent", replicates=5, noise=0.003)
    assert reproduced <= at_most(0.05, 300)


@each_case("plan", ["independent", "blocks"])
def test_three_runs_detect_a_drop_of_forty_percent(plan):
    design = {"form": plan, "noise": 0.1, "replicates": 3, "blocks": 3, "block_noise": 0.1}
    refuted, _ = rates("no-degradation", [100] * 5 + [60], 400, **design)
    assert refuted >= at_least(0.9, 400)
    refuted, _ = rates("no-degradation", TRUTHS["no-degradation"][0], 400, **design)
    assert refuted <= at_most(0.05, 400)


@each_case(
    ("plan", "n", "first", "second"),
    [
        ("independent", 2, 0.02, 0.2),
        ("independent", 3, 0.2, 0.02),
        ("independent", 5, 0.1, 0.05),
        ("blocks", 2, 0.2, 0.02),
        ("blocks", 3, 0.02, 0.2),
        ("blocks", 5, 0.2, 0.02),
    ],
)
def test_unequal_spreads_do_not_refute_true_claims(plan, n, first, second):
    # pooling whenever Bartlett's test permits would refute up to 10 %
    design = {"form": plan, "replicates": n, "blocks": n, "block_noise": 0.1}
    for claim in ("no-degradation", "does-not-fall"):
        refuted, _ = rates(claim, TRUTHS[claim][0], 200, noise=first, second_noise=second, **design)
        assert refuted <= at_most(0.05, 200)


@each_case(
    ("claim", "plan"),
    [
        *((claim, "independent") for claim in sorted(TRUTHS)),
        # kinds differ in their numbers, which do not depend on the plan
        *((claim, "blocks") for claim in ("bends", "difference", "no-degradation", "ratio")),
    ],
)
def test_error_rates_of_every_kind_of_claim(claim, plan):
    true, outside, far = TRUTHS[claim]
    design = {"form": plan, "noise": 0.01, "replicates": 5, "blocks": 5, "block_noise": 0.1}
    refuted, _ = rates(claim, true, 150, **design)
    assert refuted <= at_most(0.05, 150)
    _, reproduced = rates(claim, outside, 150, **design)
    assert reproduced <= at_most(0.05, 150)
    refuted, _ = rates(claim, far, 20, **design)
    assert refuted > 0.5
