"""Fuzzing of every reader with more mutants than the tests: `python tools/benchmarks/fuzz.py [INPUTS]
[FORMAT ...]`.

Mutations and seed are those of tests/rawperf/test_fuzz.py: input n of a format is the same on
every machine. Each must give a reading or a `FormatError` with the file and, if any, an existing
line, within a second, without other exceptions or warnings. Failures are printed with their
number, and the exit status is 1. So it is with long lines, which are made up.
"""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from rawperf import Format, all_formats, sniff
from rawperf.core.errors import FormatError
from rawperf.text import parse_numbers
from tests.rawperf.declared.declaring import read
from tests.rawperf.declared.test_columns import DRIVER
from tests.rawperf.mutations import mutant
from tests.rawperf.seeds import SEEDS
from tests.rawperf.trial import TooSlow, trial

INPUTS = 100_000
SECONDS = 1.0
"""Processor time that a reader may take for a file of a few hundred kilobytes."""
SHOWN = 10
"""Maximum number of failures printed per format."""


@dataclass
class Tally:
    """Results for the inputs of one format; seconds are CPU time."""

    inputs: int = 0
    read: int = 0
    refused: int = 0
    failed: int = 0
    slowest: float = 0.0
    seconds: float = 0.0


def fuzz(form: Format, inputs: int) -> Tally:
    """Read that many mutants of a format."""
    found = Tally()
    begin = time.process_time()
    for number in range(inputs):
        data, history = mutant(SEEDS[form.name], number)
        found.inputs += 1
        try:
            reading, seconds = trial(form, data)
        except (Exception, TooSlow) as error:
            found.failed += 1
            if found.failed <= SHOWN:
                print(
                    f"{form.name} {number} ({history}): {type(error).__name__}: {error}", flush=True
                )
            continue
        if seconds > SECONDS:
            found.failed += 1
            print(f"{form.name} {number} ({history}): {seconds:.1f} s", flush=True)
        found.read += reading is not None
        found.refused += reading is None
        found.slowest = max(found.slowest, seconds)
    found.seconds = time.process_time() - begin
    return found


def long_lines() -> int:
    """Read texts for which an algorithm may need the square of their length; returns failures."""
    wide = {kind: ",".join(kind.format(n) for n in range(50_000)) for kind in ("x", "x{}")}
    cases: dict[str, Callable[[], object]] = {
        f"heading of {kind}": partial(read, DRIVER, f"{text}\n1\n") for kind, text in wide.items()
    }
    cases["heading without end"] = partial(read, DRIVER, "x" * 1_000_000)
    cases["row without end"] = partial(read, DRIVER, "time,host,tps\n1,a,2\n" + "x" * 1_000_000)
    for end in ("x", ".x", "e", "."):
        cases[f"digits, then {end}"] = partial(parse_numbers, ["9" * 200_000 + end])
    for part in (b"\n", b" ", b"Linux a (\n", b"1", b"a;", b"#\t"):
        cases[f"head of {part!r}"] = partial(sniff, part * (8192 // len(part)))
    failed = 0
    for name, call in cases.items():
        begin = time.process_time()
        with suppress(FormatError):
            call()
        seconds = time.process_time() - begin
        if seconds > SECONDS:
            failed += 1
            print(f"{name}: {seconds:.1f} s", flush=True)
    return failed


def main() -> int:
    """Print one row per format."""
    inputs = int(sys.argv[1]) if len(sys.argv) > 1 else INPUTS
    names = sys.argv[2:] or [name for name in all_formats() if name in SEEDS]
    print("| format | inputs | readings | named errors | failures | seconds | slowest, ms |")
    print("|---|---|---|---|---|---|---|", flush=True)
    failed = long_lines()
    for name in names:
        t = fuzz(all_formats()[name], inputs)
        failed += t.failed
        print(
            f"| {name} | {t.inputs:,} | {t.read:,} | {t.refused:,} | {t.failed} | {t.seconds:.0f} "
            f"| {1000 * t.slowest:.0f} |",
            flush=True,
        )
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
