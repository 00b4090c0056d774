"""How long stages took when they last ran here, and what that says of a run to come."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from rawperf.core.files import json_text, write_atomically

TIMES_FILE = Path(".dvc", "tmp", "virtperf-times.json")


class StageTimes:
    """Seconds by study and stage, kept between runs; a file that can't be read counts as none."""

    def __init__(self, root: Path) -> None:
        self._file = root / TIMES_FILE
        self._seconds: dict[str, float] = {}
        try:
            read = json.loads(self._file.read_bytes())
            self._seconds = {str(name): float(value) for name, value in read.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            pass

    def expected_s(self, study: str, stage: str) -> float | None:
        """Seconds of its last run; None where it has not run here."""
        return self._seconds.get(f"{study}/{stage}")

    def took(self, study: str, stage: str, seconds: float) -> None:
        """Remember how long a stage took."""
        self._seconds[f"{study}/{stage}"] = round(seconds, 1)

    def save(self) -> None:
        """Write what is remembered for the next run."""
        write_atomically(self._file, json_text(dict(sorted(self._seconds.items()))))

    def forecast(self, stages: Mapping[str, Sequence[str]], jobs: int, last: str = "") -> str:
        """What will run and for how long, in words.

        Parameters
        ----------
        stages : mapping of str to sequence of str
            The stages that will run, by study.
        jobs : int
            Studies that run at the same time.
        last : str, optional
            What runs after all others.
        """
        known, unknown = {}, 0
        for study, names in stages.items():
            seconds = [self.expected_s(study, name) for name in names]
            known[study] = sum(value for value in seconds if value is not None)
            unknown += seconds.count(None)
        after = known.pop(last, 0.0)
        side_by_side = max(max(known.values(), default=0.0), sum(known.values()) / jobs)
        names = ", ".join(f"{study} ({', '.join(stages[study])})" for study in stages)
        count = f"{unknown} stage{'' if unknown == 1 else 's'}"
        if unknown == sum(map(len, stages.values())):
            return f"to run: {names}; {count} that never ran here"
        about = f"about {side_by_side + after:.0f} s, as last time"
        never = f", without {count} that never ran here" if unknown else ""
        return f"to run: {names}; {about}{never}"
