"""Verdicts of measured runs with obvious answers."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.cases import each_case
from tests.reconstruct.conftest import claim
from tests.reconstruct.conftest import tiny as tiny
from virtperf.core.contrasts import Replicates
from virtperf.core.stage_tables import OBSERVATIONS
from virtperf.study.claims import load_claims
from virtperf.study.definition import load_study
from virtperf.study.parts import EVERY
from virtperf.study.study_samples import StudySamples
from virtperf.verdicts.judgement import OF_A_CLAIM, OF_A_HYPOTHESIS, comparisons, judge
from virtperf.verdicts.regions import Decision, decide

RATIO = claim(
    "b-half",
    "kind: ratio, of: 'throughput[system=b, guests=3]', to: 'throughput[guests=3]', value: 0.5, half_width: 0.005",
)
ORDER = claim(
    "b-below-a", "kind: ordering, order: ['throughput[system=b, guests=3]', 'throughput[guests=3]']"
)
TEXT = pd.DataFrame(
    {"claim": ["b-half", "b-below-a"], "text_verdict": ["independent", "independent"]}
)


def observed(
    b: Sequence[float],
    provenance: str = "measured",
    a: Sequence[float] = (400.0, 402.0, 398.0),
    blocks: str = "",
) -> pd.DataFrame:
    """Observations of two systems' runs, one after the other in `blocks` if given."""
    rows = []
    for system, values in (("a", a), ("b", b)):
        for k, value in enumerate(values):
            rows.append(
                {
                    "run_id": f"{system}{k}",
                    "provenance": provenance,
                    "replicate": k + 1,
                    "block": blocks and f"{blocks}{k}",
                    "day": "2026-01-05",
                    "quantity": "throughput",
                    "system": system,
                    "guests": 3,
                    "value": value,
                    "n": 20,
                    "entities": 1,
                }
            )
    return OBSERVATIONS.frame(rows, ("system", "guests"))


def verdicts(tiny, frame, level=0.95):
    study, claims = tiny("claims:\n" + RATIO + ORDER)
    return judge(study, claims, TEXT, frame, level=level).set_index("claim")


def test_agreeing_data_reproduce_the_claim(tiny):
    found = verdicts(tiny, observed([200.0, 200.5, 199.5]))
    assert list(found["measured_verdict"]) == ["reproduced", "reproduced"]
    assert found.loc["b-half", "estimate"] == pytest.approx(0.5)
    assert found.loc["b-half", "estimate_low"] < 0.5 < found.loc["b-half", "estimate_high"]
    assert found["runs_needed"].isna().all()
    assert found.loc["b-half", "reason"] == (
        "measured 0.500 (95 % CI 0.495 to 0.505, 3 runs per condition); "
        "the claim allows 0.4851 to 0.5151 (with 2 % tolerance)"
    )


def test_disagreeing_data_refute_the_number_but_not_the_direction(tiny):
    found = verdicts(tiny, observed([300.0, 301.0, 299.0]))
    assert list(found["measured_verdict"]) == ["refuted", "reproduced"]
    assert found.loc["b-below-a", "reason"].startswith("a to b: measured 1.333 (95 % CI 1.3")


def test_single_runs_in_different_blocks_include_no_spread(tiny):
    frame = observed([200.0], a=[400.0]).assign(block=["1", "2"])
    reason = verdicts(tiny, frame).loc["b-half", "reason"]
    assert reason.startswith("measured 0.5 (1 run per condition); the claim allows ")
    assert "blocks" not in reason


def test_factor_of_an_order_is_in_the_limit_not_the_number(tiny):
    """ "b is below a quarter of a" is a to b above 4, whose number is the ratio that it names; a
    little above 4, since throughput differs by its resolution at least.
    """
    quarter = claim(
        "b-below-a-quarter",
        "kind: ordering, order: ['throughput[system=b, guests=3]', '0.25 throughput[guests=3]']",
    )
    study, claims = tiny("claims:\n" + quarter)
    for b, verdict in (
        ([80.0, 81.0, 79.0], "holds here"),
        ([120.0, 121.0, 119.0], "does not hold here"),
    ):
        (row,) = judge(study, claims, None, observed(b), level=0.95).to_dict("records")
        assert row["measured_verdict"] == verdict
        assert row["estimate"] == pytest.approx(400 / np.exp(np.mean(np.log(b))), rel=1e-4)
        assert row["reason"].startswith("a to b: measured ")
        assert re.search(r"the claim allows 4\.0[12]\d? or more$", row["reason"])


