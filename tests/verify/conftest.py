"""A repository with one new study, its results stored and recorded as DVC would; replays copy results of a folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from virtperf.core.paths import Layout
from virtperf.core.turn import turn
from virtperf.pipeline.stages import load_stages
from virtperf.study.new.write import write_study
from virtperf.verify.compare import DEFAULTS
from virtperf.verify.files import facts
from virtperf.verify.outcome import Outcome
from virtperf.verify.replay import Place, own_source, run_stages
from virtperf.verify.run import verify

OUTS = (
    "data/reconstructed",
    "data/samples",
    "data/runs",
    "data/verdicts",
    "build",
    "reports",
    "metrics",
)


def record(root: Path) -> None:
    """Write every dvc.lock as DVC would."""
    made: dict[Path, dict[str, object]] = {}
    for stage in load_stages(root):
        entries = {
            part: [
                {"path": p, "hash": "md5", **facts(root / p)} for p in paths if (root / p).exists()
            ]
            for part, paths in (
                ("deps", [d for d in stage.deps if not d.startswith("src")]),
                ("outs", stage.outs),
            )
        }
        made.setdefault(stage.file.with_suffix(".lock"), {})[stage.name] = {
            "cmd": "virtperf",
            **entries,
        }
    for path, stages in made.items():
        path.write_text(yaml.safe_dump({"schema": "2.0", "stages": stages}, sort_keys=False))


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """The repository with the results of all stages, made once; tests copy it, those of other folders too."""
    base = tmp_path_factory.getbasetemp()
    folder = (
        base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    ) / "verify"  # one for all workers
    with turn(folder / "lock", str, lambda _: None):
        if not (folder / "stored").exists():
            _make(folder / "making", root)
            (folder / "making").rename(folder / "stored")
    return folder / "stored"


def _make(place: Path, root: Path) -> None:
    (place / "data" / "published").mkdir(parents=True)
    shutil.copy(root / "data" / "metrics.yaml", place / "data")
    shutil.copy(root / "params.yaml", place)
    (place / "dvc.yaml").write_text("stages: {}\n")
    write_study(Layout(place), "toy", "A toy")
    run_stages(Place("toy", place, own_source()), "toy", lambda _: None)
    shutil.copy(place / "build" / "toy.ipynb", place / "notebooks" / "toy.ipynb")
    record(place)


@pytest.fixture
def repository(stored: Path, tmp_path: Path) -> Path:
    """A copy of it on which a test may do damage."""
    return Path(shutil.copytree(stored, tmp_path / "repository"))


@pytest.fixture
def replays(stored: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Replay by copying the results of a folder; without a call those of `stored`."""

    def as_in(folder: Path) -> None:
        def copied(place: Place, study: str, progress: object) -> None:
            for part in OUTS if study else ():
                shutil.copytree(folder / part, place.root / part, dirs_exist_ok=True)

        monkeypatch.setattr("virtperf.verify.replay.run_stages", copied)

    as_in(stored)
    return as_in


@pytest.fixture
def outcome(repository: Path, replays: object) -> Callable[[], Outcome]:
    """Verify the repository as it stands."""
    return lambda: verify(Layout(repository), [], DEFAULTS)
