"""Contrasts of formulas against statsmodels and the models' paired ratios."""

import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

from rawperf.core.errors import ModelError, ParameterError
from virtperf import models


@pytest.fixture
def runs() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    rows = [
        {
            "host": host,
            "guests": guests,
            "block": block,
            "steal": rng.random(),
            "value": 100 * guests**0.8 * (1.1 if host == "b" else 1) * math.exp(drift + noise),
            "provenance": "measured",
            "run_id": f"{host}-{guests}-{block}",
        }
        for block, drift in enumerate(rng.normal(0, 0.05, 5))
        for host in "ab"
        for guests in (1, 2, 4)
        for noise in [rng.normal(0, 0.01)]
    ]
    return pd.DataFrame(rows)


def test_contrast_equals_statsmodels_t_test(runs):
    fit = smf.ols("np.log(value) ~ C(host) * C(guests) + C(block) + steal", runs).fit()
    found = models.contrasts(fit, of={"host": "b"}, to={"host": "a"}, by="guests", alpha=0.1)
    own = fit.t_test("C(host)[T.b] + C(host)[T.b]:C(guests)[T.4] = 0")
    assert found[4].value == pytest.approx(float(np.exp(own.effect[0])))
    assert (found[4].low, found[4].high) == pytest.approx(
        tuple(np.exp(own.conf_int(alpha=0.1)[0])), rel=1e-9
    )
    assert found[4].origin.runs[0] == "a-4-0" and len(found[4].origin.runs) == 10
    assert list(found.frame().columns[:3]) == ["value", "low", "high"]


def test_contrasts_on_log_and_identity_scale(runs):
    gamma = smf.glm(
        "value ~ C(host) + C(guests)", runs, family=sm.families.Gamma(sm.families.links.Log())
    ).fit()
    assert models.contrasts(gamma, of={"host": "b"}, to={"host": "a"})[
        "b / a"
    ].value == pytest.approx(float(np.exp(gamma.params["C(host)[T.b]"])))
    plain = smf.ols("value ~ C(host) + guests", runs).fit()
    found = models.contrasts(plain, of={"guests": 4}, to={"guests": 2})["4 - 2"]
    assert found.value == pytest.approx(2 * plain.params["guests"])


@pytest.mark.filterwarnings("ignore")  # of a variance on its bound
def test_invalid_contrasts_are_rejected(runs):
    fit = smf.ols("np.log(value) ~ C(guests)", runs).fit()
    for of, to, message in (
        ({"host": "b"}, {"host": "a"}, "no term of the model differs between the two sides"),
        ({"guests": 3}, {"guests": 1}, "no row has guests 3"),
        ({"gests": 4}, {"guests": 1}, "Did you mean"),
    ):
        with pytest.raises((ModelError, ParameterError), match=message):
            models.contrasts(fit, of=of, to=to)
    with pytest.raises(ParameterError, match=r"by ols, wls, gls or glm.*C\(block\)"):
        models.contrasts(
            smf.mixedlm("value ~ C(guests)", runs, groups="block").fit(),
            of={"guests": 4},
            to={"guests": 1},
        )
