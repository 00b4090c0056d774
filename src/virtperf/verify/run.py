"""Verifying and comparing, from places to an outcome."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from rawperf.core.errors import VirtperfError
from virtperf.core.paths import Layout
from virtperf.report.html.notebooks import left_out, read_notebook, records_of
from virtperf.report.records import Record
from virtperf.verify.compare import DEFAULTS, Change, Tolerances, compare_all, load_tolerances
from virtperf.verify.files import Finding, against_locks, compare_files
from virtperf.verify.items import KEYS, Item, record_items, table_items
from virtperf.verify.outcome import Outcome, packages
from virtperf.verify.replay import Place, Progress, copy_inputs, own_source, replay, studies_of
from virtperf.verify.revisions import revision

FOLDERS = ("reconstructed", "runs", "verdicts")
"""Folders below data/ with the stages' tables."""


def tolerances_of(layout: Layout, file: Path | None) -> Tolerances:
    """The tolerances of that file, else of the repository's `tolerances.yaml`, else the package's
    own.
    """
    path = file or layout.root / "tolerances.yaml"
    return load_tolerances(path) if file or path.is_file() else DEFAULTS


def verify(
    layout: Layout,
    studies: Sequence[str],
    tolerances: Tolerances,
    *,
    against: str = "",
    jobs: int = 1,
    progress: Progress = lambda _: None,
) -> Outcome:
    """Replay studies (none: all) from what people wrote, `jobs` at the same time, and compare with
    what is stored.

    Parameters
    ----------
    against : str
        A revision, which is replayed with its own package, or a folder of results, in place of what
        is stored.

    Raises
    ------
    VirtperfError
        An unknown study or revision; a stage of a replay failed.
    """
    for study in studies:
        layout.known(study)
    chosen = list(studies) or layout.studies()
    with ExitStack() as open_:
        work = Path(open_.enter_context(tempfile.TemporaryDirectory(prefix="virtperf-")))
        new = _working_tree(layout, work / "new", chosen, progress)
        old = (
            _place(layout, against, work / "old", open_, progress)
            if against
            else Place("stored results", layout.root)
        )
        replay([old, new], chosen, progress, jobs=jobs)
        progress("comparing")
        findings = _stale_notebooks(layout, new, chosen, tolerances)
        if not against:
            findings += against_locks(layout.root, old.stages(chosen))
        return _outcome(layout, old, new, chosen, tolerances, findings)


def diff(
    layout: Layout,
    first: str,
    second: str,
    studies: Sequence[str],
    tolerances: Tolerances,
    *,
    jobs: int = 1,
    progress: Progress = lambda _: None,
) -> Outcome:
    """Compare the results of two revisions, each replayed from its own inputs by its own package.

    Parameters
    ----------
    first, second : str
        A revision, a folder of results (taken as it stands), or ``.`` for the working tree.
    studies : sequence of str
        None: all that either has; `jobs` of them are replayed at the same time.

    Raises
    ------
    VirtperfError
        An unknown study or revision; a stage of a replay failed.
    """
    with ExitStack() as open_:
        work = Path(open_.enter_context(tempfile.TemporaryDirectory(prefix="virtperf-")))
        old, new = (
            _place(layout, name, work / folder, open_, progress)
            for name, folder in ((first, "old"), (second, "new"))
        )
        there = sorted({*studies_of(old.root), *studies_of(new.root)})
        for study in studies:
            if study not in there:
                raise VirtperfError(
                    f"neither {first} nor {second} has a study {study!r}",
                    expected=f"one of {', '.join(there) or 'none'}",
                )
        chosen = list(studies) or there
        replay([old, new], chosen, progress, jobs=jobs)
        progress("comparing")
        return _outcome(layout, old, new, chosen, tolerances, [])


