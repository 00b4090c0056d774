"""Folders in which a tool keeps the results of a run beside other files: MMTests, lkp-tests and
Criterion.rs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path, PurePath

_ITERATION = re.compile(r"iter-\d+")
_STATISTICS_FILE = "stats.json"
_SAMPLE = ("new", "sample.json")
"""Folder and file of Criterion's newest samples of a benchmark; `base` and others hold earlier ones."""
_DEPTHS = range(1, 5)  # group, function and parameter, or less, are folders of Criterion
_LOOKED_AT = 10


def result_files(names: Sequence[str]) -> list[str]:
    """Of the files of a run, those with its results: all, or what lkp-tests or Criterion made last."""
    if _STATISTICS_FILE in names:
        return [_STATISTICS_FILE]
    return [name for name in names if PurePath(name).parts[-2:] == _SAMPLE] or [*names]


def is_run_of_suite(path: Path) -> bool:
    """Whether a path is an iteration of MMTests, or a folder with the statistics of lkp-tests."""
    return path.is_dir() and bool(
        _ITERATION.fullmatch(path.name) or (path / _STATISTICS_FILE).is_file()
    )


def is_criterion_folder(folder: Path) -> bool:
    """Whether a folder is that of Criterion's benchmarks (``target/criterion``), under any name."""
    for depth in _DEPTHS:
        for sample in islice(folder.glob("/".join(["*"] * depth + [*_SAMPLE])), _LOOKED_AT):
            from rawperf.results.criterion import benchmark_folder

            place = sample.parents[1].relative_to(folder)
            if benchmark_folder(sample) == place.as_posix():
                return True
    return False
