"""Fuzzing of every reader with more mutants than the tests: `python tools/benchmarks/fuzz.py [INPUTS]
[FORMAT ...]`.

Mutations and seed are those of tests/rawperf/test_fuzz.py: input n of a format is the same on
every machine. Each must give a reading or a `FormatError` with the file and, if any, an existing
line, within a second, without other exceptions or warnings. Failures are printed with their
number, and the exit status is 1.
"""

import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from rawperf import Format, all_formats
from tests.rawperf.mutations import mutant
from tests.rawperf.seeds import SEEDS
from tests.rawperf.trial import TooSlow, trial

INPUTS = 100_000
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
        found.read += reading is not None
        found.refused += reading is None
        found.slowest = max(found.slowest, seconds)
    found.seconds = time.process_time() - begin
    return found


def main() -> int:
    """Print one row per format."""
    inputs = int(sys.argv[1]) if len(sys.argv) > 1 else INPUTS
    names = sys.argv[2:] or [name for name in all_formats() if name in SEEDS]
    print("| format | inputs | readings | named errors | failures | seconds | slowest, ms |")
    print("|---|---|---|---|---|---|---|", flush=True)
    failed = 0
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
