"""The environment that results depend on: Python version, pinned packages, variables."""

from __future__ import annotations

import sys
from pathlib import Path

from rawperf.core.errors import RawperfError

PYTHON_VERSION = Path(".python-version")
"""File with the major and minor version of Python, as for pyenv and uv; every stage depends on it.
"""

FIXED_VARIABLES = {
    # Byte-identical results on every machine: fix hash seed, thread count and CPU kernels (numpy
    # has other kernels for exp, log, cos and powers with AVX-512; their last bits differ).
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "DVC_NO_ANALYTICS": "1",
    # DVC writes paths as UTF-8, which an ASCII locale such as POSIX can't name otherwise.
    "PYTHONUTF8": "1",
    # Keep freed memory in the process: returning large arrays to the system costs a tenth of the
    # run time.
    "MALLOC_MMAP_THRESHOLD_": str(256 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
}
"""Environment variables of every pipeline stage."""


def check_python(root: Path) -> None:
    """Raise `RawperfError` if the Python version differs from the repository's.

    A repository without the file accepts any version.
    """
    path = root / PYTHON_VERSION
    if not path.is_file():
        return
    required = path.read_text(encoding="utf-8").strip()
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    if running != required:
        raise RawperfError(
            "wrong version of Python: results depend on it",
            file=PYTHON_VERSION,
            expected=f"Python {required}",
            found=f"Python {running}",
            remedy=f"run `make clean`, then `make repro PYTHON=python{required}`; or write {running} "
            "into the file and reinstall the packages: all stages then run again.",
        )
