"""Safe extraction of archives from untrusted sources."""

from __future__ import annotations

import tarfile
from pathlib import Path


def extract_member(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Extract a file, link or folder with the "data" filter of `tarfile`, or an equivalent check
    before Python 3.11.4.

    Raises `tarfile.TarError` for any other member type and for paths that lead out of `folder`.
    """
    if hasattr(tarfile, "data_filter"):
        archive.extract(member, folder, filter="data")
        return
    root, place = folder.resolve(), folder / member.name
    target = place.parent / member.linkname if member.issym() else place
    if member.islnk():
        target = folder / member.linkname
    known = member.isreg() or member.isdir() or member.issym() or member.islnk()
    if not known or not all(path.resolve().is_relative_to(root) for path in (place, target)):
        raise tarfile.TarError(f"{member.name!r} is not a file or folder below {folder}")
    member.mode &= 0o755
    member.uid, member.gid, member.uname, member.gname = 0, 0, "", ""
    archive.extract(member, folder, set_attrs=not member.isdir())
