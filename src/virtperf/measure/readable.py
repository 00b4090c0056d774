"""A run read as soon as it was measured, by the code of the stage `runs`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rawperf.core.errors import RawperfError
from virtperf.runs.one_run import Preview, preview
from virtperf.runs.summarize.audits import RESPONSE_TIME_LAW
from virtperf.study.definition import Study

LEVEL = 0.95


@dataclass(frozen=True)
class Readability:
    """Why a run can't be used, and warnings about files of a run that can be."""

    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def readability(study: Study, folder: Path, metrics: Path) -> Readability:
    """Read a run folder, and compute the quantities of its study.

    A run is not readable if the stage would quarantine it, if it has none of the study's
    quantities, if a file of a known format has warnings and no sample within the window, or if its
    clients, throughput, response and think times contradict the response-time law.

    Parameters
    ----------
    metrics : Path
        The metric dictionary.
    """
    try:
        read = preview(study, folder, metrics, level=LEVEL)
    except RawperfError as err:
        return Readability((str(err),))
    except OSError:
        raise
    except Exception as err:  # a bug in a reader must not end a night of measurements
        return Readability((f"{type(err).__name__}: {err}",))
    return _files_without_data(read)


def _files_without_data(read: Preview) -> Readability:
    t, window = read.samples["t_s"], read.run["window_s"]
    inside = t.isna() | t.between(*window) if window else t.notna() | t.isna()
    with_data = set(read.samples["file"][inside])
    law = read.audits[read.audits["audit"] == RESPONSE_TIME_LAW]
    problems = [
        f"the response-time law does not hold: {row.value:.4g} clients by throughput, response and "
        f"think time, {row.expected:g} in run.yaml"
        for row in law.itertuples()
    ]
    remarks: list[str] = []
    for file in read.run["files"]:
        lost = file["format"] is not None and file["path"] not in with_data
        messages = problems if lost else remarks
        messages += [f"{file['path']}: {warning}" for warning in file["warnings"]]
    return Readability(tuple(problems), tuple(remarks))
