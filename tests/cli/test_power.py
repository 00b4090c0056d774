"""`virtperf power`: from a given spread or pilot runs, three questions, a plot."""

from __future__ import annotations

import pytest


def test_power_from_a_given_spread(run):
    text = run("power", "--cv", "3", "--effect", "5").output
    assert "to detect a change of 5 %" in text
    assert "a power of 80 % needs 8 runs per condition" in text
    assert (
        "a power of 80 % needs more than 1000 runs per condition"
        in run("power", "--cv", "50", "--effect", "0.1").output
    )


def test_power_from_pilot_runs_with_plot(run, tmp_path):
    (tmp_path / "pilot.csv").write_text("guests,score\n1,99\n1,101\n2,52\n2,48\n2,50\n4,30\n")
    given = ("power", "pilot.csv", "--y", "score", "--group", "guests", "--margin", "5")
    text = run(*given, "-o", "a/power.svg").output
    assert "coefficient of variation between runs: 3.367 % (6 pilot runs of 3 conditions)" in text
    assert "a change of 0 % is smaller than 5 %" in text
    first = (tmp_path / "a" / "power.svg").read_bytes()
    assert b"<svg" in first
    run(*given, "-o", "b.svg")
    assert (tmp_path / "b.svg").read_bytes() == first


def test_pilot_runs_of_several_loads_are_no_replicates(run, tmp_path):
    rows = [
        f"{system},{guests},{10 * guests * factor * (1 + 0.01 * k)}"
        for system, factor in (("a", 1.0), ("b", 1.1))
        for guests in (1, 2, 4, 8, 16, 24)
        for k in range(2)
    ]
    (tmp_path / "load.csv").write_text("\n".join(["system,guests,rate", *rows]) + "\n")
    given = ("power", "load.csv", "--y", "rate", "--effect", "5")
    said = run(*given).output
    assert "warning: the rows are not replicates: guests explains 9" in said
    assert "; name the column of conditions: --group guests, or select one level" in said
    said = run(*given, "--group", "system").output
    assert "guests explains 9" in said and "of the variation within the groups" in said
    assert "; select one level: --where guests=LEVEL" in said and "--group guests" not in said
    three = run(*given, "--group", "guests").output
    assert "; select one level: --where system=LEVEL" in three
    assert "warning" not in run(*given, "--group", "guests", "--where", "system=a").output


def test_power_of_a_claim(run):
    text = run("power", "--cv", "3", "--effect", "-18", "--low", "0.8", "--high", "0.84").output
    assert "to decide the claim of a ratio from 0.8 to 0.84, if it is 0.82" in text


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--effect", "5"), "either pilot runs"),
        (("--cv", "3"), "give --effect, the change to detect, or --margin"),
        (("--cv", "3", "--margin", "3", "--low", "1"), "choose one"),
        (
            ("--cv", "3", "--margin", "2", "--effect", "5"),
            "a change of 5 % is outside the margin of 2 %",
        ),
        (
            ("--cv", "3", "--margin", "5", "--effect", "-5"),
            "outside the margin of 5 %, ratios from 0.9524 to 1.05",
        ),
        (("--cv", "3", "--effect", "0"), "--effect 0 can't be detected"),
        (("--cv", "nan", "--effect", "5"), "'--cv': nan is not a finite number"),
        (("--cv", "3", "--margin", "nan"), "'--margin': nan is not a finite number"),
        (("--cv", "3", "--margin", "inf"), "'--margin': inf is not in the range"),
        (("--cv", "1e300", "--effect", "5"), "'--cv': 1e+300 is not in the range"),
        (("--cv", "3", "--effect", "1e10"), "'--effect': 10000000000.0 is not in the range"),
        (("--cv", "3", "--effect", "5", "--low", "inf"), "'--low': inf is not a finite number"),
        (("--cv", "3", "--effect", "5", "--high", "nan"), "'--high': nan is not a finite number"),
        (("--cv", "3", "--effect", "5", "--power", "nan"), "'--power': nan is not a finite number"),
    ],
)
def test_missing_options_are_reported(run, given, message):
    assert message in run("power", *given, status=2).output
