# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Building Garage, with a shell script in the place of cargo."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tools.testbed import cargo_build
from tools.testbed.cache import binary_place, build_folder
from tools.testbed.errors import SetupError
from tools.testbed.versions import version_of

# Finds the value of --root, --version and --target-dir, and "compiles".
CARGO = """#!/bin/sh
if [ "$1" = --version ]; then echo "cargo CARGO_VERSION (0000000 2026-01-01)"; exit; fi
echo "$@" > "BIN/arguments"
while [ $# -gt 0 ]; do
  case "$1" in --root) root=$2;; --version) version=$2;; --target-dir) target=$2;; esac
  shift
done
mkdir -p "$root/bin" "$target/release"
printf '   Compiling one v1.0.0\n    Building [=>     ] 1/3: one\r    Building [===>   ] 2/3: two\r   Compiling two v1.0.0\n' >&2
BODY
printf '#!/bin/sh\necho "garage cargo:%s [features: lmdb]"\n' "MADE" > "$root/bin/garage"
"""


def fake_cargo(folder: Path, version: str = "1.95.0", body: str = "", made: str = "$version") -> None:
    text = CARGO.replace("CARGO_VERSION", version).replace("BIN", str(folder))
    text = text.replace("BODY", body).replace("MADE", made)
    (folder / "cargo").write_text(text, encoding="utf-8")
    (folder / "cargo").chmod(0o755)


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs, first on PATH, with all that a build looks for."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("cc", "make"):
        (folder / name).symlink_to("/bin/true")
    fake_cargo(folder)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CC", raising=False)
    return folder


@pytest.fixture
def said() -> list[str]:
    return []


def test_built_binary_is_in_its_place_and_the_build_folder_is_gone(tools: Path, said: list[str]) -> None:
    assert cargo_build.build("2.4.1", said.append) == binary_place("2.4.1")
    assert version_of(binary_place("2.4.1")) == (2, 4, 1)
    assert not build_folder("2.4.1").exists()
    assert said[0].startswith("building Garage 2.4.1")
    assert said[-1].startswith("built Garage 2.4.1 in 0 min")


def test_cargo_is_told_the_exact_version_locked_with_our_settings(tools: Path, said: list[str]) -> None:
    cargo_build.build("2.0.0", said.append)
    arguments = (tools / "arguments").read_text(encoding="utf-8").split()
    assert arguments[:5] == ["install", "garage", "--version", "2.0.0", "--locked"]
    assert arguments[arguments.index("--features") + 1] == "bundled-libs,lmdb,sqlite,metrics"
    settings = tomllib.loads(Path(arguments[arguments.index("--config") + 1]).read_text(encoding="utf-8"))
    assert settings["profile"]["release"]["package"]["argon2"]["opt-level"] == 3


def test_progress_is_shown_while_cargo_works(tools: Path, said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cargo_build, "PROGRESS_SECONDS", 0.05)
    done = tools / "done"
    fake_cargo(tools, body=f'until [ -e "{done}" ]; do sleep 0.05; done')

    def say(line: str) -> None:
        said.append(line)
        if "2 of 3 steps" in line:
            done.touch()

    cargo_build.build("2.5.0", say)
    shown = [line for line in said if line.startswith("cargo: ")]
    assert re.fullmatch(r"cargo: \d+ min \d\d s, 2 of 3 steps", shown[-1])


def test_failed_build_shows_the_end_of_the_log_and_what_to_install(tools: Path, said: list[str]) -> None:
    fake_cargo(tools, body="echo 'error: linker `cc` not found' >&2; exit 101")
    with pytest.raises(SetupError) as failed:
        cargo_build.build("2.5.0", said.append)
    text = str(failed.value)
    assert "cargo failed (101)" in text
    assert "   Compiling two v1.0.0\nerror: linker `cc` not found" in text
    assert "Building [" not in text
    assert "Rust 1.91.0 or newer" in text
    assert "a C compiler and make" in text
    assert not binary_place("2.5.0").exists()
    assert (build_folder("2.5.0") / "cargo.log").exists()


def test_build_that_makes_another_version_is_refused(tools: Path, said: list[str]) -> None:
    fake_cargo(tools, made="2.4.0")
    with pytest.raises(SetupError, match=r"is Garage 2\.4\.0, not 2\.5\.0"):
        cargo_build.build("2.5.0", said.append)
    assert not binary_place("2.5.0").exists()


def test_missing_programs_are_named_before_anything_starts(
    tools: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tools))
    (tools / "cargo").unlink()
    (tools / "make").unlink()
    with pytest.raises(SetupError, match="not installed: cargo, make\nBuilding Garage needs:"):
        cargo_build.build("2.5.0", said.append)
    assert not said


def test_c_compiler_named_by_the_environment_is_looked_for(
    tools: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler -m64")
    with pytest.raises(SetupError, match="not installed: no-such-compiler\n"):
        cargo_build.build("2.5.0", said.append)


def test_old_rust_is_refused_before_anything_starts(tools: Path, said: list[str]) -> None:
    fake_cargo(tools, version="1.85.1")
    with pytest.raises(SetupError, match=r"cargo 1\.85\.1 .* is too old\nBuilding Garage needs:\n  - Rust 1\.91\.0"):
        cargo_build.build("2.5.0", said.append)
    assert not (tools / "arguments").exists()


def test_interrupted_build_ends_cargo_and_what_it_started(
    tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cargo_build, "PROGRESS_SECONDS", 0.05)
    ended = tools / "ended"
    fake_cargo(tools, body=f"trap 'touch \"{ended}\"; exit 1' TERM; while true; do sleep 0.05; done")

    def interrupt(line: str) -> None:
        if "2 of 3 steps" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cargo_build.build("2.5.0", interrupt)
    assert ended.exists()
