import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from scipy import special
from statsmodels.regression.mixed_linear_model import MixedLM

from tests.models.test_coverage import assert_covers
from virtperf.core.errors import ModelError
from virtperf.models.mixed import fit_mixed, overall_effect
from virtperf.models.reml import CellMeans, evaluate, fit_reml

FOLDER = Path(__file__).resolve().parent.parent / "reference-anova"
CASES = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("mixed-*.json"))}


def machines(name="mixed-machines"):
    return pd.DataFrame(CASES[name]["data"])


def fit(frame):
    return fit_mixed(frame, "score", "machine", "worker")


@pytest.mark.parametrize("name", CASES)
def test_reference(name):
    case = CASES[name]
    result = fit_mixed(pd.DataFrame(case["data"]), **case["options"])
    effects = [result.contrast({other: 1, "A": -1}) for other in "BC"]
    found = {
        "sd_group": math.sqrt(result.components["group"]),
        "sd_interaction": math.sqrt(result.components["treatment x group"]),
        "sd_residual": math.sqrt(result.components["residual"]),
        "means_minus_first": [e.value for e in effects],
        "low": [e.low for e in effects],
        "high": [e.high for e in effects],
    }
    if result.balanced:
        found["F"] = result.test().statistic
    else:
        # Without the correction of the standard error, and with the degrees of freedom that R's nlme takes.
        weights = [np.array([-1.0, float(other == "B"), float(other == "C")]) for other in "BC"]
        found["half_width_with_10_df"] = [
            special.stdtrit(10, 0.975) * math.sqrt(w @ result.reml.covariance @ w) for w in weights
        ]
        assert [result.reml.df(w) for w in weights] == pytest.approx([10, 10], abs=0.1)
    for quantity, expected in case["expected"].items():
        tolerance = case["rtol"].get(quantity, case["rtol"]["default"])
        assert found[quantity] == pytest.approx(expected, rel=tolerance), f"{case['source']}: {quantity}"


class OneRowACell(CellMeans):
    """Rows of a split plot with two fixed factors: blocks, plots in them, and one row for each cell."""

    @property
    def design(self):
        return self.fixed

    @property
    def parts(self):
        return [
            np.equal.outer(code, code).astype(float) for code in (self.group, self.treatment, np.arange(len(self.n)))
        ]


def test_kenward_and_roger_agree_with_r():
    case = json.loads((FOLDER / "reml-oats.json").read_text())
    frame = pd.DataFrame(case["data"])
    variety = pd.get_dummies(frame["variety"], dtype=float)  # Golden Rain, Marvellous, Victory
    nitro = pd.get_dummies(frame["nitro"], dtype=float).drop(columns=0.0)
    plots = pd.factorize(frame["block"] + frame["variety"])[0]
    OneRowACell.fixed = np.column_stack((variety, nitro))
    rows = OneRowACell(frame["yield"].to_numpy(float), np.ones(len(frame)), plots, pd.factorize(frame["block"])[0], 0.0)
    found = fit_reml(rows)
    third = np.full(3, 1 / 3)
    nitro_means = [np.concatenate((third, np.eye(4)[k][1:])) for k in range(4)]
    golden = [np.array([1, -1, 0, 0, 0, 0.0]), np.array([1, 0, -1, 0, 0, 0.0])]
    for name, weights in (("nitro_means", nitro_means), ("golden_rain_minus", golden)):
        se = name.replace("_means", "") + "_se"
        df = name.replace("_means", "") + "_df"
        wanted, rtol = case["expected"], case["rtol"]
        assert [w @ found.beta for w in weights] == pytest.approx(wanted[name], rel=rtol[name])
        errors = [math.sqrt(w @ found.adjusted @ w) for w in weights]
        assert errors == pytest.approx(wanted[se], rel=rtol.get(se, rtol["default"]))
        assert [found.df(w) for w in weights] == pytest.approx(wanted[df], rel=rtol["default"])


def test_in_balance_restricted_likelihood_is_the_exact_test():
    """Interior optimum: same components, standard error and degrees of freedom, and nothing to correct."""
    frame = machines()
    exact = fit(frame)
    k, g = exact.shape
    within = float(((frame["score"] - frame.groupby(["machine", "worker"])["score"].transform("mean")) ** 2).sum())
    treatment, group = np.repeat(np.arange(k), g), np.tile(np.arange(g), k)
    reml = fit_reml(CellMeans(exact.cell_means.ravel(), np.full(k * g, 3.0), treatment, group, within))
    assert reml.components == pytest.approx(exact.components, rel=1e-9)
    w = np.array([-1.0, 1.0, 0.0])
    assert reml.df(w) == pytest.approx((k - 1) * (g - 1), rel=1e-9)
    assert w @ reml.adjusted @ w == pytest.approx(exact.mean_square * 2 / (3 * g), rel=1e-9)
    assert reml.beta == pytest.approx(exact.means.to_numpy(), rel=1e-12)