def _working_tree(
    layout: Layout, folder: Path, studies: Sequence[str], progress: Progress
) -> Place:
    progress("copying inputs")
    folder.mkdir()
    copy_inputs(layout.root, folder, studies)
    return Place("working tree", folder, own_source())


def _place(layout: Layout, name: str, folder: Path, open_: ExitStack, progress: Progress) -> Place:
    """A place by its name, with its inputs; results where it is a folder of them."""
    path = Path(name)
    if name == "." or (path.is_dir() and path.resolve() == layout.root.resolve()):
        return _working_tree(layout, folder, studies_of(layout.root), progress)
    if path.is_dir() and (os.sep in name or name.startswith(".")):
        if not any((path / part).is_dir() for part in ("data", "build", "reports")):
            raise VirtperfError(
                "this folder holds no results", file=name, expected="data, build or reports in it"
            )
        return Place(f"folder {path.resolve().name}", path)
    progress(f"reading revision {name}")
    return open_.enter_context(revision(layout.root, name, folder))


def _outcome(
    layout: Layout,
    old: Place,
    new: Place,
    studies: Sequence[str],
    tolerances: Tolerances,
    findings: list[Finding],
) -> Outcome:
    changes = {study: _changes(old, new, study, tolerances) for study in studies}
    found = [
        {stage.name + stage.study: stage for stage in place.stages(studies)} for place in (old, new)
    ]
    # Pages over all studies are compared where both places have made them of the same studies.
    stages = [
        s
        for name, s in (found[0] | found[1]).items()
        if s.study or all(name in place for place in found)
    ]
    if old.source or any((old.root / out).exists() for stage in stages for out in stage.outs):
        files = compare_files(old.root, new.root, stages, tolerances)
    else:
        files = []  # a fresh clone, where the notebooks' outputs are all that is stored
    return Outcome(old, new, changes, files, findings, packages(layout.root), tolerances)


def _changes(old: Place, new: Place, study: str, tolerances: Tolerances) -> list[Change]:
    tables = [_items(place.root, study) for place in (old, new)]
    records = [record_items(_records(place.root, study)) for place in (old, new)]
    if not Layout(old.root).executed(study).is_file():
        records[1] = _kept(Layout(old.root).notebook(study), *records)
    if not tables[0] and old.source is None:
        tables[1] = []
    return [
        change
        for before, now in (tables, records)
        for change in compare_all(before, now, tolerances)
    ]


def _items(root: Path, study: str) -> list[Item]:
    paths = [root / "data" / folder / study / name for folder in FOLDERS for name in KEYS]
    return [item for path in paths if path.is_file() for item in table_items(path)]


def _records(root: Path, study: str) -> list[Record]:
    """The records of the executed notebook, else of the notebook as it is kept with the code."""
    layout = Layout(root)
    return records_of(layout.executed(study)) or records_of(layout.notebook(study))


def _kept(notebook: Path, kept: list[Item], now: list[Item]) -> list[Item]:
    """Of a notebook with cells whose outputs it does not keep: the items of those exhibits that it
    keeps.
    """
    if not notebook.is_file() or not any(map(left_out, read_notebook(notebook).cells)):
        return now
    places = {item.place for item in kept}
    return [item for item in now if item.place in places]


def _stale_notebooks(
    layout: Layout, new: Place, studies: Sequence[str], tolerances: Tolerances
) -> list[Finding]:
    """Notebooks whose kept outputs are not those of the replay."""
    found = []
    for study in studies:
        path = layout.notebook(study)
        kept = record_items(records_of(path))
        now = _kept(path, kept, record_items(records_of(Layout(new.root).executed(study))))
        changed = dict.fromkeys(
            c.item.place for c in compare_all(kept, now, tolerances) if not c.agrees
        )
        if kept and changed:
            name = path.relative_to(layout.root).as_posix()
            found.append(
                Finding(
                    name,
                    f"it shows older outputs of {', '.join(changed)}; `make notebooks` renews them",
                )
            )
    return found
