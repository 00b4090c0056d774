"""Words with numeric readings: consistency of the file, and limits of claims."""

from __future__ import annotations

from math import inf, sqrt
from typing import get_args

import pytest
import yaml

from rawperf.core.errors import StudyError
from tests.cases import each_case
from tests.conftest import ROOT
from tests.study.test_claims import CLAIMS
from tests.study.test_definition import write
from virtperf.core.params import WordReading
from virtperf.study.claim_kinds import CLAIM_KINDS
from virtperf.study.claims import load_claims
from virtperf.study.definition import load_study
from virtperf.study.readings import Read, Readings, load_readings

FILE = ROOT / "data" / "readings.yaml"
WRITTEN = yaml.safe_load(FILE.read_text(encoding="utf-8"))["words"]
INVERSES = [(name, entry["inverse"]) for name, entry in WRITTEN.items() if "inverse" in entry]
READING = get_args(WordReading)
OPEN = (0.0, inf)


def limits_of_word(
    readings: Readings, word: str, kind: str, value: float | None = None, room: float = 0.0
) -> Read:
    """Limits of a word in a claim of this kind."""
    claim = CLAIM_KINDS[kind].model_construct(kind=kind, word=word, value=value, half_width=room)
    return claim.word_limits(readings)


@pytest.fixture(scope="module")
def readings() -> dict[str, Readings]:
    return {reading: load_readings(FILE, reading) for reading in READING}


def test_lenient_readings_allow_more(readings):
    for word in readings["default"].words:
        (a, b), (c, d), (e, f) = (readings[reading].limits(word) for reading in READING)
        assert e <= c <= a <= b <= d <= f, word


@each_case(("word", "inverse"), INVERSES)
def test_word_and_inverse_are_equivalent(readings, word, inverse):
    assert len(INVERSES) > 5
    for reading in readings.values():
        low, high = reading.limits(word)
        of = reading.words[word].number or 1.0
        back = reading.words[inverse].number or 1.0
        # a is within the word of b if and only if b is within the inverse word of a
        assert (low * of, high * of) == pytest.approx(
            tuple(1 / (e * back) if e else inf for e in reading.limits(inverse)[::-1])
        )


def test_half_is_the_inverse_of_twice(readings):
    for reading in readings.values():
        half, twice = (
            limits_of_word(reading, "half", "ratio"),
            limits_of_word(reading, "twice", "ratio"),
        )
        assert half.low * twice.high == pytest.approx(1) and half.high * twice.low == pytest.approx(
            1
        )
        share = limits_of_word(reading, "half", "value", 50)
        assert (share.low, share.high) == pytest.approx((100 * half.low, 100 * half.high))


@each_case(("word", "other"), [("more than", "less than"), ("full", "not full")])
def test_contradictory_words_are_disjoint(readings, word, other):
    a, b = (
        limits_of_word(readings["default"], word, "range", 100),
        limits_of_word(readings["default"], other, "range", 100),
    )
    assert a.low > b.high


@each_case("word", ["about", "same", "similar", "comparable", "linear", "almost linear"])
def test_nearness_is_symmetric(readings, word):
    for reading in readings.values():
        low, high = reading.limits(word)
        assert low * high == pytest.approx(1)


USES = [
    # the word, its use in a paper, and the printed number or ratio
    ("about", 22 / 22.73),  # zvm63-overcommit-2014: 20 of 88
    ("about a fitted line", 480 / 516),  # dcss-2011: 8 minutes by the rule of 12 s plus 63 s per GB
    ("almost", 0.9),  # zvm-xen-2009: 80 % more is nearly double
    ("almost", 0.991),  # dcss-2011: 991 % is almost a factor of 10
    ("close to", 0.9),  # zvm-xen-2009: 80 % more is close to twice
    ("about a fraction", 0.22 / 0.25),  # zvm63-overcommit-2014: 22 % is about a quarter
    ("about a fraction for several", 0.1201 / 0.1),  # dcss-2011: 12.0 % is 1/10
    ("slightly more", 1.105),  # zvm-xen-2009: a loss of 10 % is small
    ("a little more", 28 / 22),  # dcss-2011: minutes to save 16 GB
    ("same", 0.985),  # zvm-xen-2009: a loss of 1.5 % is none
    ("similar", 1.05821),  # was-stacking-2012: 5 % between the smallest and the largest
    ("little difference", 1.03627),  # was-stacking-2012: 3 %
    ("no decrease", 0.985),  # zvm-xen-2009: a loss of 1.5 %
]