def test_two_treatments_are_the_paired_t_test_of_the_groups_means():
    frame = machines()
    frame = frame[frame["machine"] != "C"]
    means = frame.groupby(["worker", "machine"])["score"].mean().unstack()
    paired = scipy.stats.ttest_rel(means["B"], means["A"])
    interval = paired.confidence_interval(0.9)
    for error in ("pooled", "contrast"):
        e = overall_effect(frame, "score", "machine", "worker", 0.1, error=error)
        assert (e.value, e.low, e.high) == pytest.approx(
            (float((means["B"] - means["A"]).mean()), interval.low, interval.high), rel=1e-9
        )
    assert fit(frame).test().pvalue == pytest.approx(paired.pvalue, rel=1e-9)


def test_the_likelihood_has_the_score_and_information_that_it_says():
    """The score is the slope; at fixed data the information's mean is minus the curvature, here checked by its trace."""
    frame = machines("mixed-machines-unbalanced")
    result = fit(frame)
    kept = result.cells["n"].to_numpy() > 0
    treatment, group = np.unravel_index(np.flatnonzero(kept), result.shape)
    n = result.cells["n"].to_numpy()[kept].astype(float)
    cells = CellMeans(result.cells["mean"].to_numpy()[kept], n, treatment, group, 22.0)
    at = np.array([20.0, 10.0, 1.5])
    for i in range(3):
        step = np.zeros(3)
        step[i] = 1e-5 * at[i]
        slope = (evaluate(cells, at + step).loglik - evaluate(cells, at - step).loglik) / (2 * step[i])
        assert evaluate(cells, at).score[i] == pytest.approx(slope, rel=1e-6)
    rng = np.random.default_rng(6)
    v = sum(c * part for c, part in zip(at, cells.parts, strict=True))
    scores = []
    for _ in range(1500):
        mean = rng.multivariate_normal(np.zeros(len(n)), v)
        within = at[2] * rng.chisquare(cells.within_df)
        scores.append(evaluate(CellMeans(mean, n, treatment, group, within), at).score)
    information = evaluate(cells, at).information
    assert np.cov(np.array(scores).T) == pytest.approx(information, rel=0.25, abs=0.05 * information.max())


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_statsmodels_where_that_converges(seed):
    rng = np.random.default_rng(seed)
    frame = ragged(rng, groups=8, treatments=3, interaction=2.0)
    mine = fit_mixed(frame, "y", "system", "workload")
    other = MixedLM.from_formula(
        "y ~ 0 + C(system)", frame, groups="workload", vc_formula={"both": "0 + C(system)"}, re_formula="1"
    ).fit(reml=True)
    assert other.converged
    assert mine.means.to_numpy() == pytest.approx(other.fe_params.to_numpy(), rel=1e-3)
    theirs = np.array([float(other.cov_re.iloc[0, 0]), float(other.vcomp[0]), float(other.scale)])
    own = np.array(list(mine.components.values()))
    assert own == pytest.approx(theirs, rel=0.02)
    # Its optimizer stops a little short of the top.
    cells = cell_means(mine, frame)
    assert 0 <= evaluate(cells, own).loglik - evaluate(cells, theirs).loglik < 1e-4


def cell_means(result, frame):
    kept = np.flatnonzero(result.cells["n"])
    treatment, group = np.unravel_index(kept, result.shape)
    within = frame["y"] - frame.groupby(["system", "workload"])["y"].transform("mean")
    mean, n = (result.cells[column].to_numpy()[kept].astype(float) for column in ("mean", "n"))
    return CellMeans(mean, n, treatment, group, float((within**2).sum()))


def ragged(rng, groups=5, treatments=2, interaction=1.0, counts=None):
    """Workloads of SD 3, an effect of 1 between neighbouring systems, residual SD 1."""
    if counts is None:
        counts = rng.integers(1, 5, size=(treatments, groups))
    level = 3 * rng.standard_normal(groups)
    both = interaction * rng.standard_normal((treatments, groups))
    rows = [
        (t, w, 10 + t + level[w] + both[t, w] + rng.standard_normal())
        for t in range(treatments)
        for w in range(groups)
        for _ in range(counts[t, w])
    ]
    return pd.DataFrame(rows, columns=["system", "workload", "y"])


