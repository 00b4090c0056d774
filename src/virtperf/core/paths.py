"""Directory layout of a repository of studies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rawperf.core.errors import RawperfError, suggest_similar
from rawperf.core.files import PACKAGED_METRICS


@dataclass(frozen=True)
class Layout:
    """The folders of one repository below `root`, which holds `data/` and `params.yaml`; creates
    nothing.
    """

    root: Path

    def published(self, study: str) -> Path:
        """Hand-written: study.yaml, claims.yaml, tables."""
        return self.root / "data" / "published" / study

    def measured(self, study: str) -> Path:
        """Run folders added by hand, and a measured study's definition; read-only for stages."""
        return self.root / "data" / "measured" / study

    def examples(self, study: str) -> Path:
        """Synthetic run folders in the paper's own raw formats, with the values behind them."""
        return self.measured(study) / "examples"

    def hypotheses(self, study: str) -> Path:
        """Digests of the files that a measured study's hypotheses are made of."""
        return self.root / "data" / "hypotheses" / f"{study}.json"

    def reconstructed(self, study: str) -> Path:
        """Ranges implied by the text."""
        return self.root / "data" / "reconstructed" / study

    def samples(self, study: str) -> Path:
        """Tidy samples, one Parquet file per run."""
        return self.root / "data" / "samples" / study

    def runs(self, study: str) -> Path:
        """Steady-state summaries of runs."""
        return self.root / "data" / "runs" / study

    def verdicts(self, study: str) -> Path:
        return self.root / "data" / "verdicts" / study

    def notebook(self, study: str) -> Path:
        """The study's notebook, as people edit it."""
        return self.root / "notebooks" / f"{study}.ipynb"

    def executed(self, study: str) -> Path:
        """The notebook as the pipeline executed it."""
        return self.root / "build" / f"{study}.ipynb"

    def report(self, study: str) -> Path:
        return self.root / "reports" / f"{study}.html"

    def key_numbers(self, study: str) -> Path:
        """Metrics of a study for `dvc metrics` and `dvc plots`, with a CSV file of the same stem
        next to it.
        """
        return self.root / "metrics" / f"{study}.json"

    @property
    def metrics(self) -> Path:
        """The repository's metric dictionary, or the one bundled with the installed rawperf."""
        path = self.root / "src" / "rawperf" / "metrics.yaml"
        return path if path.is_file() else PACKAGED_METRICS

    @property
    def readings(self) -> Path:
        return self.root / "data" / "readings.yaml"

    @property
    def glossary(self) -> Path:
        """Glossary of terms explained on pages."""
        return self.root / "docs" / "glossary.yaml"

    @property
    def parameters(self) -> Path:
        return self.root / "params.yaml"

    @property
    def cache(self) -> Path:
        """Content-addressed cache of parsed raw files."""
        return self.root / ".cache" / "ingest"

    def require(self) -> None:
        """Raise `RawperfError` unless `root` holds a repository of studies."""
        if not (self.parameters.is_file() or (self.root / "data").is_dir()):
            raise RawperfError(
                "not a repository of studies",
                file=self.root.absolute(),
                expected="a folder with params.yaml and data/",
                remedy="run virtperf in the repository's folder, or give it by --root. "
                "The commands read, compare, fit, power and history need no repository",
            )

    def studies(self) -> list[str]:
        """Ids of all studies, published and measured."""
        return sorted(
            {
                p.parent.name
                for root in ("published", "measured")
                for p in (self.root / "data" / root).glob("*/study.yaml")
            }
        )

    def definition(self, study: str) -> Path:
        """The folder of a study's study.yaml: `published` for a paper, `measured` for a study that
        starts from runs.
        """
        measured = self.measured(study)
        return measured if (measured / "study.yaml").is_file() else self.published(study)

    def known(self, study: str) -> Path:
        """`definition` of an existing study; raises `RawperfError` with the known ones otherwise."""
        studies = self.studies()
        if study not in studies:
            raise RawperfError(
                f"there is no study {study!r}",
                expected=f"one of {', '.join(studies)}" if studies else None,
                remedy=suggest_similar(study, studies)
                or "run virtperf in the repository's folder, or give it by --root",
            )
        return self.definition(study)