@each_case(("word", "use"), USES)
def test_readings_allow_the_use_in_their_reason(readings, word, use):
    for reading in readings.values():
        low, high = reading.limits(word)
        assert low <= use <= high


def test_lenient_twice_is_nearer_to_2_than_to_1_or_4(readings):
    assert readings["lenient"].limits("twice") == pytest.approx((sqrt(2) / 2, sqrt(2)), abs=1e-4)


@each_case(
    ("word", "kind", "value", "room", "limits"),
    [
        ("nearly", "ratio", 2.0, 0.0, (1.7, 1.998)),
        ("almost", "percent_change", -50.0, 0.0, (-49.95, -42.5)),  # a loss of less than 50 %
        (
            "about",
            "value",
            11264.0,
            512.0,
            (11264 / 1.05, 11264 * 1.05),
        ),  # the printed digits are narrower
        ("about", "value", 2.0, 0.5, (1.5, 2.5)),  # the printed digits are wider
        ("at most", "percent_change", -10.0, 0.5, (-10.5, inf)),  # no loss of more than 10 %
        ("more than", "range", 10.0, 0.0, (10.01, inf)),
        ("no degradation", "ratio", None, 0.0, (1 / 1.02, inf)),
        ("minimal degradation", "percent_change", None, 0.0, (100 / 1.15 - 100, 0)),
        ("negligible", "ratio", None, 0.0, (-inf, 0.02)),
        ("significantly", "ordering", None, 0.0, (-inf, inf)),
        ("flat", "equivalence", None, 0.0, (1 / 1.02, 1.02)),
    ],
)
def test_limits_of_a_claim(readings, word, kind, value, room, limits):
    found = limits_of_word(readings["default"], word, kind, value, room)
    assert (found.low, found.high) == pytest.approx(limits)
    assert found.text.startswith(word)


@each_case(
    ("word", "kind", "value", "problem"),
    [
        ("nerly", "ratio", 2.0, "did you mean 'nearly'"),
        ("nearly", "ratio", None, "needs a number"),
        ("nearly", "ordering", 2.0, "is not allowed in a claim of kind ordering"),
        ("twice", "percent_change", None, "needs a number"),  # 100 %, not 2 %
        ("same", "ordering", None, "is not allowed in a claim of kind ordering"),
        ("no increase", "equivalence", None, "is not allowed in a claim of kind equivalence"),
        ("slightly more", "ratio", 3.0, "takes no number"),
    ],
)
def test_unsuitable_word_is_rejected(readings, word, kind, value, problem):
    with pytest.raises(ValueError, match=problem):
        limits_of_word(readings["default"], word, kind, value)


WORDS = """\
words:
  nearly:
    of: number
    strict: [0.95, 1]
    default: [0.9, 1]
    lenient: [0.8, 1]
    why: Short of the number.
  same:
    also: [equal]
    of: reference
    strict: 1.01
    default: 1.02
    lenient: 1.05
    why: No difference that counts.
"""


@pytest.mark.parametrize(
    ("old", "new", "problem", "line"),
    [
        ("[0.95, 1]", "[0.85, 1]", "must include those of the stricter one", 2),
        ("[0.95, 1]", "[1.1, 1]", "the lower limit 1.1 is above the upper limit 1", 4),
        ("strict: 1.01", "strict: 0.99", "at least 1", 11),
        ("[equal]", "[nearly]", "duplicate word 'nearly'", 8),
        ("    why: Short of", "    uses: [0.97, 0.92]\n    why: Short of", "excludes 0.92", 2),
        (
            "words:\n",
            "words:\n  hardly: {inverse: nearly, uses: [1.2], why: The other side.}\n",
            "excludes 1.2, a number under uses",
            2,
        ),
        ("of: reference", "of: refrence", "did you mean 'reference'", 10),
        ("    why: Short of", "    wy: Short of", "'wy'", 7),
        (
            "words:\n",
            "words:\n  unlike: {inverse: sane, why: The other side.}\n",
            "inverse of 'sane'",
            2,
        ),
    ],
)
def test_mistake_in_the_file_is_reported_with_line_number(tmp_path, old, new, problem, line):
    assert WORDS.count(old) == 1
    path = tmp_path / "readings.yaml"
    path.write_text(WORDS.replace(old, new), encoding="utf-8")
    found = []
    try:
        load_readings(path, report=found.append)
    except StudyError as err:
        found.append(err)
    assert any(problem.lower() in str(err).lower() and err.line == line for err in found), [
        str(e) for e in found
    ]