@pytest.mark.parametrize("interaction", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("treatments", [2, 3])
def test_coverage_in_balance(treatments, interaction):
    rng = np.random.default_rng(31)
    counts = np.full((treatments, 5), 3)
    hits = 0
    for _ in range(800):
        frame = ragged(rng, treatments=treatments, interaction=interaction, counts=counts)
        hits += 1.0 in overall_effect(frame, "y", "system", "workload", levels=(0, 1))
    assert_covers(hits, 800)


@pytest.mark.slow
@pytest.mark.parametrize("interaction", [0.0, 1.0, 3.0])
def test_coverage_out_of_balance(interaction):
    """Too often is allowed: where the interaction is small its estimate can't become negative."""
    rng = np.random.default_rng(32)
    hits = 0
    for _ in range(200):
        frame = ragged(rng, treatments=3, interaction=interaction)
        hits += 1.0 in overall_effect(frame, "y", "system", "workload", levels=(0, 1))
    assert hits / 200 >= 0.95 - 3.3 * math.sqrt(0.95 * 0.05 / 200)


def test_own_error_of_a_contrast_allows_unequal_variances():
    """The third system differs wildly between workloads; the pooled error of the other two then is far too large."""
    rng = np.random.default_rng(33)
    frame = ragged(rng, groups=8, treatments=3, interaction=0.3)
    wild = 20 * rng.standard_normal(8)
    frame["y"] += np.where(frame["system"] == 2, wild[frame["workload"]], 0.0)
    result = fit_mixed(frame, "y", "system", "workload")
    own, pooled = (result.contrast({0: -1, 1: 1}, error=error) for error in ("contrast", "pooled"))
    assert own.high - own.low < (pooled.high - pooled.low) / 3
    assert own.method == "t (groups)"


def test_missing_cells_and_no_replicates():
    """One run a cell and one cell missing: the residual stands for the interaction too."""
    rng = np.random.default_rng(34)
    counts = np.ones((3, 6), dtype=int)
    counts[2, 0] = 0
    result = fit_mixed(ragged(rng, groups=6, treatments=3, counts=counts), "y", "system", "workload")
    assert list(result.components) == ["group", "residual"]
    e = result.contrast({2: 1, 0: -1})
    assert e.method == "t (Kenward-Roger)"
    assert result.reml.df(np.array([-1.0, 0, 1])) <= 9.5
    with pytest.raises(ModelError, match="exact F test needs equally many rows"):
        result.test()
    single = fit_mixed(ragged(rng, counts=np.ones((2, 5), dtype=int)), "y", "system", "workload")
    assert single.balanced
    assert list(single.components) == ["group", "residual"]


def test_logarithms_give_a_ratio_whatever_the_units_of_the_workloads():
    rng = np.random.default_rng(35)
    frame = ragged(rng, counts=np.full((2, 5), 2)).assign(y=lambda f: np.exp(f["y"] / 10))
    one = overall_effect(frame, "y", "system", "workload", log=True)
    units = np.array([1.0, 1e6, 1e-3, 60.0, 8.0])
    other = overall_effect(frame.assign(y=frame["y"] * units[frame["workload"]]), "y", "system", "workload", log=True)
    assert (other.value, other.low, other.high) == pytest.approx((one.value, one.low, one.high), rel=1e-9)
    means = np.log(frame["y"]).groupby([frame["workload"], frame["system"]]).mean().unstack()
    assert one.value == pytest.approx(math.exp(float((means[1] - means[0]).mean())))


@pytest.mark.parametrize("counts", [None, np.full((2, 5), 2)])
@pytest.mark.parametrize(("shift", "factor"), [(0.0, 1e-7), (1e6, 1.0), (0.0, 1e9)])
def test_units_only_change_units(counts, shift, factor):
    frame = ragged(np.random.default_rng(36), counts=counts, interaction=2.0)
    one = overall_effect(frame, "y", "system", "workload")
    other = overall_effect(frame.assign(y=shift + factor * frame["y"]), "y", "system", "workload")
    assert other.value / factor == pytest.approx(one.value, rel=1e-6)
    assert (other.high - other.low) / factor == pytest.approx(one.high - one.low, rel=1e-5)


def test_bad_input():
    frame = ragged(np.random.default_rng(37), groups=3, counts=np.full((2, 3), 2))

    def raises(message, data=frame, columns=("y", "system", "workload"), **options):
        with pytest.raises(ModelError, match=message):
            overall_effect(data, *columns, **options)

    raises("y in row 1 of 12 is not a finite number", frame.assign(y=[math.nan, *range(11)]))
    raises("y in row 2 of 12 is not positive", frame.assign(y=[1, 0, *range(1, 11)]), log=True)
    raises("workload in row 12 of 12 is missing", frame.assign(workload=[*"abcabcabcab", None]))
    raises("workload has 1 level", frame.assign(workload=0))
    raises("are not three different columns", columns=("y", "system", "system"))
    raises("unknown error term", error="residual")
    raises("has no level 7", levels=(0, 7))
    raises("weights are not those of a contrast", levels=(0, 0))
    raises("the contrast is the same at each workload", frame.assign(y=frame["system"] + 5.0 * frame["workload"]))
    uneven = frame.drop(index=0)
    raises("replicates do not differ", uneven.assign(y=3.0))
    raises("replicates do not differ", uneven.assign(y=uneven["system"] * uneven["workload"] * 1.0))
    nested = frame[(frame["system"] == 0) == (frame["workload"] == 0)]
    raises("nothing shows how the effect of system varies between levels of workload", nested)
    raises("nothing shows how the effect", frame[(frame["system"] == 0) | (frame["workload"] == 0)])
    rng = np.random.default_rng(38)
    chain = ragged(rng, groups=4, treatments=3, counts=np.array([[1, 1, 1, 0], [1, 1, 0, 1], [0, 0, 1, 1]]))
    raises(
        r"1 of 4 levels of workload have all levels of the contrast.*Measure the same workload", chain, levels=(0, 2)
    )
    third = frame.assign(system=[0, 0, 1, 1, 2, 2] * 2, workload=[0] * 6 + [1] * 6)
    raises(r"system has 3 levels. Name the two to compare: levels=\(0, 1\)", third)
