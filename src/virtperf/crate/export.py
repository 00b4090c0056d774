"""A repository's state as an RO-Crate 1.1: a folder of files with one that says what they are and
how they were made.

Whoever archives results needs a list of files with sizes and hashes, what each folder rests on, and
which command made what from what. All of it is known from git and from the stages; no library is
needed to write one JSON file.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rawperf.core.errors import VirtperfError
from rawperf.core.files import json_text
from rawperf.core.yamlio import load_yaml
from virtperf.core.paths import Layout
from virtperf.pipeline.stages import Stage, load_stages
from virtperf.verify.files import against_locks
from virtperf.verify.revisions import git

METADATA = "ro-crate-metadata.json"
LEFT_OUT = ("data/samples/*/*.parquet", "data/reconstructed/*/runs/*")
"""Outputs that are large, and that `virtperf reconstruct` and `virtperf ingest` write again."""
PROVENANCES = {
    "published": "Transcribed from a paper: tables, and claims of its text.",
    "measured": "Raw files as tools wrote them on a machine.",
    "reconstructed": "Computed from published claims alone. Never a measurement.",
}
_MEDIA = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".ipynb": "application/x-ipynb+json",
    ".json": "application/json",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".py": "text/x-python",
    ".svg": "image/svg+xml",
    ".yaml": "application/yaml",
    ".lock": "text/plain",
    ".txt": "text/plain",
}


@dataclass(frozen=True)
class Exported:
    """Number of files, their size in bytes, and what is missing or not as recorded."""

    files: int
    size: int
    warnings: tuple[str, ...]


def export(layout: Layout, out: Path, progress: Callable[[str], None] = lambda _: None) -> Exported:
    """Copy what git keeps and what the stages wrote into a new folder, and describe it.

    `.dvc` stays out, whose configuration may hold passwords; so do links, and `LEFT_OUT`.

    Raises
    ------
    VirtperfError
        The folder is not empty, or this is no git repository.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise VirtperfError("it is there already", file=out, expected="a new or an empty folder")
    root = layout.root.resolve()
    stages = load_stages(root)
    progress("listing files")
    made, missing = _outputs(root, stages)
    paths = sorted({*_kept(root), *made})
    warnings = [f"the crate has no {path}: `dvc repro` writes it" for path in missing]
    warnings += [f"{finding.path}: {finding.problem}" for finding in against_locks(root, stages)]
    out.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        entities, size = [], 0
        for path in paths:
            progress(path)
            target = fresh / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / path, target)
            target.chmod(0o755 if os.access(root / path, os.X_OK) else 0o644)
            entities.append(_file(path, target))
            size += target.stat().st_size
        (fresh / METADATA).write_text(
            json_text(_metadata(layout, root, stages, set(paths), entities, warnings))
        )
        fresh.chmod(0o755)
        if out.exists():
            out.rmdir()
        fresh.rename(out)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return Exported(len(paths), size, tuple(warnings))


def _git(root: Path, *arguments: str) -> str:
    said = git(root, *arguments)
    if said is None:
        raise VirtperfError("a crate is made of a git repository with a commit", file=root)
    return said


def _kept(root: Path) -> list[str]:
    names = [
        name
        for name in _git(root, "ls-files", "-z").split("\0")
        if name and not name.startswith(".dvc")
    ]
    return [name for name in names if (root / name).is_file() and not (root / name).is_symlink()]


def _outputs(root: Path, stages: list[Stage]) -> tuple[list[str], list[str]]:
    """The files that stages wrote, and the outputs that are not there."""
    made, missing = [], []
    for out in (out for stage in stages for out in stage.outs):
        path = root / out
        files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
        names = [p.relative_to(root) for p in files]
        made += [
            n.as_posix()
            for n in names
            if not any(p.match(left) for p in (n, *n.parents) for left in LEFT_OUT)
        ]
        if not path.exists():
            missing.append(out)
    return made, missing


def _file(path: str, copy: Path) -> dict[str, Any]:
    with copy.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    media = _MEDIA.get(copy.suffix, "application/octet-stream")
    return {
        "@id": path,
        "@type": "File",
        "contentSize": str(copy.stat().st_size),
        "sha256": digest,
        "encodingFormat": media,
    }


def _metadata(
    layout: Layout,
    root: Path,
    stages: list[Stage],
    paths: set[str],
    files: list[dict[str, Any]],
    warnings: list[str],
) -> dict[str, Any]:
    cited = load_yaml(root / "CITATION.cff").data
    commit, date = _git(root, "log", "-1", "--format=%H %cs").split()
    changed = bool(_git(root, "status", "--porcelain", "--untracked-files=no").strip())
    people = [
        {
            "@id": f"#author-{k}",
            "@type": "Person" if "family-names" in entry else "Organization",
            "name": " ".join(
                str(entry[part])
                for part in ("given-names", "family-names", "name")
                if part in entry
            ),
        }
        for k, entry in enumerate(cited.get("authors", ()), start=1)
    ]
    folders = [
        {"@id": f"data/{word}/", "@type": "Dataset", "name": word, "description": text}
        for word, text in PROVENANCES.items()
        if any(path.startswith(f"data/{word}/") for path in paths)
    ]
    papers = [
        _paper(layout, study) for study in layout.studies() if layout.published(study).is_dir()
    ]
    actions = [action for stage in stages if (action := _action(stage, paths)) is not None]
    description = f"{' '.join(str(cited.get('abstract', '')).split())} Commit {commit}"
    description += ", with changes that are not committed." if changed else "."
    whole: dict[str, Any] = {
        "@id": "./",
        "@type": "Dataset",
        "name": cited["title"],
        "description": "; ".join([description, *warnings]),
        "license": {"@id": f"https://spdx.org/licenses/{cited['license']}"},
        "datePublished": str(cited.get("date-released", date)),
        "author": _refs(people),
        "hasPart": _refs([*folders, *files]),
        "mentions": _refs(actions),
        "isBasedOn": _refs(papers),
    }
    about = {
        "@id": METADATA,
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
    }
    graph = [about, whole, *people, *papers, *folders, *actions, *files]
    return {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": graph}


def _paper(layout: Layout, study: str) -> dict[str, Any]:
    data = load_yaml(layout.definition(study) / "study.yaml").data
    source = json.dumps(data.get("bibliography", {}), ensure_ascii=False, default=str)
    name = str(data.get("title", study))
    return {"@id": f"#paper-{study}", "@type": "CreativeWork", "name": name, "description": source}


def _action(stage: Stage, paths: set[str]) -> dict[str, Any] | None:
    """Which command made which files from which; None where none of them is in the crate."""

    def inside(names: tuple[str, ...]) -> list[dict[str, str]]:
        return [
            {"@id": p}
            for name in names
            for p in sorted(paths)
            if p == name or p.startswith(f"{name}/")
        ]

    result = inside(stage.outs)
    if not result:
        return None
    commands = "; ".join(" ".join(command) for command in stage.commands)
    return {
        "@id": f"#run-{stage.study or 'all'}-{stage.name}",
        "@type": "CreateAction",
        "name": commands,
        "object": inside(tuple(dep for dep in stage.deps if not dep.startswith("src/"))),
        "result": result,
    }


def _refs(entities: list[dict[str, Any]]) -> list[dict[str, str]]:
    return [{"@id": entity["@id"]} for entity in entities]