def claims_of(tmp_path, entry, words=WORDS, **options):
    (tmp_path / "published").mkdir(exist_ok=True)
    folder = write(tmp_path / "published")
    text = CLAIMS.replace("value: 50, half_width: 0.5,", entry)
    (folder / "claims.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "readings.yaml").write_text(words, encoding="utf-8")
    return load_claims(load_study(folder), **options)


def test_claim_has_the_limits_of_its_word(tmp_path):
    default = claims_of(tmp_path, "word: nearly, value: 50, reading: of the first,")["faster"]
    assert (default.low, default.high, default.value) == (45, 50, 50)
    assert default.reading == "nearly 50 %: 45 to 50 %; of the first"
    strict = claims_of(tmp_path, "word: nearly, value: 50,", reading="strict")
    assert strict.reading == "strict" and strict["faster"].low == 47.5


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("word: nearly,", "needs a number"),
        ("word: neerly, value: 50,", "did you mean 'nearly'"),
        ("word: nearly, value: 50, low: 40,", "omit low"),
    ],
)
def test_invalid_word_is_reported_with_the_claim(tmp_path, entry, problem):
    with pytest.raises(StudyError, match=problem) as caught:
        claims_of(tmp_path, entry)
    assert caught.value.file == "claims.yaml" and caught.value.line == 3


def test_readings_file_is_optional_without_words(tmp_path):
    folder = write(tmp_path)
    (folder / "claims.yaml").write_text(CLAIMS, encoding="utf-8")
    assert load_claims(load_study(folder))["faster"].reading == ""
    (folder / "claims.yaml").write_text(
        CLAIMS.replace("value: 50, half", "word: nearly, value: 50, half"), encoding="utf-8"
    )
    with pytest.raises(StudyError, match="the file is missing"):
        load_claims(load_study(folder))


@each_case(
    ("says", "reading", "words"),
    [
        ("Response time increases slightly.", "", ["increases slightly"]),
        ("A is slightly slower than B.", "", ["slightly more"]),
        ("The load is very close to the number of CPUs.", "", ["very close to"]),
        ("It is nearly twice as fast.", "", ["nearly", "twice"]),
        ("Guests use at most 4 CPUs, up to one each.", "", []),  # the number itself
        ("Throughput is much higher.", "", []),  # a direction
        ("There are two disks, 2 GB each.", "", []),
        ("Time grows.", "slightly means less than a doubling", ["slightly more"]),
        ("Time grows.", "from 6 to 15 guests; half of them run", []),
    ],
)
def test_words_with_a_size_are_found_in_a_wording(readings, says, reading, words):
    found = readings["default"].words_in(says, reading)
    sizes = readings["default"]._sizes
    assert [sizes[word] for word in found] == [sizes[word] for word in words]


BY_HAND = """\
study: toy
claims:
  - {id: more, kind: ratio, of: "speed[system=a, guests=2]", to: "speed[system=a, guests=1]", LIMITS, says: SAYS,
     about: [figure-1], section: One, ledger: c001}
not_encoded: []
"""


def problems_of(folder, limits, says):
    path = folder / "data" / "published"
    path.mkdir(parents=True, exist_ok=True)
    (folder / "data" / "readings.yaml").write_text(FILE.read_text(encoding="utf-8"))
    study = write(path)
    text = BY_HAND.replace("LIMITS", limits).replace("SAYS", says)
    (study / "claims.yaml").write_text(text, encoding="utf-8")
    found: list[StudyError] = []
    load_claims(load_study(study), found.append)
    return [str(problem) for problem in found]


@pytest.mark.parametrize(
    ("limits", "says", "wrong"),
    [
        ("low: 1, high: 2", "It is slightly faster.", "limits by hand"),
        ("value: 2, low: 1.5, high: 2", "It is nearly twice as fast.", "limits by hand"),
        ("low: 1, high: 2", "It is faster.", ""),
        ("word: a slight increase", "It is slightly faster.", ""),
        ("value: 2, half_width: 0.05", "It is about 2.0 times as fast.", ""),  # printed digits
        ("low: 1, high: 2, own_limits: the paper names both ends", "It is slightly faster.", ""),
        ("low: 1, high: 2, own_limits: the paper names both ends", "It is faster.", "omit it"),
    ],
)
def test_limits_by_hand_where_the_word_has_a_reading_need_a_reason(tmp_path, limits, says, wrong):
    found = problems_of(tmp_path, limits, says)
    assert len(found) == bool(wrong)
    assert not wrong or (wrong in found[0] and "claims.yaml line 3" in found[0])
