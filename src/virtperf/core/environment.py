"""The environment on which results depend: the Python version, pinned packages, variables."""

from __future__ import annotations

import sys
from pathlib import Path

from rawperf.core.errors import VirtperfError

PYTHON_VERSION = Path(".python-version")
"""Major and minor version of Python, as pyenv and uv write it; a dependency of every stage."""

FIXED_VARIABLES = {
    # The same bytes on every machine: no hash seed, no thread count decides, nor which kernels
    # suit the processor best (numpy has others for exp, log, cos and powers where there is
    # AVX-512; their last bits differ).
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "DVC_NO_ANALYTICS": "1",
    # Large arrays come and go: memory that the C library gives back each time costs a tenth of
    # the time.
    "MALLOC_MMAP_THRESHOLD_": str(256 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
}
"""Environment variables of every stage that the pipeline runs."""


def check_python(root: Path) -> None:
    """Raise `VirtperfError` where this is not the Python that a repository's results are made with.

    A repository without the file takes any version.
    """
    path = root / PYTHON_VERSION
    if not path.is_file():
        return
    wanted = path.read_text(encoding="utf-8").strip()
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    if running != wanted:
        raise VirtperfError(
            "results depend on the version of Python",
            file=PYTHON_VERSION,
            expected=f"Python {wanted}",
            found=f"Python {running}",
            remedy=f"`make repro PYTHON=python{wanted}` after `make clean`; or write {running} "
            "there and install the packages anew: every stage then runs again.",
        )
