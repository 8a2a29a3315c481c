# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files that hold a secret: whole or not at all, and for their owner alone."""

from __future__ import annotations

import os
import stat

import pytest

from ansible_collections.s3ops.garage.plugins.module_utils._errors import StoreFault
from ansible_collections.s3ops.garage.plugins.module_utils._stores.file import FileStore


@pytest.fixture
def path(tmp_path):
    return tmp_path / "token"


@pytest.fixture
def store(path):
    return FileStore(str(path))


def test_the_four_operations(store):
    assert store.read() is None
    store.delete()
    store.create("one\n")
    assert store.read() == "one\n"
    store.replace("two\n")
    assert store.read() == "two\n"
    store.delete()
    assert store.read() is None
    store.replace("three\n")
    assert store.read() == "three\n"


@pytest.mark.parametrize("operation", ["create", "replace"])
def test_a_file_is_for_its_owner_whatever_the_umask_says(path, operation):
    before = os.umask(0)
    try:
        getattr(FileStore(str(path)), operation)("hush")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not FileStore(str(path)).exposed()
    assert os.listdir(path.parent) == ["token"]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_a_file_that_others_may_read_is_told_of(path, mode):
    path.write_text("hush")
    path.chmod(mode)
    assert FileStore(str(path)).exposed()


def test_what_is_there_is_never_overwritten_by_create(path):
    path.write_text("theirs")
    with pytest.raises(StoreFault, match="File exists"):
        FileStore(str(path)).create("ours")
    assert path.read_text() == "theirs"
    assert os.listdir(path.parent) == ["token"]


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_text_and_nothing_beside_it(path, monkeypatch, broken):
    store = FileStore(str(path))
    store.create("old")

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, broken, fail)
    with pytest.raises(StoreFault, match="No space left on device") as caught:
        store.replace("hush-hush")
    assert "hush-hush" not in str(caught.value)
    monkeypatch.undo()
    assert store.read() == "old"
    assert os.listdir(path.parent) == ["token"]


def test_the_text_is_on_disk_before_the_file_has_its_name(path, monkeypatch):
    steps = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *arguments, name=name, real=real: steps.append(name) or real(*arguments))
    FileStore(str(path)).replace("hush")
    assert steps == ["fsync", "replace", "fsync"]


@pytest.mark.requirement("TD-42", "TD-55")
def test_what_a_killed_run_left_half_written_is_swept_away_and_nothing_else(path, monkeypatch):
    def fail(*arguments):
        raise SystemExit

    others = ["token", ".token.garage", ".token.lock", ".token.app.abcdefgh.draft", ".tokens.abcdefgh.draft", ".token.draft", "token.abcdefgh.draft"]
    for name in others:
        path.with_name(name).touch()
    monkeypatch.setattr(os, "replace", fail)
    monkeypatch.setattr(os, "unlink", fail)
    with pytest.raises(SystemExit):
        FileStore(str(path)).replace("hush")
    monkeypatch.undo()
    assert len(os.listdir(path.parent)) == len(others) + 1
    FileStore(str(path)).sweep()
    assert sorted(os.listdir(path.parent)) == sorted(others)


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), os.mkfifo, lambda path: path.symlink_to("/dev/zero"),
                                  lambda path: path.symlink_to("nowhere")], ids=["folder", "pipe", "link", "dangling link"])
def test_what_is_no_file_is_not_read(path, make):
    make(path)
    with pytest.raises(StoreFault, match="is not a regular file"):
        FileStore(str(path)).read()


@pytest.mark.parametrize(("content", "shown"), [(b"\xff\xfe", "(not text)"), (b"x" * 70000, "(too large)")])
def test_what_can_be_no_secret_is_not_taken_for_an_empty_store(path, content, shown):
    path.write_bytes(content)
    assert FileStore(str(path)).read() == shown


def test_a_folder_that_is_not_there_is_told_of(tmp_path):
    store = FileStore(str(tmp_path / "no" / "token"))
    assert store.read() is None
    with pytest.raises(StoreFault, match="does not exist or cannot be written"):
        store.refuse_bad_folder()
    with pytest.raises(StoreFault):
        store.create("hush")
    FileStore(str(tmp_path / "token")).refuse_bad_folder()
