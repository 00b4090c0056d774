"""A study as an RO-Crate: its files with a description of each in JSON-LD, in one zip file or folder.

The metadata follow RO-Crate 1.1 (https://w3id.org/ro/crate/1.1). They are plain JSON, written here: a
library would be one more pinned package, and a stage depends on all of them.
"""

from __future__ import annotations

import datetime
import mimetypes
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rawperf.core.errors import RawperfError
from rawperf.core.files import hash_file, json_text, replace_file, replace_folder
from rawperf.core.yamlio import load_yaml
from virtperf.core.archives import write_zip
from virtperf.core.git import git_text
from virtperf.core.paths import Layout
from virtperf.study.definition import Study, load_study

METADATA = "ro-crate-metadata.json"
SPECIFICATION = "https://w3id.org/ro/crate/1.1"
CONTEXT = f"{SPECIFICATION}/context"
CITATION, LICENCE = "CITATION.cff", "LICENSE"
_TYPES = {
    ".parquet": "application/vnd.apache.parquet",
    ".yaml": "application/yaml",
    ".ipynb": "application/x-ipynb+json",
    ".md": "text/markdown",
    ".cff": "application/yaml",
    ".csv": "text/csv",
    ".json": "application/json",
    ".html": "text/html",
}


@dataclass(frozen=True)
class Part:
    """Files of one kind in a crate: their folder or file below the root, and its description."""

    path: Path
    name: str
    required: bool = False


def export_study(layout: Layout, study_id: str, out: Path, date: str = "") -> int:
    """Write a study with its results as an RO-Crate; returns the number of its files.

    Parameters
    ----------
    out : Path
        A zip file, or a folder that does not exist.
    date : str, optional
        Date of publication, YYYY-MM-DD; default: that of the last commit.

    Raises
    ------
    RawperfError
        An unknown study, no report of it, a date of another form, no date, an existing folder.
    """
    study = load_study(layout.known(study_id))
    files = dict(_files(layout, study_id))
    published = _date(layout, date)
    citation = load_yaml(layout.root / CITATION).data
    graph = _graph(layout, study, files, citation, published)
    metadata = json_text({"@context": CONTEXT, "@graph": graph}).encode()
    if out.suffix == ".zip":
        with replace_file(out) as stream:
            write_zip(stream, _contents(files, metadata))
    else:
        _write_folder(out, files, metadata)
    return len(files)


def parts(layout: Layout, study_id: str) -> list[Part]:
    """What belongs to a study, from raw runs to the report."""
    root = layout.root
    return [
        Part(layout.published(study_id), "Definition of the study and the paper's claims"),
        Part(layout.measured(study_id), "Raw runs: the tools' own files, and run.yaml of each"),
        Part(root / "testbeds" / study_id, "How the runs were measured or imported"),
        Part(layout.reconstructed(study_id), "Tables: what the text of the paper allows"),
        Part(layout.runs(study_id), "Tables: steady-state means of the runs", required=True),
        Part(layout.verdicts(study_id), "Tables: claims judged by the runs", required=True),
        Part(layout.notebook(study_id), "Notebook of the report", required=True),
        Part(layout.report(study_id), "Report", required=True),
        Part(root / "reports" / f"claims-{study_id}.html", "All claims of the study"),
        Part(root / "reports" / f"data-{study_id}.html", "Runs, their quality and traces"),
        Part(layout.key_numbers(study_id), "Key numbers"),
        Part(layout.key_numbers(study_id).with_suffix(".csv"), "Key numbers as a table"),
        Part(root / LICENCE, "Licence of the definitions, the code and the report", required=True),
        Part(root / CITATION, "How to cite", required=True),
    ]


def _files(layout: Layout, study_id: str) -> Iterator[tuple[str, tuple[Path, str]]]:
    """Files by their path in the crate, with the description of their part."""
    for part in parts(layout, study_id):
        if part.path.is_file():
            found = [part.path]
        else:
            found = sorted(p for p in part.path.rglob("*") if p.is_file() and not p.is_symlink())
        if part.required and not found:
            raise RawperfError(
                f"{part.name.lower()}: nothing to export",
                file=part.path.relative_to(layout.root),
                remedy=f"run `virtperf pipeline {study_id}` first",
            )
        for path in found:
            relative = path.relative_to(layout.root)
            if not any(name.startswith((".", "__")) for name in relative.parts):
                yield relative.as_posix(), (path, part.name)


