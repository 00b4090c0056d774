"""What a crate says of its parts: provenances, folders, media types."""

from __future__ import annotations

from pathlib import PurePosixPath

PROVENANCES = {
    "published": "Printed in a paper: a cell of a table, a number or a statement in its text.",
    "reconstructed": "Computed from published statements alone: what they allow, and run folders simulated around the "
    "centre of it. Never a measurement.",
    "measured": "Read from raw files that a tool wrote on a real machine. Only measured runs reproduce or refute a "
    "claim.",
}
"""The three ways in which a value came about; every table of results keeps the word in each row."""

_FOLDERS = {
    "published": "What the paper prints, written down by hand: definition of the study, claims, tables.",
    "measured": "Run folders that people added: raw files as the tools wrote them, with a run.yaml each.",
    "reconstructed": "What the text implies: limits and centre of every plotted point, each claim left out in turn, "
    "contradictions. The simulated run folders are not in the crate; `virtperf reconstruct` writes them again.",
    "samples": "Index of all raw files with their hashes, and of runs that could not be read. The samples themselves "
    "are not in the crate; `virtperf ingest` writes them again.",
    "runs": "Steady-state means of every run, the study's quantities, audits; each row says whether its run was "
    "measured or reconstructed.",
    "verdicts": "The verdict on every claim: of the paper's own text, and of measured runs.",
    "notebooks": "Notebooks as people edit them.",
    "build": "Notebooks as the pipeline executed them.",
    "reports": "Rendered pages: one report a study, and the site's pages.",
    "src": "The package that the pipeline consists of.",
    "tests": "Tests of the package, of the data and of the pages.",
    "docs": "Documentation.",
    "examples": "Examples that the documentation uses; their runs are made up.",
    "benchmarks": "Programs that measure speed.",
    ".ci": "What continuous integration runs.",
    ".github": "Configuration of continuous integration.",
}


def kind(path: str) -> str:
    """What a folder holds: `published`, say, for the one of a study below data/."""
    parts = path.split("/")
    return parts[1] if parts[0] == "data" else parts[0]


def description(path: str) -> str:
    """One or two sentences on a folder."""
    return _FOLDERS[kind(path)]


_MEDIA = {
    ".cff": "application/yaml", ".css": "text/css", ".csv": "text/csv", ".html": "text/html",
    ".ipynb": "application/x-ipynb+json", ".js": "text/javascript", ".json": "application/json", ".log": "text/plain",
    ".md": "text/markdown", ".parquet": "application/vnd.apache.parquet", ".png": "image/png", ".py": "text/x-python",
    ".svg": "image/svg+xml", ".toml": "application/toml", ".tsv": "text/tab-separated-values", ".txt": "text/plain",
    ".xml": "application/xml", ".yaml": "application/yaml", ".yml": "application/yaml",
}  # fmt: skip


def media_type(path: str) -> str:
    """By the name's ending; anything else is a stream of bytes, since raw files are called as their tools call them."""
    name = PurePosixPath(path).name
    if name == "dvc.lock":
        return "application/yaml"
    if name in {"LICENSE", "Makefile", "requirements.in", "requirements.lock"}:
        return "text/plain"
    return _MEDIA.get(PurePosixPath(name.lower()).suffix, "application/octet-stream")