def test_noisy_data_are_undecided_with_the_number_of_runs_needed(tiny):
    few, many = (
        verdicts(tiny, observed([200 - s, 200 + s, 200.0])).loc["b-half"] for s in (12, 80)
    )
    assert few["measured_verdict"] == many["measured_verdict"] == "undecided"
    assert 3 < few["runs_needed"] < many["runs_needed"]
    wanted = few["runs_needed"]
    message = (
        f"about {wanted:.0f} runs per condition would decide, {wanted - 3:.0f} more than available"
    )
    assert message in few["reason"]
    hopeless = verdicts(tiny, observed([-7800.0, 8200.0, 200.0])).loc["b-half"]
    assert hopeless["runs_needed"] == np.inf
    assert "more than 1,000 runs per condition would be needed" in hopeless["reason"]


def test_confidence_level_affects_the_verdict(tiny):
    frame = observed([203.0, 205.0, 201.0])
    assert verdicts(tiny, frame, 0.5).loc["b-half", "measured_verdict"] == "reproduced"
    assert verdicts(tiny, frame, 0.99).loc["b-half", "measured_verdict"] == "undecided"


def test_only_measured_runs_are_read(tiny):
    made_up = observed([200.0, 200.5, 199.5], "example")
    assert set(verdicts(tiny, made_up)["measured_verdict"]) == {"no measurement"}
    measured = observed([300.0, 301.0, 299.0])
    both = pd.concat([measured, made_up], ignore_index=True)
    pd.testing.assert_frame_equal(verdicts(tiny, both), verdicts(tiny, measured))


def test_single_run_per_condition_has_a_number_but_no_verdict(tiny):
    # the samples of one run agree to 1 in 200, but do not predict another run
    found = verdicts(tiny, observed([300.0], a=[400.0])).loc["b-half"]
    assert found["measured_verdict"] == "undecided"
    assert found["estimate"] == 0.75
    assert found[["estimate_low", "estimate_high", "runs_needed"]].isna().all()
    assert "measured 0.75 (1 run per condition)" in found["reason"]
    assert found["reason"].endswith("at least 2 runs per condition are needed")


BOTH = claim(
    "below-100", "kind: range, of: throughput, high: 100, for_each: {guests: [3], system: [a, b]}"
)
BOTH_TEXT = pd.DataFrame({"claim": ["below-100"], "text_verdict": ["independent"]})


def test_one_of_two_conditions_can_refute_but_not_reproduce_a_claim(tiny):
    body = "kind: range, of: throughput, high: 100, for_each: {guests: [1, 2], system: [b]}"
    study, claims = tiny("claims:\n" + claim("below-100", body))
    for value, verdict in ((99.0, "undecided"), (120.0, "refuted")):
        frame = observed([4 * value, 4 * value + 0.4, 4 * value - 0.4])
        one = frame[frame["system"] == "b"].assign(guests=1)
        found = judge(study, claims, BOTH_TEXT, pd.concat([frame, one]), level=0.95).iloc[0]
        assert found["measured_verdict"] == verdict
        assert "measured: 1 of its 2 comparisons" in found["reason"]
        assert np.isnan(found["runs_needed"])


def test_worst_instance_is_reported(tiny):
    study, claims = tiny("claims:\n" + BOTH)
    found = judge(study, claims, BOTH_TEXT, observed([480.0, 484.0, 476.0]), level=0.95).iloc[0]
    assert found["measured_verdict"] == "refuted"
    assert found["reason"].startswith("b: measured 120")
    assert "Bonferroni for 2 comparisons" in found["reason"]
    assert found["estimate"] == pytest.approx(120)
    other = judge(study, claims, BOTH_TEXT, observed([300.0, 301.0, 299.0]), level=0.95).iloc[0]
    assert other["measured_verdict"] == "reproduced"
    assert other["reason"].startswith(
        "b: measured 75"
    )  # a is the reference point, 100 without an error