def _date(layout: Layout, date: str) -> str:
    if not date:
        date = (git_text(layout.root, "log", "-1", "--format=%cs") or "").strip()
    try:
        return datetime.date.fromisoformat(date).isoformat()
    except ValueError:
        raise RawperfError(
            "no date of publication",
            expected="YYYY-MM-DD",
            found=date or None,
            remedy="give it by --date",
        ) from None


def _graph(
    layout: Layout,
    study: Study,
    files: Mapping[str, tuple[Path, str]],
    citation: Mapping[str, Any],
    date: str,
) -> list[dict[str, Any]]:
    licence, licences = _licences(study, files, citation)
    authors = [
        {"@id": f"#author-{n}", "@type": "Organization", "name": str(author["name"])}
        for n, author in enumerate(citation.get("authors", ()), start=1)
        if author.get("name")
    ]
    paper = _paper(study)
    root: dict[str, Any] = {
        "@id": "./",
        "@type": "Dataset",
        "name": study.title,
        "description": study.summary or study.question or study.title,
        "datePublished": date,
        "license": {"@id": licence},
        "creator": [{"@id": author["@id"]} for author in authors],
        "hasPart": [{"@id": _address(name)} for name in files],
        "mainEntity": {
            "@id": _address(layout.report(study.id).relative_to(layout.root).as_posix())
        },
    }
    if paper:
        root["citation"] = {"@id": paper["@id"]}
    descriptor = {
        "@id": METADATA,
        "@type": "CreativeWork",
        "conformsTo": {"@id": SPECIFICATION},
        "about": {"@id": "./"},
    }
    raw_licence = f"data/measured/{study.id}/{LICENCE}"
    entities = [_entity(name, path, words) for name, (path, words) in files.items()]
    if raw_licence in files:
        for entity in entities:
            if entity["@id"].startswith(f"data/measured/{study.id}/"):
                entity["license"] = {"@id": _address(raw_licence)}
    return [descriptor, root, *entities, *licences, *authors, *([paper] if paper else [])]


def _entity(name: str, path: Path, words: str) -> dict[str, Any]:
    guessed = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]
    digest, size = hash_file(path)
    return {
        "@id": _address(name),
        "@type": "File",
        "name": name,
        "description": words,
        "encodingFormat": guessed or "text/plain",
        "contentSize": str(size),
        "sha256": digest,
    }


def _address(name: str) -> str:
    """The path as a relative URI."""
    return quote(name, safe="/-._~")


def _licences(
    study: Study, files: Mapping[str, tuple[Path, str]], citation: Mapping[str, Any]
) -> tuple[str, list[dict[str, Any]]]:
    """The address of the crate's licence, and the entities of it."""
    name = str(citation.get("license", ""))
    if not name:
        return LICENCE, []
    address = f"https://spdx.org/licenses/{name}"
    words = f"{LICENCE} has its text."
    if study.artifact is not None:
        words += f" The raw runs have a licence of their own: {study.artifact.licence}."
    return address, [
        {
            "@id": address,
            "@type": "CreativeWork",
            "name": name,
            "description": words,
            "url": address,
        }
    ]


def _paper(study: Study) -> dict[str, Any] | None:
    """The paper whose claims the study tests, as far as the bibliography names it."""
    facts = {name: str(value) for name, value in study.bibliography.items()}
    name = facts.get("paper") or facts.get("title")
    if not name:
        return None
    words = "; ".join(f"{key}: {value}" for key, value in facts.items())
    return {"@id": "#paper", "@type": "ScholarlyArticle", "name": name, "description": words}


def _write_folder(out: Path, files: Mapping[str, tuple[Path, str]], metadata: bytes) -> None:
    if out.exists():
        raise RawperfError("already exists", file=out, remedy="choose another folder")
    with replace_folder(out) as fresh:
        for name, content in _contents(files, metadata):
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            (fresh / name).write_bytes(content)


def _contents(
    files: Mapping[str, tuple[Path, str]], metadata: bytes
) -> Iterator[tuple[str, bytes]]:
    yield METADATA, metadata
    for name, (path, _) in files.items():
        yield name, path.read_bytes()
