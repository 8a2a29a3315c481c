# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Garage binary is taken, with shell scripts in the place of Garage."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tools.testbed import cargo_build, garage_binary, releases
from tools.testbed.cache import binary_place, locked
from tools.testbed.errors import SetupError
from tools.testbed.versions import parse_version, version_of


def fake_garage(path: Path, version: str) -> Path:
    """A program that answers --version as a Garage of that version does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho 'garage {version} [features: lmdb]'\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture(autouse=True)
def clean_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No Garage anywhere, and neither download nor build."""
    for name in ("GARAGE_BIN", "GARAGE_SHA256"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setattr(releases, "download", lambda _version, _say: None)

    def no_build(version: str, _say: object) -> Path:
        raise SetupError(f"would build {version}")

    monkeypatch.setattr(cargo_build, "build", no_build)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("garage cargo:2.5.0 [features: bundled-libs, lmdb, metrics, sqlite]\n", (2, 5, 0)),
        ("garage v2.5.0 [features: k2v]", (2, 5, 0)),
        ("garage git:v2.3.0-79-g1234567", (2, 3, 0)),
        ("garage v10.20.30", (10, 20, 30)),
        ("cargo 1.95.0 (f2d3ce0bd 2026-03-21)", (1, 95, 0)),
    ],
)
def test_version_is_the_first_number_of_three_parts(text: str, version: tuple[int, int, int]) -> None:
    assert parse_version(text) == version


@pytest.mark.parametrize("text", ["garage unknown", "", "garage v2.5"])
def test_text_without_version_is_refused(text: str) -> None:
    with pytest.raises(SetupError, match="no version"):
        parse_version(text)


def test_program_that_is_no_garage_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho 'minio 2.5.0'\n", encoding="utf-8")
    other.chmod(0o755)
    with pytest.raises(SetupError, match="not a working Garage"):
        version_of(other)


