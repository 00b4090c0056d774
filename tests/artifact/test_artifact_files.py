"""Artifacts are hostile: nothing outside is read or written, and sizes are bounded."""

from __future__ import annotations

import stat
import zipfile

import pytest

import virtperf.artifact.artifact_files as module
from rawperf.core.errors import RawperfError
from virtperf.artifact.artifact_files import opened_artifact


def zipped(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members:
            archive.writestr(member, content)
    return path


@pytest.mark.parametrize("name", ["../out.txt", "a/../../out.txt", "/out.txt", "c:/out.txt"])
def test_member_that_leads_out_is_refused(tmp_path, name):
    path = zipped(tmp_path / "a.zip", [(name, "1\n")])
    with (
        pytest.raises(RawperfError, match="leads out of the archive's folder"),
        opened_artifact(path),
    ):
        pass
    assert not (tmp_path / "out.txt").exists() and not (tmp_path.parent / "out.txt").exists()


def test_links_are_not_followed(tmp_path, artifact):
    secret = tmp_path / "secret.txt"
    secret.write_text("1\n")
    folder = artifact({"a.txt": "1\n"})
    (folder / "link.txt").symlink_to(secret)
    (folder / "folder").symlink_to(tmp_path)
    with opened_artifact(folder) as opened:
        assert list(opened.files) == ["a.txt"]
        assert set(opened.refused) == {"link.txt", "folder"}


def test_links_in_an_archive_are_not_made(tmp_path):
    link = zipfile.ZipInfo("link.txt")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = zipped(tmp_path / "a.zip", [(link, "/etc/hostname"), ("a.txt", "1\n")])
    with opened_artifact(path) as opened:
        assert list(opened.files) == ["a.txt"]
        assert opened.refused["link.txt"] == "it is no plain file"
        assert not (opened.root / "link.txt").exists()


def test_unpacked_size_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("rawperf.core.files.ALWAYS_ALLOWED_BYTES", 1000)
    path = zipped(tmp_path / "a.zip", [("a.txt", "0" * 10_000_000)])
    with pytest.raises(RawperfError, match="too large"), opened_artifact(path):
        pass


def test_number_of_files_is_bounded(artifact, monkeypatch):
    monkeypatch.setattr(module, "MAX_FILES", 3)
    folder = artifact({f"{n}.txt": "1\n" for n in range(4)})
    with pytest.raises(RawperfError, match="at most 3 files"), opened_artifact(folder):
        pass


def test_damaged_archive_is_one_error(tmp_path):
    path = zipped(tmp_path / "a.zip", [("a.txt", "1234567890" * 100)])
    content = bytearray(path.read_bytes())
    content[45] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(RawperfError, match="damaged"), opened_artifact(path):
        pass


def test_folder_around_everything_is_left_out(tmp_path):
    path = zipped(tmp_path / "a.zip", [("repo-1.0/x/a.txt", "1\n"), ("repo-1.0/b.txt", "2\n")])
    with opened_artifact(path) as opened:
        assert list(opened.files) == ["b.txt", "x/a.txt"]


def test_other_files_are_no_artifact(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("1\n")
    with pytest.raises(RawperfError, match="a folder or a zip file"), opened_artifact(path):
        pass
