"""What `virtperf history` finds, misses and names, beside two other tools.

    python -m tools.validation.histories null       # makes src/virtperf/comparison/null-distributions.json
    python -m tools.validation.histories looks [HISTORIES]
    python -m tools.validation.histories rates [HISTORIES [TOOL ...]]
    python -m tools.validation.histories labelled FOLDER

`rates` simulates histories of 40 revisions and judges them as CI does, after each new revision:
histories without a change, steps, single noisy revisions, slow drifts and short histories, with an
autocorrelation of 0 and 0.3. `looks` measures three runs of CI with more histories. `labelled`
computes F1 on the labelled series of the Turing Change Point Dataset (van den Burg and Williams 2020,
arXiv:2003.06222), of which FOLDER is a copy.

If `apache-otava` (0.8.0, with its defaults) and `ruptures` (PELT with a penalty of 3 log n, noise from
the median absolute difference) are installed, they judge the same histories. They are no
dependencies of the package: run this in an environment with both, numpy, scipy and PYTHONPATH=src.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from virtperf.comparison import changes as detection

REVISIONS, SEED = 40, 7
LOOKS = 3
NULL_AUTOCORRELATIONS = (0.0, 0.3, 0.5)
NULL_REVISIONS = (6, 7, 8, 9, 10, 12, 15, 20, 30, 40, 60, 100, 200, 400, 1000)
NULL_SHARES = (0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005)
NULL_HISTORIES = 20_000
STORED = Path(detection.__file__).with_name("null-distributions.json")
WITHIN = "within three revisions"
MARGIN = 5
"""Revisions that a labelled change may be away, as in the dataset's own evaluation."""

Found = tuple[bool, list[tuple[int, int, int]], list[int]]
"""Whether the present level is changed; changes (position, first, last); noisy revisions."""


def virtperf_changes(y: np.ndarray) -> Found:
    found = detection.changes(y)
    steps = [(step.at, step.first, step.last) for step in found.steps]
    return any(step.holds for step in found.steps), steps, [at for at, _ in found.noisy]


def otava_changes(y: np.ndarray) -> Found:
    from otava.analysis import compute_change_points

    found, _ = compute_change_points(np.exp(y).tolist(), window_len=50, max_pvalue=0.001)
    steps = [(int(each.index),) * 3 for each in found]
    return bool(steps), steps, []


def pelt_changes(y: np.ndarray) -> Found:
    import ruptures

    noise = 1.4826 * float(np.median(np.abs(np.diff(y)))) / math.sqrt(2) or 1e-9
    search = ruptures.Pelt(model="l2", min_size=2, jump=1).fit(y / noise)
    steps = [(int(at),) * 3 for at in search.predict(pen=3 * math.log(len(y)))[:-1]]
    return bool(steps), steps, []


def tools(names: Sequence[str] = ()) -> dict[str, Callable[[np.ndarray], Found]]:
    """The tools that are installed, of `names` if there are any."""
    known: dict[str, Callable[[np.ndarray], Found]] = {
        "virtperf": virtperf_changes,
        "otava": otava_changes,
        "PELT": pelt_changes,
    }
    found = {name: tool for name, tool in known.items() if not names or name in names}
    for name, module in (("otava", "otava"), ("PELT", "ruptures")):
        if name in found and find_spec(module) is None:
            print(f"{name} is not installed and not compared", file=sys.stderr)
            del found[name]
    return found


def simulate(n: int, phi: float, count: int, rng: np.random.Generator) -> np.ndarray:
    """Standard AR(1) noise, shape (count, n)."""
    rows = rng.standard_normal((count, n))
    rows[:, 1:] *= math.sqrt(1 - phi**2)
    for t in range(1, n):
        rows[:, t] += phi * rows[:, t - 1]
    return rows