def test_garage_that_fails_is_refused(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho 'garage v2.5.0'\necho no such library >&2\nexit 127\n", encoding="utf-8")
    broken.chmod(0o755)
    with pytest.raises(SetupError, match="127.*no such library"):
        version_of(broken)


def test_environment_comes_before_cache_before_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    on_path = fake_garage(tmp_path / "bin" / "garage", "v2.5.0")
    assert garage_binary.obtain("2.5.0", said.append) == on_path
    cached = fake_garage(binary_place("2.5.0"), "cargo:2.5.0")
    assert garage_binary.obtain("2.5.0", said.append) == cached
    named = fake_garage(tmp_path / "mine", "v2.5.0")
    monkeypatch.setenv("GARAGE_BIN", str(named))
    assert garage_binary.obtain("2.5.0", said.append) == named
    assert not said


def test_download_comes_before_build(monkeypatch: pytest.MonkeyPatch, said: list[str], tmp_path: Path) -> None:
    monkeypatch.setattr(releases, "download", lambda version, _say: tmp_path / version)
    assert garage_binary.obtain("2.5.0", said.append) == tmp_path / "2.5.0"


def test_build_is_the_last_resort(said: list[str]) -> None:
    with pytest.raises(SetupError, match=r"would build 2\.1\.0"):
        garage_binary.obtain("2.1.0", said.append)


@pytest.mark.parametrize(("on_path", "taken"), [("v2.6.1", True), ("v2.4.1", False), ("v3.0.0", False)])
def test_default_version_means_at_least_on_path(on_path: str, taken: bool, tmp_path: Path, said: list[str]) -> None:
    binary = fake_garage(tmp_path / "bin" / "garage", on_path)
    if taken:
        assert garage_binary.obtain(say=said.append) == binary
    else:
        with pytest.raises(SetupError, match="would build"):
            garage_binary.obtain(say=said.append)
        assert f"is {on_path[1:]}, passed over" in said[0]


@pytest.mark.parametrize("place", ["environment", "path"])
def test_older_version_means_exactly_that_one(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    binary = tmp_path / "bin" / "garage"
    if place == "environment":
        binary = tmp_path / "mine"
        monkeypatch.setenv("GARAGE_BIN", str(binary))
    fake_garage(binary, "v2.5.0")
    with pytest.raises(SetupError, match="would build"):
        garage_binary.obtain("2.1.0", said.append)
    assert "passed over" in said[0]
    fake_garage(binary, "v2.1.0")
    assert garage_binary.obtain("2.1.0", said.append) == binary


def test_environment_may_name_an_older_one_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    named = fake_garage(tmp_path / "mine", "v2.1.0")
    monkeypatch.setenv("GARAGE_BIN", str(named))
    assert garage_binary.obtain(say=said.append) == named
    assert "is 2.1.0 and not 2.5.0" in said[0]


@pytest.mark.parametrize(("version", "reason"), [("v1.3.0", "older than 2.0.0"), (None, "does not run")])
def test_environment_that_cannot_serve_is_an_error(
    version: str | None, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    fake_garage(tmp_path / "bin" / "garage", "v2.5.0")
    if version:
        fake_garage(tmp_path / "mine", version)
    monkeypatch.setenv("GARAGE_BIN", str(tmp_path / "mine"))
    with pytest.raises(SetupError, match=reason):
        garage_binary.obtain(say=said.append)


def test_version_without_admin_api_v2_is_refused(said: list[str]) -> None:
    with pytest.raises(SetupError, match="no Admin API v2"):
        garage_binary.obtain("1.3.0", said.append)


@pytest.mark.parametrize("content", ["truncated", "#!/bin/sh\necho 'garage v2.4.1'\n"])
def test_cached_file_that_is_not_the_version_is_passed_over(content: str, said: list[str]) -> None:
    binary = fake_garage(binary_place("2.5.0"), "v2.5.0")
    binary.write_text(content, encoding="utf-8")
    with pytest.raises(SetupError, match="would build"):
        garage_binary.obtain(say=said.append)
    assert said[0].startswith("cache: passed over")


def test_second_caller_waits_and_takes_what_the_first_has_got(
    monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    builds: list[str] = []
    release = threading.Event()
    waiting = threading.Event()

    def slow_build(version: str, _say: object) -> Path:
        builds.append(version)
        release.wait(60)
        return fake_garage(binary_place(version), f"v{version}")

    def second_says(line: str) -> None:
        said.append(line)
        waiting.set()

    monkeypatch.setattr(cargo_build, "build", slow_build)
    got: list[Path] = []
    first = threading.Thread(target=lambda: got.append(garage_binary.obtain(say=lambda _line: None)))
    second = threading.Thread(target=lambda: got.append(garage_binary.obtain(say=second_says)))
    first.start()
    while not builds:
        first.join(0.01)
    second.start()
    assert waiting.wait(60)
    release.set()
    first.join(60)
    second.join(60)
    assert got == [binary_place("2.5.0")] * 2
    assert builds == ["2.5.0"]
    assert said[0] == "another process is getting Garage 2.5.0; waiting for it"


def test_lock_of_a_killed_process_is_free(said: list[str]) -> None:
    holder = (
        "from tools.testbed.cache import locked\n"
        "with locked('2.5.0', print):\n    print('held', flush=True)\n    input()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"held\n"
        process.kill()
        process.wait()
        with locked("2.5.0", said.append):
            pass
    assert not said


def test_command_prints_the_path_alone_on_stdout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    binary = fake_garage(tmp_path / "bin" / "garage", "v2.5.0")
    assert garage_binary.main([]) == 0
    assert capsys.readouterr().out == f"{binary}\n"


def test_command_says_why_there_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert garage_binary.main(["--version", "2.4.1"]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "no Garage 2.4.1: would build 2.4.1" in shown.err


def test_command_refuses_a_version_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert garage_binary.main(["--version", "newest"]) == 1
    assert "no version x.y.z in 'newest'" in capsys.readouterr().err
