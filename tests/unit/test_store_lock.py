# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""One run at a time on one file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from ansible_collections.s3ops.garage.plugins.module_utils._errors import StoreFault
from ansible_collections.s3ops.garage.plugins.module_utils._stores import file_lock
from ansible_collections.s3ops.garage.plugins.module_utils._stores.file_lock import FileLock

HOLD = """
import sys
from ansible_collections.s3ops.garage.plugins.module_utils._stores.file_lock import FileLock
FileLock(sys.argv[1]).__enter__()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / ".app.lock")


def hold(path):
    process = subprocess.Popen([sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    return process


def test_a_lock_is_taken_given_back_and_leaves_nothing(path):
    for _time in range(2):
        with FileLock(path):
            assert os.path.exists(path)
        assert os.listdir(os.path.dirname(path)) == []


@pytest.mark.requirement("TD-42")
def test_a_run_that_was_killed_holds_no_lock(path):
    process = hold(path)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert os.path.exists(path)
    with FileLock(path):
        assert os.path.exists(path)
    assert not os.path.exists(path)


def test_a_lock_that_is_never_given_back_ends_in_an_error(path, monkeypatch):
    monkeypatch.setattr(file_lock, "_PATIENCE_SECONDS", 0.0)
    process = hold(path)
    try:
        with pytest.raises(StoreFault, match="another run"), FileLock(path):
            raise AssertionError("two hold it")
    finally:
        process.kill()
        process.wait()


def test_of_many_that_want_it_one_has_it_at_a_time(path):
    inside, most = [], []

    def work():
        for _time in range(20):
            with FileLock(path):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 80 and max(most) == 1
    assert not os.path.exists(path)


def test_where_nothing_can_be_written_nothing_is_locked(tmp_path):
    with FileLock(str(tmp_path / "none" / ".app.lock")):
        assert not (tmp_path / "none").exists()


def test_a_link_is_not_followed(path):
    os.symlink("/dev/null", path)
    with pytest.raises(StoreFault), FileLock(path):
        raise AssertionError("a link was opened")