def test_assumption_is_not_judged(tiny):
    ours = "  - {id: ours, says: said so here, about: [figure-1], why: w, kind: value, of: 'throughput[guests=1]', low: 5}\n"
    study, claims = tiny("claims: []\nassumptions:\n" + ours)
    text = pd.DataFrame({"claim": ["ours"], "text_verdict": ["assumed"]})
    assert (
        judge(study, claims, text, observed([1.0, 2.0]), level=0.95).loc[0, "measured_verdict"]
        == "not judged"
    )


def test_relative_claim_without_reference_run_is_not_measured(tiny):
    study, claims = tiny(
        "claims:\n"
        + claim("below-100", "kind: range, of: 'throughput[system=b, guests=3]', high: 100")
    )
    frame = observed([200.0, 201.0])
    found = judge(study, claims, BOTH_TEXT, frame[frame["system"] == "b"], level=0.95).iloc[0]
    assert found["measured_verdict"] == "no measurement"


def test_every_outcome_has_texts_for_claims_and_hypotheses():
    assert set(OF_A_CLAIM) == set(OF_A_HYPOTHESIS) == set(Decision)
    assert OF_A_HYPOTHESIS[Decision.FAILS] == "does not hold here"


def equal(quantity):
    return 100.0


def two_thirds_more(quantity):
    return 166.0 if quantity.level("system") == "zvm" else 100.0


@each_case("cv", [0.1, 0.3])
@each_case(
    ("claim_id", "truth"),
    [("zvm-66-percent-higher-at-12", two_thirds_more), ("xen-does-not-gain-after-9", equal)],
)
def test_noise_does_not_refute_true_claims(root, claim_id, truth, cv):
    # verdicts based on shares of drawn means refuted both in a third to two thirds of such data sets
    study = load_study(root / "data" / "published" / "zvm-xen-2009")
    one = load_claims(study)[claim_id]
    quantities = {q for instance in one.instances for part in instance.parts for _, q in part.terms}
    rng = np.random.default_rng(list(claim_id.encode()))
    refuted = 0
    for _ in range(400):
        runs = {q: truth(q) * (1 + cv * rng.standard_normal(3)) for q in sorted(quantities)}
        seen = StudySamples({q: Replicates(x, ("",) * 3) for q, x in runs.items()})
        refuted += decide(comparisons(study, one, seen)[0], 0.95, whole=True) is Decision.FAILS
    assert refuted <= stats.binom.ppf(0.9999, 400, 0.05)


def test_refuting_comparison_is_shown(tiny):
    # individually both instances lie outside, 1 guest by more half widths; jointly only 2 guests does
    body = "kind: range, of: throughput, high: 90, for_each: {guests: [1, 2]}"
    study, claims = tiny("claims:\n" + claim("below-90", body))
    reference = observed([], a=[398.0, 402.0, 399.0, 401.0, 400.0, 400.0])
    two, six = [492.0, 508.0], [372.0, 428.0, 372.0, 428.0, 400.0, 400.0]
    rows = [observed([], a=x).assign(guests=guests) for guests, x in ((1, two), (2, six))]
    text = pd.DataFrame({"claim": ["below-90"], "text_verdict": ["independent"]})
    found = judge(study, claims, text, pd.concat([reference, *rows]), level=0.95).iloc[0]
    assert found["measured_verdict"] == "refuted"
    assert found["reason"].startswith("2 guests: measured 100")
    assert found["estimate_low"] > 91.8 > 90
    alone = judge(study, claims, text, pd.concat([reference, rows[0]]), level=0.95).iloc[0]
    assert alone["measured_verdict"] == "refuted" and alone["reason"].startswith("1 guest")


DRIFT = np.array([1.0, 1.3, 0.8])
"""Effects of three blocks, much larger than 2 %."""


def test_runs_of_one_block_are_compared_with_each_other(tiny):
    b, a = DRIFT * [200.0, 200.5, 199.5], DRIFT * [400.0, 402.0, 398.0]
    apart = verdicts(tiny, observed(b, a=a)).loc["b-half"]
    within = verdicts(tiny, observed(b, a=a, blocks="day ")).loc["b-half"]
    assert apart["measured_verdict"] == "undecided"
    assert within["measured_verdict"] == "reproduced"
    assert "3 runs per condition, within 3 blocks" in within["reason"]
    assert within["detectable"] < 5 < apart["detectable"]
    assert within["detectable_unit"] == "% of the ratio"


