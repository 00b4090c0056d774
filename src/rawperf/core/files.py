"""Paths of packaged files, and atomic writing of results."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

NO_SPACE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a write for which there is no space: the disk, a quota, the largest size of a file."""
PACKAGED_METRICS = Path(__file__).parent.parent / "metrics.yaml"
"""Metric dictionary that is installed with the package."""

ALWAYS_ALLOWED_BYTES = 64 * 1024**2
"""Decompressed size that any compressed file may have."""
MAX_UNPACK_RATIO = 500
"""Largest compression ratio (decompression bombs); logs of monitors have about 5 to 60."""


def max_unpacked_bytes(compressed: int) -> int:
    """Largest decompressed size of a file or archive of `compressed` bytes."""
    return max(ALWAYS_ALLOWED_BYTES, MAX_UNPACK_RATIO * compressed)


def hash_file(path: Path) -> tuple[str, int]:
    """Return SHA-256 and size of a file."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return digest, file.tell()


@contextmanager
def replace_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder that replaces `folder` when the block ends without an error.

    An interrupted run leaves the previous folder or none, never a partial one; the next run removes
    its temporary folder.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    for leftover in folder.parent.glob(f".{folder.name}.*"):
        shutil.rmtree(leftover, ignore_errors=True)
    with _errors_name(folder):
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            yield temporary
            temporary.chmod(0o755)
            if folder.exists():
                shutil.rmtree(folder)
            temporary.rename(folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def replace_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a temporary file that atomically replaces `path` when the block ends without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with _errors_name(path):
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as out:
                yield out
            Path(name).chmod(0o644)
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)


@contextmanager
def _errors_name(target: Path) -> Iterator[None]:
    """Replace the temporary name in an `OSError` by that of `target`, which the user knows."""
    prefix = str(target.parent.absolute() / f".{target.name}.")
    try:
        yield
    except OSError as err:
        if err.filename is not None:
            file = os.path.abspath(os.fsdecode(err.filename))  # noqa: PTH100 - keeps links
            if file.startswith(prefix):
                _, inside, rest = file.removeprefix(prefix).partition(os.sep)
                err.filename = str(target / rest) if inside else str(target)
        elif err.errno in NO_SPACE_ERRORS:  # the system names no file when a write fails
            err.filename = str(target)
        raise


def write_atomically(path: Path, data: bytes | str) -> None:
    """Write a file atomically: readers see the old content or the whole new one."""
    with replace_file(path) as out:
        out.write(data.encode() if isinstance(data, str) else data)


def json_text(value: Any) -> str:
    """Serialise as JSON in a stable form: indented by two blanks, keys in the given order."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
