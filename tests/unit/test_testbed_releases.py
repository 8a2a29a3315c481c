# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The official release binary, from a server on the loopback interface."""

from __future__ import annotations

import hashlib
import http.server
import platform
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tools.testbed import releases
from tools.testbed.cache import binary_place
from tools.testbed.versions import version_of

PROGRAM = b"#!/bin/sh\necho 'garage v2.5.0 [features: lmdb]'\n"
CHECKSUM = hashlib.sha256(PROGRAM).hexdigest()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture(autouse=True)
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server that has one release, for an x86_64 machine."""
    served = tmp_path / "served"
    program = served / "v2.5.0" / "x86_64-unknown-linux-musl" / "garage"
    program.parent.mkdir(parents=True)
    program.write_bytes(PROGRAM)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "GARAGE_SHA256"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    handler = partial(QuietHandler, directory=str(served))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as listening:
        monkeypatch.setattr(releases, "BASE_URL", f"http://127.0.0.1:{listening.server_port}")
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        yield
        listening.shutdown()
        thread.join()


def cached_files() -> list[str]:
    folder = binary_place("2.5.0").parent
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_release_with_the_right_checksum_is_taken(monkeypatch: pytest.MonkeyPatch, said: list[str]) -> None:
    monkeypatch.setenv("GARAGE_SHA256", CHECKSUM.upper())
    assert releases.download("2.5.0", said.append) == binary_place("2.5.0")
    assert version_of(binary_place("2.5.0")) == (2, 5, 0)
    assert cached_files() == ["garage"]


@pytest.mark.requirement("FC-121")
def test_release_with_another_checksum_is_not_taken(monkeypatch: pytest.MonkeyPatch, said: list[str]) -> None:
    monkeypatch.setenv("GARAGE_SHA256", CHECKSUM)
    assert releases.download("2.5.0", said.append) == binary_place("2.5.0")
    before = binary_place("2.5.0").read_bytes()
    monkeypatch.setenv("GARAGE_SHA256", "0" * 64)
    assert releases.download("2.5.0", said.append) is None
    assert f"not taken: its SHA-256 is {CHECKSUM}" in said[-1]
    assert (cached_files(), binary_place("2.5.0").read_bytes()) == (["garage"], before)


def test_nothing_is_asked_of_the_server_without_a_checksum(monkeypatch: pytest.MonkeyPatch, said: list[str]) -> None:
    asked: list[str] = []
    monkeypatch.setattr(QuietHandler, "send_head", lambda self: asked.append(self.path))
    assert releases.download("2.5.0", said.append) is None
    assert "checksum is not known" in said[0]
    assert asked == []


def test_release_that_does_not_exist_is_passed_over(monkeypatch: pytest.MonkeyPatch, said: list[str]) -> None:
    monkeypatch.setenv("GARAGE_SHA256", CHECKSUM)
    assert releases.download("2.4.1", said.append) is None
    assert "cannot be had" in said[-1]


def test_server_that_cannot_be_reached_is_passed_over(monkeypatch: pytest.MonkeyPatch, said: list[str]) -> None:
    monkeypatch.setenv("GARAGE_SHA256", CHECKSUM)
    monkeypatch.setattr(releases, "BASE_URL", "http://127.0.0.1:1")
    assert releases.download("2.5.0", said.append) is None
    assert "cannot be had" in said[-1]


def test_server_that_never_answers_is_passed_over(monkeypatch: pytest.MonkeyPatch, said: list[str]) -> None:
    monkeypatch.setenv("GARAGE_SHA256", CHECKSUM)
    monkeypatch.setattr(releases, "CONNECT_SECONDS", 0.1)
    release = threading.Event()
    monkeypatch.setattr(QuietHandler, "send_head", lambda _self: release.wait(60) and None)
    assert releases.download("2.5.0", said.append) is None
    release.set()
    assert "cannot be had" in said[-1]


def test_machine_without_a_release_is_told_so(monkeypatch: pytest.MonkeyPatch, said: list[str]) -> None:
    monkeypatch.setenv("GARAGE_SHA256", CHECKSUM)
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert releases.download("2.5.0", said.append) is None
    assert "there is none for Linux on riscv64" in said[0]
