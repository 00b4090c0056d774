"""Extraction of foreign archives, with and without the filters of Python 3.11.4."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from virtperf.core.archives import extract_member


def packed(*members: tarfile.TarInfo) -> tarfile.TarFile:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(b"x" * member.size))
    data.seek(0)
    return tarfile.open(fileobj=data)


def member(name: str, kind: bytes = tarfile.REGTYPE, linkname: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, linkname, 0o4777
    info.size = 3 if kind == tarfile.REGTYPE else 0
    return info


@pytest.mark.parametrize("filters", [True, False])
def test_files_folders_and_links_are_extracted(
    filters: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not filters:
        monkeypatch.delattr(tarfile, "data_filter", raising=False)
    elif not hasattr(tarfile, "data_filter"):
        return
    members = (
        member("a", tarfile.DIRTYPE),
        member("a/file"),
        member("a/link", tarfile.SYMTYPE, "file"),
    )
    with packed(*members) as archive:
        for entry in archive:
            extract_member(archive, entry, tmp_path)
    assert (tmp_path / "a" / "link").read_bytes() == b"xxx"
    assert (tmp_path / "a" / "file").stat().st_mode & 0o7022 == 0


@pytest.mark.parametrize(
    "bad",
    [
        member("../out"),
        member("a/../../out"),
        member("link", tarfile.SYMTYPE, "../out"),
        member("hard", tarfile.LNKTYPE, "../out"),
        member("pipe", tarfile.FIFOTYPE),
    ],
    ids=lambda bad: bad.name,
)
def test_paths_outside_the_target_are_rejected(
    bad: tarfile.TarInfo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(tarfile, "data_filter", raising=False)
    folder = tmp_path / "folder"
    folder.mkdir(exist_ok=True)
    with packed(bad) as archive, pytest.raises(tarfile.TarError, match="is not a file or folder"):
        extract_member(archive, archive.next(), folder)
    assert not (tmp_path / "out").exists()
