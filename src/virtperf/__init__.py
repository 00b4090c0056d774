"""Reproducible virtualization performance studies, from raw run files to reports with evidence.

Public API; each name is imported lazily on first use:

    import virtperf as vp

    vp.read("xentop.txt")          # any supported file as a tidy data frame
    vp.compare("runs/a", "runs/b") # did it get slower?
    vp.claim("PAPER/CLAIM", "runs/a", "runs/b") # does a paper's claim hold here?
    vp.history("runs.csv")         # at which revision did it get slower?
    vp.load_study("STUDY")         # a study's data frames, figures and exhibits
    vp.load_synthesis()            # evidence from all studies on common questions
    vp.models, vp.plot             # fits on statsmodels, figures on seaborn
    vp.Estimate                    # a number with its interval and provenance
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from virtperf import models
    from virtperf.comparison.claim import claim
    from virtperf.comparison.compare import compare
    from virtperf.comparison.history import history
    from virtperf.core.estimate import Estimate
    from virtperf.report import plot
    from virtperf.report.loaded import load_study
    from virtperf.report.synthesis.loaded import load_synthesis
    from virtperf.runs.ingest.own import read

__version__ = "0.2.0"
__all__ = [
    "Estimate",
    "claim",
    "compare",
    "history",
    "load_study",
    "load_synthesis",
    "models",
    "plot",
    "read",
]

_HOMES = {
    "Estimate": "virtperf.core.estimate",
    "claim": "virtperf.comparison.claim",
    "compare": "virtperf.comparison.compare",
    "history": "virtperf.comparison.history",
    "load_study": "virtperf.report.loaded",
    "load_synthesis": "virtperf.report.synthesis.loaded",
    "models": "virtperf.models",
    "plot": "virtperf.report.plot",
    "read": "virtperf.runs.ingest.own",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(
            f"module 'virtperf' has no attribute {name!r}; it has {', '.join(__all__)}"
        )
    home = importlib.import_module(_HOMES[name])
    return home if name in ("models", "plot") else getattr(home, name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