def test_conditions_in_different_blocks_need_several_blocks(tiny):
    far = observed([300.0, 301.0, 299.0])
    for column in ("block", "day"):  # two days, even if declared as blocks
        monday, tuesday = (f"{column} of {s}" for s in ("a", "b"))
        one = far.assign(**{column: np.where(far["system"] == "a", monday, tuesday)})
        found = verdicts(tiny, one).loc["b-half"]
        assert found["measured_verdict"] == "undecided"
        assert (
            "the spread between blocks is included" not in found["reason"]
        )  # there is no interval
        assert found["reason"].endswith("in the same blocks, or in at least 2 blocks each")
    several = far.assign(block=far["system"] + far["run_id"])
    found = verdicts(tiny, several).loc["b-half"]
    assert found["measured_verdict"] == "refuted" and "by block means" in found["reason"]
    assert "so the spread between blocks is included" in found["reason"]


def test_two_quantities_of_the_same_runs_are_paired(tiny):
    study, claims = tiny(
        "claims:\n"
        + claim(
            "share",
            "kind: ratio, of: 'response_time[guests=1]', to: 'throughput[guests=1]', low: 1.9, high: 2.1",
        )
    )
    runs = observed([], a=400 * DRIFT).assign(guests=1)
    both = pd.concat(
        [runs, runs.assign(quantity="response_time", value=2 * runs["value"] + [1, 0, -1])]
    )
    text = pd.DataFrame({"claim": ["share"], "text_verdict": ["independent"]})
    found = judge(study, claims, text, both, level=0.95).iloc[0]
    assert found["measured_verdict"] == "reproduced"


def test_verdict_over_sessions_has_the_spread_between_them(tiny):
    """Within each of three sessions b is exactly 0.5, 0.52 and 0.46 of a, run by run.

    Each session alone reproduces or refutes one half without doubt; over sessions, t with two
    degrees of freedom covers 0.42 to 0.58, whatever the number of runs of a session.
    """
    study, claims = tiny("claims:\n" + RATIO + ORDER)
    guests = study.factors["guests"].model_copy(update={"default": 3})
    study = study.model_copy(update={"factors": {**study.factors, "guests": guests}})
    sessions = {1: (0.5, 100.0, 3), 2: (0.52, 200.0, 12), 3: (0.46, 400.0, 2)}
    frames = []
    for session, (share, level, runs) in sessions.items():
        a = level * (1 + 0.01 * np.arange(runs))
        frame = observed(share * a, a=a, blocks=f"{session}-")
        frames.append(frame.assign(guests=session, run_id=[f"{session}{r}" for r in frame.run_id]))
    frame = pd.concat(frames, ignore_index=True)
    found = judge(study, claims, TEXT, frame, level=0.95, elsewhere=("guests", EVERY))
    found = found.set_index("claim")
    logs = np.log([0.5, 0.52, 0.46])
    half = stats.t(2).ppf(0.975) * logs.std(ddof=1) / np.sqrt(3)
    ends = ["estimate", "estimate_low", "estimate_high"]
    expected = np.exp([logs.mean(), logs.mean() - half, logs.mean() + half])
    assert found.loc["b-half", ends].tolist() == pytest.approx(expected, rel=1e-6)
    assert found.loc["b-half", "measured_verdict"] == "undecided"
    assert found.loc["b-below-a", "measured_verdict"] == "reproduced"
    alone = judge(study, claims, TEXT, frame[frame.guests == 3], level=0.95).set_index("claim")
    assert alone.loc["b-half", "measured_verdict"] == "refuted"


def test_condition_of_one_session_has_no_verdict_over_sessions(tiny):
    study, claims = tiny("claims:\n" + RATIO + ORDER)
    guests = study.factors["guests"].model_copy(update={"default": 3})
    study = study.model_copy(update={"factors": {**study.factors, "guests": guests}})
    found = judge(
        study, claims, TEXT, observed((200.0, 201.0)), level=0.95, elsewhere=("guests", EVERY)
    )
    assert set(found["measured_verdict"]) == {"no measurement"}
