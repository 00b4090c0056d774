import numpy as np

from tests.cases import each_case
from tools.validation.curves import throughput
from virtperf.models.noise import check_noise
from virtperf.models.segmented import fit_segmented
from virtperf.models.usl import fit_usl

ONES = np.ones(24)
LOAD = np.repeat([1, 2, 4, 8, 16, 32.0], 4)
CURVE = throughput(LOAD, np.array([0.05, 0.002, 100.0]))
DRAWS = np.random.default_rng(8).standard_normal(24)
DATA = {"proportional": CURVE * (1 + 0.03 * DRAWS), "constant": CURVE + 8 * DRAWS}


@each_case(("noise", "other"), [("proportional", "constant"), ("constant", "proportional")])
def test_kind_of_noise_is_recognised_from_replicates(noise, other):
    assert check_noise(LOAD, DATA[noise], ONES, noise) == ()
    (warning,) = check_noise(LOAD, DATA[noise], ONES, other)
    assert f"{noise} noise describes them better" in warning
    assert warning in fit_usl(LOAD, DATA[noise], noise=other).warnings
    assert not any(
        "describes them better" in w for w in fit_usl(LOAD, DATA[noise], noise=noise).warnings
    )
    assert any(
        "describes them better" in w for w in fit_segmented(LOAD, DATA[noise], noise=other).warnings
    )


def test_noise_check_has_nominal_size():
    """Under the true kind a warning at 1 % is rare: of 400 data sets at most 12 (binomial mean 4, SD 2)."""
    rng = np.random.default_rng(2)
    warned = 0
    for _ in range(400):
        y = CURVE * (1 + 0.03 * rng.standard_normal(24))
        warned += len(check_noise(LOAD, y, ONES, "proportional"))
    assert warned <= 12


@each_case(
    ("x", "y"),
    [
        ([1, 2, 3, 4], [1, 2, 3, 4]),
        ([1, 1, 2, 2, 3], [1, 1.1, 2, 2.1, 3]),
        ([1, 1, 1, 1, 1, 1], [1, 1.1, 2, 2.1, 3, 3]),
        (np.repeat([1, 2, 3], 3), np.repeat([5.0, 6, 7], 3)),
    ],
)
def test_too_few_replicates_give_no_warning(x, y):
    for noise in DATA:
        assert check_noise(np.array(x), np.array(y), np.ones(len(x)), noise) == ()
