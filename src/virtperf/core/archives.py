"""Archives: which members of one from others may be read, and how one of ours is written."""

from __future__ import annotations

import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

MAX_NAME = 1000
"""Longest name of a member."""
DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, RuntimeError)
"""What `zipfile` raises for a damaged member."""
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_ENCRYPTED = 0x1
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)


def member_problem(member: zipfile.ZipInfo) -> str:
    """Why a member of a zip file is not read, whatever its name: ``is encrypted``; "" if it is."""
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG) or member.is_dir():
        return "is no plain file"
    if member.flag_bits & _ENCRYPTED:
        return "is encrypted"
    if member.compress_type not in _METHODS:
        return f"has another compression method than deflate ({member.compress_type})"
    return ""


def write_zip(stream: BinaryIO, members: Iterable[tuple[str, bytes]]) -> None:
    """Write a zip file of members in their order, without times: equal members give equal bytes."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in members:
            member = zipfile.ZipInfo(name, _FIXED_TIME)
            member.external_attr = (stat.S_IFREG | 0o644) << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            member.create_system = 3
            archive.writestr(member, content, compresslevel=9)


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