def null() -> None:
    """Simulate the null distributions of all kinds of candidates.

    Stored is the largest value over the autocorrelations 0, 0.3 and 0.5.
    """
    stored: dict[str, Any] = {"seed": SEED, "shares": list(NULL_SHARES), "revisions": []}
    for n in NULL_REVISIONS:
        rng = np.random.default_rng([SEED, n])
        a, b, kinds = detection.candidates(n)
        count = NULL_HISTORIES if n <= 2 * REVISIONS else NULL_HISTORIES * REVISIONS // n + 1000
        values: dict[str, list] = {kind: [] for kind in detection.ALPHA}
        for phi in NULL_AUTOCORRELATIONS:
            noise = np.array_split(simulate(n, phi, count, rng), max(count * n // 10_000, 1))
            rows = np.concatenate(
                [detection.Model(y, [], [], False).statistics(a, b) for y in noise]
            )
            for kind, quantiles in values.items():
                largest = rows[:, kinds == kind].max(axis=1)
                quantiles.append(np.quantile(largest, [1 - share for share in NULL_SHARES]))
        stored["revisions"].append(n)
        for kind, quantiles in values.items():
            of = np.max(quantiles, axis=0)
            stored.setdefault(kind, []).append([round(float(value), 3) for value in of])
        print(n, count, file=sys.stderr, flush=True)
    if STORED.exists():
        stored |= {WITHIN: json.loads(STORED.read_text())[WITHIN]}
    write_stored(stored)


def write_stored(stored: dict[str, Any]) -> None:
    """Write the file that the package reads."""
    rows = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in stored.items()]
    STORED.write_text("{\n" + ",\n".join(rows) + "\n}\n")


def looks(count: int) -> None:
    """Print the rates of three runs of CI, after each of three revisions.

    Those at an autocorrelation of 0.3 are stored for the note below a history's result.
    """
    print(f"Of {count} histories of {REVISIONS} revisions, in three further runs of CI, in %.\n")
    print("| autocorrelation | false alarms | falls of 5 % at 2 % noise that are found |")
    print("|---|---|---|")
    for phi in (0.0, 0.3):
        rng = np.random.default_rng([SEED, round(10 * phi), count])
        rows = 0.02 * simulate(REVISIONS + LOOKS, phi, count, rng)
        fall = math.log(0.95) * (np.arange(REVISIONS + LOOKS) >= REVISIONS)
        shares = {}
        for name, shifted in (("alarms", rows), ("found", rows + fall)):
            ends = range(REVISIONS + LOOKS, REVISIONS, -1)
            found = [any(virtperf_changes(y[:n])[0] for n in ends) for y in shifted]
            shares[name] = round(100 * float(np.mean(found)), 1)
        print(f"| {phi} | {shares['alarms']} | {shares['found']} |", flush=True)
    write_stored(json.loads(STORED.read_text()) | {WITHIN: shares})


def rates(count: int, names: Sequence[str]) -> None:
    """Print a Markdown table of rates, one row a kind of history."""
    used = tools(names)
    print(f"Of {count} histories of each kind, in %.\n")
    print("| autocorrelation | histories | question | " + " | ".join(used) + " |")
    print("|---|---|---" + "|---" * len(used) + "|")

    def row(phi: float, kind: str, question: str, answers: Mapping[str, Sequence[bool]]) -> None:
        shown = (
            f"{100 * float(np.mean(list(of))):.1f}" if len(of) else "" for of in answers.values()
        )
        print(f"| {phi} | {kind} | {question} | " + " | ".join(shown) + " |", flush=True)

    for phi in (0.0, 0.3):
        rng = np.random.default_rng([SEED, round(10 * phi)])
        noise = simulate(REVISIONS + LOOKS, phi, count, rng)

        def judge(rows: np.ndarray) -> dict[str, list[Found]]:
            return {name: [tool(y) for y in rows] for name, tool in used.items()}

        def look(rows: np.ndarray) -> list[dict[str, list[Found]]]:
            return [judge(rows[:, : REVISIONS + more]) for more in range(1, LOOKS + 1)]

        def within(seen: list[dict[str, list[Found]]]) -> dict[str, list[bool]]:
            return {
                name: [any(f[0] for f in of) for of in zip(*(s[name] for s in seen), strict=True)]
                for name in used
            }

        seen = look(0.02 * noise)
        alarms = {name: [f[0] for f in seen[-1][name]] for name in used}
        row(phi, "no change", "alarm in one run of CI", alarms)
        false = within(seen)
        row(phi, "no change", f"alarm in {LOOKS} runs of CI", false)
        listed = {name: [bool(f[1]) for f in seen[-1][name]] for name in used}
        row(phi, "no change", "a change is listed", listed)
        longer = 0.02 * simulate(2 * REVISIONS - 20, phi, max(count // 10, 20), rng)
        every = [judge(longer[:, :n]) for n in range(20, longer.shape[1])]
        row(phi, "no change", "alarm in 40 runs of CI", within(every))

        fallen = 0.02 * noise
        fallen[:, REVISIONS:] += math.log(0.95)
        seen = look(fallen)
        falls = within(seen)
        row(phi, "fall of 5 % at 2 % noise", f"found within {LOOKS} revisions", falls)
        for size, spread in ((0.05, 0.02), (0.10, 0.01)):
            for back in (1, 2, 3, 20):
                rows = spread * noise[:, :REVISIONS]
                at = REVISIONS - back
                rows = rows + math.log(1 - size) * (np.arange(REVISIONS) >= at)
                name_rows(
                    row, phi, f"-{size:.0%} at {spread:.0%} noise, {back} back", judge(rows), at
                )
        for place in (20, REVISIONS - 2):
            rows = 0.02 * noise[:, :REVISIONS]
            rows[:, place] += math.log(1.2)
            found = judge(rows)
            kind = f"one run +20 % at {place + 1} of 40, 2 % noise"
            alarms = {name: [f[0] for f in of] for name, of in found.items()}
            listed = {name: [bool(f[1]) for f in of] for name, of in found.items()}
            named = {name: [place in f[2] for f in of] for name, of in found.items()}
            row(phi, kind, "alarm", alarms)
            row(phi, kind, "a change is listed", listed)
            row(phi, kind, "the noisy revision is named", named)
        for total in (0.05, 0.10):
            rows = 0.02 * noise[:, :REVISIONS] + math.log(1 - total) * np.linspace(0, 1, REVISIONS)
            found = judge(rows)
            kind = f"drift of -{total:.0%}"
            row(
                phi,
                kind,
                "a step is listed",
                {k: [bool(f[1]) for f in of] for k, of in found.items()},
            )
        for n in range(6, 13):
            rows = 0.015 * noise[:, :n] + math.log(0.87) * (np.arange(n) >= n // 2)
            name_rows(row, phi, f"-13 % in the middle of {n}, 1.5 % noise", judge(rows), n // 2)
            clean = judge(0.015 * noise[:, :n])
            alarms = {name: [f[0] for f in of] for name, of in clean.items()}
            row(phi, f"no change in {n}", "alarm", alarms)
        for gap in (3, 4, 5):
            rows = 0.02 * noise[:, :REVISIONS]
            at = REVISIONS - 2
            rows[:, at - gap :] += math.log(0.85)
            rows[:, at:] += math.log(1.10)
            kind = f"+10 %, {gap} revisions after -15 %"
            name_rows(row, phi, kind, judge(rows), at)


def name_rows(
    row: Callable[..., None], phi: float, kind: str, found: dict[str, list[Found]], at: int
) -> None:
    """How often the step is found, and of those found how often it is named rightly."""
    last: dict[str, list[tuple[int, int, int] | None]] = {
        name: [min(f[1], key=lambda step: abs(step[0] - at)) if f[1] else None for f in of]
        for name, of in found.items()
    }
    row(phi, kind, "found", {name: [step is not None for step in of] for name, of in last.items()})
    seen = {name: [step for step in of if step] for name, of in last.items()}
    single = {name: [s == (at, at, at) for s in of] for name, of in seen.items()}
    named = {name: [s[1] <= at <= s[2] for s in of] for name, of in seen.items()}
    row(phi, kind, "of these: the named revisions hold it", named)
    row(phi, kind, "of these: named singly and rightly", single)


def labelled(folder: Path) -> None:
    """Print the mean F1 over the univariate series, of each tool and of no change at all."""
    labels = json.loads((folder / "annotations.json").read_text())
    used = {**tools(), "no change": lambda y: (False, [], [])}
    scores: dict[str, list[float]] = {name: [] for name in used}
    for path in sorted((folder / "datasets").glob("*/*.json")):
        series = json.loads(path.read_text())
        if series["n_dim"] != 1:
            continue
        raw = [math.nan if v is None else v for v in series["series"][0]["raw"]]
        values = np.array(raw, dtype=float)
        places = np.flatnonzero(np.isfinite(values))
        values = values[places]
        y = np.log(values) if values.min() > 0 else values / np.abs(values).max()
        for name, tool in used.items():
            found = [int(places[step[0]]) for step in tool(y)[1]]
            scores[name].append(f1(list(labels[series["name"]].values()), found))
    for name, of in scores.items():
        print(f"{name}: mean F1 {np.mean(of):.3f} of {len(of)} series")


def f1(labels: Sequence[Sequence[int]], found: Sequence[int]) -> float:
    """F1 of change points against several people's labels; 0 counts as a change of all."""
    people, points = [{0, *of} for of in labels], {0, *found}
    precision = len(_matched(set().union(*people), points)) / len(points)
    recall = float(np.mean([len(_matched(of, points)) / len(of) for of in people]))
    return 2 * precision * recall / (precision + recall)


def _matched(labels: set[int], found: set[int]) -> set[int]:
    left, matched = set(found), set()
    for label in sorted(labels):
        close = sorted((abs(label - at), at) for at in left if abs(label - at) <= MARGIN)
        if close:
            matched.add(label)
            left.remove(close[0][1])
    return matched


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["null"]:
            null()
        case ["labelled", folder]:
            labelled(Path(folder))
        case ["looks", *count]:
            looks(int(count[0]) if count else 1000)
        case ["rates"]:
            rates(200, ())
        case ["rates", count, *names]:
            rates(int(count), names)
        case _:
            raise SystemExit(__doc__)
