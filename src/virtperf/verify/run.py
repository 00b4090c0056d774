"""Verifying and comparing, from places to an outcome."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from virtperf.core.errors import VirtperfError
from virtperf.core.paths import Layout
from virtperf.verify.agreement import findings
from virtperf.verify.outcome import Outcome, Side, compare_results
from virtperf.verify.record import packages, recorded
from virtperf.verify.replay import Progress, Task, copy_inputs, own_source, replay, stage_commands
from virtperf.verify.revisions import commit_id, export, head
from virtperf.verify.simulated import edited_runs
from virtperf.verify.stored import results
from virtperf.verify.tolerances import DEFAULTS, Tolerances, load_tolerances

HERE = "."
"""How the working tree is named as a revision."""
OWN, THIS = "its own", "the installed"
"""Whose package runs a replay."""


def tolerances_of(layout: Layout, file: Path | None) -> Tolerances:
    """The tolerances of that file, else of the repository's `tolerances.yaml`, else the package's own."""
    path = file or layout.root / "tolerances.yaml"
    return load_tolerances(path) if file or path.is_file() else DEFAULTS


def verify(
    layout: Layout, studies: Sequence[str], tolerances: Tolerances, *, against: str | None = None, jobs: int = 1,
    progress: Progress = lambda _: None,
) -> Outcome:  # fmt: skip
    """Replay studies from what people wrote, and compare with what is stored.

    Parameters
    ----------
    studies : sequence of str
        None: all.
    against : str, optional
        A revision, which is replayed with its own package, or a folder of results, in place of what is stored.
    jobs : int
        Studies that are replayed at the same time.

    Raises
    ------
    VirtperfError
        An unknown study or revision; a stage of a replay failed.
    """
    for study in studies:
        layout.known(study)
    chosen = list(studies) or layout.studies()
    with tempfile.TemporaryDirectory(prefix="virtperf-") as work:
        progress("copying inputs")
        place = Layout(Path(work) / "new")
        place.root.mkdir()
        copy_inputs(layout, place, chosen)
        new = _tree(layout, "replay of the working tree")
        old, old_place = Side("stored results"), layout
        if against is not None:
            old, old_place = _place(layout, against, Path(work) / "old", progress)
        replay([*_tasks(old, old_place, chosen), *_tasks(new, place, chosen)], progress, jobs=jobs)
        progress("comparing")
        return _outcome(layout, (old, old_place), (new, place), chosen, tolerances, documents=True)


def diff(
    layout: Layout, first: str, second: str, studies: Sequence[str], tolerances: Tolerances, *, jobs: int = 1,
    progress: Progress = lambda _: None,
) -> Outcome:  # fmt: skip
    """Compare the results of two revisions, each replayed from its own inputs by its own package.

    Parameters
    ----------
    first, second : str
        A revision, a folder of results (taken as it stands), or `HERE` for the working tree.
    studies : sequence of str
        None: all that either has.

    Raises
    ------
    VirtperfError
        An unknown study or revision; a stage of a replay failed.
    """
    with tempfile.TemporaryDirectory(prefix="virtperf-") as work:
        sides = [
            _place(layout, name, Path(work) / folder, progress) for name, folder in ((first, "old"), (second, "new"))
        ]
        there = sorted({study for _, place in sides for study in _studies(place)})
        for study in studies:
            if study not in there:
                raise VirtperfError(
                    f"neither {first} nor {second} has a study {study!r}",
                    expected=f"one of {', '.join(there) or 'none'}",
                )
        chosen = list(studies) or there
        replay([task for side, place in sides for task in _tasks(side, place, chosen)], progress, jobs=jobs)
        progress("comparing")
        return _outcome(layout, sides[0], sides[1], chosen, tolerances, documents=False)


def _place(layout: Layout, name: str, folder: Path, progress: Progress) -> tuple[Side, Layout]:
    """A place by its name, with its inputs; results where it is a folder of them."""
    path = Path(name)
    if path.is_dir() and path.resolve() == layout.root.resolve():
        progress("copying the working tree")
        folder.mkdir()
        place = Layout(folder)
        copy_inputs(layout, place, layout.studies())
        return _tree(layout, "working tree"), place
    written_as_path = os.sep in name or name.startswith(".")
    if path.is_dir() and (written_as_path or commit_id(layout.root, name) is None):
        if not any((path / part).is_dir() for part in ("data", "build", "reports")):
            raise VirtperfError("this folder holds no results", file=name, expected="data, build or reports in it")
        return Side(f"folder {path.resolve().name}"), Layout(path)
    progress(f"reading revision {name}")
    folder.mkdir()
    commit, source = export(layout.root, name, folder)
    return Side(f"revision {name}", commit, package=OWN if source != own_source() else THIS), Layout(folder)


def _tree(layout: Layout, name: str) -> Side:
    where = head(layout.root)
    return Side(name, where.id if where else "", where.changed if where else False, package=THIS)


def _studies(place: Layout) -> list[str]:
    """Studies that are defined in a place, and those of which it has results only."""
    return sorted({*place.studies(), *(path.stem for path in (place.root / "build").glob("*.ipynb"))})


def _tasks(side: Side, place: Layout, studies: Sequence[str]) -> list[Task]:
    """What has to be replayed in a place; nothing in a folder of results."""
    source = place.root / "src" if side.package == OWN else own_source()
    there = place.studies() if side.package else []
    label = f"{side.name}, " if side.name.startswith("revision") else ""
    return [Task(place, study, source, label) for study in studies if study in there]


def _outcome(
    layout: Layout, old: tuple[Side, Layout], new: tuple[Side, Layout], studies: Sequence[str],
    tolerances: Tolerances, *, documents: bool,
) -> Outcome:  # fmt: skip
    """Compare two places; `documents`: check those that are stored, and the bytes that DVC has recorded."""
    found, problems = [], []
    for study in studies:
        before = results(old[1], study)
        found.append(compare_results(before, results(new[1], study), tolerances))
        if documents and not old[0].package:
            problems += findings(before) + edited_runs(old[1], new[1], before)
    commands = tuple(command for command, *_ in stage_commands(new[1].root))
    bytes_ = recorded(layout.root, new[1].root, studies, commands) if documents else []
    return Outcome(
        old[0], new[0], tuple(found), tuple(problems), tuple(bytes_), tuple(packages(layout.root)), commands, tolerances
    )
