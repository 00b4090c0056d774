"""`python -m tests.oracle [STUDY ...]`: compare all ranges of papers with the oracle's."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from tests.oracle.compare import differences
from tests.oracle.statements import Paper

ROOT = Path(__file__).parents[2]


def main(studies: list[str]) -> int:
    wrong = 0
    folders = sorted(path.parent for path in ROOT.glob("data/published/*/claims.yaml"))
    for folder in folders:
        if studies and folder.name not in studies:
            continue
        begin = time.process_time()
        found, compared = differences(Paper(folder), ROOT / "data" / "reconstructed" / folder.name)
        seconds = time.process_time() - begin
        print(f"{folder.name}: {compared} ranges, {len(found)} differ, {seconds:.0f} s")
        print("".join(f"  {line}\n" for line in found), end="", flush=True)
        wrong += len(found)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
