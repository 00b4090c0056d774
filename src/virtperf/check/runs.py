"""People's runs below `data/measured/<study>`: every `run.yaml`, without reading the raw files, and `measure.yaml`."""

from __future__ import annotations

from pathlib import Path

from virtperf.check.problems import Problems
from virtperf.core.errors import RunError
from virtperf.ingest.folder import raw_files, run_folders
from virtperf.ingest.runs import load_run
from virtperf.measure.definition import FILE
from virtperf.measure.plan import load_definition
from virtperf.study.definition import Study


def check_runs(root: Path, study: Study, problems: Problems) -> int:
    """Check all run folders of a study; returns how many there are."""
    if not root.is_dir():
        problems.say(
            "the folder for measured runs is missing", root, remedy="make it, with a README.md so that git keeps it"
        )
        return 0
    if (root / FILE).is_file():
        with problems.caught(root):
            load_definition(root / FILE, study, problems.of(root))
    folders = run_folders(root)
    for folder in folders:
        try:
            load_run(folder, study, "measured", raw_files(folder), problems.of(root))
        except RunError as err:
            problems.of(root)(err)
        except OSError as err:
            problems.say(f"the run can't be read: {err.strerror}", folder)
    return len(folders)
